"""A reproduction as text: our table and the document's, the claims, and what was left out."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.table import Table

from iotbench.figures.figures import spread_of
from iotbench.figures.numbers import significant
from iotbench.machine.tables import draw, new_table
from iotbench.plans.lines import warnings_of
from iotbench.plans.measures import unit_of
from iotbench.plans.published.claims import Seen
from iotbench.plans.published.record import (
    Cell,
    ClaimRecord,
    ClaimSide,
    FigureLine,
    Matrix,
    Reproduction,
)
from iotbench.plans.record import FAILED, CurvePoint
from iotbench.plans.tables import absences
from simulator.errors import counted
from simulator.protocol.verdict import Status


def format_record(record: Reproduction, path: str, width: int) -> str:
    """Return a reproduction as text that fits a width."""
    return draw(_parts(record, path), width)


def _parts(record: Reproduction, path: str) -> Iterator[Table | str]:
    yield f"document {record.number}, {record.title}: {record.document}, size {record.size}"
    if record.lines:
        yield _table(record.lines)
    for title, claims in sort_claims(record.claims).items():
        yield from _claims(title, claims)
    if record.matrix and record.matrix.cells:
        yield ""
        yield _clusters(record.matrix)
        yield from _gains(record.matrix)
    yield from _curves(record)
    yield from notes_of(record)
    yield f"result file: {path}"


def _table(lines: Sequence[FigureLine]) -> Table:
    """Return the table of the figures; percentages of the best where there are several targets."""
    ranked = any(line.percent_of_best for line in lines)
    table = new_table()
    table.add_column("Figure, system", overflow="fold")
    for title in ("Document", "Ours", "Spread", *["Of best"] * ranked):
        table.add_column(title, justify="right", overflow="fold")
    table.add_column("Verdict", overflow="fold")
    figures = groupby(lines, key=lambda line: (line.row, line.title, line.unit))
    for (_, title, unit), systems in figures:
        table.add_section()
        table.add_row(f"{title}, {unit}".rstrip(", "))
        shown = list(systems)
        for line in shown:
            cells = [find_published(line), _ours(line)]
            cells.append("-" if line.spread is None else f"{line.spread:.0%}")
            if ranked:
                percent = line.percent_of_best
                cells.append("-" if percent is None else f"{percent:.0f}%")
            table.add_row(f"  {_line_name(line, shown)}", *cells, line.verdict or "-")
    return table


def _line_name(line: FigureLine, others: Sequence[FigureLine]) -> str:
    """Return a system; with its setting, if the document has several."""
    name, several = system_name(line.system, line.target), {other.setting for other in others}
    return f"{name}: {line.setting}" if line.system and len(several) > 1 else name


def _ours(line: FigureLine) -> str:
    if line.mean is None:
        return "not measured"
    return f"{significant(line.mean)} ({len(line.values)})"


def system_name(system: str, target: str) -> str:
    """Return a system with its target, unless the target has the same name."""
    is_same = target == system.lower().replace(" ", "_")
    return f"{system} ({target})" if system and target and not is_same else system or target


def find_published(line: FigureLine) -> str:
    """Return the document's figure; `base` is what its percentages are of."""
    if line.percent_of and line.percent_of == line.system:
        return "base"
    if line.published_percent is not None:
        return f"{line.published_percent:.0f}% of base"
    return "-" if line.published is None else significant(line.published)


def sort_claims(claims: Sequence[ClaimRecord]) -> dict[str, list[ClaimRecord]]:
    """Return what the document claims and what it asks, by titles."""
    sorts = {
        "Claims of the document": [claim for claim in claims if not claim.question],
        "Questions of the document": [claim for claim in claims if claim.question],
    }
    return {title: those for title, those in sorts.items() if those}


def _claims(title: str, claims: Sequence[ClaimRecord]) -> Iterator[str]:
    yield ""
    yield f"{title}:"
    for _, alike in groupby(claims, key=lambda claim: (claim.row, claim.text)):
        records = list(alike)
        yield claim_title(records[0])
        absent = []
        for claim in records:
            name = system_name(claim.system, claim.target)
            if claim.seen is Seen.NOT_HAD and name and not claim.reason:
                absent.append(name)
            else:
                outcome = find_outcome(claim)
                yield f"  {outcome}{': ' if name else ''}{name}; {claim_evidence(claim)}"
        if absent:
            yield f"  {Seen.NOT_HAD}: {', '.join(absent)}"


def claim_title(claim: ClaimRecord) -> str:
    """Return a claim, with a quotation of its numbers."""
    quote = f' (document: "{claim.quote}")' if claim.quote else ""
    return f"{claim.text}{quote}"


def find_outcome(claim: ClaimRecord) -> str:
    """Return whether a claim is seen, or the answer to a question."""
    answers = {Seen.SEEN: "yes", Seen.NOT_SEEN: "no"} if claim.question else {}
    return answers.get(claim.seen, claim.seen.value)


def claim_evidence(claim: ClaimRecord) -> str:
    """Return the values that a claim was compared with, or why it could not be."""
    if claim.reason:
        return claim.reason
    values = [f"{_side(side, claim)} {_range(side.values)}" for side in claim.sides]
    published = [side.published for side in claim.sides]
    found = ", ".join(values)
    if all(value is not None for value in published):
        document = ", ".join(significant(value) for value in published if value is not None)
        found += f"; document: {document}"
    return found


def _side(side: ClaimSide, claim: ClaimRecord) -> str:
    """Return what distinguishes one side of a claim from the others."""
    words = (
        (system_name(side.system, side.target), {each.system for each in claim.sides}),
        (side.setting, {each.setting for each in claim.sides}),
        (f"over {side.over}" if side.over else "", {"", side.over}),
        (side.measure, {each.measure for each in claim.sides}),
    )
    differing = [word for word, values in words if len(values) > 1]
    several = len({each.target for each in claim.sides}) > 1
    return " ".join(differing) or (side.target if several else side.measure)


def _range(values: Sequence[float]) -> str:
    """Return the smallest and largest of the repeats, and their number."""
    low, high = significant(min(values)), significant(max(values))
    return f"{low if low == high else f'{low} to {high}'} ({len(values)})"


def _clusters(matrix: Matrix) -> Table:
    """Return the matrix of clusters: a column for each number of nodes."""
    numbers = sorted({cell.nodes for cell in matrix.cells})
    table = new_table()
    unit = unit_of(matrix.measure)
    settings = ", ".join(dict.fromkeys(cell.setting or matrix.setting for cell in matrix.cells))
    table.add_column(f"Clusters, {settings}, {unit}", overflow="fold")
    for number in numbers:
        table.add_column(counted(number, "node"), justify="right")
    for module, size in dict.fromkeys((cell.module, cell.node_size) for cell in matrix.cells):
        row = [cell for cell in matrix.cells if (cell.module, cell.node_size) == (module, size)]
        several = len({cell.setting for cell in matrix.cells}) > 1
        shown_cells = [
            _cells([cell for cell in row if cell.nodes == number], named=several)
            for number in numbers
        ]
        table.add_row(f"{module} {size}".rstrip(), *shown_cells)
    return table


def _cells(cells: Sequence[Cell], *, named: bool) -> str:
    """Return the rates of clusters that differ in nothing but their name, a line for each."""
    if len(cells) > 1:
        return "\n".join(f"{cell.target}: {_cell(cell, named=named)}" for cell in cells)
    return _cell(cells[0], named=named) if cells else "-"


def _cell(cell: Cell, *, named: bool) -> str:
    """Return the rate of a cluster; `named`: with the setting that it was measured with."""
    mean, spread = sum(cell.values) / len(cell.values), spread_of(cell.values)
    verdict = "" if cell.verdict == Status.VERIFIED else f" {cell.verdict}"
    around = "" if spread is None else f", spread {spread:.0%}"
    setting = f" {cell.setting}" if named else ""
    return f"{significant(mean)} ({len(cell.values)}{around}){setting}{verdict}"


def _gains(matrix: Matrix) -> Iterator[str]:
    for gain in matrix.gains:
        percents = ", ".join(f"{percent:+.0f}%" for percent in gain.percents) or "unknown"
        yield f"  gain of {gain.larger} over {gain.smaller} ({gain.label}): {percents}"
    if not matrix.gains:
        yield "  no gain: it takes targets of one module that differ in nodes or node_size"


def _curves(record: Reproduction) -> Iterator[str]:
    """Yield what each search for the best number of shards found."""
    if record.curves:
        yield ""
        yield "Best number of shards, by the mean rate of its repeats (rows/s):"
    for curve in record.curves:
        points = [f"{each.number}: {_point(each)}" for each in curve.points]
        yield f"  {curve.best}: {curve.target}, {curve.setting}; {', '.join(points)}"


def _point(point: CurvePoint) -> str:
    values = _range(point.values) if point.values else "no rate"
    return values if point.verdict == Status.VERIFIED else f"{values} {point.verdict}"


def notes_of(record: Reproduction) -> Iterator[str]:
    """Yield what could not be measured, and where everything was."""
    yield ""
    if record.status == "interrupted":
        yield "interrupted: run the same command again to measure the rest"
    yield from absences({**record.not_had, **record.refused})
    for item in record.items:
        if item.verdict == FAILED:
            yield f"failed: {item.target}, {item.setting}, repeat {item.repeat}: {item.cause}"
    if record.in_memory:
        held = "; ".join(f"{target} ({what})" for target, what in record.in_memory.items())
        yield (
            f"warning: all data fits into memory, so the disk may not limit these rates: {held};"
            " use --size document, or smaller buffers"
        )
    for outcome, items in record.caches.items():
        yield f"system caches before an insert: {outcome} ({counted(items, 'item')})"
    if any(line.measure == "rows_per_s_reference" for line in record.lines):
        yield (
            "rows/s beside the document's figures follow its formula (rows / mean duration of the"
            " workers); claims compare rates until the last acknowledgement"
        )
    yield f"the document measured on: {record.measured_on}"
    yield f"client here: {record.machine.hardware}, {record.machine.system}"
    yield from warnings_of(record.hardware, record.items)
    if record.first and record.last:
        yield (
            f"{counted(len(record.items), 'item')}, started from {record.first:%F %T} to"
            f" {record.last:%F %T} UTC"
        )
