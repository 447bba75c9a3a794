"""A plan's record as text: the figures of each setting on each target, and what was left out."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from rich.table import Table

from iotbench.figures.figures import FIGURES, spread_of
from iotbench.figures.numbers import format_value, two_lines
from iotbench.machine.program import command_line
from iotbench.machine.tables import draw, new_table
from iotbench.plans.lines import warnings_of, within_of
from iotbench.plans.record import FAILED, PlanLine, PlanRecord
from iotbench.plans.settings import Sought
from simulator.errors import counted

_INSERTS = ("rows_per_s", "rows_per_s_stored", "p50_ms", "p99_ms", "bytes_per_row")
_QUERIES = ("avg_ms", "queries_per_s")
_MIXED = ("rows_per_s", "queries_per_s", "p50_ms", "p99_ms")
_CHANGED = ("rows_per_s", "p50_ms", "p99_ms")


def format_record(record: PlanRecord, path: str, width: int) -> str:
    """Return the record of a plan as text that fits a width."""
    made = [make(record.lines) for make in (_inserts, _queries, _mix, _changes)]
    tables = [part for table in made if table.row_count for part in (table, "")]
    ends = [f"result file: {path}"]
    if len(record.lines) > 1 and min(line.repeats for line in record.lines) > 1:
        ends.append(f"compare them: `{command_line(('compare', path))}`")
    return draw([*tables, *_notes(record), *ends], width)


def _inserts(lines: Sequence[PlanLine]) -> Table:
    table = _table("Setting", "Target", "Repeats", *_titles(_INSERTS), "Spread", "Verdict")
    for setting, target, line in _group(lines):
        cells = (_mean(name, line.measures.get(name, ())) for name in _INSERTS)
        spread = _spread(line.measures.get("rows_per_s", ()))
        table.add_row(setting, target, str(line.repeats), *cells, spread, line.judged)
    return table


def _queries(lines: Sequence[PlanLine]) -> Table:
    return _by_row("Query", "", _QUERIES, lines)


def _mix(lines: Sequence[PlanLine]) -> Table:
    return _by_row("Load", "mixed_", _MIXED, lines)


def _changes(lines: Sequence[PlanLine]) -> Table:
    return _by_row("Change", "change_", _CHANGED, lines)


def _by_row(title: str, prefix: str, figures: Sequence[str], lines: Sequence[PlanLine]) -> Table:
    """Return a line for each query or load; the spread belongs to the first figure it has."""
    table = _table("Setting", "Target", title, "Repeats", *_titles(figures), "Spread")
    for setting, target, line in _group(lines):
        measures = (name.partition(" ") for name in line.measures)
        kinds = {f"{prefix}{name}" for name in figures}
        names = dict.fromkeys(name for kind, _, name in measures if name and kind in kinds)
        for number, name in enumerate(names):
            values = [line.measures.get(f"{prefix}{figure} {name}", ()) for figure in figures]
            place = ("", "") if number else (setting, target)
            cells = map(_mean, figures, values)
            first = next(each for each in values if each)
            table.add_row(*place, name, str(len(first)), *cells, _spread(first))
    return table


def _group(lines: Sequence[PlanLine]) -> Iterator[tuple[str, str, PlanLine]]:
    """Yield each line with its setting, which is named once, and its target."""
    before = ""
    for line in lines:
        yield ("" if line.setting == before else line.setting), line.target, line
        before = line.setting


def _table(*titles: str) -> Table:
    table = new_table()
    for title in titles:
        is_text = title in {"Setting", "Target", "Query", "Load", "Change", "Verdict"}
        table.add_column(
            title, justify="left" if is_text else "right", vertical="bottom", overflow="fold",
            no_wrap=not is_text or title == "Verdict",
        )  # fmt: skip
    return table


def _titles(figures: Sequence[str]) -> list[str]:
    return [two_lines(FIGURES[name].title) for name in figures]


def _mean(name: str, values: Sequence[float]) -> str:
    return format_value(fmean(values), FIGURES[name].unit) if values else "-"


def _spread(values: Sequence[float]) -> str:
    spread = spread_of(values)
    return "-" if spread is None else f"{spread:.1%}"


def _notes(record: PlanRecord) -> Iterator[str]:
    if record.status == "interrupted":
        yield "interrupted: the same command goes on where it stopped"
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
    for line in record.lines:
        within = within_of(line)
        if (
            wanted
            and within is not None
            and within > wanted
            and line.setting not in _list_fixed(record)
        ):
            yield (
                f"not within {wanted:.0%}: {line.target}, {line.setting}: the mean rate is known to"
                f" ±{within:.0%} after {counted(line.repeats, 'repeat')}"
            )
    yield from absences({**record.not_had, **record.refused})
    done = sum(item.verdict != FAILED for item in record.items)
    yield f"plan {record.name}: {counted(len(record.items), 'item')}, {done} measured to the end"


def _list_fixed(record: PlanRecord) -> set[str]:
    """Return the settings with a fixed number of repeats."""
    settings: list[dict[str, object]] = record.plan["settings"]
    fixed = ("repeats", "shards", "batches")
    return {str(each["name"]) for each in settings if any(each.get(name) for name in fixed)}


def absences(not_had: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each reason, with everything that it applies to."""
    grouped: dict[str, list[str]] = {}
    for name, reason in not_had.items():
        grouped.setdefault(reason, []).append(name)
    for reason, names in grouped.items():
        yield f"not measured: {'; '.join(names)}: {reason}"
