"""Line protocol: known bytes, what is left out, and what is refused."""

import numpy as np
import pytest

from simulator.data.block import Block, Coded, Values
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.encode.lineprotocol import LineProtocol, marker
from simulator.errors import UnstorableError

TIME = Column("time", Type.INT64, Role.TIME)
SITE = Column("site", Type.TEXT, Role.TAG, nullable=True)


def batch(columns, time_unit=TimeUnit.MILLISECOND, name="m"):
    """Make a batch of (column, data)."""
    table = Table(name, tuple(column for column, _ in columns), (), time_unit)
    data = {column.name: data for column, data in columns}
    return Block(table, 0, np.arange(len(columns[0][1])), data)


def encode(block, batch_rows=10**6):
    return LineProtocol(block.table, block.name).encode(block, batch_rows)


def values(items, dtype=np.int64, valid=None):
    return Values(np.array(items, dtype), None if valid is None else np.array(valid, np.bool_))


def texts(*items, valid=None):
    array = np.array([item.encode() for item in items])
    return Coded(np.arange(len(items)), array, None if valid is None else np.array(valid))


def field(name, kind, *, nullable=False):
    return Column(name, kind, Role.FIELD, nullable=nullable)


def test_the_bytes_are_those_of_the_format():
    block = batch(
        [
            (TIME, values([5, 10, -1])),
            (SITE, texts("a b", "", "Zürich", valid=[True, False, True])),
            (Column("rack", Type.INT16, Role.TAG), values([-1, 0, 12], np.int16)),
            (field("i", Type.INT32, nullable=True), values([1, 2, 3], np.int32, [True, True, 0])),
            (field("f", Type.FLOAT32), values([0.5, -0.25, 3], np.float32)),
            (field("ok", Type.BOOL), values([True, False, True], np.bool_)),
            (field("say", Type.TEXT), texts('a "b" \\n', "", "two\nlines")),
            (field("seen", Type.TIMESTAMP), values([7, -8, 9])),
        ]
    )
    lines = [
        b'm,site=a\\ b,rack=-1 f=0.500,ok=t,say="a \\"b\\" \\\\n",seen=7i,i=1i 5\n',
        b'm,rack=0 f=-0.25,ok=f,say="",seen=-8i,i=2i 10\n',
        b'm,site=Z\xc3\xbcrich,rack=12 f=3.000,ok=t,say="two\nlines",seen=9i -1\n',
    ]
    assert encode(block) == [b"".join(lines)]
    assert encode(block, 1) == lines
    assert encode(block, 2) == [lines[0] + lines[1], lines[2]]


def test_names_are_escaped():
    block = batch(
        [
            (Column("at", Type.INT64, Role.TIME), values([1])),
            (Column("a=b, c", Type.TEXT, Role.TAG), texts("x")),
            (field('say "it", =', Type.INT64), values([1])),
        ],
        name="my, table=1",
    )
    assert encode(block) == [b'my\\,\\ table=1,a\\=b\\,\\ c=x say\\ "it"\\,\\ \\==1i 1\n']


def test_a_row_may_have_no_tag_and_only_nulls():
    block = batch(
        [
            (TIME, values([1, 2, 3])),
            (SITE, texts("a", "b", "c", valid=[False, True, False])),
            (field("x", Type.INT64, nullable=True), values([1, 2, 3], np.int64, [True, False, 0])),
            (field("exists", Type.INT64, nullable=True), values([4, 5, 6], valid=[True, False, 0])),
        ]
    )
    assert marker(block.table) == "exists_"
    assert encode(block) == [b"m exists_=t,x=1i,exists=4i 1\nm,site=b exists_=t 2\nm exists_=t 3\n"]


def test_a_table_without_fields_has_one():
    block = batch([(TIME, values([1])), (SITE, texts("a"))])
    assert encode(block) == [b"m,site=a exists=t 1\n"]


def test_the_marker_is_a_field_that_is_never_null():
    columns = (TIME, field("x", Type.INT64, nullable=True), field("y", Type.INT64))
    assert marker(Table("m", columns, ())) == "y"
    assert marker(Table("m", columns[:2], ())) == "exists"


@pytest.mark.parametrize("tag", ["", "a\nb", "a\rb", "a\\", "a\\ b", "a\\,b", "a\\=b"])
def test_a_tag_that_no_line_can_hold_is_refused(tag):
    for data in (texts("fine", tag), Values(np.array([b"fine", tag.encode()]))):
        block = batch([(TIME, values([1, 2])), (SITE, data)])
        with pytest.raises(UnstorableError, match=r"column site: .*cannot"):
            encode(block)


def test_a_backslash_elsewhere_is_a_backslash():
    assert encode(batch([(TIME, values([1])), (SITE, texts("C:\\new"))])) == [
        b"m,site=C:\\new exists=t 1\n"
    ]


def test_what_stands_in_place_of_null_may_be_anything():
    tags = Values(np.array([b"a", b""]), np.array([True, False]))
    floats = values([1, np.nan], np.float64, [True, False])
    block = batch(
        [(TIME, values([1, 2])), (SITE, tags), (field("x", Type.FLOAT64, nullable=True), floats)]
    )
    assert encode(block) == [b"m,site=a exists=t,x=1.0 1\nm exists=t 2\n"]


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_float_that_is_no_number_is_refused(number, dtype):
    levels = np.array([1, number], dtype)
    for data in (Values(levels), Coded(np.array([0, 1]), levels)):
        block = batch([(TIME, values([1, 2])), (field("x", Type.FLOAT64), data)])
        with pytest.raises(UnstorableError, match="column x: cannot be infinite or NaN"):
            encode(block)
    unused = batch([(TIME, values([1])), (field("x", Type.FLOAT64), Coded(np.array([0]), levels))])
    assert encode(unused) == [b"m x=1.0 1\n"]


@pytest.mark.parametrize("unit", TimeUnit)
def test_instants_reach_as_far_as_64_bits_of_nanoseconds(unit):
    unit_ns = 10**9 // unit.per_second
    for last in ((2**63 - 2) // unit_ns, -((2**63 - 2) // unit_ns)):
        assert encode(batch([(TIME, values([last]))], unit)) == [b"m exists=t %d\n" % last]
        beyond = last + (1 if last > 0 else -1)
        with pytest.raises(UnstorableError, match=r"column time: .* is outside 1677-09-21"):
            encode(batch([(TIME, values([0, beyond]))], unit))


@pytest.mark.parametrize("sites", [("a", "bb", "ccc", "d"), ("a", "b", "c", "d")])
def test_rows_between_edges_are_the_lines_of_these_rows(sites):
    block = batch(
        [
            (TIME, values([1, 2, 3, 4])),
            (SITE, texts(*sites)),
            (field("i", Type.INT32), values([1, 2, 3, 4], np.int32)),
        ]
    )
    single = encode(block, 1)
    edges = np.array([0, 0, 1, 3, 4, 4])

    labelled = LineProtocol(block.table, block.name, labels={"of": "a b"}).between(block, edges)
    assert [bytes(piece) for piece in labelled][3] == bytes(single[3]).replace(
        b"m,", rb"m,of=a\ b,"
    )
    found = LineProtocol(block.table, block.name).between(block, edges)
    assert [bytes(piece) for piece in found] == [
        b"", bytes(single[0]), b"".join(single[1:3]), bytes(single[3]), b"",
    ]  # fmt: skip
