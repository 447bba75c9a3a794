"""Costs of the vendors' drivers: the same inserts by the program's own client and by a driver."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from iotbench.figures.numbers import significant
from iotbench.output.page.measured import PageResult
from iotbench.output.site.entries import Entry, list_rates
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

TOPIC = Topic(
    "What does a driver cost?",
    "drivers.html",
    "drivers",
    "The same rows, by the own client and by the vendor's driver",
    "The own client sends the bytes that a server reads; an application gives Python objects to a"
    " driver. In brackets the widest range of the repeats. CPU: time of the workers on a core.",
    "{:.0%}".format,
    is_highest_first=True,
)
_OPTION, _OWN = "client", "own"
"""Option of a target that names the client, and the program's own."""
_SHARE, _OF_OWN = "Rate, of own", "Rate of the driver, of that of the own client"
_CPU = "client_ns_per_row"


def ask(entries: Sequence[Entry]) -> Question | None:
    """Return the cost of drivers, if inserts differ in the client only."""
    return TOPIC.answer(
        (line for entry in entries for line in _list_lines(entry)),
        lambda lines: draw_values(_OF_OWN, "share", lines, _SHARE),
        lambda _, ends: f"{_OF_OWN}: {ends}",
    )


def _list_lines(entry: Entry) -> Iterator[Line]:
    """Yield a row for the inserts by each driver, with those by the own client."""
    groups: dict[str, dict[str, PageResult]] = defaultdict(dict)
    for each in list_inserts(entry):
        options = each.result.target_options
        key = key_of(each, {k: v for k, v in options.items() if k != _OPTION})
        groups[key].setdefault(str(options.get(_OPTION, _OWN)), each)
    for clients in groups.values():
        own = clients.pop(_OWN, None)
        yield from (_describe(entry, own, driver) for driver in clients.values() if own)


def _describe(entry: Entry, own: PageResult, driver: PageResult) -> Line:
    rates, base = list_rates(driver), list_rates(own)
    cells: dict[str, Cell] = {
        "Driver": (str(driver.result.target_options[_OPTION]), driver.link),
        "Own client, rows/s": make_cell(base, own.link, "{:,.0f}".format),
        "Driver, rows/s": make_cell(rates, driver.link, "{:,.0f}".format),
        _SHARE: (compare(rates, base), driver.link),
    }
    for name, each in (("Own client", own), ("Driver", driver)):
        row = each.summary.headline
        cpu_us = [ns / 1000 for ns in list_values(each, _CPU, row.place.name)] if row else []
        cells[f"{name}, µs/row of CPU"] = make_cell(cpu_us, each.link, significant)
    return Line(entry, [own, driver], cells, [divide(rates, base)])
