"""A reproduction as text: our table beside the document's, the claims, and what was left out."""

import io
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich import box
from rich.console import Console
from rich.table import Table

from cli.reproduce.claims import Seen
from cli.reproduce.record import FAILED, ClaimRecord, Compared, Line, Reproduction
from simulator.errors import counted


def printed(record: Reproduction, path: str, width: int) -> str:
    """Return a reproduction as text that fits a width."""
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False, markup=False, color_system=None)
    console.print(
        f"document {record.number}, {record.title}: {record.document}, size {record.size}",
        soft_wrap=True,
    )
    if record.lines:
        console.print(_table(record.lines))
    for line in (*_claims(record.claims), *_notes(record)):
        console.print(line, soft_wrap=True)
    console.print(f"result file: {path}", soft_wrap=True)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def _table(lines: Sequence[Line]) -> Table:
    """Return the table of the figures; percentages of the best where there are several targets."""
    ranked = any(line.percent_of_best for line in lines)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    titles = ["Figure", "System", "Document", "Ours", "Spread", *["Of best"] * ranked, "Verdict"]
    for title in titles:
        is_text = title in ("Figure", "System", "Verdict")
        table.add_column(title, justify="left" if is_text else "right", overflow="fold")
    before = ("", "")
    for line in lines:
        figure = (line.row, line.title)
        if figure != before and before[0]:
            table.add_section()
        name = f"{line.row} {line.title}, {line.unit}".rstrip(", ") if figure != before else ""
        before = figure
        cells = [name, _name(line.system, line.target), _published(line)]
        cells.append("not had" if line.mean is None else f"{shown(line.mean)} ({len(line.values)})")
        cells.append("-" if line.spread is None else f"{line.spread:.0%}")
        if ranked:
            percent = line.percent_of_best
            cells.append("-" if percent is None else f"{percent:.0f}%")
        table.add_row(*cells, line.verdict or "-")
    return table


def _name(system: str, target: str) -> str:
    return f"{system} ({target})" if system and target else system or target


def _published(line: Line) -> str:
    if line.published_percent is not None:
        return f"{line.published_percent:.0f}% of best"
    return "-" if line.published is None else shown(line.published)


def shown(value: float) -> str:
    """Return a number with three significant digits, or its integer part if that has more."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _claims(claims: Sequence[ClaimRecord]) -> Iterator[str]:
    yield ""
    yield "Claims of the document:"
    for (row, text), records in groupby(claims, key=lambda claim: (claim.row, claim.text)):
        yield f"{row} {text}".strip()
        absent = []
        for claim in records:
            name = _name(claim.system, claim.target)
            if claim.seen is Seen.NOT_HAD and name and not claim.reason:
                absent.append(name)
            else:
                yield f"  {claim.seen}{': ' if name else ''}{name}; {_evidence(claim)}"
        if absent:
            yield f"  {Seen.NOT_HAD}: {', '.join(absent)}"


def _evidence(claim: ClaimRecord) -> str:
    if claim.reason:
        return claim.reason
    values = [f"{_side(side, claim)} {_range(side.values)}" for side in claim.sides]
    published = [side.published for side in claim.sides]
    found = ", ".join(values)
    if all(value is not None for value in published):
        document = ", ".join(shown(value) for value in published if value is not None)
        found += f"; document: {document}"
    return found


def _side(side: Compared, claim: ClaimRecord) -> str:
    """Return what distinguishes one side of a claim from the others."""
    names = {
        "system": {each.system for each in claim.sides},
        "setting": {each.setting for each in claim.sides},
        "measure": {each.measure for each in claim.sides},
    }
    words = [getattr(side, key) for key, values in names.items() if len(values) > 1]
    return " ".join(words) or side.measure


def _range(values: Sequence[float]) -> str:
    low, high = shown(min(values)), shown(max(values))
    return low if low == high else f"{low} to {high}"


def _notes(record: Reproduction) -> Iterator[str]:
    yield ""
    if record.status == "interrupted":
        yield "interrupted: run the same command again to measure the rest"
    grouped: dict[str, list[str]] = {}
    for name, reason in (*record.not_had.items(), *record.refused.items()):
        grouped.setdefault(reason, []).append(name)
    for reason, names in grouped.items():
        yield f"not had: {'; '.join(names)}: {reason}"
    for item in record.items:
        if item.verdict == FAILED:
            yield f"failed: {item.target}, {item.setting}, repeat {item.repeat}: {item.cause}"
    yield f"the document measured on: {record.measured_on}"
    machine = record.machine
    yield (
        f"client here: {machine.processor}, {counted(machine.cores, 'core')},"
        f" {machine.memory_bytes / 2**30:.0f} GiB, {machine.system}"
    )
    if record.first and record.last:
        yield (
            f"{counted(len(record.items), 'item')}, started from {record.first:%F %T} to"
            f" {record.last:%F %T} UTC"
        )
