"""The queries of the wide workload: every part of the language of logical queries."""

from dataclasses import dataclass

from simulator.data.derived import derive, spells
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Condition,
    DistinctQuery,
    Function,
    NewestQuery,
    OneOf,
    Operator,
    Query,
    RowsQuery,
    Selection,
)
from simulator.data.schema import Table, Type


@dataclass(frozen=True)
class Scope:
    """The tables, and where their rows lie."""

    readings: Table
    states: Table
    sites: tuple[str, ...]
    middle_us: int
    """The time of the reading in the middle."""
    hour_us: int
    """The whole milliseconds between two readings."""
    turn_ms: int
    """The time of the state in the middle."""
    pause_ms: int
    highest: int
    """The greatest value of the column `large`."""

    @property
    def user(self) -> str:
        return self.readings.columns[2].name

    @property
    def order(self) -> str:
        return self.readings.columns[4].name

    @property
    def notes(self) -> list[str]:
        return [column.name for column in self.readings.fields if column.type is Type.TEXT]


SOME = (
    Aggregate(Function.COUNT, "large"),
    Aggregate(Function.SUM, "single"),
    Aggregate(Function.AVG, "single"),
)
COUNT = (Aggregate(Function.COUNT),)


def queries_of(scope: Scope) -> dict[str, Query]:
    """Return the queries by name."""
    return {
        **_aggregated(scope),
        **_filtered(scope),
        **_ends(scope),
        **_rows(scope),
        **_derived(scope),
        **_spells(scope),
    }


def _aggregates(*wanted: tuple[str, str]) -> tuple[Aggregate, ...]:
    return tuple(
        Aggregate(Function(function), column or None)
        for column, functions in wanted
        for function in functions.split()
    )


def _equal(**tags: str) -> Selection:
    return Selection(tuple(OneOf(tag, (value,)) for tag, value in tags.items()))


def _compared(column: str, operator: str, value: float) -> Selection:
    return Selection(compared=(Condition(column, Operator(operator), value),))


def _divided(column: str, operator: str, value: float, divisor: str) -> Selection:
    return Selection(compared=(Condition(column, Operator(operator), value, divisor),))


def _aggregated(scope: Scope) -> dict[str, Query]:
    readings, states, order = scope.readings, scope.states, scope.order
    hour, pause = scope.hour_us, scope.pause_ms
    return {
        "count": AggregateQuery(readings, COUNT),
        "every function of every type": AggregateQuery(
            readings,
            _aggregates(
                ("time", "count min max"),
                ("small", "count sum avg min max"),
                (order, "count sum avg min max"),
                ("large", "count min max"),
                ("single", "count sum avg min max"),
                ("edge32", "min max"),
                ("double", "count sum avg min max"),
                ("edge64", "min max"),
                ("flag", "count sum avg min max"),
                *((note, "count min max") for note in scope.notes),
                ("seen", "count min max"),
            ),
        ),
        "by text": AggregateQuery(readings, _aggregates((order, "avg")), by=("site",)),
        "by text with NULL": AggregateQuery(readings, SOME, by=(scope.user,)),
        "by two tags": AggregateQuery(
            states, _aggregates(("running", "sum"), ("", "count")), by=("machine", "rack")
        ),
        "by time": AggregateQuery(readings, SOME, bucket=7 * hour),
        "by integer time": AggregateQuery(
            states, _aggregates(("starts", "sum avg")), bucket=60 * pause
        ),
        "by tag and time": AggregateQuery(
            states, _aggregates(("level", "avg max")), by=("machine",), bucket=15 * pause
        ),
        "by time in a range that cuts buckets": AggregateQuery(
            readings,
            SOME,
            bucket=7 * hour,
            selection=Selection(since=scope.middle_us - 20 * hour - 5, until=scope.middle_us + 6),
        ),
        "by tag and time in a range within a bucket": AggregateQuery(
            states,
            _aggregates(("level", "avg max"), ("starts", "last")),
            by=("machine",),
            bucket=600 * pause,
            selection=Selection(since=scope.turn_ms - pause, until=scope.turn_ms + 7 * pause),
        ),
        "newest buckets": AggregateQuery(readings, SOME, bucket=7 * hour, newest=3),
        "newest buckets, in integers": AggregateQuery(
            states,
            _aggregates(("starts", "sum"), ("level", "max")),
            bucket=15 * pause,
            selection=_equal(machine="saw"),
            newest=2,
        ),
        "distinct": DistinctQuery(readings, readings.key),
        "distinct tags": DistinctQuery(states, ("machine", "rack")),
    }


def _filtered(scope: Scope) -> dict[str, Query]:
    readings, states, sites = scope.readings, scope.states, scope.sites
    hour, middle, turn, pause = scope.hour_us, scope.middle_us, scope.turn_ms, scope.pause_ms
    several = OneOf("site", (sites[1], sites[4], "nowhere", sites[6]))
    selections = {
        "where": _equal(site=sites[4]),
        "where nothing is": _equal(site="nowhere"),
        "where two": _equal(**{"site": "Ost", scope.user: "Bob"}),
        "where one of several": Selection((several,)),
        "where one of several that may be NULL": Selection(
            (several, OneOf(scope.user, ("ann", "Bob")))
        ),
        "where a float is less": _compared("single", "<", -1.25),
        "where a float is greater or NULL": _compared("double", ">", 0.5),
        "where an integer is at most, or NULL": _compared(scope.order, "<=", -1),
        "where an integer is": _compared("small", "=", -(2**15)),
        "where a large integer is greater": _compared("large", ">", scope.highest - 1),
        "where a large integer is at least": _compared("large", ">=", 1 - scope.highest),
        "where a quotient of integers is": _divided(scope.order, ">", 65_538, "small"),
        "where everything holds": Selection(
            (several,),
            (
                Condition("single", Operator.AT_LEAST, -5.5),
                Condition("single", Operator.AT_MOST, 4.25),
            ),
            since=middle - 20 * hour,
        ),
    }
    return {
        **{name: AggregateQuery(readings, SOME, selection=s) for name, s in selections.items()},
        "where a quotient of numbers is": AggregateQuery(
            states, COUNT, selection=_divided("starts", "<=", 1000, "level")
        ),
        "where a tag is a number": AggregateQuery(
            states, COUNT, by=("machine",), selection=_compared("rack", "=", -1)
        ),
        "by tag and time where one of several": AggregateQuery(
            states,
            _aggregates(("level", "avg max")),
            by=("machine",),
            bucket=15 * pause,
            selection=Selection((OneOf("machine", ("press", "saw")),)),
        ),
        "since and until": AggregateQuery(
            readings,
            SOME,
            by=("site",),
            selection=Selection(since=middle - 10 * hour, until=middle + 5 * hour + 6),
        ),
        "since, in integers": AggregateQuery(
            states, _aggregates(("level", "avg")), selection=Selection(since=turn - pause)
        ),
    }


def _ends(scope: Scope) -> dict[str, Query]:
    readings, states = scope.readings, scope.states
    numbers = _aggregates(
        *((column, "first last") for column in ("small", scope.order, "large", "single", "double"))
    )
    others = _aggregates(*((column, "last first") for column in ("flag", "seen", *scope.notes)))
    press, shown = _equal(machine="press"), ("level", "timestamp")
    early = Selection((OneOf("site", scope.sites[2:5]),), until=scope.middle_us)
    return {
        "first and last": AggregateQuery(readings, numbers, by=("site",)),
        "first and last of other types": AggregateQuery(readings, others, by=("site",)),
        "first and last by tag and time": AggregateQuery(
            readings,
            (*numbers, Aggregate(Function.MAX, "single")),
            by=("site",),
            bucket=50 * scope.hour_us,
        ),
        "first and last where": AggregateQuery(
            states,
            _aggregates(("level", "first last"), ("starts", "last"), ("running", "first")),
            selection=press,
        ),
        "first and last where, by time": AggregateQuery(
            states,
            _aggregates(("starts", "first last max")),
            bucket=15 * scope.pause_ms,
            selection=press,
        ),
        "last where nothing is": AggregateQuery(
            readings, _aggregates(("single", "last")), selection=_equal(site="nowhere")
        ),
        "newest": NewestQuery(readings, ("site",), ("single", "flag", "seen", *scope.notes)),
        "newest, in integers": NewestQuery(states, ("machine",), shown),
        "newest of two tags": NewestQuery(states, ("rack", "machine"), shown),
        "newest of two tags with NULL": NewestQuery(
            readings, ("site", scope.user), ("time", "double")
        ),
        "newest where": NewestQuery(readings, ("site",), ("single", "time"), early),
        "newest of two tags where": NewestQuery(
            states, ("machine", "rack"), ("starts",), _compared("level", "<", 20.0)
        ),
    }


def _rows(scope: Scope) -> dict[str, Query]:
    readings, states, sites = scope.readings, scope.states, scope.sites
    hour, middle = scope.hour_us, scope.middle_us
    early = Selection((OneOf("site", (sites[1],)),), since=None, until=middle + hour)
    return {
        "rows of some columns": RowsQuery(readings, ("single", "time", "site")),
        "rows where": RowsQuery(
            readings,
            selection=Selection((OneOf("site", (sites[0], sites[4])),), since=middle - 30 * hour),
        ),
        "rows where a number is": RowsQuery(
            states, ("machine", "timestamp", "rack"), _compared("level", ">", 30.0)
        ),
        "newest rows": RowsQuery(states, selection=_equal(machine="mill"), newest=7),
        "newest rows of some columns": RowsQuery(
            readings, ("small", "seen", scope.user), early, newest=5
        ),
    }


def _derived(scope: Scope) -> dict[str, Query]:
    """Queries that read the answer to another query."""
    readings, states, hour, pause = scope.readings, scope.states, scope.hour_us, scope.pause_ms
    newest = derive("newest", NewestQuery(states, ("machine",), ("level", "starts", "timestamp")))
    shown = ("machine", "newest_starts", "newest_timestamp")
    of_sites = derive(
        "sites", AggregateQuery(readings, _aggregates(("single", "avg"), ("", "count")), ("site",))
    )
    of_users = derive(
        "users",
        AggregateQuery(readings, _aggregates(("large", "count")), (scope.user,), 20 * hour),
    )
    periods = derive(
        "periods",
        AggregateQuery(states, _aggregates(("level", "avg")), ("machine", "rack"), 20 * pause),
    )
    high = _compared("avg_level", ">", 18.0)
    counts = derive(
        "counts", AggregateQuery(periods, COUNT, ("machine",), 60 * pause, selection=high)
    )
    return {
        "newest rows with a number": RowsQuery(
            newest, shown, _compared("newest_level", "<", 37.125)
        ),
        "newest rows with a quotient": RowsQuery(
            newest, shown, _divided("newest_starts", ">", 2380, "newest_level")
        ),
        "groups with a mean": RowsQuery(
            of_sites, ("site", "count"), _compared("avg_single", ">", 0.2)
        ),
        "groups with a mean, where nothing is": RowsQuery(
            of_sites, ("site",), _compared("avg_single", ">", 99)
        ),
        "aggregates of groups": AggregateQuery(
            of_users,
            _aggregates(("count_large", "sum min max avg"), ("", "count")),
            (scope.user,),
            selection=_compared("count_large", ">", 3),
        ),
        "aggregates of groups, in all": AggregateQuery(
            periods, _aggregates(("", "count"), ("rack", "min")), selection=high
        ),
        "aggregates of groups by time": AggregateQuery(
            periods, COUNT, ("rack",), 60 * pause, selection=high
        ),
        "means of counts": AggregateQuery(counts, _aggregates(("count", "avg")), ("machine",)),
        "counts of counts": RowsQuery(counts, ("machine", "bucket_"), _compared("count", "<", 9)),
    }


def _spells(scope: Scope) -> dict[str, Query]:
    """Queries about runs of buckets."""
    readings, states, hour, pause = scope.readings, scope.states, scope.hour_us, scope.pause_ms
    running = _aggregates(("running", "max"))
    by_machine = derive("periods", AggregateQuery(states, running, ("machine",), 3 * pause))
    of_all = derive("periods", AggregateQuery(states, _aggregates(("starts", "max")), (), pause))
    of_users = derive(
        "periods",
        AggregateQuery(readings, _aggregates(("double", "count")), (scope.user, "site"), 9 * hour),
    )
    runs = spells("runs", by_machine, Condition("max_running", Operator.EQUAL, 0))
    busy = spells("busy", of_users, Condition("count_double", Operator.AT_LEAST, 1))
    lengths = _aggregates(("length", "count sum avg max"), ("", "count"))
    return {
        "spells": RowsQuery(runs, selection=_compared("length", ">", 0)),
        "spells by tag": AggregateQuery(runs, lengths, ("machine",)),
        "spells by tag and time": AggregateQuery(runs, lengths, ("machine",), 70 * pause),
        "spells by a tag with NULL": AggregateQuery(busy, lengths, (scope.user,)),
        "the spell that does not end": AggregateQuery(
            spells("late", of_all, Condition("max_starts", Operator.MORE, 90 * 90)), lengths
        ),
    }
