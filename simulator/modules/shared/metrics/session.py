"""A session with a database of metrics: queries over rows, answered from points."""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, assert_never

from simulator.data.query import (
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    Query,
    RowsQuery,
    Statement,
    outputs,
)
from simulator.data.schema import Column, Table
from simulator.modules.shared.http import Http, HttpSession
from simulator.modules.shared.metrics.points import Series, fields, rows_of, windows
from simulator.modules.shared.metrics.rollups import (
    COUNT_ROWS,
    RolledUp,
    Rollup,
    by_hour,
    combined,
    doubtful,
    is_key,
    merge_points,
    newest_rollups,
    rollups,
)
from simulator.modules.shared.partials import Distinct, Groups, Newest, Partial

_PORTION_ROWS = 20_000


class MetricSession(HttpSession):
    """Answers queries from rollups and from points.

    The database aggregates the points of a field to one number for each series or group; these are
    combined here. Rows, and aggregates of single rows, are computed here from points, read in spans
    of time whose rows fit in memory; the database's counts by the hour give those spans.
    """

    finest: int
    """The number of instants in a second that the database distinguishes."""
    unique: bool = True
    """Whether the database keeps one point for each series and instant."""

    def __init__(self, http: Http, render: Callable[[Query], Statement]) -> None:
        """Take the connection and the Database's `render`."""
        super().__init__(http)
        self.render = render

    @abstractmethod
    def rolled_up(self, text: str, query: AggregateQuery, wanted: Sequence[Rollup]) -> RolledUp:
        """Run a statement and return the rollups that it asks for."""

    @abstractmethod
    def points(
        self, table: Table, columns: Sequence[Column], since: int | None, until: int | None
    ) -> Iterable[Series]:
        """Return the points of these fields in a span of time, half open."""

    @abstractmethod
    def tuned(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a text from config.yaml."""

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement and fetch every row."""
        if not statement.parameters:
            return self.tuned(statement)
        query: Query
        (query,) = statement.parameters
        match query:
            case AggregateQuery():
                return self._aggregates(statement.text, query)
            case NewestQuery():
                return self._newest(statement.text, query)
            case DistinctQuery():
                return self._distinct(statement.text, query)
            case RowsQuery():
                return [row for p in self.stream(statement, _PORTION_ROWS) for row in p]
            case _:
                assert_never(query)

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Yield every row in portions of at most `rows`."""
        query: Query
        (query,) = statement.parameters
        for span in self._spans(query.table, rows):
            found = self._rows(query.table, *span)
            for start in range(0, len(found), rows):
                yield found[start : start + rows]

    def _rows(self, table: Table, since: int, until: int) -> list[list[Any]]:
        return rows_of(table, self.points(table, fields(table), since, until))

    def _by_hour(self, table: Table, by: tuple[str, ...] = ()) -> Sequence[Sequence[Any]]:
        """Return the hours that have rows, and the number of rows of each."""
        return self.run(self.render(by_hour(table, by)))

    def _spans(self, table: Table, rows: int) -> Iterator[tuple[int, int]]:
        second = table.time_unit.per_second
        counts = sorted((int(hour), int(count)) for hour, count in self._by_hour(table))
        # Not a single instant: no database here accepts such a span.
        finest = 2 * max(second // self.finest, 1)
        return windows(counts, 3600 * second, rows, finest)

    def _aggregates(self, text: str, query: AggregateQuery) -> Sequence[Sequence[Any]]:
        groups = combined(query, self.rolled_up(text, query, rollups(query)))
        for column in doubtful(groups):
            self._recompute(groups, column)
        extent = self._extent(query)
        if extent is not None:
            name = query.table.time.name
            for function, instant in zip((Function.MIN, Function.MAX), extent, strict=True):
                groups.merge((), Partial(function, name), instant)
        return groups.rows()

    def _recompute(self, groups: Groups, column: Column) -> None:
        """Replace the aggregates of integers that are too large for doubles."""
        groups.forget(column.name)
        table = groups.query.table
        for span in self._spans(table, _PORTION_ROWS):
            merge_points(groups, column, self.points(table, (column,), *span))

    def _extent(self, query: AggregateQuery) -> tuple[int, int] | None:
        """Return the first and the last time, if the query asks for one."""
        table = query.table
        if all(aggregate.column != table.time.name for aggregate in query.aggregates):
            return None
        hours = sorted(int(hour) for hour, _ in self._by_hour(table))
        if not hours:
            return None
        width, every = 3600 * table.time_unit.per_second, (_any_field(table),)
        first, last = (
            [
                instant
                for series in self.points(table, every, hour, hour + width)
                for instant, _ in series.points
            ]
            for hour in (hours[0], hours[-1])
        )
        return min(first), max(last)

    def _newest(self, text: str, query: NewestQuery) -> Sequence[Sequence[Any]]:
        """Return the newest rows: the last points, or those of the last hour with rows."""
        table = query.table
        if last := newest_rollups(query):
            found: dict[Any, dict[str, Any]] = defaultdict(dict)
            counts = AggregateQuery(table, (), by=query.tags)
            for rollup, (tag,), value in self.rolled_up(text, counts, last):
                found[tag][rollup.column] = value
            return [(tag, *map(row.get, query.columns)) for tag, row in found.items()]
        hours: dict[Any, int] = {}
        for tag, hour, _ in self._by_hour(table, query.tags):
            hours[tag] = max(int(hour), hours.get(tag, int(hour)))
        places = {column.name: place for place, column in enumerate(table.columns)}
        wanted = [places[name] for name in (*query.tags, table.time.name, *query.columns)]
        width = 3600 * table.time_unit.per_second
        newest = Newest()
        for hour in sorted(set(hours.values())):
            found_rows = self._rows(table, hour, hour + width)
            newest.add([row[place] for place in wanted] for row in found_rows)
        return newest.rows()

    def _distinct(self, text: str, query: DistinctQuery) -> Sequence[Sequence[Any]]:
        """Return the number of distinct combinations."""
        table = query.table
        if self.unique and is_key(query):
            rows = AggregateQuery(table, COUNT_ROWS)
            return combined(rows, self.rolled_up(text, rows, rollups(rows))).rows()
        names = [column.name for column in table.columns]
        places = [names.index(name) for name in query.columns]
        every = outputs(RowsQuery(table))
        distinct = Distinct([every[place] for place in places], apart=True)
        for span in self._spans(table, _PORTION_ROWS):
            found = self._rows(table, *span)
            distinct.add([[row[place] for place in places] for row in found])
            distinct.end_range()
        return distinct.rows()


def _any_field(table: Table) -> Column:
    (rows,) = rollups(AggregateQuery(table, COUNT_ROWS))
    return table.column(rows.column)
