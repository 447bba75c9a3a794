"""Costs of more series and of more rows: the share of the rate that a database keeps."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from iotbench.figures.numbers import significant
from iotbench.figures.pictures import Over
from iotbench.output.page.content import Picture
from iotbench.output.page.growth import (
    draw_growth,
    list_memories_mib,
    list_newest_of_one,
    series_of,
)
from iotbench.output.page.measured import PageResult
from iotbench.output.page.pictures import picture_over
from iotbench.output.site.entries import RATE, Entry, list_rates
from iotbench.output.site.question import (
    Cell,
    Line,
    Question,
    Topic,
    compare,
    divide,
    draw_values,
    key_of,
    list_inserts,
    list_values,
    make_cell,
)

_FEWEST = 3
"""Minimum numbers of series, as for a line of a picture."""
_KEPT = "Rate kept"
SERIES = Topic(
    "What does a higher cardinality cost?",
    "cardinality.html",
    "cardinality",
    "The same number of rows, of fewer or more series",
    "Rate kept: the rate with the most series over that with the fewest, in brackets the widest"
    " range of the repeats. A server may keep memory that earlier inserts took, so its lowest value"
    " says most.",
    "{:.0%}".format,
    is_highest_first=True,
)
ROWS = Topic(
    "What does a growing table cost?",
    "growth.html",
    "growth",
    "The same table, filled step by step",
    "Rate kept: the rate of the last step over that of the first, in brackets the widest range of"
    " the repeats.",
    "{:.0%}".format,
    is_highest_first=True,
)
_Grown: TypeAlias = Mapping[int, PageResult]
"""Number of series -> its result, in rising order."""


def ask_about_series(entries: Sequence[Entry]) -> Question | None:
    """Return the cost of a higher cardinality, if inserts differ in the number of series only."""
    found = [(entry, grown) for entry in entries for grown in _list_grown(entry)]
    counts = {count for _, grown in found for count in grown}
    return SERIES.answer(
        [_describe_series(*each) for each in found],
        _draw_series,
        lambda _, ends: f"From {min(counts):,} to {max(counts):,} series, rate kept: {ends}",
    )


def _draw_series(lines: Sequence[Line]) -> Iterator[Picture]:
    yield from draw_values("Rate kept with the most series", "share", lines, _KEPT)
    for kind in ("insert", "query"):
        own = [each for line in lines for each in line.results if each.result.kind == kind]
        yield from draw_growth(own)


def _list_grown(entry: Entry) -> Iterator[_Grown]:
    """Yield the inserts that differ in one parameter, by which the number of series differs."""
    groups: dict[str, dict[int, PageResult]] = defaultdict(dict)
    for each in list_inserts(entry):
        count = series_of(each.result)
        for name in each.result.dataset.params if count else ():
            groups[key_of(each, name, without=name)].setdefault(count, each)
    for found in groups.values():
        if len(found) >= _FEWEST:
            yield dict(sorted(found.items()))


def _describe_series(entry: Entry, grown: _Grown) -> Line:
    """Return a row, with the queries on the rows of these inserts, of the same settings."""
    counts = {each.repeated: count for count, each in grown.items() if each.repeated}
    asked = {
        counts[each.repeated]: each
        for each in entry.results
        if each.result.kind == "query" and each.repeated in counts
    }
    fewest, most = min(grown), max(grown)
    before, after = list_rates(grown[fewest]), list_rates(grown[most])
    cells: dict[str, Cell] = {
        f"{count:,} series, rows/s": make_cell(list_rates(each), each.link, "{:,.0f}".format)
        for count, each in grown.items()
    }
    cells[_KEPT] = compare(after, before), grown[most].link
    for count in (fewest, most):
        if memories_mib := list_memories_mib(grown[count]):
            cell = make_cell(memories_mib, grown[count].link, "{:,.0f}".format)
            cells[f"Server with {count:,}, MiB"] = cell
    for count in (fewest, most):
        if each := asked.get(count):
            waits = [
                value
                for name in list_newest_of_one(each)
                for value in list_values(each, "p50_ms", name)
            ]
            cell = make_cell(waits, each.link, significant)
            cells[f"Newest row of one of {count:,}, ms"] = cell
    queries = [asked[count] for count in sorted(asked)]
    return Line(entry, [*grown.values(), *queries], cells, [divide(after, before)])


def ask_about_rows(entries: Sequence[Entry]) -> Question | None:
    """Return the cost of growing tables, if there are fill-level tests."""
    found = [
        (entry, each, steps)
        for entry in entries
        for each in entry.results
        if each.result.configuration.get("steps") and len(steps := _list_steps(each)) > 1
    ]
    most = max((steps[-1][0] for *_, steps in found), default=0)
    return ROWS.answer(
        [_describe_steps(*each) for each in found],
        _draw_rows,
        lambda _, ends: f"With {most:,} rows in the table, rate kept: {ends}",
    )


def _draw_rows(lines: Sequence[Line]) -> Iterator[Picture]:
    yield from draw_values("Rate kept in the last step", "share", lines, _KEPT)
    yield from picture_over(
        Over(RATE, "Rate by rows in the tables", "level"),
        [(each, each.summary.rows) for line in lines for each in line.results],
    )


def _list_steps(each: PageResult) -> list[tuple[int, list[float]]]:
    """Return the rows in the tables before each step, and the rate of the step in each repeat."""
    names = {row.place.level or 0: row.place.name for row in each.summary.rows}
    found = [(level, list_values(each, RATE, name)) for level, name in sorted(names.items())]
    return [(level, rates) for level, rates in found if min(rates, default=0)]


def _describe_steps(
    entry: Entry, each: PageResult, steps: Sequence[tuple[int, list[float]]]
) -> Line:
    cells: dict[str, Cell] = {
        f"{level:,} rows before, rows/s": make_cell(rates, each.link, "{:,.0f}".format)
        for level, rates in steps
    }
    (_, before), *_, (_, after) = steps
    cells[_KEPT] = compare(after, before), each.link
    return Line(entry, [each], cells, [divide(after, before)])
