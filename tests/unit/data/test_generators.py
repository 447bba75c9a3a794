"""What holds for the rows of every generator: number, independence of batch and workers."""

import numpy as np
import pytest

from simulator.data.dataset import DatasetReader
from simulator.data.hashes import block_hashes
from simulator.data.query import RowsQuery, outputs
from simulator.data.ranges import RowRange, lane_range
from simulator.data.schema import PrimaryKey
from simulator.data.workloads import GENERATORS
from tests.unit.specs import dataset

START_MS = 1_767_225_600_000
HOUR_MS = 3_600_000
SMALL = {
    "devops": {"scale": 7, "duration_ms": HOUR_MS, "interval_ms": 60_000},
    "dashboard": {"scale": 12, "duration_ms": HOUR_MS, "interval_ms": 60_000},
    "metaquery": {"scale": 60},
    "multi-measurement": {},
    "cpu": {"scale": 7, "duration_ms": HOUR_MS, "interval_ms": 60_000},
    "homes": {"scale": 2, "duration_ms": 2 * HOUR_MS},
    "trucks": {"scale": 5, "duration_ms": 2 * HOUR_MS, "interval_ms": 60_000},
    "ohlcv": {"symbols": 2, "years": 0.02},
}
"""Parameters of those with an end."""
ENDLESS_ROWS = 5000


def dataset_of(name, seed=1):
    return dataset(
        workload=name,
        workload_version=GENERATORS[name].version,
        params=SMALL.get(name, {}),
        seed=seed,
        start_ms=START_MS,
        primary_key=PrimaryKey.NONE,
    )


def reader_of(name, seed=1):
    return DatasetReader(dataset_of(name, seed))


def hashes(reader, ranges, block_rows, batch_rows):
    """Return table -> row number -> hash of the row, as these ranges are drawn."""
    found = {}
    for turn in reader.blocks(ranges, block_rows, batch_rows):
        for block in turn:
            columns = outputs(RowsQuery(block.table))
            own = found.setdefault(block.table.name, {})
            for number, each in zip(
                block.rows.tolist(), block_hashes(columns, block).tolist(), strict=True
            ):
                assert number not in own
                own[number] = each
    return found


def shared_by(workers, batch, sizes):
    """Return the ranges of each worker, which take turns batch by batch."""
    for worker in range(workers):
        yield [
            RowRange(
                start=worker * batch, stop=size, table=table, take=batch, every=workers * batch
            )
            for table, size in enumerate(sizes)
            if worker * batch < size
        ]


@pytest.mark.parametrize("name", GENERATORS)
def test_rows_do_not_depend_on_batches_and_workers(name):
    reader = reader_of(name)
    sizes = reader.sizes or [ENDLESS_ROWS] * len(reader.tables)
    whole = hashes(reader, [*next(shared_by(1, max(sizes), sizes))], 10_000, 1)
    assert {table: len(rows) for table, rows in whole.items()} == {
        table.name: size for table, size in zip(reader.tables, sizes, strict=True)
    }
    for workers, batch, block_rows in ((4, 7, 100), (3, 100, 1000)):
        found = {table: {} for table in whole}
        for ranges in shared_by(workers, batch, sizes):
            for table, rows in hashes(reader, ranges, block_rows, batch).items():
                assert found[table].keys().isdisjoint(rows)
                found[table] |= rows
        assert found == whole


@pytest.mark.parametrize("name", [name for name in GENERATORS if name not in SMALL])
def test_workers_of_a_workload_without_an_end_have_rows_of_their_own(name):
    reader = reader_of(name)
    (table,) = reader.tables
    assert reader.sizes is None
    lanes = [
        hashes(reader, [lane_range(lane, 0, ENDLESS_ROWS)], 700, 1)[table.name].values()
        for lane in range(3)
    ]
    common = np.intersect1d([*lanes[0]], [*lanes[1]])

    assert [len(lane) for lane in lanes] == [ENDLESS_ROWS] * 3
    assert len(common) <= ENDLESS_ROWS / 100  # rows of few columns may be equal


@pytest.mark.parametrize("name", GENERATORS)
def test_rows_follow_from_the_seed(name):
    one, other, again = (reader_of(name, seed) for seed in (1, 2, 1))
    ranges = [RowRange(start=0, stop=50, table=0)]

    assert hashes(one, ranges, 50, 1) == hashes(again, ranges, 50, 1)
    assert hashes(one, ranges, 50, 1) != hashes(other, ranges, 50, 1)


@pytest.mark.parametrize("name", GENERATORS)
def test_a_prefix_changes_the_names_of_the_tables_and_nothing_else(name):
    plain = reader_of(name)
    given = dataset_of(name).model_copy(update={"table_prefix": "bench_"})
    prefixed = DatasetReader(given)

    assert [table.name for table in prefixed.tables] == [f"bench_{t.name}" for t in plain.tables]
    assert [table.base for table in prefixed.tables] == [table.name for table in plain.tables]
    assert [*prefixed.query_types()] == [*plain.query_types()]
    rows = RowRange(start=0, stop=20)
    for mine, other in zip(next(prefixed.blocks([rows])), next(plain.blocks([rows])), strict=True):
        columns = outputs(RowsQuery(other.table))
        assert block_hashes(columns, mine).tolist() == block_hashes(columns, other).tolist()
