"""The rows that a selection selects, whether a column is on a grid or not."""

import numpy as np
import pytest

from simulator.data.block import Block, Coded, Values
from simulator.data.query import Condition, OneOf, Operator, Selection
from simulator.data.schema import Column, Role, Table, Type
from simulator.verify.truth.rows import select

TABLE = Table(
    "points",
    (
        Column("at", Type.INT64, Role.TIME),
        Column("site", Type.TEXT, Role.TAG, nullable=True),
        Column("large", Type.INT64, Role.FIELD),
        Column("level", Type.FLOAT32, Role.FIELD, nullable=True),
    ),
    key=("site", "at"),
)
SITES = [b"a", b"bb", "ü".encode(), b"a", b"bb", b"a"]
LEVELS = np.array([0.5, -1.25, 0.25], np.float32)
VALID = np.array([True, True, True, False, True, True])


def block(site, level):
    large = Values(np.array([2**53, 2**53 + 1, 0, 1, -(2**63), 2**63 - 1]))
    data = {"at": Values(np.arange(10, 16)), "site": site, "large": large, "level": level}
    return Block(TABLE, 0, np.arange(6), data)


PLAIN = block(Values(np.array(SITES), VALID), Values(LEVELS[[0, 1, 2, 0, 1, 2]], VALID))
ON_GRIDS = block(
    Coded(np.array([0, 1, 2, 0, 1, 0]), np.array(SITES[:3]), VALID),
    Coded(np.array([0, 1, 2, 0, 1, 2]), LEVELS, VALID),
)
ON_A_LARGE_GRID = block(
    Coded(np.array([0, 1, 2, 0, 1, 0]), np.array([*SITES[:3], *map(b"%d".__mod__, range(9))])),
    Coded(np.array([0, 1, 2, 0, 1, 2]), LEVELS, VALID),
)


@pytest.mark.parametrize("rows", [PLAIN, ON_GRIDS], ids=["plain", "on grids"])
@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection((OneOf("site", ("a",)),)), [0, 5]),
        (Selection((OneOf("site", ("ü", "bb", "a much longer name")),)), [1, 2, 4]),
        (Selection((OneOf("site", ("b",)),)), []),
        (Selection((OneOf("site", ("a", "ü")), OneOf("site", ("ü", "bb")))), [2]),
        (Selection(compared=(Condition("level", Operator.LESS, 0.5),)), [1, 2, 4, 5]),
        (Selection(compared=(Condition("level", Operator.AT_MOST, -1.25),)), [1, 4]),
        (Selection(compared=(Condition("level", Operator.EQUAL, 0.25),)), [2, 5]),
        (Selection(compared=(Condition("level", Operator.AT_LEAST, 0.25),)), [0, 2, 5]),
        (Selection(compared=(Condition("large", Operator.MORE, 2**53),)), [1, 5]),
        (Selection(compared=(Condition("large", Operator.LESS, -(2**63) + 1),)), [4]),
        (Selection(since=11, until=13), [1, 2]),
        (Selection((OneOf("site", ("a",)),), since=11), [5]),
    ],
)
def test_all_of_a_selection_holds_and_null_never_matches(rows, selection, expected):
    assert select(selection, rows).tolist() == expected


def test_a_grid_larger_than_the_block_gives_the_same_rows():
    selection = Selection((OneOf("site", ("a",)),))
    assert select(selection, ON_A_LARGE_GRID).tolist() == [0, 3, 5]


def test_a_selection_of_everything_has_no_indices():
    assert select(Selection(), PLAIN) is None
