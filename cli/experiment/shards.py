"""Settings whose number of shards is searched: what comes next, and what was found."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from cli.experiment.engine import Found, Measured
from cli.experiment.items import Item, Pair
from cli.experiment.measures import measures_of
from cli.experiment.record import Curve, CurvePoint
from cli.experiment.search import best_number, next_number, numbers
from cli.experiment.settings import Setting
from cli.experiment.verdicts import worst_of
from cli.targets.config import Target
from simulator.errors import counted

_RATE = "rows_per_s"


def first_pairs(pairs: Sequence[Pair]) -> list[Pair]:
    """Return what is measured at first: searches begin with one shard."""
    return [_with_shards(pair, 1) if pair.setting.shards else pair for pair in pairs]


def all_pairs(pairs: Sequence[Pair]) -> list[Pair]:
    """Return all that may be measured: searches with every number of shards."""
    return [
        _with_shards(pair, number) if pair.setting.shards else pair
        for pair in pairs
        for number in numbers(pair.setting.shards or 1)
    ]


def next_pairs(
    pairs: Sequence[Pair],
    found: Found,
    refusal_of: Callable[[Setting, Target], str],
    refused: dict[tuple[str, str], str],
) -> list[Pair]:
    """Return the searches that go on, each with its next number; add those refused."""
    rates = _rates(found)
    following = []
    for pair in pairs:
        most, name, target = pair.setting.shards, pair.setting.name, pair.target.name
        number = next_number(rates.get((name, target), {}), most) if most else None
        if number is None:
            continue
        one = _with_shards(pair, number)
        if problem := refusal_of(one.setting, one.target):
            refused[f"{name} with {counted(number, 'shard')}", target] = problem
        else:
            following.append(one)
    return following


def chosen(found: Found) -> list[tuple[Item, Measured]]:
    """Return the items, of each search only those with the best number."""
    best = {key: best_number(rates) for key, rates in _rates(found).items()}
    return [pair for pair in found if best.get(_key(pair[0])) in (None, _shards(pair[0]))]


def curves(found: Found) -> Iterator[Curve]:
    """Yield the rates of each search by number of shards."""
    for (setting, target), rates in _rates(found).items():
        points = []
        for number, values in sorted(rates.items()):
            place = (setting, target, number)
            items = (each for item, each in found if (*_key(item), _shards(item)) == place)
            points.append(CurvePoint(shards=number, values=values, verdict=worst_of(items)))
        yield Curve(setting=setting, target=target, points=tuple(points), best=best_number(rates))


def _rates(found: Found) -> Mapping[tuple[str, str], dict[int, tuple[float, ...]]]:
    """Return (setting, target) -> the rates of its searches; of a failed repeat there is none."""
    rates: dict[tuple[str, str], dict[int, tuple[float, ...]]] = defaultdict(dict)
    for item, each in found:
        if item.setting.shards:
            number, by_number = _shards(item), rates[_key(item)]
            measures = measures_of(result for _, result in each.results)
            values = (measures[_RATE],) if each.is_complete and _RATE in measures else ()
            by_number[number] = (*by_number.get(number, ()), *values)
    return rates


def _key(item: Item) -> tuple[str, str]:
    return item.setting.name, item.target.name


def _shards(item: Item) -> int:
    return item.setting.insert.tables


def _with_shards(pair: Pair, number: int) -> Pair:
    return Pair(pair.setting.with_shards(number), pair.target)
