"""Aggregates that databases keep beside their tables answer as the rows do, once they are fresh."""

from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from simulator.data.changes import Deleting
from simulator.data.fresh import fresh_types
from simulator.data.query import Aggregate, AggregateQuery, Function
from simulator.data.ranges import RowRange, lane_range
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey, names_of
from simulator.modules.clickhouse.database import Clickhouse, ClickhouseOptions
from simulator.modules.contract import BATCH, AggregateOptions
from simulator.modules.shared.sql.preaggregated import aggregates_of
from tests.contract.fresh_answers import Arriving
from tests.contract.harness import ask, drop, send
from tests.contract.targets import BY_ADDRESS, STORING, Target
from tests.unit import specs, stored_rows

INTERVALS = {"aggregate_intervals_s": "60,3600"}
MINUTE_MS = 60_000
COUNT = (Aggregate(Function.COUNT),)
HOUR_OF_STATES = 160
"""The number of the state with which an hour begins; readings are an hour apart."""


def _keeping(target: Target) -> Target:
    """The target with aggregates."""
    return replace(target, options=lambda request: {**target.options(request), **INTERVALS})


def _targets() -> dict[str, Target]:
    """One target of each module that keeps aggregates; TimescaleDB's Community edition by address.

    Version 18 of ClickHouse is too old for them.
    """
    found = {}
    for name, target in STORING.items():
        module = target.database
        if (
            issubclass(module.options_model, AggregateOptions)
            and not target.stand_in
            and (name in BY_ADDRESS or module.name != "timescaledb")
            and name not in ("clickhouse", "timescaledb_compressed")
        ):
            found[name] = _keeping(target)
    by_policy = found.get("timescaledb_aggregates")
    if by_policy:
        options = {**INTERVALS, "aggregate_refresh_s": 1}
        found["timescaledb_by_policy"] = replace(by_policy, options=lambda _: options)
    return found


TARGETS = [pytest.param(target, id=name) for name, target in _targets().items()]
by_target = pytest.mark.parametrize("target", TARGETS)


def dataset_of(*ranges):
    """Return published events in these ranges of rows."""
    return specs.dataset(params={"devices": 3}, start_ms=1_795_232_700_000, ranges=ranges)


def events(*ranges):
    """Return the reader of published events."""
    return DatasetReader(dataset_of(*ranges))


def write(database, rows):
    stored_rows.write(database, dataset_of(), rows, batch_rows=1000)


def answers(database, wide, blocks):
    """Ask everything; return how many queries read aggregates, all answers being right."""
    read = 0
    with database.connect() as session:
        for name, query in wide.queries.items():
            statement = database.statement(query)
            assert ask(session, statement) == wide.answer(query, blocks), name
            read += "_every_" in statement.text
    return read


@pytest.mark.parametrize("parts", [pytest.param(1, marks=pytest.mark.rare), 4])
@by_target
def test_aggregates_answer_exactly_before_and_after_each_refresh(request, target, parts):
    database, wide = target.open(request), target.wide(parts=parts)
    early = [block.take(np.flatnonzero(block.rows < HOUR_OF_STATES)) for block in wide.batches]
    late = [block.take(np.flatnonzero(block.rows >= HOUR_OF_STATES)) for block in wide.batches]
    database.create(wide.tables, 100)

    def store(blocks):
        with database.connect() as session:
            for block in blocks:
                send(session, block, BATCH, 100)
        database.visible(wide.tables)

    store(early)
    assert answers(database, wide, early) > 10
    database.compact(wide.tables)
    assert answers(database, wide, early) > 10
    store(late)
    assert answers(database, wide, [*early, *late]) > 10
    database.compact(wide.tables)
    assert answers(database, wide, [*early, *late]) > 10


@by_target
def test_rows_that_are_older_than_those_before_are_in_the_aggregates(request, target):
    database, first = target.open(request), RowRange(start=0, stop=2000)
    other = lane_range(1, 0, 500)  # of another worker, at the times of the first rows
    reader = events(first)
    database.create(reader.tables, 1000)
    write(database, first)
    database.compact(reader.tables)
    write(database, other)
    database.compact(reader.tables)
    query = AggregateQuery(reader.tables[0], COUNT, bucket=MINUTE_MS)
    kept, rows = database.statement(query), database.render(query)
    assert "events_every_60s" in kept.text
    assert "_every_" not in rows.text
    with database.connect() as session:
        assert ask(session, kept) == ask(session, rows)


@by_target
def test_aggregates_are_part_of_the_size(request, target):
    rows, sizes = RowRange(start=0, stop=20_000), []
    for options in ({"aggregate_intervals_s": ""}, {}):
        database, reader = target.open(request, **options), events(rows)
        drop(database, reader.tables)
        database.create(reader.tables, 1000)
        write(database, rows)
        database.compact(reader.tables)
        sizes.append(database.size_bytes(reader.tables))
    assert 0 < sizes[0] < sizes[1]


@by_target
def test_what_is_made_is_named_and_dropped_whatever_the_options(request, target):
    database, plain = target.open(request), target.open(request, aggregate_intervals_s="")
    (table,) = events(RowRange(start=0, stop=10)).tables
    made = database.objects(table)
    kept = names_of(aggregates_of([table], database.options))
    assert {*kept, "events"} <= {*made}
    assert plain.objects(table) == ["events"]
    database.create([table], 1000)
    found = plain.find_existing(made)
    assert {name: each.alike for name, each in found.items()} == dict.fromkeys(made, True)
    plain.drop(made)
    assert plain.find_existing(made) == {}
    database.create([table], 1000)  # nothing is in its way
    database.drop(made)


@by_target
def test_a_table_that_exists_is_kept_and_nothing_is_left_beside_it(request, target):
    database, plain = target.open(request), target.open(request, aggregate_intervals_s="")
    (table,) = events(RowRange(start=0, stop=10)).tables
    plain.create([table], 1000)
    write(plain, RowRange(start=0, stop=10))
    with pytest.raises(Exception, match="already exists"):
        database.create([table], 1000)
    assert [*plain.find_existing(database.objects(table))] == ["events"]
    with plain.connect() as session:
        (counted,) = ask(session, plain.render(AggregateQuery(table, COUNT))).rows
    assert counted == (10,)


@by_target
def test_rows_that_would_stay_in_the_aggregates_are_not_deleted(request, target):
    plain = target.open(request, aggregate_intervals_s="").changes
    keeping = target.open(request).changes
    if target.database.name == "timescaledb":
        assert keeping == plain  # a refresh takes over what was deleted
        return
    assert any(map(plain.how, Deleting))
    assert not any(map(keeping.how, Deleting))
    assert "insert without aggregate_intervals_s" in " ".join(map(keeping.why_not, Deleting))


@by_target
def test_fresh_rows_are_in_the_aggregates_and_nothing_that_was_not_sent(request, target):
    database = target.open(request)
    if database.capabilities.max_workers == 1:
        pytest.skip("one process at a time has the folder open: none asks beside the inserts")
    rows = RowRange(start=0, stop=3000)
    dataset, reader = dataset_of(), events()
    begin_ms = dataset.start_ms - dataset.start_ms % MINUTE_MS
    types = {name: each for name, each in fresh_types(reader).items() if "newest" not in name}
    for each in types.values():
        assert "_every_60s" in database.statement(each.since(begin_ms)).text
        assert "_every_" not in database.statement(each.since(begin_ms + 1)).text
    database.create(reader.tables, 100)

    arriving = Arriving(database, dataset, rows, types, batch_rows=100, pause_s=0.05)
    answers = arriving.expect_right(lambda _: begin_ms)
    assert min(answers.values()) > 2


def test_intervals_divide_a_day():
    with pytest.raises(ValidationError, match=r"expected divisors of 86,400 s, got 7, 90000"):
        AggregateOptions(aggregate_intervals_s="60,7,90000")
    assert AggregateOptions(aggregate_intervals_s="3600,60,3600").intervals_s == [60, 3600]


@pytest.mark.parametrize("options", [{"cluster": "c"}, {"engine": "ReplicatedMergeTree"}])
def test_aggregates_of_replicated_tables_are_refused(options):
    def problems(**more):
        made = ClickhouseOptions(url="http://localhost:1", **options, **more)
        return Clickhouse(made).problems(PrimaryKey.NONE, 1, BATCH, 10)

    assert problems() == []
    (found,) = problems(**INTERVALS)
    assert found.startswith("aggregate_intervals_s: tables of aggregates are not replicated")
