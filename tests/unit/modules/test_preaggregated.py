"""Aggregates that are kept beside a table give the same answers as its rows."""

from dataclasses import replace

import pytest

from simulator.data import workloads
from simulator.data.derived import innermost
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Condition,
    Function,
    OneOf,
    Operator,
    Selection,
)
from simulator.data.query_type import askable
from simulator.data.schema import Column, Role, Table, Type
from simulator.data.workloads import WORKLOADS
from simulator.data.workloads.iot import EVENTS, Iot
from simulator.modules.contract import AggregateOptions
from simulator.modules.shared.sql import language as sql
from simulator.modules.shared.sql import queries
from simulator.modules.shared.sql.preaggregated import (
    combine,
    definition,
    derive_aggregates,
    from_kept,
    name_kept,
    tags_of,
)
from simulator.modules.sqlite import Sqlite, SqliteDialect, SqliteOptions
from tests.contract.harness import Wideset, ask
from tests.contract.wide import Wide

OPTIONS = AggregateOptions(aggregate_intervals_s="60,3600")
ANSWERED = {
    "count",
    "by text",
    "by text with NULL",
    "by time",
    "by integer time",
    "by tag and time",
    "newest buckets",
    "newest buckets, in integers",
    "where",
    "where nothing is",
    "where one of several that may be NULL",
    "by tag and time where one of several",
    "groups with a mean",
    "aggregates of groups",
    "spells by a tag with NULL",
    "the spell that does not end",
}
FROM_ROWS = {
    "every function of every type",
    "by time in a range that cuts buckets",
    "by tag and time in a range within a bucket",
    "where a float is less",
    "since and until",
    "newest",
    "rows where",
    "distinct",
    "spells",
}
MINUTE_MS, HOUR_MS = 60_000, 3_600_000
HIGHEST = (Aggregate(Function.MAX, "temperature"),)


class OfKept(SqliteDialect):
    """SQLite's dialect for queries that read kept aggregates."""

    def aggregate(self, table: Table, aggregate: Aggregate) -> str:
        return combine(self, table, aggregate)

    def of_answers(self) -> sql.Dialect:
        return SqliteDialect()


@pytest.mark.parametrize("parts", [1, 4])
def test_every_query_that_they_answer_has_the_same_answer(tmp_path, monkeypatch, parts):
    monkeypatch.setitem(workloads.WORKLOADS, Wide.name, Wide)
    database = Sqlite(SqliteOptions(path=str(tmp_path / "kept.db")))
    wide, dialect = Wideset(parts=parts), SqliteDialect()
    wide.fill(database)
    answered = set()
    with database.connect() as session:
        for table in wide.tables:
            for interval_s in OPTIONS.intervals_s:
                start = dialect.bucket(table, interval_s * table.time_unit.per_second)
                views = derive_aggregates(table, interval_s).names
                for source, view in zip(table.names, views, strict=True):
                    query = definition(dialect, table, source, start)
                    session.connection.execute(f"CREATE TABLE {dialect.name(view)} AS {query}")
        for name, query in wide.queries.items():
            if (found := from_kept(query, OPTIONS)) is not None:
                answered.add(name)
                assert ask(session, queries.render(OfKept(), found)) == wide.answer(query), name

    assert answered >= ANSWERED
    assert not answered & FROM_ROWS


def read(query):
    """Return the interval of the aggregates that answer a query; None if its rows do."""
    found = from_kept(query, OPTIONS)
    return found and found.table.name.removeprefix("events_every_")


@pytest.mark.parametrize(
    ("bucket", "since", "until", "interval"),
    [
        (None, None, None, "3600s"),
        (HOUR_MS, None, None, "3600s"),
        (24 * HOUR_MS, HOUR_MS, 30 * HOUR_MS, "3600s"),
        (MINUTE_MS, HOUR_MS, 2 * HOUR_MS, "60s"),
        (90 * MINUTE_MS, None, None, "60s"),
        (HOUR_MS, 7 * MINUTE_MS, None, "60s"),
        (None, None, 7 * MINUTE_MS, "60s"),
        (MINUTE_MS, HOUR_MS + 1, 2 * HOUR_MS, None),
        (MINUTE_MS, HOUR_MS, 2 * HOUR_MS - 1000, None),
        (90_000, None, None, None),
    ],
)
def test_the_longest_interval_that_divides_buckets_and_range_is_read(
    bucket, since, until, interval
):
    selection = Selection(since=since, until=until)
    assert read(AggregateQuery(EVENTS, HIGHEST, (), bucket, selection)) == interval


@pytest.mark.parametrize(
    ("change", "interval"),
    [
        ({"by": ("device_id",)}, "3600s"),
        ({"selection": Selection((OneOf("device_id", ("a", "b")),))}, "3600s"),
        ({"selection": Selection(compared=(Condition("temperature", Operator.MORE, 1.5),))}, None),
        ({"aggregates": (Aggregate(Function.COUNT),)}, "3600s"),
        ({"aggregates": (*HIGHEST, Aggregate(Function.AVG, "temperature"))}, "3600s"),
        ({"aggregates": (*HIGHEST, Aggregate(Function.MAX, "sequence_number"))}, None),
        ({"aggregates": (*HIGHEST, Aggregate(Function.MIN, "device_id"))}, None),
    ],
)
def test_what_the_aggregates_do_not_have_is_read_from_the_rows(change, interval):
    assert read(replace(AggregateQuery(EVENTS, HIGHEST), **change)) == interval


def test_without_intervals_everything_is_read_from_the_rows():
    assert from_kept(AggregateQuery(EVENTS, HIGHEST), AggregateOptions()) is None


def test_tags_by_which_no_query_of_the_workload_asks_are_not_kept():
    table = replace(EVENTS, columns=(*EVENTS.columns, Column("site", Type.TEXT, Role.TAG)))
    assert tags_of(table) == ("device_id", "site")
    table = replace(table, queried_tags=("device_id",))
    assert tags_of(table) == ("device_id",)
    assert read(AggregateQuery(table, HIGHEST, ("device_id",))) == "3600s"
    assert read(AggregateQuery(table, HIGHEST, ("site",))) is None


def test_a_column_that_has_the_name_of_an_aggregate_keeps_it():
    table = replace(
        EVENTS, columns=(*EVENTS.columns, Column("max_temperature", Type.TEXT, Role.TAG))
    )
    names = name_kept(table)
    assert names[HIGHEST[0]] == "max_temperature_"
    assert len({*names.values()}) == len(names)


def test_only_columns_that_may_be_null_are_counted_apart():
    nullable = replace(
        EVENTS, columns=tuple(replace(c, nullable=c.name == "temperature") for c in EVENTS.columns)
    )
    counted = Aggregate(Function.COUNT, "temperature")
    assert counted in name_kept(nullable)
    assert counted not in name_kept(EVENTS)


@pytest.mark.parametrize("name", ["cpu", "dashboard", "devops", "homes", "iot", "trucks"])
def test_the_aggregates_of_a_workload_have_every_tag_by_which_it_asks(name):
    workload = WORKLOADS[name]
    params = {} if workload is Iot else {"scale": 32}
    made = workload(workload.params_model(**params), 1, 1_700_000_000_000)
    asked = 0
    for query_type in askable(made.query_types(made.tables, aligned=True)).values():
        query = innermost(query_type.instance(0))
        if isinstance(query, AggregateQuery):
            asked += 1
            tags = {*query.by, *(one.column for one in query.selection.one_of)}
            assert tags <= {*tags_of(query.table)}
    assert asked
