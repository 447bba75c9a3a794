"""A session with a database of metrics, which answers queries over rows from points."""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, assert_never

from simulator.data.query import (
    EVERYTHING,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    Query,
    RowsQuery,
    Selection,
    Statement,
    outputs,
)
from simulator.data.schema import Column, Table
from simulator.modules.shared.client.partials import (
    Distinct,
    Key,
    Latest,
    NewestRows,
    Partial,
    PartialGroups,
)
from simulator.modules.shared.http.client import Http
from simulator.modules.shared.http.database import HttpSession
from simulator.modules.shared.metrics.points import (
    PointSeries,
    fields,
    rows_from_series,
    windows,
    within,
)
from simulator.modules.shared.metrics.rollups import (
    COUNT_ROWS,
    Combined,
    RolledUp,
    Rollup,
    by_hour,
    combinations,
    combine,
    doubtful,
    is_key,
    merge_points,
    newest_rollups,
    of_newest,
    rollups,
)

_PORTION_ROWS = 20_000


class MetricSession(HttpSession):
    """A session that answers queries from rollups and from points.

    The database aggregates the points of a field to a number for each series or group; the numbers
    are combined here. Rows are assembled here from points, which are read in spans of time that fit
    in memory; counts by the hour determine the spans. This work is the client's time: a subclass
    sends requests within `waiting`, or reads answers through `await_parts`.
    """

    finest: int
    """Number of instants per second that the database distinguishes."""
    unique: bool = True
    """True if the database keeps one point for each series and instant."""

    def __init__(self, http: Http, render: Callable[[Query], Statement]) -> None:
        """Store the connection and the Database's `render`."""
        super().__init__(http)
        self.render = render

    @abstractmethod
    def roll_up(self, text: str, query: AggregateQuery, wanted: Sequence[Rollup]) -> RolledUp:
        """Run a statement and return the requested rollups."""

    @abstractmethod
    def points(
        self, table: Table, columns: Sequence[Column], selection: Selection
    ) -> Iterable[PointSeries]:
        """Return the points of these fields that match the selection's tags and times."""

    @abstractmethod
    def run_tuned(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a text from config.yaml."""

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        with self.in_client():
            if not statement.parameters:
                return self.run_tuned(statement)
            query: Query
            (query,) = statement.parameters
            return self._read_answer(statement.text, query)

    def _read_answer(self, text: str, query: Query) -> Sequence[Sequence[Any]]:
        match query:
            case AggregateQuery():
                return self._aggregates(text, query)
            case NewestQuery():
                return self._newest(text, query)
            case DistinctQuery():
                return self._distinct(text, query)
            case RowsQuery():
                return [row for portion in self._rows(query, _PORTION_ROWS) for row in portion]
            case _:
                assert_never(query)

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        query: RowsQuery
        (query,) = statement.parameters
        for found in self._rows(query, rows):
            for start in range(0, len(found), rows):
                yield found[start : start + rows]

    def _rows(self, query: RowsQuery, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Yield the rows of each span of time; with `newest`, all of them at once."""
        table, names = query.table, [column.name for column in query.read]
        spans = self._spans(table, rows, query.selection)
        if query.newest is None:
            for span in spans:
                yield self._rows_of(table, names, span)
            return
        latest = Latest(query.newest)
        for span in reversed([*spans]):
            latest.add(self._rows_of(table, [table.time.name, *names], span))
            if len(latest.rows()) == query.newest:
                break
        yield latest.rows()

    def _rows_of(self, table: Table, names: Sequence[str], selection: Selection) -> list[list[Any]]:
        """Return these columns of the selected rows, assembled from points."""
        wanted = [column for column in fields(table) if column.name in names]
        if all(column.nullable for column in wanted):
            wanted.append(_any_field(table))
        places = {column.name: place for place, column in enumerate(table.columns)}
        found = rows_from_series(table, self.points(table, wanted, selection))
        return [[row[places[name]] for name in names] for row in found]

    def _by_hour(
        self, table: Table, by: tuple[str, ...] = (), selection: Selection = EVERYTHING
    ) -> Sequence[Sequence[Any]]:
        """Return the hours with rows, and the number of rows in each."""
        return self.run(self.render(by_hour(table, by, selection)))

    def _spans(
        self, table: Table, rows: int, selection: Selection = EVERYTHING
    ) -> Iterator[Selection]:
        """Yield the selection in spans of time with about this many rows each."""
        second = table.time_unit.per_second
        found = self._by_hour(table, (), selection)
        counts = sorted((int(hour), int(count)) for hour, count in found)
        # At least two instants: no database here accepts a span of one.
        finest = 2 * max(second // self.finest, 1)
        for span in windows(counts, 3600 * second, rows, finest):
            yield within(selection, *span)

    def _aggregates(self, text: str, query: AggregateQuery) -> Sequence[Sequence[Any]]:
        groups = combine(query, self.roll_up(text, query, rollups(query)))
        for column in self.find_undecided(groups):
            self._recompute(groups, column)
        extent = self._extent(query)
        if extent is not None:
            name = query.table.time.name
            for function, instant in zip((Function.MIN, Function.MAX), extent, strict=True):
                groups.merge((), Partial(function, name), instant)
        return groups.rows()

    def find_undecided(self, groups: Combined) -> list[Column]:
        """Return the columns with aggregates that need the points."""
        return doubtful(groups)

    def _recompute(self, groups: PartialGroups, column: Column) -> None:
        """Replace a column's aggregates by aggregates of its points."""
        groups.forget(column.name)
        table = groups.query.table
        for span in self._spans(table, _PORTION_ROWS, groups.query.selection):
            merge_points(groups, column, self.points(table, (column,), span))

    def _extent(self, query: AggregateQuery) -> tuple[int | Decimal, int | Decimal] | None:
        """Return the first and last time, if the query has an aggregate of times."""
        table = query.table
        if all(aggregate.column != table.time.name for aggregate in query.aggregates):
            return None
        hours = sorted(int(hour) for hour, _ in self._by_hour(table, (), query.selection))
        if not hours:
            return None
        width, every = 3600 * table.time_unit.per_second, (_any_field(table),)
        first, last = (
            [
                instant
                for series in self.points(table, every, within(query.selection, hour, hour + width))
                for instant, _ in series.points
            ]
            for hour in (hours[0], hours[-1])
        )
        return min(first), max(last)

    def _newest(self, text: str, query: NewestQuery) -> Sequence[Sequence[Any]]:
        """Return the newest rows, from the last points or from the last hours with rows."""
        table, selection = query.table, query.selection
        if last := newest_rollups(query):
            found: dict[Key, dict[str, Any]] = defaultdict(dict)
            for rollup, tags, value in self.roll_up(text, of_newest(query), last):
                found[tags][rollup.column] = value
            return [(*tags, *map(row.get, query.columns)) for tags, row in found.items()]
        width = 3600 * table.time_unit.per_second
        hours: dict[Key, int] = {}
        cut: set[int] = set()
        """The hour in which the selection ends; all its rows may be later."""
        for *group, start, _ in self._by_hour(table, query.tags, selection):
            key, hour = tuple(group), int(start)
            if selection.until is not None and hour + width > selection.until:
                cut.add(hour)
            else:
                hours[key] = max(hour, hours.get(key, hour))
        names = [*query.tags, table.time.name, *query.columns]
        newest = NewestRows(len(query.tags))
        for hour in sorted({*hours.values(), *cut}):
            span = within(selection, hour, hour + width)
            newest.add(self._rows_of(table, names, span))
        return newest.rows()

    def _distinct(self, text: str, query: DistinctQuery) -> Sequence[Sequence[Any]]:
        """Return the number of distinct combinations."""
        table = query.table
        if groups := combinations(query):
            rolled_up = self.roll_up(text, groups, rollups(groups))
            return [(len(combine(groups, rolled_up).rows()),)]
        if self.unique and is_key(query):
            rows = AggregateQuery(table, COUNT_ROWS)
            return combine(rows, self.roll_up(text, rows, rollups(rows))).rows()
        distinct = Distinct(outputs(RowsQuery(table, query.columns)), apart=True)
        for span in self._spans(table, _PORTION_ROWS):
            distinct.add(self._rows_of(table, query.columns, span))
            distinct.end_range()
        return distinct.rows()


def _any_field(table: Table) -> Column:
    (rows,) = rollups(AggregateQuery(table, COUNT_ROWS))
    return table.column(rows.column)
