"""A plan's record as text: the figures of each setting on each target, and missing results."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from iotbench.figures.figures import FIGURES, spread_of
from iotbench.figures.numbers import format_value, two_lines
from iotbench.machine.program import command_line
from iotbench.machine.tables import CellKind, TextTable, draw
from iotbench.plans.lines import warnings_of, within_of
from iotbench.plans.record import FAILED, PlanLine, PlanRecord
from iotbench.plans.settings import Sought
from simulator.errors import counted

_INSERTS = ("rows_per_s", "rows_per_s_stored", "p50_ms", "p99_ms", "bytes_per_row")
_QUERIES = ("avg_ms", "queries_per_s")
_MIXED = ("rows_per_s", "queries_per_s", "p50_ms", "p99_ms")
_CHANGED = ("rows_per_s", "p50_ms", "p99_ms")
_FIXED = ("repeats", "shards", "batches")
"""Keys of settings with a fixed number of repeats."""
_DROP_REPEATS, _DROP_SPREAD, _DROP_OTHER, _DROP_LAST = 2, 4, 6, 9
"""Order in which a narrow table drops columns without an order of their figures."""


def format_record(record: PlanRecord, path: str, width: int) -> str:
    """Return the record of a plan as text that fits a width."""
    lines = record.lines
    inserts = _draw_inserts(lines)
    asked = _draw_rows("query", "", _QUERIES, lines, judged=not inserts.row_count)
    mixed = _draw_rows("load", "mixed_", _MIXED, lines)
    changed = _draw_rows("change", "change_", _CHANGED, lines)
    tables = [part for table in (inserts, asked, mixed, changed) if table.row_count
              for part in (table, "")]  # fmt: skip
    ends = [f"result file: {path}"]
    if len(record.lines) > 1 and min(line.repeats for line in record.lines) > 1:
        ends.append(f"compare them: `{command_line(('compare', path))}`")
    return draw([*tables, *_list_notes(record), *ends], width)


def _draw_inserts(lines: Sequence[PlanLine]) -> TextTable:
    table = _new_table(lines, "workers", _INSERTS, judged=True)
    is_asking = any(map(_name_rows, lines)) and not any("rows_per_s" in e.measures for e in lines)
    before = ""
    for line in [] if is_asking else lines:
        place = [line.setting * (line.setting != before)] * _has_settings(lines)
        cells = (_format_mean(name, line.measures.get(name, ())) for name in _INSERTS)
        spread = _format_spread(line.measures.get("rows_per_s", ()))
        table.add_row(*place, line.target, str(line.repeats), *cells, spread, line.judged)
        before = line.setting
    return table


def _name_rows(line: PlanLine, prefix: str = "", figures: Sequence[str] = _QUERIES) -> list[str]:
    """Return the names of the queries, loads or changes that have figures in a line."""
    kinds = {f"{prefix}{name}" for name in figures}
    measures = (name.partition(" ") for name in line.measures)
    return [*dict.fromkeys(name for kind, _, name in measures if name and kind in kinds)]


def _draw_rows(
    subject: str,
    prefix: str,
    figures: Sequence[str],
    lines: Sequence[PlanLine],
    *,
    judged: bool = False,
) -> TextTable:
    """Return a table with a line for each query, load or change (`subject`) on each target.

    The spread is of the first figure. `judged`: add a column with the verdict.
    """
    table = _new_table(lines, subject, figures, judged=judged)
    for setting in dict.fromkeys(line.setting for line in lines):
        own = [line for line in lines if line.setting == setting]
        names = dict.fromkeys(name for line in own for name in _name_rows(line, prefix, figures))
        having = [(name, line) for name in names for line in own
                  if name in _name_rows(line, prefix, figures)]  # fmt: skip
        place = [setting] * _has_settings(lines)
        before = ""
        for name, line in having:
            values = [line.measures.get(f"{prefix}{figure} {name}", ()) for figure in figures]
            first = next(each for each in values if each)
            table.add_row(
                *place, name * (name != before), line.target, str(len(first)),
                *map(_format_mean, figures, values), _format_spread(first),
                *[line.judged] * judged,
            )  # fmt: skip
            place, before = [""] * len(place), name
    return table


def _has_settings(lines: Sequence[PlanLine]) -> bool:
    """Return whether there are several settings, which a column must then name."""
    return len({line.setting for line in lines}) > 1


def _new_table(
    lines: Sequence[PlanLine], subject: str, figures: Sequence[str], *, judged: bool
) -> TextTable:
    """Return an empty table; figures give way in the order that they declare."""
    table = TextTable()
    named = [] if subject == "workers" else [subject.capitalize()]
    for title in (*["Setting"] * _has_settings(lines), *named, "Target"):
        table.add_column(title, CellKind.NAME)
    table.add_column("Repeats", drop=_DROP_REPEATS)
    for name in figures:
        figure = FIGURES[name]
        drop = figure.columns.get(subject, _DROP_OTHER) or _DROP_LAST
        table.add_column(two_lines(figure.title), drop=drop if name != figures[0] else 0)
    table.add_column("Spread", drop=_DROP_SPREAD)
    if judged:
        table.add_column("Verdict", CellKind.TEXT)
    return table


def _format_mean(name: str, values: Sequence[float]) -> str:
    return format_value(fmean(values), FIGURES[name].unit) if values else "-"


def _format_spread(values: Sequence[float]) -> str:
    spread = spread_of(values)
    return "-" if spread is None else f"{spread:.1%}"


def _list_notes(record: PlanRecord) -> Iterator[str]:
    if record.status == "interrupted":
        yield "interrupted: run the same command again to measure the rest"
    yield from warnings_of(record.hardware, record.items)
    for item in record.items:
        if item.verdict == FAILED:
            yield f"failed: {item.target}, {item.setting}, repeat {item.repeat}: {item.cause}"
    for install in record.installs:
        ends = f"may not be removed: {install.left}" if install.left else "removed"
        how = install.cause or f"installed in {install.seconds:.1f} s"
        yield f"{install.target}: {how}; {ends}; log: {install.log}"
    for curve in record.curves:
        what = "number of shards" if curve.sought is Sought.SHARDS else "size of a batch"
        yield (
            f"best {what} of {curve.target}, {curve.setting}: {curve.best:,}; tried"
            f" {', '.join(f'{point.number:,}' for point in curve.points)}"
        )
    wanted = record.plan.get("until_within")
    settings: list[dict[str, object]] = record.plan.get("settings", [])
    fixed = {each["name"] for each in settings if any(map(each.get, _FIXED))}
    for line in record.lines:
        within = within_of(line)
        if wanted and within and within > wanted and line.setting not in fixed:
            yield (
                f"not within {wanted:.0%}: {line.target}, {line.setting}: the mean rate is known to"
                f" ±{within:.0%} after {counted(line.repeats, 'repeat')}"
            )
    yield from absences({**record.not_had, **record.refused})
    done = sum(item.verdict != FAILED for item in record.items)
    yield f"plan {record.name}: {counted(len(record.items), 'item')}, {done} measured to the end"


def absences(not_had: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each reason, with all names to which the reason applies."""
    grouped: dict[str, list[str]] = {}
    for name, reason in not_had.items():
        grouped.setdefault(reason, []).append(name)
    for reason, names in grouped.items():
        yield f"not measured: {'; '.join(names)}: {reason}"
