"""A reproduction as text: published and measured figures, claims, and missing results."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from iotbench.figures.figures import spread_of
from iotbench.figures.numbers import significant
from iotbench.machine.tables import CellKind, TextTable, draw
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
    return draw(_list_parts(record, path), width)


def _list_parts(record: Reproduction, path: str) -> Iterator[TextTable | str]:
    yield f"document {record.number}, {record.title}: {record.document}, size {record.size}"
    if record.lines:
        yield _draw_figures(record.lines)
    for title, claims in sort_claims(record.claims).items():
        yield from _list_claims(title, claims)
    if record.matrix and record.matrix.cells:
        yield ""
        yield _draw_clusters(record.matrix)
        for gain in record.matrix.gains:
            percents = ", ".join(f"{percent:+.0f}%" for percent in gain.percents) or "unknown"
            yield f"  gain of {gain.larger} over {gain.smaller} ({gain.label}): {percents}"
        if not record.matrix.gains:
            yield "  no gain: needs targets of one module that differ in nodes or node_size"
    if record.curves:
        yield ""
        yield "Best number of shards, by the mean rate of its repeats (rows/s):"
    for curve in record.curves:
        points = [f"{each.number}: {_format_point(each)}" for each in curve.points]
        yield f"  {curve.best}: {curve.target}, {curve.setting}; {', '.join(points)}"
    yield from notes_of(record)
    yield f"result file: {path}"


def _draw_figures(lines: Sequence[FigureLine]) -> TextTable:
    """Return the table of figures, with percentages of the best target if there are several."""
    ranked = any(line.percent_of_best for line in lines)
    table = TextTable()
    table.add_column("Figure, system", CellKind.TEXT)
    for title, drop in {"Document": 0, "Ours": 0, "Spread": 1, "Of best": 2}.items():
        if ranked or title != "Of best":
            table.add_column(title, drop=drop)
    table.add_column("Verdict", CellKind.TEXT)
    figures = groupby(lines, key=lambda line: (line.title, line.unit))
    for (title, unit), systems in figures:
        table.add_section()
        table.add_row(f"{title}, {unit}".rstrip(", "))
        shown = list(systems)
        has_settings = len({line.setting for line in shown}) > 1
        for line in shown:
            name = system_name(line.system, line.target)
            if line.system and has_settings:
                name += f": {line.setting}"
            ours = "not measured"
            if line.mean is not None:
                ours = f"{significant(line.mean)} ({len(line.values)})"
            cells = [find_published(line), ours]
            cells.append("-" if line.spread is None else f"{line.spread:.0%}")
            if ranked:
                percent = line.percent_of_best
                cells.append("-" if percent is None else f"{percent:.0f}%")
            table.add_row(f"  {name}", *cells, line.verdict or "-")
    return table


def system_name(system: str, target: str) -> str:
    """Return the names of a system and its target, or a single name if both are the same."""
    is_same = target == system.lower().replace(" ", "_")
    return f"{system} ({target})" if system and target and not is_same else system or target


def find_published(line: FigureLine) -> str:
    """Return the document's figure as text; `base` is the base of percentages."""
    if line.percent_of and line.percent_of == line.system:
        return "base"
    if line.published_percent is not None:
        return f"{line.published_percent:.0f}% of base"
    return "-" if line.published is None else significant(line.published)


def sort_claims(claims: Sequence[ClaimRecord]) -> dict[str, list[ClaimRecord]]:
    """Return title -> the claims, or the questions, of the document."""
    sorts = {
        "Claims of the document": [claim for claim in claims if not claim.question],
        "Questions of the document": [claim for claim in claims if claim.question],
    }
    return {title: those for title, those in sorts.items() if those}


def _list_claims(title: str, claims: Sequence[ClaimRecord]) -> Iterator[str]:
    yield ""
    yield f"{title}:"
    for _, alike in groupby(claims, key=lambda claim: claim.text):
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
    """Return a claim, with a quotation of the claim's numbers."""
    quote = f' (document: "{claim.quote}")' if claim.quote else ""
    return f"{claim.text}{quote}"


def find_outcome(claim: ClaimRecord) -> str:
    """Return whether a claim is seen or, for a question, the answer."""
    answers = {Seen.SEEN: "yes", Seen.NOT_SEEN: "no"} if claim.question else {}
    return answers.get(claim.seen, claim.seen.value)


def claim_evidence(claim: ClaimRecord) -> str:
    """Return the values that decide a claim, or why the claim could not be examined."""
    if claim.reason:
        return claim.reason
    values = [f"{_name_side(side, claim)} {_format_range(side.values)}" for side in claim.sides]
    published = [side.published for side in claim.sides]
    found = ", ".join(values)
    if all(value is not None for value in published):
        document = ", ".join(significant(value) for value in published if value is not None)
        found += f"; document: {document}"
    return found


def _name_side(side: ClaimSide, claim: ClaimRecord) -> str:
    """Return the words that distinguish one side of a claim from the other sides."""
    words = (
        (system_name(side.system, side.target), {each.system for each in claim.sides}),
        (side.setting, {each.setting for each in claim.sides}),
        (f"over {side.over}" if side.over else "", {"", side.over}),
        (side.measure, {each.measure for each in claim.sides}),
    )
    differing = [word for word, values in words if len(values) > 1]
    several = len({each.target for each in claim.sides}) > 1
    return " ".join(differing) or (side.target if several else side.measure)


def _format_range(values: Sequence[float]) -> str:
    """Return the smallest and the largest value, and the number of repeats."""
    low, high = significant(min(values)), significant(max(values))
    return f"{low if low == high else f'{low} to {high}'} ({len(values)})"


def _draw_clusters(matrix: Matrix) -> TextTable:
    """Return the matrix of clusters, with a column for each number of nodes."""
    numbers = sorted({cell.nodes for cell in matrix.cells})
    table = TextTable()
    unit = unit_of(matrix.measure)
    settings = ", ".join(dict.fromkeys(cell.setting or matrix.setting for cell in matrix.cells))
    table.add_column(f"Clusters, {settings}, {unit}", CellKind.TEXT)
    for number in numbers:
        table.add_column(counted(number, "node"))
    for module, size in dict.fromkeys((cell.module, cell.node_size) for cell in matrix.cells):
        row = [cell for cell in matrix.cells if (cell.module, cell.node_size) == (module, size)]
        several = len({cell.setting for cell in matrix.cells}) > 1
        shown_cells = [
            _format_cells([cell for cell in row if cell.nodes == number], named=several)
            for number in numbers
        ]
        table.add_row(f"{module} {size}".rstrip(), *shown_cells)
    return table


def _format_cells(cells: Sequence[Cell], *, named: bool) -> str:
    """Return the rates of clusters that differ only in their name, with a line for each cluster."""
    texts = [_format_cell(cell, named=named) for cell in cells]
    if len(cells) > 1:
        texts = [f"{cell.target}: {text}" for cell, text in zip(cells, texts, strict=True)]
    return "\n".join(texts) or "-"


def _format_cell(cell: Cell, *, named: bool) -> str:
    """Return the rate of a cluster; `named`: include the setting."""
    mean, spread = sum(cell.values) / len(cell.values), spread_of(cell.values)
    verdict = "" if cell.verdict == Status.VERIFIED else f" {cell.verdict}"
    around = "" if spread is None else f", spread {spread:.0%}"
    setting = f" {cell.setting}" if named else ""
    return f"{significant(mean)} ({len(cell.values)}{around}){setting}{verdict}"


def _format_point(point: CurvePoint) -> str:
    values = _format_range(point.values) if point.values else "no rate"
    return values if point.verdict == Status.VERIFIED else f"{values} {point.verdict}"


def notes_of(record: Reproduction) -> Iterator[str]:
    """Yield missing results and warnings, and the machines of the document and of the results."""
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
