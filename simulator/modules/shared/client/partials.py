"""Answers that the client combines from partial answers.

If a database cannot answer a query at once, it is queried separately for each physical table, range
of tokens or window of time. A combiner takes the rows of all partial answers, in any order and any
number of portions, and returns the rows of the whole answer.

The partial aggregates of a group are merged as follows:

- A NULL, the aggregate of no values, changes nothing. A group exists once it is mentioned, even if
  all its values are NULL; a query without groups always has one group.
- Counts and sums are added. Sums of integers, booleans and instants are Python integers, exact
  beyond 2**53 and 2**63. Sums of floats are added as doubles: exact in any order for values on a
  grid (`Column.exact`), rounded for others, which verification allows for.
- The smallest minimum and the largest maximum remain. Texts are ordered by code point, which is the
  order of their UTF-8.
- A mean is the sum divided by the count. A mean that is given for a whole group is used unchanged;
  a second one for the same group is an error, because means cannot be merged.
- A first or last value comes with its time, as a pair; the earliest or latest pair remains.
"""

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from heapq import nlargest
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.hashes import hash_stored
from simulator.data.query import ENDS, Aggregate, AggregateQuery, Function, Output
from simulator.data.schema import FLOATS, Role, Type
from simulator.errors import RunError

Row: TypeAlias = Sequence[Any]
Key: TypeAlias = tuple[Any, ...]
"""A group: the values of the query's `by` tags, then the start of its bucket if it has buckets."""

_MANY = 1_000_000
"""Number of new rows above which they are merged into the known ones."""


class Combiner(ABC):
    """Combines the rows of partial answers into the rows of the whole answer."""

    @abstractmethod
    def add(self, rows: Sequence[Row]) -> None:
        """Add rows of a partial answer."""

    def end_range(self) -> None:  # noqa: B027 - most combiners have nothing to do here
        """End a range of tokens or time, all rows of which have been added."""

    @abstractmethod
    def rows(self) -> Sequence[Row]:
        """Return the rows of the whole answer."""


class Collected(Combiner):
    """Keeps all rows, in the order of arrival."""

    def __init__(self) -> None:
        self._rows: list[Row] = []

    def add(self, rows: Sequence[Row]) -> None:
        self._rows += rows

    def rows(self) -> Sequence[Row]:
        return self._rows


class Latest(Combiner):
    """Keeps the latest of rows (time, columns...)."""

    def __init__(self, number: int) -> None:
        """Store how many rows to keep."""
        self._number = number
        self._rows: list[Row] = []

    def add(self, rows: Iterable[Row]) -> None:
        self._rows = nlargest(self._number, chain(self._rows, rows), key=itemgetter(0))

    def rows(self) -> Sequence[Row]:
        return [row[1:] for row in self._rows]


class NewestRows(Combiner):
    """Keeps the newest of rows (tags..., time, columns...) for each combination of tags."""

    def __init__(self, tags: int = 1) -> None:
        """Store the number of tags."""
        self._tags = tags
        self._newest: dict[Key, Row] = {}

    def add(self, rows: Iterable[Row]) -> None:
        newest, time = self._newest, self._tags
        for row in rows:
            tags = tuple(row[:time])
            known = newest.get(tags)
            if known is None or known[time] < row[time]:
                newest[tags] = row

    def rows(self) -> Sequence[Row]:
        return [(*row[: self._tags], *row[self._tags + 1 :]) for row in self._newest.values()]


class Distinct(Combiner):
    """Counts distinct rows, by a 64-bit hash of each, as verification does.

    `apart`: rows of different ranges always differ, so a range's rows are forgotten when it ends.
    """

    def __init__(self, columns: Sequence[Output], *, apart: bool = False) -> None:
        self._columns = columns
        self._apart = apart
        self._counted = 0
        self._seen: NDArray[np.uint64] = np.empty(0, np.uint64)
        self._new: list[NDArray[np.uint64]] = []
        self._waiting = 0

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows; they are sorted in large portions, so that the cost per row stays constant."""
        self._new.append(hash_stored(self._columns, rows))
        self._waiting += len(rows)
        if self._waiting > max(len(self._seen), _MANY):
            self._sort()

    def _sort(self) -> None:
        self._seen = np.unique(np.concatenate([self._seen, *self._new]))
        self._new, self._waiting = [], 0

    def end_range(self) -> None:
        if self._apart:
            self._sort()
            self._counted += len(self._seen)
            self._seen = self._seen[:0]

    def rows(self) -> Sequence[Row]:
        self._sort()
        return [(self._counted + len(self._seen),)]


# --- aggregates ----------------------------------------------------------------------------------


class Partial(NamedTuple):
    """An aggregate of a part of a group, which can be merged with the aggregates of other parts."""

    function: Function
    column: str | None = None
    """None: the aggregate counts rows."""


ROWS = Partial(Function.COUNT)
"""The number of rows."""


def partials_of(query: AggregateQuery) -> tuple[Partial, ...]:
    """Return the partial aggregates that answer a query.

    A sum comes with a count: some databases return 0 as the sum of no values.
    """
    found: dict[Partial, None] = {}
    for aggregate in query.aggregates:
        function, column = aggregate.function, aggregate.column
        if function in (Function.SUM, Function.AVG):
            found |= {Partial(Function.COUNT, column): None, Partial(Function.SUM, column): None}
        else:
            found[Partial(function, column)] = None
    return tuple(found)


class PartialGroups(Combiner):
    """The groups of an aggregate query.

    Partial aggregates are added one at a time (`merge`), from a list of values (`merge_values`), or
    as rows with a group's key and a value for each of `partials`.
    """

    def __init__(self, query: AggregateQuery, partials: Sequence[Partial] = ()) -> None:
        self.query = query
        self.partials = partials
        self._groups: dict[Key, dict[Partial, Any]] = {}
        if not query.by and query.bucket is None:
            self._groups[()] = {}

    def add(self, rows: Iterable[Row]) -> None:
        keys = len(self.query.by) + (self.query.bucket is not None)
        for row in rows:
            key = tuple(row[:keys])
            for partial, value in zip(self.partials, row[keys:], strict=True):
                self.merge(key, partial, value)

    def mention(self, keys: Iterable[Key]) -> None:
        """Add groups, even if they have no values."""
        for key in keys:
            self._groups.setdefault(key, {})

    def has(self, key: Key, partial: Partial) -> bool:
        """Return whether a partial aggregate of a group is known."""
        return partial in self._groups.get(key, ())

    def merge(self, key: Key, partial: Partial, value: Any) -> None:
        """Add a partial aggregate of one group."""
        known = self._groups.setdefault(key, {})
        if value is None:
            return
        if partial not in known:
            known[partial] = value
            return
        match partial.function:
            case Function.COUNT | Function.SUM:
                known[partial] += value
            case Function.MIN:
                known[partial] = min(known[partial], value)
            case Function.MAX:
                known[partial] = max(known[partial], value)
            case Function.FIRST:
                known[partial] = min(known[partial], value, key=itemgetter(0))
            case Function.LAST:
                known[partial] = max(known[partial], value, key=itemgetter(0))
            case Function.AVG:
                raise ValueError(f"two means of {partial.column} for {key}: means cannot be merged")

    def merge_values(self, key: Key, partial: Partial, values: Sequence[Any]) -> None:
        """Add the partial aggregate of values, which may include None."""
        self.merge(key, partial, aggregate_of(partial.function, values))

    def forget(self, column: str) -> None:
        """Remove the partial aggregates of a column, but not the groups."""
        for known in self._groups.values():
            for partial in [partial for partial in known if partial.column == column]:
                del known[partial]

    def find_exceeding(self, limit: int) -> set[str]:
        """Return the columns, except floats, with a sum that may reach `limit`.

        The largest possible sum is the count times the largest absolute value.
        """
        table = self.query.table
        return {
            partial.column
            for known in self._groups.values()
            for partial in known
            if partial.function is Function.SUM
            and partial.column is not None
            and table.column(partial.column).type not in FLOATS
            and self._largest_sum(known, partial.column) >= limit
        }

    def _largest_sum(self, known: dict[Partial, Any], column: str) -> int:
        ends = (
            known.get(Partial(function, column), 0) for function in (Function.MIN, Function.MAX)
        )
        return (self._find_count(known, column) or 0) * max(abs(int(end)) for end in ends)

    def values(self, partial: Partial) -> list[Any]:
        """Return a partial aggregate of each group that has it."""
        return [known[partial] for known in self._groups.values() if partial in known]

    def rows(self) -> Sequence[Row]:
        """Return a row for each group: its key, then the query's aggregates.

        With `newest`, only the newest buckets are returned: several partial answers have more.
        """
        keys: Iterable[Key] = self._groups
        if self.query.newest is not None:
            keys = nlargest(self.query.newest, keys)
        return [
            (*key, *(self._compute(self._groups[key], each) for each in self.query.aggregates))
            for key in keys
        ]

    def _compute(self, known: dict[Partial, Any], aggregate: Aggregate) -> Any:
        function, name = aggregate.function, aggregate.column
        count = self._find_count(known, name)
        if name is None or function is Function.COUNT:
            return count or 0
        if function in (Function.MIN, Function.MAX):
            return self._find_extreme(known, Partial(function, name))
        if function in ENDS:
            _, value = known.get(Partial(function, name), (None, None))
            return value
        mean, total = (known.get(Partial(f, name)) for f in (Function.AVG, Function.SUM))
        if function is Function.AVG and mean is not None:
            return mean
        if total is None or count == 0:
            return None
        return total if function is Function.SUM else total / count

    def _find_count(self, known: dict[Partial, Any], name: str | None) -> int | None:
        """Return the count of a column; without NULLs, it is the count of rows."""
        found = known.get(Partial(Function.COUNT, name))
        if found is None and name is not None and not self.query.table.column(name).nullable:
            found = known.get(ROWS)
        return found

    def _find_extreme(self, known: dict[Partial, Any], partial: Partial) -> Any:
        """Return a minimum or maximum; a boolean's follows from its count and sum."""
        found, name = known.get(partial), partial.column
        if found is not None or name is None or self.query.table.column(name).type is not Type.BOOL:
            return found
        count, true = self._find_count(known, name), known.get(Partial(Function.SUM, name), 0)
        if not count:
            return None
        return int(true == count) if partial.function is Function.MIN else int(true > 0)


class Merged(PartialGroups):
    """Groups that are merged from rows (key, partial, value).

    The server's sums of integers have 64 bits, and an overflow is not reported.
    """

    def add(self, rows: Iterable[Row]) -> None:
        for key, partial, value in rows:
            self.merge(key, partial, value)

    def rows(self) -> Sequence[Row]:
        """Return a row for each group; RunError if a server's sum may exceed 64 bits."""
        for name in self.find_exceeding(2**63):
            if self.query.table.column(name).role not in (Role.TAG, Role.TIME):  # added up here
                raise RunError(
                    f"integer overflow: the sum of {name} may exceed 64 bits; query fewer rows"
                )
        return super().rows()


class GroupedRows(PartialGroups):
    """The groups of an aggregate query, aggregated here from the table's rows.

    A row has the `by` tags, then the time if the query needs it (`needs_time`), then the columns of
    `partials`, each once.
    """

    def __init__(
        self,
        query: AggregateQuery,
        partials: Sequence[Partial],
        instant: Callable[[Any], int] = int,
    ) -> None:
        """Store the partials to compute, and the converter of a row's time to the table's unit."""
        super().__init__(query, partials)
        self._instant = instant
        self._names = [*dict.fromkeys(p.column for p in partials if p.column is not None)]
        self._has_ends = any(partial.function in ENDS for partial in partials)

    def add(self, rows: Iterable[Row]) -> None:
        for key, members in self._group(rows).items():
            columns = zip(*members, strict=True)
            times = next(columns) if self._has_ends else ()
            by_name = dict(zip(self._names, columns, strict=False))
            for partial in self.partials:
                values = members if partial.column is None else by_name[partial.column]
                if partial.function in ENDS:
                    values = [*zip(times, values, strict=True)]
                self.merge_values(key, partial, values)

    def _group(self, rows: Iterable[Row]) -> dict[Key, list[Row]]:
        """Return the columns of each group's rows, after the time if `_has_ends`."""
        tags, width = len(self.query.by), self.query.bucket
        groups: dict[Key, list[Row]] = defaultdict(list)
        if not needs_time(self.query):
            for row in rows:
                groups[tuple(row[:tags])].append(row[tags:])
            return groups
        for row in rows:
            time, columns = self._instant(row[tags]), row[tags + 1 :]
            bucket = () if width is None else (time // width * width,)
            groups[*row[:tags], *bucket].append((time, *columns) if self._has_ends else columns)
        return groups


def needs_time(query: AggregateQuery) -> bool:
    """Return whether a query depends on the times of rows within its range."""
    return query.bucket is not None or any(a.function in ENDS for a in query.aggregates)


def aggregate_of(function: Function, values: Sequence[Any]) -> Any:
    """Return an aggregate of the values that are not None; None if there are none.

    For a first or last value, `values` are pairs of time and value.
    """
    if function in ENDS:
        pick = min if function is Function.FIRST else max
        pairs = (pair for pair in values if pair[1] is not None)
        return pick(pairs, key=itemgetter(0), default=None)
    present = [value for value in values if value is not None] if None in values else values
    match function:
        case Function.COUNT:
            return len(present)
        case Function.SUM if len(present):
            return math.fsum(present) if isinstance(present[0], float) else sum(present)
        case Function.MIN if len(present):
            return min(present)
        case Function.MAX if len(present):
            return max(present)
        case Function.AVG:
            raise ValueError("a mean is not a partial aggregate: ask for the sum and the count")
    return None
