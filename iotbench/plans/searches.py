"""The next measurements: of settings with a search, and of settings that use a search."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from iotbench.config.targets.config import Target
from iotbench.plans.items import Found, Item, MeasuredItem, Pair, worst_of
from iotbench.plans.measures import measures_of
from iotbench.plans.record import Curve, CurvePoint
from iotbench.plans.settings import Setting, best_number

_RATE = "rows_per_s"
_Rates = Mapping[tuple[str, str], Mapping[int, tuple[float, ...]]]
"""(setting, target) -> rates of the search by number, without failed repeats."""


def first_pairs(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs to measure first: searches begin with their first number."""
    return [
        pair.with_number(pair.setting.search.numbers()[0]) if pair.setting.search else pair
        for pair in pairs
        if not pair.setting.batch_of
    ]


def all_pairs(pairs: Sequence[Pair], found: Found = ()) -> list[Pair]:
    """Return all pairs that may be measured, with a pair for each number of a search.

    A setting that uses the batch of a search has the best batch found, or else the largest batch.
    """
    rates = _group_rates(found)
    largest = {pair.setting.name: pair.setting.batches for pair in pairs}
    result = []
    for pair in pairs:
        search, source = pair.setting.search, pair.setting.batch_of
        if search:
            result += [pair.with_number(number) for number in search.numbers()]
        elif source:
            own = rates.get((source, pair.target.name))
            result.append(pair.with_number(best_number(own) if own else largest.get(source) or 0))
        else:
            result.append(pair)
    return result


def next_pairs(
    pairs: Sequence[Pair],
    found: Found,
    refusal_of: Callable[[Setting, Target], str],
    refused: dict[tuple[str, str], str],
) -> list[Pair]:
    """Return the searches that continue, and the settings that use finished searches.

    Settings that the target cannot take are added to `refused`.
    """
    rates = _group_rates(found)
    known = {_key(item) for item, _ in found} | {*refused}
    unfinished = set()
    following = []
    for pair in pairs:
        search, key = pair.setting.search, (pair.setting.name, pair.target.name)
        number = search.next_number(rates[key]) if search and key in rates else None
        if not number:
            continue
        one = pair.with_number(number)
        what = f"{pair.setting.name} with {pair.setting.format_number(number)}"
        if problem := refusal_of(one.setting, one.target):
            refused[what, pair.target.name] = problem
        else:
            unfinished.add(key)
            following.append(one)
    for pair in pairs:
        name, source, target = pair.setting.name, pair.setting.batch_of, pair.target.name
        if not source or (name, target) in known or (source, target) in unfinished:
            continue
        own = rates.get((source, target), {})
        if not any(own.values()):
            refused[name, target] = f"{source} has found no batch for it"
            continue
        one = pair.with_number(best_number(own))
        if problem := refusal_of(one.setting, one.target):
            refused[name, target] = problem
        else:
            following.append(one)
    return following


def keep_best(found: Found) -> list[tuple[Item, MeasuredItem]]:
    """Return the items; of each search, keep only the items with the best number."""
    best = {key: best_number(rates) for key, rates in _group_rates(found).items()}
    return [
        (item, measured)
        for item, measured in found
        if best.get(key := _key(item)) is None or best[key] == item.setting.number
    ]


def curves(found: Found) -> Iterator[Curve]:
    """Yield the curve of each search: the rates by number."""
    sought = {_key(item): item.setting.search.sought for item, _ in found if item.setting.search}
    for (setting, target), rates in _group_rates(found).items():
        points = []
        for number, values in sorted(rates.items()):
            place = (setting, target, number)
            items = (each for item, each in found if (*_key(item), item.setting.number) == place)
            points.append(CurvePoint(number=number, values=values, verdict=worst_of(items)))
        yield Curve(
            setting=setting, target=target, sought=sought[setting, target], points=tuple(points),
            best=best_number(rates),
        )  # fmt: skip


def _group_rates(found: Found) -> _Rates:
    rates: dict[tuple[str, str], dict[int, tuple[float, ...]]] = defaultdict(dict)
    for item, each in found:
        if item.setting.search:
            number, by_number = item.setting.number, rates[_key(item)]
            measures = measures_of(result for _, result in each.results)
            values = (measures[_RATE],) if each.is_complete and _RATE in measures else ()
            by_number[number] = (*by_number.get(number, ()), *values)
    return rates


def _key(item: Item) -> tuple[str, str]:
    return item.setting.name, item.target.name
