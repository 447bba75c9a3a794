"""A reproduction on a page: our figures next to the document's, its claims, and what is missing."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from iotbench.figures.numbers import significant
from iotbench.output.page.content import VERDICT, PageTable, Section, number, words
from iotbench.plans.published.claims import Seen
from iotbench.plans.published.record import FigureLine, Reproduction
from iotbench.plans.published.tables import (
    claim_evidence,
    claim_title,
    find_published,
    notes_of,
    system_name,
)
from iotbench.plans.record import ItemRecord
from iotbench.plans.verdicts import worst


def section_of(index: int, record: Reproduction) -> Section:
    """Return the section of a reproduction."""
    tables = [_figures(record), _clusters(record), _claims(record), _items(record)]
    return Section(
        id=f"reproduction-{index}",
        title=f"Document {record.number}, {record.title}: {record.document}, size {record.size}",
        notes=[*filter(None, notes_of(record))],
        tables=[table for table in tables if table.rows],
    )


def _figures(record: Reproduction) -> PageTable:
    titles = ("Document", "Ours", "n", "Spread", "Of best")
    columns = [
        words("Figure"),
        words("Setting"),
        words("System"),
        words("Unit"),
        *map(number, titles),
        words("In the document"),
        VERDICT,
    ]
    return PageTable(columns, [_cells(line) for line in record.lines], title="Figures")


def _cells(line: FigureLine) -> list[str]:
    return [
        f"{line.row} {line.title}".strip(),
        line.setting,
        system_name(line.system, line.target),
        line.unit,
        find_published(line),
        "not measured" if line.mean is None else significant(line.mean),
        f"{len(line.values)}",
        "-" if line.spread is None else f"{line.spread:.0%}",
        "-" if line.percent_of_best is None else f"{line.percent_of_best:.0f}%",
        line.quote or "-",
        line.verdict or line.not_had or "-",
    ]


def _clusters(record: Reproduction) -> PageTable:
    """Return the rates by number of nodes, of the documents that have them."""
    titles = ("Nodes", "Rate", "Lowest", "Highest", "n")
    known = [words("Target"), words("Size of a node"), words("Setting")]
    columns = [*known, *map(number, titles), VERDICT]
    rows = [
        [
            cell.target,
            cell.node_size or "-",
            cell.setting or "-",
            f"{cell.nodes}",
            *(significant(v) for v in (sum(cell.values) / len(cell.values), *_ends(cell.values))),
            f"{len(cell.values)}",
            cell.verdict,
        ]
        for cell in (record.matrix.cells if record.matrix else ())
        if cell.values
    ]
    return PageTable(columns, rows, title="Clusters")


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def _claims(record: Reproduction) -> PageTable:
    columns = [words("Claim"), words("System"), words("Seen"), words("Values")]
    return PageTable(columns, [*_claim_cells(record)], title="Claims of the document")


def _claim_cells(record: Reproduction) -> Iterator[list[str]]:
    for claim in record.claims:
        name = system_name(claim.system, claim.target)
        evidence = "-" if claim.seen is Seen.NOT_HAD and not claim.reason else claim_evidence(claim)
        yield [claim_title(claim), name or "-", claim.seen.value, evidence]


def _items(record: Reproduction) -> PageTable:
    """Return one line for the repeats of a setting on a target."""
    columns = [
        words("Target"),
        words("Setting"),
        number("Repeats"),
        words("Result files"),
        words("Cause"),
        VERDICT,
    ]
    repeats: dict[tuple[str, str], list[ItemRecord]] = defaultdict(list)
    for item in record.items:
        repeats[item.target, item.setting].append(item)
    rows = [
        [
            target,
            setting,
            f"{len(items)}",
            ", ".join(file for item in items for file in item.files),
            "; ".join(dict.fromkeys(item.cause for item in items if item.cause)) or "-",
            worst(item.verdict for item in items),
        ]
        for (target, setting), items in repeats.items()
    ]
    return PageTable(columns, rows, title="Items")
