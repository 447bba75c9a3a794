"""Shows a reproduction on a page: our figures next to figures of the document, and claims."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from iotbench.figures.numbers import significant
from iotbench.output.page.content import PageTable, Section
from iotbench.output.page.measured import PageResult
from iotbench.plans.items import worst
from iotbench.plans.published.claims import Seen
from iotbench.plans.published.record import ClaimRecord, FigureLine, Reproduction
from iotbench.plans.published.tables import (
    claim_evidence,
    claim_title,
    find_outcome,
    find_published,
    notes_of,
    sort_claims,
    system_name,
)
from iotbench.plans.record import ItemRecord


def section_of(index: int, record: Reproduction, found: Sequence[PageResult] = ()) -> Section:
    """Return the section of a reproduction; its figures lead to `found`, or it lists its files."""
    links = {(of.target, of.setting): each.link for each in found if (of := each.repeated)}
    claims = sort_claims(record.claims).items()
    claimed = [PageTable([*_list_claims(those)], title) for title, those in claims]
    tables = [*claimed, _list_figures(record, links), _list_clusters(record)]
    tables += [] if found else [_list_items(record)]
    return Section(
        id=f"reproduction-{index}",
        title=f"Document {record.number}, {record.title}: {record.document}, size {record.size}",
        notes=[*filter(None, notes_of(record))],
        tables=[table for table in tables if table.rows],
    )


def _list_figures(record: Reproduction, links: Mapping[tuple[str, str], str]) -> PageTable:
    return PageTable(
        [_describe(line) for line in record.lines],
        "Figures",
        [{"Ours": links.get((line.target, line.setting), "")} for line in record.lines],
    )


def _describe(line: FigureLine) -> dict[str, str]:
    return {
        "Figure": line.title,
        "Setting": line.setting,
        "System": system_name(line.system, line.target),
        "Unit": line.unit,
        "Document": find_published(line),
        "Ours": "not measured" if line.mean is None else significant(line.mean),
        "n": f"{len(line.values)}",
        "Spread": "-" if line.spread is None else f"{line.spread:.0%}",
        "Of best": "-" if line.percent_of_best is None else f"{line.percent_of_best:.0f}%",
        "In the document": line.quote or "-",
        "Verdict": line.verdict or line.not_had or "-",
    }


def _list_clusters(record: Reproduction) -> PageTable:
    """Return the rates by number of nodes; empty if the document has no such rates."""
    rows = [
        {
            "Target": cell.target,
            "Size of a node": cell.node_size or "-",
            "Setting": cell.setting or "-",
            "Nodes": f"{cell.nodes}",
            "Rate": significant(sum(cell.values) / len(cell.values)),
            "Lowest": significant(min(cell.values)),
            "Highest": significant(max(cell.values)),
            "n": f"{len(cell.values)}",
            "Verdict": cell.verdict,
        }
        for cell in (record.matrix.cells if record.matrix else ())
        if cell.values
    ]
    return PageTable(rows, "Clusters")


def _list_claims(claims: Sequence[ClaimRecord]) -> Iterator[dict[str, str]]:
    for claim in claims:
        evidence = "-" if claim.seen is Seen.NOT_HAD and not claim.reason else claim_evidence(claim)
        yield {
            "Claim": claim_title(claim),
            "System": system_name(claim.system, claim.target) or "-",
            "Seen": find_outcome(claim),
            "Values": evidence,
        }


def _list_items(record: Reproduction) -> PageTable:
    """Return a row for the repeats of each setting on each target."""
    repeats: dict[tuple[str, str], list[ItemRecord]] = defaultdict(list)
    for item in record.items:
        repeats[item.target, item.setting].append(item)
    rows = [
        {
            "Target": target,
            "Setting": setting,
            "Repeats": f"{len(items)}",
            "Result files": ", ".join(file for item in items for file in item.files),
            "Cause": "; ".join(dict.fromkeys(i.cause for i in items if i.cause)) or "-",
            "Verdict": worst(item.verdict for item in items),
        }
        for (target, setting), items in repeats.items()
    ]
    return PageTable(rows, "Items")
