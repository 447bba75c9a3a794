"""The first page of a site: inserts by promise, and waits of queries as factors of the best."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median

from iotbench.figures.figures import FigureValue
from iotbench.figures.numbers import significant
from iotbench.output.page.build import name_section
from iotbench.output.site.content import (
    HeadCell,
    HeatTable,
    InsertLine,
    LinkedCell,
    Promise,
    RateBar,
)
from iotbench.output.site.entries import (
    LEAST_RUNS,
    PROMISES,
    Entry,
    choose_fastest,
    describe_values,
)
from simulator.errors import counted

_SHADES = (1.2, 2, 5, 20, 100)
"""Largest factor of each shade but the last."""
_MOST_NAMED = 3


def head_of(entry: Entry, *, is_single: bool) -> HeadCell:
    """Return the head of an entry; `is_single`: no other entry is of the same target."""
    words = [f"promise-{entry.promise}", *["advised"] * (entry.is_advised and not is_single)]
    return HeadCell(entry.product, entry.target, entry.page, " ".join(words))


def columns_of(entries: Sequence[Entry]) -> tuple[str, Sequence[str]]:
    """Return the workload of most inserts, and its settings in the order of the plan."""
    inserts = [(name, each) for entry in entries for name, each in entry.inserts.items()]
    if not inserts:
        return "", ()
    counts = Counter(each.result.dataset.workload for _, each in inserts)
    workload = max(counts, key=counts.__getitem__)
    places: dict[str, int] = {}
    for name, each in inserts:
        if each.result.dataset.workload == workload:
            places.setdefault(name, each.repeated.place if each.repeated else len(places))
    return workload, sorted(places, key=places.__getitem__)


def list_promises(
    entries: Sequence[Entry],
    heads: Mapping[str, HeadCell],
    workload: str,
    settings: Sequence[str],
    sized: Sequence[str],
) -> Iterator[Promise]:
    """Yield the inserts of the databases with each promise, fastest first.

    `sized`: workloads with a size on disk.
    """
    every = {entry.target: entry.rates(workload) for entry in entries}
    fastest = {name: choose_fastest(rates.values()) for name, rates in every.items()}
    highest = max((rate for rates in fastest.values() for rate in rates), default=0.0)
    for number, survived in enumerate(PROMISES):
        own = [each for each in entries if each.promise == number and every[each.target]]
        own.sort(key=lambda each: -median(fastest[each.target] or (0.0,)))
        if own:
            lines = [
                InsertLine(
                    heads[each.target],
                    _draw_bar(fastest[each.target], highest),
                    [*_list_cells(each, every[each.target], settings, sized)],
                    each.verdict,
                )
                for each in own
            ]
            answer = _name_fastest(own, fastest)
            yield Promise(f"promise-{number}", survived, answer, lines)


def _draw_bar(rates: Sequence[float], highest: float) -> RateBar | None:
    if not rates:
        return None
    middle = median(rates)
    ends = (100 * value / highest for value in (middle, min(rates), max(rates)))
    return RateBar(LinkedCell(f"{middle:,.0f}", note=describe_values(rates)), *ends)


def _list_cells(
    entry: Entry,
    every: Mapping[str, Sequence[float]],
    settings: Sequence[str],
    sized: Sequence[str],
) -> Iterator[LinkedCell]:
    for setting in settings:
        rates = every.get(setting)
        link = f"{entry.page}#{entry.inserts[setting].anchor}" if rates else ""
        text = f"{median(rates):,.0f}" if rates else "-"
        yield LinkedCell(text, describe_values(rates) if rates else "", link=link)
    for name in sized:
        size = entry.bytes_per_row.get(name)
        yield LinkedCell("-" if size is None else significant(size))


def _name_fastest(entries: Sequence[Entry], fastest: Mapping[str, Sequence[float]]) -> str:
    """Return the fastest databases: their runs overlap with runs of the first."""
    first = fastest[entries[0].target]
    if not first:
        return ""
    tied = [
        each for each in entries
        if (own := fastest[each.target]) and max(own) >= min(first)
    ]  # fmt: skip
    names = dict.fromkeys(each.product for each in tied[:_MOST_NAMED])
    few = "" if len(first) >= LEAST_RUNS else f", in {counted(len(first), 'run')} only"
    rate = f"{median(first):,.0f} rows/s{few}"
    if len(entries) == 1:
        return f"{entries[0].product}: {rate}"
    if len(names) == 1:
        return f"{entries[0].product} is fastest: {rate}"
    return f"{', '.join(names)} are fastest, and their runs overlap: {rate}"


def list_heats(
    entries: Sequence[Entry], heads: Mapping[str, HeadCell], pages: Mapping[str, str]
) -> Iterator[HeatTable]:
    """Yield a table of waits for each workload and setting; `pages`: title -> link of a page."""
    names = dict.fromkeys(name for entry in entries for name in entry.waits)
    for number, name in enumerate(names):
        having = [each for each in entries if name in each.waits and each.waits[name][1]]
        if having:
            yield _make_heat(f"queries-{number}", name, having, heads, pages)


def _make_heat(
    anchor: str,
    name: str,
    entries: Sequence[Entry],
    heads: Mapping[str, HeadCell],
    pages: Mapping[str, str],
) -> HeatTable:
    waits = {each.target: each.waits[name][1] for each in entries}
    queries = dict.fromkeys(query for own in waits.values() for query in own)
    best = {
        query: min(own[query].value for own in waits.values() if query in own) for query in queries
    }
    means = {
        target: math.exp(fmean(math.log(max(own[q].value, 1e-6) / max(best[q], 1e-6)) for q in own))
        for target, own in waits.items()
    }
    whole = {target for target, own in waits.items() if own.keys() == queries.keys()}
    ordered = sorted(entries, key=lambda each: (each.target not in whole, means[each.target]))
    rows: list[tuple[str, list[tuple[HeadCell, LinkedCell | None]]]] = [
        ("all queries", [(heads[each.target], _describe_mean(means[each.target],
                          is_whole=each.target in whole)) for each in ordered]),
    ]  # fmt: skip
    for query in queries:
        cells = [
            (
                heads[each.target],
                _describe_wait(waits[each.target].get(query), best[query], _link(each, name)),
            )
            for each in ordered
        ]
        rows.append((query, cells))
    workload = entries[0].waits[name][0].result.dataset.workload
    first = ordered[0]
    answer = (
        f"{first.product} answers fastest: its waits are {significant(means[first.target])} times"
        " the shortest of each query, as a geometric mean"
    )
    return HeatTable(
        anchor,
        f"Queries of workload {workload}",
        answer if len(entries) > 1 else "",
        [heads[each.target] for each in ordered],
        rows,
        pages.get(name_section(entries[0].waits[name][0].result), ""),
    )


def _link(entry: Entry, name: str) -> str:
    return f"{entry.page}#{entry.waits[name][0].anchor}"


def _describe_mean(factor: float, *, is_whole: bool) -> LinkedCell:
    if not is_whole:
        return LinkedCell("-", "some of the queries were not measured")
    return LinkedCell(significant(factor), "geometric mean of the factors", shade=_shade(factor))


def _describe_wait(wait: FigureValue | None, best_ms: float, link: str) -> LinkedCell | None:
    if wait is None:
        return None
    factor = wait.value / best_ms if best_ms else 1.0
    ends = ""
    if wait.low is not None and wait.high is not None:
        ends = f"; {significant(wait.low)} to {significant(wait.high)} ms in {wait.n} runs"
    text = f"mean wait {significant(wait.value)} ms{ends}"
    return LinkedCell(
        significant(factor), text, f"{significant(wait.value)} ms", link, _shade(factor)
    )


def _shade(factor: float) -> int:
    return next((i for i, most in enumerate(_SHADES) if factor <= most), len(_SHADES))
