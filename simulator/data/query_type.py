"""Query types: kinds of queries with random parameters.

Instance i of a type is a pure function of the seed, the type's name and i, so workers and
verification need no list of queries.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Generic

import numpy as np
from typing_extensions import TypeVar

from simulator.data.derived import reselect
from simulator.data.mixer import draw, key_of
from simulator.data.query import DistinctQuery, Query, Selection

Asked_co = TypeVar("Asked_co", covariant=True, default=Query)


@dataclass(frozen=True, slots=True)
class QueryType(Generic[Asked_co]):
    """A kind of query."""

    instance: Callable[[int], Asked_co]
    varies: bool = True
    """True if instances differ; otherwise all are instance 0."""
    problem: str = ""
    """Reason why this dataset has no instance of the type; empty if there are instances."""

    def number(self, number: int) -> int:
        """Return the number of the instance to ask: `number`, or 0 if all instances are alike."""
        return number if self.varies else 0


def always(query: Query) -> QueryType:
    """Return the type of a query without parameters."""
    return QueryType(lambda _: query, varies=False)


def impossible(problem: str) -> QueryType:
    """Return a type without instances in this dataset, for this reason."""

    def none(_: int) -> Query:
        raise ValueError(problem)

    return QueryType(none, problem=problem)


def before(query_type: QueryType, until_ms: int) -> QueryType:
    """Return the type with instances about rows before an instant, in ms since 1970."""
    if not query_type.problem and isinstance(query_type.instance(0), DistinctQuery):
        return impossible("it counts combinations of all rows, and has no range of time")

    def instance(number: int) -> Query:
        query = query_type.instance(number)
        latest = until_ms * query.table.time_unit.per_second // 1000

        def end(rows: Selection) -> Selection:
            until = latest if rows.until is None else min(latest, rows.until)
            return replace(rows, until=until)

        return reselect(query, end)

    return replace(query_type, instance=instance)


def askable(types: Mapping[str, QueryType]) -> dict[str, QueryType]:
    """Return the types that have instances in the dataset."""
    return {name: each for name, each in types.items() if not each.problem}


class RandomParameters:
    """The random parameters of the instances of one type."""

    def __init__(self, seed: int, name: str) -> None:
        self._seed, self._name = seed, name

    def among(self, number: int, bound: int, count: int) -> tuple[int, ...]:
        """Return `count` different numbers 0 <= n < bound for instance `number`, ascending."""
        key = key_of(self._seed, f"{self._name}.among.{number}")
        found: dict[int, None] = {}
        drawn = 0
        while len(found) < count:
            for bits in draw(key, np.arange(drawn, drawn + count)).tolist():
                found[(bits * bound) >> 64] = None
            drawn += count
        return tuple(sorted([*found][:count]))

    def since(self, number: int, first: int, last: int, step: int = 1) -> int:
        """Return a random multiple of `step` from `first` to `last` for instance `number`."""
        low, high = -(-first // step), last // step
        key = key_of(self._seed, f"{self._name}.since")
        bits = int(draw(key, np.array([number]))[0])
        return (low + ((bits * (high - low + 1)) >> 64)) * step
