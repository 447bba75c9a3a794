"""Costs of more series and of more rows: the share of the rate that a database keeps."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import TypeAlias

from iotbench.figures.numbers import significant
from iotbench.figures.pictures import Over
from iotbench.output.page.content import Section
from iotbench.output.page.growth import draw_growth, find_memory_mib, list_newest_of_one, series_of
from iotbench.output.page.measured import PageResult
from iotbench.output.page.pictures import picture_over
from iotbench.output.site.entries import RATE, Entry, list_rates
from iotbench.output.site.question import (
    CELLS,
    Cell,
    Line,
    Question,
    compare,
    draw_values,
    list_values,
    make_cell,
    make_table,
    name_ends,
)

_FEWEST = 3
"""Minimum numbers of series, as for a line of a picture."""
_OF_ROWS = ("rows", "start_ms", "seed")
"""Options that do not distinguish settings."""
OF_SERIES, OF_ROWS = "cardinality.html", "growth.html"
"""Files of the pages."""
_KEPT = "Rate kept"
_RANGE = "in brackets the widest range of the repeats"
_Grown: TypeAlias = Mapping[int, PageResult]
"""Number of series -> its result, in rising order."""


def ask_about_series(entries: Sequence[Entry]) -> Question | None:
    """Return the cost of a higher cardinality, if inserts differ in the number of series only."""
    found = [(entry, grown) for entry in entries for grown in _list_grown(entry)]
    if not found:
        return None
    found.sort(key=lambda each: -_compute_kept(*_rates_at_ends(each[1])))
    asked = [_find_queries(entry, grown) for entry, grown in found]
    lines = [
        _describe_series(entry, grown, queries)
        for (entry, grown), queries in zip(found, asked, strict=True)
    ]
    inserts = [each for _, grown in found for each in grown.values()]
    queries = [each for own in asked for each in own.values()]
    kept = [[_compute_kept(*_rates_at_ends(grown))] for _, grown in found]
    section = Section(
        "cardinality",
        "The same number of rows, of fewer or more series",
        [f"Rate kept: the rate with the most series over that with the fewest, {_RANGE}. {CELLS}"],
        [
            *draw_values("Rate kept with the most series", "share", lines, _KEPT, kept),
            *draw_growth(inserts),
            *draw_growth(queries),
        ],
        [make_table(lines)],
    )
    counts = {count for _, grown in found for count in grown}
    ends = [(line.name, f"{share:.0%}") for line, (share,) in zip(lines, kept, strict=True)]
    answer = f"From {min(counts):,} to {max(counts):,} series, rate kept: {name_ends(ends)}"
    return Question(
        "What does a higher cardinality cost?", OF_SERIES, answer, section,
        [*inserts, *queries],
    )  # fmt: skip


def _list_grown(entry: Entry) -> Iterator[_Grown]:
    """Yield the inserts that differ in one parameter, by which the number of series differs."""
    groups: dict[str, dict[int, PageResult]] = defaultdict(dict)
    for each in entry.results:
        is_search = each.repeated and each.repeated.is_search
        count = series_of(each.result) if each.result.kind == "insert" and not is_search else 0
        if not count or not min(list_rates(each), default=0):
            continue
        record = str(each.repeated.record) if each.repeated else ""
        options = each.result.configuration
        for name in each.result.dataset.params:
            same = {k: v for k, v in options.items() if k not in (*_OF_ROWS, name)}
            groups[json.dumps([record, name, same], default=str)].setdefault(count, each)
    for found in groups.values():
        if len(found) >= _FEWEST:
            yield dict(sorted(found.items()))


def _find_queries(entry: Entry, grown: _Grown) -> _Grown:
    """Return the queries on the rows of these inserts, which belong to the same settings."""
    counts = {each.repeated: count for count, each in grown.items() if each.repeated}
    found = {
        counts[each.repeated]: each
        for each in entry.results
        if each.result.kind == "query" and each.repeated in counts
    }
    return dict(sorted(found.items()))


def _describe_series(entry: Entry, grown: _Grown, asked: _Grown) -> Line:
    cells: dict[str, Cell] = {
        f"{count:,} series, rows/s": make_cell(list_rates(each), each.link, "{:,.0f}".format)
        for count, each in grown.items()
    }
    cells[_KEPT] = compare(*_rates_at_ends(grown)[::-1]), grown[max(grown)].link
    for count in (min(grown), max(grown)):
        if memory_mib := find_memory_mib(grown[count]):
            cells[f"Server with {count:,}, MiB"] = f"{memory_mib:,.0f}", grown[count].link
    for count in (min(grown), max(grown)):
        if each := asked.get(count):
            waits = [
                value
                for name in list_newest_of_one(each)
                for value in list_values(each, "p50_ms", name)
            ]
            cell = make_cell(waits, each.link, significant)
            cells[f"Newest row of one of {count:,}, ms"] = cell
    return Line(entry, [*grown.values(), *asked.values()], cells)


def _rates_at_ends(grown: _Grown) -> tuple[Sequence[float], Sequence[float]]:
    """Return the rates with the fewest and with the most series."""
    return list_rates(grown[min(grown)]), list_rates(grown[max(grown)])


def _compute_kept(before: Sequence[float], after: Sequence[float]) -> float:
    return median(after) / median(before)


def ask_about_rows(entries: Sequence[Entry]) -> Question | None:
    """Return the cost of growing tables, if there are fill-level tests."""
    found = [
        (entry, each, steps)
        for entry in entries
        for each in entry.results
        if each.result.configuration.get("steps") and len(steps := _list_steps(each)) > 1
    ]
    if not found:
        return None
    found.sort(key=lambda each: -_compute_kept(each[2][0][1], each[2][-1][1]))
    lines = [_describe_steps(*each) for each in found]
    kept = [[_compute_kept(steps[0][1], steps[-1][1])] for _, _, steps in found]
    section = Section(
        "growth",
        "The same table, filled step by step",
        [f"Rate kept: the rate of the last step over that of the first, {_RANGE}. {CELLS}"],
        [
            *draw_values("Rate kept in the last step", "share", lines, _KEPT, kept),
            *picture_over(
                Over(RATE, "Rate by rows in the tables", "level"),
                [(each, each.summary.rows) for _, each, _ in found],
            ),
        ],
        [make_table(lines)],
    )
    ends = [(line.name, f"{share:.0%}") for line, (share,) in zip(lines, kept, strict=True)]
    most = max(steps[-1][0] for _, _, steps in found)
    answer = f"With {most:,} rows in the table, rate kept: {name_ends(ends)}"
    results = [each for _, each, _ in found]
    return Question("What does a growing table cost?", OF_ROWS, answer, section, results)


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
    cells[_KEPT] = compare(steps[-1][1], steps[0][1]), each.link
    return Line(entry, [each], cells)
