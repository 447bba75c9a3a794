"""Every generator: its rows, and the candidates of its queries."""

import hashlib

import numpy as np
import pytest

from simulator.data.block import Block, Coded
from simulator.data.derived import innermost
from simulator.data.hashes import block_hashes
from simulator.data.query import DistinctQuery, RowsQuery, Selection, outputs
from simulator.data.ranges import RowRange, lane_range
from simulator.data.reader import DatasetReader
from simulator.data.schema import Role, Type, dtype_of
from tests.unit.data.generated import (
    CASES,
    ENDLESS_ROWS,
    HOUR_MS,
    WITH_END,
    dataset_of,
    drawn,
    rows_of,
    workload_of,
)

EVERY = pytest.mark.parametrize("name", CASES)


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


@EVERY
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


@pytest.mark.parametrize("name", [name for name in CASES if name not in WITH_END])
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


@EVERY
def test_rows_follow_from_the_seed(name):
    one, other, again = (reader_of(name, seed) for seed in (1, 2, 1))
    ranges = [RowRange(start=0, stop=50, table=0)]

    assert hashes(one, ranges, 50, 1) == hashes(again, ranges, 50, 1)
    assert hashes(one, ranges, 50, 1) != hashes(other, ranges, 50, 1)


@EVERY
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


@EVERY
def test_a_column_alone_is_that_of_the_whole_table(name):
    workload = workload_of(name)
    for table in workload.tables[:20]:
        rows = np.arange(min(rows_of(workload, table), 500))
        whole = workload.draw(table, rows)
        for column in table.columns:
            alone = workload.draw(table.only({column.name}), rows)
            assert {*alone} == {table.time.name, column.name}
            assert np.array_equal(alone[column.name].values(), whole[column.name].values())
            assert np.array_equal(alone[column.name].present(), whole[column.name].present())


@EVERY
def test_every_column_has_its_type_and_exact_fractions_are_on_a_grid(name):
    workload = workload_of(name)
    for table in workload.tables[:20]:
        data = drawn(workload, table)
        assert list(data) == [column.name for column in table.columns]
        for column in table.columns:
            array = data[column.name].values()
            assert array.dtype.kind == dtype_of(column.type).kind
            assert column.type is Type.TEXT or array.dtype == dtype_of(column.type)
            if array.dtype.kind == "f" and column.exact:
                assert not (array.astype(float) * 2**20 % 1).any(), column.name


@EVERY
def test_no_two_rows_have_the_same_natural_key(name):
    workload = workload_of(name)
    for table in workload.tables[:20]:
        data = drawn(workload, table)
        keys = zip(*(data[column].values().tolist() for column in table.key), strict=True)
        assert not table.key or len({*keys}) == rows_of(workload, table)


@pytest.mark.parametrize("name", WITH_END)
def test_no_rows_have_no_values(name):
    workload = workload_of(name)
    for table in workload.tables[:20]:
        data = workload.draw(table, np.arange(0))
        assert {len(column.values()) for column in data.values()} == {0}


LARGE = {
    "devops": {"scale": 20_000, "duration_ms": 60_000},
    "dashboard": {"scale": 300, "scale_offset": 99_999_700, "duration_ms": 60_000},
    "cpu": {"scale": 20_000, "duration_ms": 60_000},
    "homes": {"scale": 300, "duration_ms": HOUR_MS},
    "trucks": {"scale": 3000, "duration_ms": 600_000},
    "ohlcv": {"symbols": 100_000, "years": 0.001},
    "iot": {"devices": 14_000},
}
"""Parameters that make long names."""


@pytest.mark.parametrize("name", LARGE)
def test_no_text_is_longer_than_its_column_declares(name):
    workload = workload_of(name, **LARGE[name])
    for table in workload.tables:
        data = workload.draw(table, np.arange(min(rows_of(workload, table), 100_000)))
        for column in table.columns:
            if column.type is Type.TEXT:
                longest = max(map(len, data[column.name].values().tolist()))
                assert longest <= column.max_characters, column.name


LONGER = {
    "devops": {"duration_ms": 10 * HOUR_MS},
    "dashboard": {"duration_ms": 10 * HOUR_MS},
    "cpu": {"duration_ms": 10 * HOUR_MS},
    "homes": {"duration_ms": 10 * HOUR_MS},
    "ohlcv": {"years": 1},
}


@pytest.mark.parametrize("name", LONGER)
def test_a_longer_run_begins_alike(name):
    short, long = workload_of(name), workload_of(name, **LONGER[name])
    for table in short.tables:
        if table.name == "home_config":  # which changes at random times
            continue
        rows = np.arange(min(short.size(table), 300))
        for column, data in short.draw(table, rows).items():
            assert np.array_equal(data.values(), long.draw(table, rows)[column].values()), column


@pytest.mark.parametrize("name", ["devops", "dashboard", "cpu", "homes"])
def test_tags_share_one_array_of_codes_and_keep_their_levels(name):
    workload = workload_of(name)
    for table in workload.tables:
        one, other = (workload.draw(table, np.arange(first, first + 2)) for first in (0, 2))
        tags = [one[tag.name] for tag in table.tags]

        assert all(isinstance(tag, Coded) and tag.codes is tags[0].codes for tag in tags)
        assert all(one[tag.name].levels is other[tag.name].levels for tag in table.tags)
        for column in table.with_role(Role.FIELD):
            if isinstance(one[column.name], Coded):
                assert one[column.name].levels is other[column.name].levels


VERSIONS = {
    "iot": (1, "1185d15935409bcb"),
    "iot-3-1000": (1, "8bcc080b89d5c2b9"),
    "devops": (1, "66aa8baa6b8f96f1"),
    "devops-full": (1, "082e56a532b8447a"),
    "devops-documented": (1, "058a2997a4eff671"),
    "devops-documented-full": (1, "7355521fa18bdda4"),
    "dashboard": (1, "a0d3b264f935da77"),
    "dashboard-full": (1, "cb34155c233c3765"),
    "dashboard-documented": (1, "7fd935ad213e53b7"),
    "dashboard-documented-full": (1, "ce7ab67e4e2cf457"),
    "metaquery": (1, "acc8652e90e0fff8"),
    "metaquery-full": (1, "14f1a7f721dbfe6f"),
    "multi-measurement": (1, "5fab085b3b560165"),
    "multi-measurement-full": (1, "903478142a46cbd7"),
    "cpu": (1, "a3af6536dd1d67cc"),
    "cpu-doubles": (1, "0ca3bd1411ed9fa1"),
    "cpu-doubles-full": (1, "652cde88ba3a0609"),
    "homes": (1, "1127c4ceed4c1a57"),
    "homes-full": (1, "aa477a979dd34210"),
    "homes-documented": (1, "7d58ad8310cd9231"),
    "homes-documented-full": (1, "bb679838208e373c"),
    "trucks": (1, "713c2debd6d71775"),
    "trucks-full": (1, "caf160b245acc90e"),
    "trucks-documented": (1, "de15fc9bc5b71e48"),
    "trucks-documented-full": (1, "33723b76f5b01ebb"),
    "trucks-2-none": (1, "27c12aa54125b412"),
    "ohlcv": (1, "3297e2e3f0404c75"),
    "ohlcv-5": (1, "0257fc1069601f4a"),
    "slim": (1, "0469aac3c7aeeffa"),
    "light": (1, "a5a62da4dba5bd0e"),
    "large": (1, "a690598ed71d1ebd"),
}


@EVERY
def test_rows_are_those_of_this_version(name):
    """The workload's `version` must rise with any change of its rows."""
    workload, digest = workload_of(name), hashlib.sha256()
    for table in workload.tables:
        rows = np.arange(0, rows_of(workload, table), 11)
        block = Block(table, 0, rows, workload.draw(table, rows))
        digest.update(block_hashes(outputs(RowsQuery(table)), block).tobytes())

    assert (workload.version, digest.hexdigest()[:16]) == VERSIONS[name]


INSTANCES = (0, 3)
SPREAD = ("trucks", "multi-measurement")
"""Workloads whose rows are in no order of time: their candidates hold others too."""


def matching(table, data, selection):
    """Return the rows that a selection of tags and times matches, of all that were drawn."""
    times = data[table.time.name].values()
    chosen = np.ones(len(times), np.bool_)
    if selection.since is not None:
        chosen &= times >= selection.since
    if selection.until is not None:
        chosen &= times < selection.until
    for one in selection.one_of:
        column = data[one.column]
        chosen &= np.isin(column.values(), [value.encode() for value in one.values])
        if column.valid is not None:
            chosen &= column.valid
    return np.flatnonzero(chosen)


def are_narrowed(name, workload, table, data, selection):
    """Check the candidates of a selection; False if all rows are."""
    found, expected = workload.candidates(table, selection), matching(table, data, selection)
    if found is None:
        return False
    assert (np.diff(found) > 0).all()
    if name.startswith(SPREAD):
        assert np.isin(expected, found).all()
        assert name.startswith("trucks") or len(found) <= len(expected) + 2
    else:
        assert found.tolist() == expected.tolist()
    return True


@pytest.mark.parametrize("name", WITH_END)
def test_candidates_of_every_query_type_are_the_rows_that_match(name):
    workload = workload_of(name, **({"duration_ms": 86_400_000} if name == "metaquery" else {}))
    known, narrowed = {}, 0
    for query_type in workload.query_types(workload.tables, aligned=True).values():
        if query_type.problem:
            continue
        for number in INSTANCES:
            query = innermost(query_type.instance(number))
            if isinstance(query, DistinctQuery):
                continue
            table = query.table
            if table.name not in known:
                known[table.name] = drawn(workload, table)
            narrowed += are_narrowed(name, workload, table, known[table.name], query.selection)
    assert narrowed


@pytest.mark.parametrize("name", WITH_END)
def test_candidates_of_windows_are_the_rows_in_them(name):
    workload, narrowed = workload_of(name), 0
    for table in workload.tables[:20]:
        data = drawn(workload, table)
        times = np.sort(data[table.time.name].values())
        first, middle, last = (int(times[place]) for place in (0, len(times) // 2, -1))
        for since, until in (
            (first, first + 1),
            (first - 5, first + (last - first) // 7),
            (middle + 1, middle + 60_001),
            (last, None),
            (last + 10**9, None),
            (None, first),
        ):
            selection = Selection(since=since, until=until)
            narrowed += are_narrowed(name, workload, table, data, selection)
        are_narrowed(name, workload, table, data, Selection())
    assert narrowed >= 2
