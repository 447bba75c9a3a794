"""A plan's record as text: what each setting came to on each target, and what was left out."""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from cli.experiment.record import FAILED, PlanLine, PlanRecord
from cli.report.numbers import significant
from cli.summary.figures import spread_of
from simulator.errors import counted

_INSERTS = {
    "rows_per_s": "rows/s",
    "rows_per_s_stored": "Stored\nrows/s",
    "p50_ms": "p50\nms",
    "p99_ms": "p99\nms",
    "bytes_per_row": "Bytes\n/row",
}
"""Measure of an insert -> its title."""
_WAIT, _ASKED = "wait_ms", "queries_per_s"
_MIXED = {
    "mixed_rows_per_s": "Rows/s",
    "mixed_queries_per_s": "Queries\n/s",
    "mixed_p50_ms": "p50\nms",
    "mixed_p99_ms": "p99\nms",
}
"""Measure of a mixed load -> its title; the first two are rates."""


def printed(record: PlanRecord, path: str, width: int) -> str:
    """Return the record of a plan as text that fits a width."""
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False, markup=False, color_system=None)
    for table in (_inserts(record.lines), _queries(record.lines), _mixed(record.lines)):
        if table.row_count:
            console.print(table)
            console.print()
    for line in (*_notes(record), f"result file: {path}"):
        console.print(line, soft_wrap=True)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def _inserts(lines: Sequence[PlanLine]) -> Table:
    table = _table("Setting", "Target", "Repeats", *_INSERTS.values(), "Spread", "Verdict")
    for setting, target, line in _grouped(lines):
        cells = (_mean(line.measures.get(name, ()), significant) for name in _INSERTS)
        spread = _spread(line.measures.get("rows_per_s", ()))
        table.add_row(setting, target, str(line.repeats), *cells, spread, line.verdict)
    return table


def _queries(lines: Sequence[PlanLine]) -> Table:
    table = _table("Setting", "Target", "Query", "Repeats", "Wait\nms", "Queries\n/s", "Spread")
    for setting, target, line in _grouped(lines):
        names = [name.partition(" ")[2] for name in line.measures if name.startswith(f"{_WAIT} ")]
        for number, name in enumerate(names):
            waits = line.measures[f"{_WAIT} {name}"]
            asked = line.measures.get(f"{_ASKED} {name}", ())
            place = ("", "") if number else (setting, target)
            figures = (_mean(waits, significant), _mean(asked, significant), _spread(waits))
            table.add_row(*place, name, str(len(waits)), *figures)
    return table


def _mixed(lines: Sequence[PlanLine]) -> Table:
    table = _table("Setting", "Target", "Load", "Repeats", *_MIXED.values(), "Spread")
    for setting, target, line in _grouped(lines):
        measures = (name.partition(" ") for name in line.measures)
        loads = dict.fromkeys(load for kind, _, load in measures if kind in _MIXED)
        for number, load in enumerate(loads):
            values = [line.measures.get(f"{kind} {load}", ()) for kind in _MIXED]
            place = ("", "") if number else (setting, target)
            cells = (_mean(each, significant) for each in values)
            repeats, rates = len(values[-1]), values[0] or values[1]
            table.add_row(*place, load, str(repeats), *cells, _spread(rates))
    return table


def _grouped(lines: Sequence[PlanLine]) -> Iterator[tuple[str, str, PlanLine]]:
    """Yield each line with its setting, which is named once, and its target."""
    before = ""
    for line in lines:
        yield ("" if line.setting == before else line.setting), line.target, line
        before = line.setting


def _table(*titles: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for title in titles:
        is_text = title in {"Setting", "Target", "Query", "Load", "Verdict"}
        table.add_column(
            title, justify="left" if is_text else "right", vertical="bottom", overflow="fold",
            no_wrap=title == "Verdict",
        )  # fmt: skip
    return table


def _mean(values: Sequence[float], write: Callable[[float], str]) -> str:
    return write(sum(values) / len(values)) if values else "-"


def _spread(values: Sequence[float]) -> str:
    spread = spread_of(values)
    return "-" if spread is None else f"{spread:.1%}"


def _notes(record: PlanRecord) -> Iterator[str]:
    if record.status == "interrupted":
        yield "interrupted: the same command goes on where it stopped"
    for item in record.items:
        if item.verdict == FAILED:
            yield f"failed: {item.target}, {item.setting}, repeat {item.repeat}: {item.cause}"
    for install in record.installs:
        ends = f"may not be removed: {install.left}" if install.left else "removed"
        how = install.cause or f"installed in {install.seconds:.1f} s"
        yield f"{install.target}: {how}; {ends}; log: {install.log}"
    for curve in record.curves:
        yield (
            f"best number of shards of {curve.target}, {curve.setting}: {curve.best}; tried"
            f" {', '.join(str(point.shards) for point in curve.points)}"
        )
    yield from absences({**record.not_had, **record.refused})
    done = sum(item.verdict != FAILED for item in record.items)
    yield f"plan {record.name}: {counted(len(record.items), 'item')}, {done} measured to the end"


def absences(not_had: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each reason with all that it is the reason of."""
    grouped: dict[str, list[str]] = {}
    for name, reason in not_had.items():
        grouped.setdefault(reason, []).append(name)
    for reason, names in grouped.items():
        yield f"not had: {'; '.join(names)}: {reason}"
