"""Wide rows: columns that share their codes, and long texts, change speed and not a single byte."""

from dataclasses import replace

import numpy as np
import pytest

from simulator.data.block import Block, Coded, Texts, Values
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.encode.bson import Bson, BsonField
from simulator.encode.cql import CqlInsert, CqlRows
from simulator.encode.lineprotocol import LineProtocol
from simulator.encode.native import Native, RowBinary
from simulator.encode.ndjson import documents
from simulator.encode.objects import Objects
from simulator.encode.pgcopy import PgCopy
from simulator.encode.tablet import Tablets
from simulator.encode.text import CSV, SQL, TSV, TextEncoder

ROWS = 300
SERIES = 40
TAGS = {
    "hostname": [f"host_{n}" for n in range(SERIES)],
    "region": [("eu-central-1", "us-east-1")[n % 2] for n in range(SERIES)],
    "city": [("Zürich", "München, Süd", 'say "hi"', "京都")[n % 4] for n in range(SERIES)],
    "rack": [str(n * 7 % 100) for n in range(SERIES)],
    "fleet": ["one"] * SERIES,
}
TABLE = Table(
    "cpu",
    (
        Column("time", Type.TIMESTAMP, Role.TIME),
        *(Column(name, Type.TEXT, Role.TAG, nullable=True) for name in TAGS),
        *(Column(f"usage_{n}", Type.INT64, Role.FIELD) for n in range(5)),
        *(Column(f"load_{n}", Type.FLOAT64, Role.FIELD, nullable=True) for n in range(3)),
        Column("note", Type.TEXT, Role.FIELD, nullable=True),
    ),
    key=("time", "hostname"),
    time_unit=TimeUnit.MILLISECOND,
)
OF = (TABLE.columns, TABLE.time_unit)
NATIVE = [
    "String" if column.type is Type.TEXT else "Float64" if column.nullable else "Int64"
    for column in TABLE.columns
]


def cql():
    return CqlRows(CqlInsert(bytes(16), *OF, TABLE.key, ("hostname",), grouped=True))


ENCODERS = {
    "CSV": lambda: TextEncoder.of(*OF, CSV),
    "TSV": lambda: TextEncoder.of(*OF, TSV),
    "SQL": lambda: TextEncoder.of(*OF, SQL),
    "lines": lambda: LineProtocol(TABLE, "cpu"),
    "COPY": lambda: PgCopy(*OF),
    "JSON": lambda: documents(*OF, None),
    "objects": lambda: Objects(*OF),
    "RowBinary": lambda: RowBinary(TABLE.columns),
    "Native": lambda: Native(TABLE.columns, NATIVE),
    "BSON": lambda: Bson([BsonField(c.name, c) for c in TABLE.columns], TABLE.time_unit),
    "tablets": lambda: Tablets(TABLE.columns[1:], lambda times: times),
    "CQL": cql,
}


def texts(items, valid=None):
    """Make a column of texts in one buffer."""
    encoded = [item.encode() for item in items]
    lengths = np.array([len(item) for item in encoded])
    content = np.frombuffer(b"".join(encoded) or b"-", np.uint8)
    return Texts(content, np.cumsum(lengths) - lengths, lengths, valid)


def notes(rows):
    """Return texts from none to 5,000 bytes."""
    return ["", "Grüße", 'a "quote", a \\ and\ta tab', "x" * 5000, "plain"] * (rows // 5)


def fleet(seed=1):
    """Make a block whose tags share their codes."""
    rng = np.random.default_rng(seed)
    codes = np.arange(ROWS) % SERIES
    grid = np.arange(101)
    data = {"time": Values(1_795_232_700_000 + np.arange(ROWS) // SERIES * 10_000)}
    data |= {
        name: Coded(codes, np.array([text.encode() for text in items]))
        for name, items in TAGS.items()
    }
    data |= {f"usage_{n}": Coded(rng.integers(0, 101, ROWS), grid) for n in range(5)}
    data |= {f"load_{n}": Values(rng.random(ROWS) * 10 ** (7 * n)) for n in range(3)}
    data["note"] = texts(notes(ROWS))
    return Block(TABLE, 0, np.arange(ROWS), data)


def with_nulls(block):
    """Return the block with NULLs in a tag, a number and the texts."""
    data = dict(block.data)
    for place, name in enumerate(("city", "load_1", "note")):
        data[name] = replace(data[name], valid=np.arange(len(block)) % 3 != place)
    return replace(block, data=data)


def plainly(block):
    """Return the block with codes of its own in each column, and texts of one width."""
    data = {
        name: replace(column, codes=column.codes.copy())
        if isinstance(column, Coded)
        else Values(column.values(), column.valid)
        for name, column in block.data.items()
    }
    return replace(block, data=data)


def encoded(name, block, batch_rows):
    return [
        payload if isinstance(payload, list | tuple) else bytes(payload)
        for payload in ENCODERS[name]().encode(block, batch_rows)
    ]


BLOCKS = {
    "whole": fleet,
    "nulls": lambda: with_nulls(fleet()),
    "all null": lambda: replace(
        fleet(),
        data=fleet().data | {"note": replace(fleet().data["note"], valid=np.zeros(ROWS, bool))},
    ),
    "a slice": lambda: with_nulls(fleet()).slice(7, 123),
    "some rows": lambda: fleet().take(np.arange(0, ROWS, 7)),
    "one row": lambda: fleet().slice(3, 4),
    "one row of nulls": lambda: with_nulls(fleet()).slice(2, 3),
}


@pytest.mark.parametrize("batch_rows", [1, 100, 1000])
@pytest.mark.parametrize("rows", BLOCKS)
@pytest.mark.parametrize("name", ENCODERS)
def test_the_bytes_are_those_of_columns_on_their_own(name, rows, batch_rows):
    block = BLOCKS[rows]()

    assert encoded(name, block, batch_rows) == encoded(name, plainly(block), batch_rows)


@pytest.mark.parametrize("name", ENCODERS)
def test_an_empty_block_is_no_payload(name):
    assert encoded(name, fleet().slice(0, 0), 1000) == []


def test_tags_with_the_same_codes_are_written_once():
    codes = np.array([0, 1, 0])
    tags = {name: Coded(codes, np.array([b"a", name.encode()])) for name in ("one", "other")}
    columns = tuple(Column(name, Type.TEXT, Role.TAG) for name in tags)
    block = Block(Table("t", columns, ()), 0, np.arange(3), tags)
    encoder = TextEncoder.of(columns, TimeUnit.SECOND, CSV)
    shares = encoder._columns.shares(block)

    assert len(shares) == 1
    assert encoder.encode(block, 3) == [b"a,a\none,other\na,a\n"]


def test_parts_of_a_block_go_on_sharing_codes():
    block = fleet()
    for part in (block.slice(1, 9), block.take(np.array([1, 5]))):
        first, second = part.data["hostname"], part.data["region"]
        assert first.codes is second.codes
        assert first.codes is not part.data["usage_0"].codes


def test_series_have_no_more_than_the_shortest_levels():
    codes = np.array([1, 0])
    block = fleet().slice(0, 2)
    long = Coded(codes, np.array([b"a", b"b", b"c"]))
    data = block.data | {"hostname": long, "region": Coded(codes, np.array([b"x", b"y"]))}
    block = replace(block, data=data)

    assert encoded("CSV", block, 2) == encoded("CSV", plainly(block), 2)


def test_a_long_text_does_not_widen_the_others():
    """One text of 19 KiB among 8,192 would make an 'S' array of 160 MB."""
    column = texts(["short"] * 8191 + ["x" * 19_456])
    table = Table("t", (Column("note", Type.TEXT, Role.FIELD),), ())
    block = Block(table, 0, np.arange(8192), {"note": column})

    assert block.size_bytes == 8191 * 5 + 19_456
    assert Block(table, 0, block.rows, {"note": Values(column.array)}).size_bytes == 8192 * 19_456
    (payload,) = TextEncoder.of(table.columns, TimeUnit.SECOND, CSV).encode(block, 8192)
    assert payload == b"short\n" * 8191 + b"x" * 19_456 + b"\n"
