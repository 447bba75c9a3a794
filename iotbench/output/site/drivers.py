"""Costs of the vendors' drivers: the same inserts by the program's own client and by a driver."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median
from typing import TypeAlias

from iotbench.output.page.content import Section
from iotbench.output.page.measured import PageResult
from iotbench.output.site.entries import Entry, list_rates
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

FILE = "drivers.html"
"""File of the page."""
_OPTION, _OWN = "client", "own"
"""Option of a target that names the client, and the program's own."""
_OF_ROWS = ("rows", "start_ms", "seed")
"""Options that do not distinguish settings."""
_SHARE = "Rate, of own"
_CPU = "client_ns_per_row"
_Pair: TypeAlias = tuple[PageResult, PageResult]
"""The inserts by the own client and by a driver."""


def ask(entries: Sequence[Entry]) -> Question | None:
    """Return the cost of drivers, if inserts differ in the client only."""
    found = [(entry, pair) for entry in entries for pair in _list_pairs(entry)]
    if not found:
        return None
    found.sort(key=lambda each: -_compute_share(each[1]))
    lines = [_describe(*each) for each in found]
    shares = [[_compute_share(pair)] for _, pair in found]
    section = Section(
        "drivers",
        "The same rows, by the own client and by the vendor's driver",
        [
            (
                "The own client sends the bytes that a server reads; an application gives Python"
                " objects to a driver. In brackets the widest range of the repeats. Client: CPU"
                f" time of the workers. {CELLS}"
            )
        ],
        [*draw_values("Rate of the driver, of that of the own client", "share", lines, _SHARE,
                      shares)],
        [make_table(lines)],
    )  # fmt: skip
    ends = [(line.name, f"{share:.0%}") for line, (share,) in zip(lines, shares, strict=True)]
    answer = f"Rate of the driver, of that of the own client: {name_ends(ends)}"
    results = [each for _, pair in found for each in pair]
    return Question("What does a driver cost?", FILE, answer, section, results)


def _list_pairs(entry: Entry) -> Iterator[_Pair]:
    """Yield the inserts by the own client with those by each driver."""
    groups: dict[str, dict[str, PageResult]] = defaultdict(dict)
    for each in entry.results:
        result = each.result
        is_search = each.repeated and each.repeated.is_search
        if result.kind != "insert" or is_search or not min(list_rates(each), default=0):
            continue
        record = str(each.repeated.record) if each.repeated else ""
        options = {k: v for k, v in result.configuration.items() if k not in _OF_ROWS}
        target = {k: v for k, v in result.target_options.items() if k != _OPTION}
        key = json.dumps([record, options, target], sort_keys=True, default=str)
        groups[key].setdefault(str(result.target_options.get(_OPTION, _OWN)), each)
    for clients in groups.values():
        own = clients.pop(_OWN, None)
        yield from ((own, each) for each in clients.values() if own)


def _compute_share(pair: _Pair) -> float:
    own, driver = (median(list_rates(each)) for each in pair)
    return driver / own


def _describe(entry: Entry, pair: _Pair) -> Line:
    own, driver = pair
    cells: dict[str, Cell] = {
        "Driver": (str(driver.result.target_options[_OPTION]), driver.link),
        "Own client, rows/s": make_cell(list_rates(own), own.link, "{:,.0f}".format),
        "Driver, rows/s": make_cell(list_rates(driver), driver.link, "{:,.0f}".format),
        _SHARE: (compare(list_rates(driver), list_rates(own)), driver.link),
    }
    for name, each in (("Own client", own), ("Driver", driver)):
        cells[f"{name}, µs/row of CPU"] = make_cell(_list_cpu_us(each), each.link, "{:,.1f}".format)
    return Line(entry, pair, cells)


def _list_cpu_us(each: PageResult) -> list[float]:
    row = each.summary.headline
    return [ns / 1000 for ns in list_values(each, _CPU, row.place.name)] if row else []
