"""Hashes of rows: what servers returned, and that no two rows can exchange a value unseen."""

from dataclasses import replace

import numpy as np
import pytest

from simulator.data.block import Block, Coded, Texts, Values
from simulator.data.row_hash import TEXT, DuckDbHash, JenkinsHash, MurmurHash, RemainderHash
from simulator.data.schema import Column, Role, Table, Type

TABLE = Table(
    "t",
    (
        Column("time", Type.TIMESTAMP, Role.TIME),
        Column("site", Type.TEXT, Role.TAG),
        Column("whole", Type.INT32, Role.FIELD),
        Column("other", Type.INT32, Role.FIELD),
        Column("large", Type.INT64, Role.FIELD),
        Column("single", Type.FLOAT32, Role.FIELD),
        Column("double", Type.FLOAT64, Role.FIELD, nullable=True),
        Column("flag", Type.BOOL, Role.FIELD),
    ),
    key=("site", "time"),
)
HASHES = [
    JenkinsHash(),
    MurmurHash(),
    RemainderHash(),
    RemainderHash(ticks_per_second=10**6, saturates=False),
    DuckDbHash(ticks_per_second=10**6),
]
ROWS = 50


def block_of(**changes):
    rows = np.arange(ROWS)
    data = {
        "time": Values(10**12 + rows * 1000),
        "site": Coded(rows % 3, np.array([b"north", b"a much longer name", b""])),
        "whole": Values((rows - 25).astype(np.int32)),
        "other": Values((rows * 7).astype(np.int32)),
        "large": Values(rows * 2**56 - 2**61),
        "single": Values((rows / 7).astype(np.float32)),
        "double": Values(rows / 10 - 1, rows % 5 != 0),
        "flag": Values(rows % 2 == 0),
    }
    return Block(TABLE, 0, rows, {**data, **changes})


def total(hashing, block):
    return int(hashing.of(block).sum())


def with_values(block, name, change):
    column = block.data[name]
    values = column.values().copy()
    change(values)
    return replace(block, data={**block.data, name: Values(values, column.valid)})


def test_the_functions_return_what_servers_return():
    assert JenkinsHash().hash_known() == (  # PostgreSQL 15
        7577986230592267202, 10826065779769301793, 12838654957224765801, 13146788879525108608,
        5458584115599186744, 9491911322703641291, 16558934232235181852, 18083745820678147827,
    )  # fmt: skip
    assert MurmurHash().hash_known()[1] == 10577349846663553072  # SELECT intHash64(1)
    assert MurmurHash().hash_known()[3] == 10416838418614137602  # ClickHouse 26.9
    assert DuckDbHash(10**6).hash_known() == (  # DuckDB 2.0
        6774767090898797280, 4717996019076358352, 7709724165260016646, 11332587641376587762,
        13190212081722967682, 2972472676293069903,
    )  # fmt: skip
    assert RemainderHash().hash_known() == (2310581021,)  # SELECT crc32(...) in MariaDB
    assert "\u00e9" in TEXT


@pytest.mark.parametrize("hashing", HASHES)
@pytest.mark.parametrize("name", [column.name for column in TABLE.columns])
def test_two_values_that_change_places_change_the_sum(hashing, name):
    def swap(values):
        values[1], values[2] = values[2].copy(), values[1].copy()

    block = block_of()
    assert total(hashing, with_values(block, name, swap)) != total(hashing, block)


@pytest.mark.parametrize("hashing", HASHES)
def test_an_altered_tag_and_swapped_columns_change_the_sum(hashing):
    def alter(values):
        values[4] = values[5]

    block = block_of()
    columns = {"whole": block.data["other"], "other": block.data["whole"]}
    assert total(hashing, with_values(block, "site", alter)) != total(hashing, block)
    assert total(hashing, block_of(**columns)) != total(hashing, block)


@pytest.mark.parametrize("step", [2**31 - 1, 2**31 - 19, 2**32 - 5, 2**32, 2**33 - 9, 2**61 - 1])
@pytest.mark.parametrize("hashing", HASHES)
def test_an_integer_that_is_off_by_a_modulus_changes_the_sum(hashing, step):
    def raise_by(values):
        values[3] += step

    block = block_of()
    assert total(hashing, with_values(block, "large", raise_by)) != total(hashing, block)


@pytest.mark.parametrize("hashing", HASHES)
def test_each_integer_of_32_bits_is_another_one(hashing):
    def put(number):
        def change(values):
            values[3] = number

        return total(hashing, with_values(block_of(), "whole", change))

    numbers = (-(2**31), 1 - 2**31, -1, 0, 1, 2**31 - 2, 2**31 - 1)
    assert len({*map(put, numbers)}) == len(numbers)


@pytest.mark.parametrize("hashing", HASHES)
def test_a_null_is_no_value_and_the_order_of_rows_does_not_matter(hashing):
    block = block_of()
    zeros = np.where(block.data["double"].valid, block.data["double"].values(), 0.0)
    assert total(hashing, block_of(double=Values(zeros))) != total(hashing, block)
    backwards = block.take(np.arange(ROWS)[::-1])
    assert total(hashing, backwards) == total(hashing, block)


@pytest.mark.parametrize("hashing", HASHES)
def test_the_form_of_a_column_does_not_matter(hashing):
    block = block_of()
    texts = block.data["site"].values()
    lengths = np.char.str_len(texts).astype(np.int64)
    content = np.frombuffer(b"".join(texts.tolist()), np.uint8)
    listed = Texts(content, np.cumsum(lengths) - lengths, lengths)
    for form in (Values(texts), Values(texts.astype("S40")), listed):
        assert total(hashing, block_of(site=form)) == total(hashing, block)
