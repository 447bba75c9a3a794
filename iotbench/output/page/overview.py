"""The head of a page: warnings, a card for each result, and a table of all results."""

from collections.abc import Iterator, Sequence

from iotbench.figures.figures import FIGURES
from iotbench.figures.rows import Row
from iotbench.figures.summary import on_disk_of
from iotbench.figures.verdicts import describe_result
from iotbench.measurements.warnings import merge_warnings
from iotbench.output.page.content import Card, PageTable
from iotbench.output.page.measured import PageResult
from iotbench.output.page.pictures import figure_text, spread_text
from simulator.errors import counted

MOST_CARDS = 8
_MOST_WARNINGS, _MOST_NAMED = 5, 3
_MEASURED = ("At", "Rate", "Unit", "n", "Spread", "p50 ms", "p99 ms", "Client")


def warnings_of(found: Sequence[PageResult]) -> Iterator[str]:
    """Yield the first warnings without duplicates, each with the labels of its results."""
    having: dict[str, list[str]] = {}
    for each in found:
        for text in merge_warnings([t for result in each.results for t in result.warnings]):
            having.setdefault(text, []).append(each.label)
    for text, labels in [*having.items()][:_MOST_WARNINGS]:
        yield text if len(found) == 1 else f"{_name_results(labels, len(found))}: {text}"
    if more := len(having) - min(len(having), _MOST_WARNINGS):
        yield f"{counted(more, 'more warning')}, at each result below"


def _name_results(labels: Sequence[str], of: int) -> str:
    named = dict.fromkeys(labels)
    if len(labels) == of:
        return "all results"
    return ", ".join(named) if len(named) <= _MOST_NAMED else counted(len(labels), "result")


def cards_of(found: Sequence[PageResult]) -> list[Card]:
    """Return a card for each result; empty if the page has many results."""
    return [_make_card(each) for each in found] if len(found) <= MOST_CARDS else []


def _make_card(each: PageResult) -> Card:
    name, verdict = f"{each.about}: {each.label}", describe_result(each.result)
    row, colour = each.summary.headline, each.style.colour
    if not row:
        checks = len(each.summary.rows)
        is_check = not each.summary.subject.figures
        value, unit = (
            (f"{checks:,}", "checks" if checks != 1 else "check") if is_check else ("-", "")
        )
        return Card(name, each.link, value, unit, "", verdict, colour)
    figure = FIGURES[each.summary.subject.listed_by]
    value = figure_text(row, figure.name)
    found = row.figures[figure.name]
    spread = "spread not known" if found.spread is None else f"spread {found.spread:.1%}"
    basis = f"{row.place}; {counted(found.n, 'repeat' if each.is_repeated else 'run')}, {spread}"
    return Card(name, each.link, value, figure.unit.value, basis, verdict, colour)


def overview_of(found: Sequence[PageResult]) -> PageTable:
    """Return a table with a row for each result and its headline."""
    return PageTable([line_of(each, each.summary.headline) for each in found])


def line_of(each: PageResult, row: Row | None) -> dict[str, str]:
    """Return the table row of a result, with the figures of a row of its summary."""
    on_disk, measured = on_disk_of(each.result), dict.fromkeys(_MEASURED, "-")
    judged = describe_result(each.result)
    if row:
        figure = FIGURES[each.summary.subject.listed_by]
        found = row.figures.get(figure.name)
        measured = {
            "At": str(row.place),
            "Rate": figure_text(row, figure.name),
            "Unit": figure.unit.value,
            "n": f"{found.n:,}" if found else "-",
            "Spread": spread_text(found),
            "p50 ms": figure_text(row, "p50_ms"),
            "p99 ms": figure_text(row, "p99_ms"),
            "Client": figure_text(row, "client_share"),
        }
        judged = judged if row is each.summary.headline else row.judged
    return {
        "Result": each.label,
        "What": each.about,
        "Started (UTC)": f"{each.result.created:%F %H:%M}",
        **measured,
        "Bytes/row": f"{on_disk.bytes_per_row:.1f}" if on_disk else "-",
        "Durability": each.durability,
        "Verdict": judged,
    }
