"""`--verify counts` on real servers: hashes of rows see every value and where it is.

Where a database computes none, sums of times and of integers beyond 64 bits are compared. What a
module does not add up stands in the verdict, with the module's reason.
"""

from dataclasses import replace

import numpy as np
import pytest

from simulator.data.block import Values
from simulator.data.query import Aggregate, AggregateQuery, Function
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import TimeUnit, Type
from simulator.modules.contract import BATCH, Database
from simulator.protocol.verdict import Status, Verdict, VerifyMode
from simulator.verify.stored.comparison import verify
from tests.contract.harness import Wideset, ask, drop, send
from tests.contract.targets import STORING
from tests.contract.wide import Awkward

STORED_IN_US = ("postgres", "timescaledb", "mysql", "duckdb", "questdb")
"""Modules that store microseconds, whatever the unit of the table."""


SITE, USER, SMALL, ORDER, SINGLE = 1, 2, 3, 4, 6
"""Places of columns, some of which have other names where a database cannot quote them."""


def _finest_us(wide: Wideset) -> int:
    """The least difference between two times of rows that the database can store."""
    lacks = wide.dataset.params["lacks"]
    if Awkward.SUBSECOND_TIME in lacks:
        return 10**6
    return 1000 if Awkward.FINE_TIME in lacks else 1


def _stored(database: Database, wide: Wideset, column: str, change) -> Verdict:
    """Store the dataset with other values in a column of the readings; verify by counts."""
    drop(database, wide.tables)
    database.create(wide.tables, 100)
    with database.connect() as session:
        for batch in wide.batches:
            sent = batch
            if column in batch.data:
                values, valid = batch.data[column].values().copy(), batch.data[column].valid
                valid = None if valid is None else valid.copy()
                change(values, valid)
                sent = replace(batch, data={**batch.data, column: Values(values, valid)})
            send(session, sent, BATCH, 100)
    database.visible(wide.tables)
    database.compact(wide.tables)
    return verify(database, wide.dataset, (), VerifyMode.COUNTS)


def _left_out(verdict: Verdict, label: str) -> list[str]:
    return [each for each in verdict.left_out if f": {label}: " in each]


def test_counts_find_a_time_of_an_inner_row_that_is_off_by_the_least_difference(target, database):
    wide = target.wide()
    database.row_hash = None
    finest_us = _finest_us(wide)

    def change(values, _):
        inner = np.argsort(values, kind="stable")[len(values) // 2]
        values[inner] += finest_us

    verdict = _stored(database, wide, "time", change)

    can, left_out = database.capabilities, _left_out(verdict, "sum_time")
    why = can.no_time_sums or (can.no_wide_sums if left_out else "")
    assert left_out == [f"readings: sum_time: {why}"] * bool(why)
    wrong = [check.name for check in verdict.checks if check.ok is False]
    assert wrong == ([] if why else ["readings: sum_time"])
    assert verdict.status is (Status.VERIFIED if why else Status.MISMATCH)


def test_counts_find_an_integer_that_is_off_by_the_greatest_one_of_its_type(target, database):
    """The greatest one is a prime, by which hashes may divide."""
    wide = target.wide()
    column = wide.tables[0].columns[ORDER].name

    def change(values, valid):
        values[np.flatnonzero((values <= 0) & valid)[0]] += 2**31 - 1

    assert _stored(database, wide, column, change).status is Status.MISMATCH


@pytest.mark.parametrize("column", ["large", "seen"])
def test_sums_are_exact_where_they_exceed_64_bits(target, database, column):
    wide = target.wide()
    if column == "large" and Awkward.LARGE_INTEGERS in target.lacks:
        pytest.skip("the integers that it stores do not add up to that much")
    wide.fill(database)
    database.row_hash = None
    table, can = wide.tables[0], database.capabilities
    is_time = table.column(column).type is Type.TIMESTAMP
    query = AggregateQuery(table, (Aggregate(Function.SUM, column, wide=True),))
    why = (is_time and can.no_time_sums) or can.no_wide_sums
    if not why:
        with database.connect() as session:
            assert ask(session, database.render(query)) == wide.answer(query)

    verdict = verify(database, wide.dataset, (), VerifyMode.COUNTS)
    assert verdict.status is Status.VERIFIED, verdict.reason
    label = f"sum_{column}"
    assert _left_out(verdict, label) == [f"readings: {label}: {why}"] * bool(why)
    assert [c.name for c in verdict.checks if c.name.endswith(label)] == (
        [] if why else [f"readings: {label}"]
    )


@pytest.mark.parametrize(
    "target",
    [pytest.param(t, id=name) for name, t in STORING.items() if t.module in STORED_IN_US],
)
def test_counts_find_times_that_are_off_by_less_than_the_unit_of_the_table(target, database):
    """A table in milliseconds, whose rows are all stored 7 microseconds late."""
    hosts = {"workload": "cpu", "workload_version": 1, "params": {}}
    dataset = target.iot().model_copy(update=hosts).with_ranges([RowRange(start=0, stop=300)])
    reader = DatasetReader(dataset)
    drop(database, reader.tables)
    database.create(reader.tables, 100)
    with database.connect() as session:
        for turn in reader.blocks(dataset.ranges):
            for block in turn:
                times = block.data["time"].values()
                late = {**block.data, "time": Values(times * 1000 + 7)}
                in_us = replace(block.table, time_unit=TimeUnit.MICROSECOND)
                send(session, replace(block, table=in_us, data=late), BATCH, 100)
    database.visible(reader.tables)

    verdict = verify(database, dataset, (), VerifyMode.COUNTS)

    assert verdict.status is Status.MISMATCH
    assert "sum_time" in verdict.reason


def _swapped(values, _):
    """Let the first two different values change places."""
    other = np.flatnonzero(values != values[0])[0]
    values[0], values[other] = values[other].copy(), values[0].copy()


def _altered(values, _):
    """Give the second row the value of another one, as an update of a wrong row does."""
    values[1] = values[np.flatnonzero(values != values[1])[0]]


def _emptied(_, valid):
    """Remove the value of the second row."""
    valid[1] = False


@pytest.mark.parametrize(
    ("place", "change"),
    [
        (SITE, _altered), (USER, _emptied), (SITE, _swapped), (SINGLE, _swapped),
        pytest.param(USER, _altered, marks=pytest.mark.rare),
        pytest.param(SMALL, _swapped, marks=pytest.mark.rare),
    ],
)  # fmt: skip
def test_counts_find_an_altered_tag_and_values_that_changed_places(target, database, place, change):
    if target.stand_in and target.module.startswith("cratedb"):
        pytest.skip("the stand-in's times are those of another workload")
    if change is _emptied and Awkward.NULL_TAG in target.lacks:
        pytest.skip("it stores no row without a tag")
    wide = target.wide()
    columns = [column.name for column in wide.tables[0].columns]
    verdict = _stored(database, wide, columns[place], change)

    left_out = [each for each in verdict.left_out if each.startswith("hashes of rows: ")]
    if database.row_hash is None:
        assert left_out == [f"hashes of rows: {database.no_row_hash}"]
        assert verdict.level is VerifyMode.COUNTS
        label = f"rows by {columns[SITE]}, {columns[USER]}"
        if change is not _swapped and not _left_out(verdict, label):
            assert verdict.status is Status.MISMATCH
            assert f"readings: {label}" in [each.name for each in verdict.checks if not each.ok]
        return
    assert (verdict.status, left_out) == (Status.MISMATCH, [])
    if change is _emptied:  # after the hashes, the number of values has the cause
        assert "readings: count_" in verdict.reason
        return
    assert "readings: hashes of rows" in verdict.reason
    missing = "missing 2 (0, " if change is _swapped else "missing 1 (1)"
    assert any(missing in check.found for check in verdict.checks), verdict.checks
