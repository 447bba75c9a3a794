"""Rows of Python objects."""

from datetime import UTC, datetime

import numpy as np
import pytest

from simulator.data.block import Block, Coded, Values
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.encode.objects import InstantType, Objects


def encode(columns, batch_rows=100, unit=TimeUnit.MILLISECOND, instant=InstantType.INTEGER):
    table = Table("t", tuple(Column(n, kind, Role.FIELD) for n, (kind, _) in columns.items()), ())
    data = {name: data for name, (_, data) in columns.items()}
    batch = Block(table, 0, np.arange(len(next(iter(data.values())))), data)
    return Objects(table.columns, unit, instant).encode(batch, batch_rows)


def test_every_type_becomes_its_python_type():
    valid = np.array([True, False])
    columns = {
        "i": (Type.INT64, Values(np.array([-(2**63), 2**63 - 1]))),
        "f": (Type.FLOAT32, Coded(np.array([1, 0]), np.array([-0.5, 20.25], np.float32))),
        "b": (Type.BOOL, Values(np.array([True, False]))),
        "t": (Type.TEXT, Values(np.array(["Grüße".encode(), b""]))),
        "c": (Type.TEXT, Coded(np.array([0, 0]), np.array([b"tag"]), valid)),
        "n": (Type.INT16, Values(np.array([3, 4], np.int16), valid)),
        "at": (Type.TIMESTAMP, Values(np.array([-1, 1]))),
    }
    rows = encode(columns)

    assert rows == [
        [
            (-(2**63), 20.25, True, "Grüße", "tag", 3, -1),
            (2**63 - 1, -0.5, False, "", None, None, 1),
        ]
    ]
    assert [type(value) for value in rows[0][0]] == [int, float, bool, str, str, int, int]


@pytest.mark.parametrize("unit", TimeUnit)
def test_instants_become_datetimes(unit):
    seconds = np.array([-1, 1_795_232_700])
    if unit is not TimeUnit.NANOSECOND:
        seconds = np.append(seconds, [-62_135_596_800, 253_402_300_799])
    columns = {"at": (Type.TIMESTAMP, Values(seconds * unit.per_second))}
    expected = [
        datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
        datetime(2026, 11, 21, 3, 45, tzinfo=UTC),
    ]
    if unit is not TimeUnit.NANOSECOND:
        expected += [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)]

    (aware,) = encode(columns, unit=unit, instant=InstantType.AWARE)
    (naive,) = encode(columns, unit=unit, instant=InstantType.NAIVE)

    assert [moment for (moment,) in aware] == expected
    assert [moment for (moment,) in naive] == [moment.replace(tzinfo=None) for moment in expected]


def test_what_stands_in_place_of_null_does_not_matter():
    data = Values(np.array([2**63 - 1, 0]), np.array([False, True]))
    rows = encode({"at": (Type.TIMESTAMP, data)}, unit=TimeUnit.SECOND, instant=InstantType.AWARE)

    assert rows == [[(None,), (datetime(1970, 1, 1, tzinfo=UTC),)]]
