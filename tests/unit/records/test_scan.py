"""Scanning files of records: odd texts, portions of any size, damage."""

import io
import random

import numpy as np
import pytest

from cli.records import scan as scanning
from cli.records.cutting import cutter
from cli.records.formats import FORMATS
from cli.records.scan import Layout, scan
from simulator.data.block import Block, Values
from simulator.data.records import RecordFormat
from simulator.data.schema import Column, Role, Table, Type
from simulator.errors import ConfigError

TEXTS = [
    "plain",
    'a "quoted", one',
    "two\nlines",
    'back\\slash"',
    "tab\there",
    '""',
    "\\",
    ",",
    "é",
]
ROWS = 200
TABLES = [
    Table(
        name,
        (
            Column("time", Type.TIMESTAMP, Role.TIME),
            Column("host", Type.TEXT, Role.TAG),
            Column("note", Type.TEXT, Role.FIELD, nullable=True),
            Column("load", Type.FLOAT64, Role.FIELD),
        ),
        ("host", "time"),
        group="fleet",
    )
    for name in ("cpu", "cpu total", "mem")
]


def blocks(tables):
    chance = random.Random(5)
    for table in tables:
        notes = np.array([chance.choice(TEXTS).encode() for _ in range(ROWS)])
        data = {
            "time": Values(np.arange(ROWS) + 1_767_225_600_000),
            "host": Values(np.array([b"host,1"] * ROWS)),
            "note": Values(notes, np.array([chance.random() < 0.8 for _ in range(ROWS)])),
            "load": Values(np.arange(ROWS) / 7),
        }
        yield Block(table, 0, np.arange(ROWS), data)


def written(form, tables):
    return b"".join(FORMATS[form].stream(tables, [list(blocks(tables))]))


def scanned(form, tables, content, *, batch_rows=7, limit=None, spool=None):
    layout = Layout(
        cutter(form, tables), len(tables), FORMATS[form].header(tables[0]), FORMATS[form].trailer
    )
    source = io.BytesIO(content)
    return scan(source, "f", layout, batch_rows=batch_rows, limit=limit, spool=spool)


def tables_of(form):
    return TABLES if FORMATS[form].names_tables else TABLES[:1]


@pytest.mark.parametrize("form", RecordFormat)
@pytest.mark.parametrize("chunk", [1, 61, 1000, 1 << 20])
def test_every_record_is_found_in_portions_of_any_size(monkeypatch, form, chunk):
    monkeypatch.setattr(scanning, "_CHUNK_BYTES", chunk)
    tables = tables_of(form)
    content = written(form, tables)
    found = scanned(form, tables, content)

    assert found.rows == [ROWS] * len(tables)
    assert found.size_bytes == len(content)
    edges = found.index[:, 0]
    header, trailer = FORMATS[form].header(tables[0]), FORMATS[form].trailer
    assert (edges[0], edges[-1]) == (len(header), len(content) - len(trailer))
    assert (np.diff(edges) > 0).all()
    rows = np.diff(found.index[:, 1:].sum(axis=1))
    assert rows[:-1].tolist() == [7] * (len(rows) - 1)
    assert rows.sum() == ROWS * len(tables)


@pytest.mark.parametrize("form", RecordFormat)
def test_a_limit_ends_the_index(form):
    tables = tables_of(form)
    content = written(form, tables)
    whole, found = scanned(form, tables, content), scanned(form, tables, content, limit=20)

    assert sum(found.rows) == 20
    assert np.diff(found.index[:, 1:].sum(axis=1)).tolist() == [7, 7, 6]
    assert (found.index[:3] == whole.index[:3]).all()


@pytest.mark.parametrize("form", RecordFormat)
def test_a_file_that_ends_anywhere_else_is_refused(form):
    tables = tables_of(form)
    content = written(form, tables)
    chance = random.Random(3)
    edges = {*scanned(form, tables, content, batch_rows=1).index[:, 0].tolist()}
    complete = edges if not FORMATS[form].trailer else set()
    for end in {chance.randrange(len(content)) for _ in range(300)} - complete:
        with pytest.raises(ConfigError, match=r"record [\d,]+ \(byte [\d,]+\)|begins with"):
            scanned(form, tables, content[:end])


@pytest.mark.parametrize("form", ["influx", "es-bulk", "csv", "tsv", "pgcopy"])
def test_a_damaged_record_is_left_out_and_the_others_are_copied(form):
    tables = tables_of(form)
    content = written(form, tables)
    edges = scanned(form, tables, content, batch_rows=1).index[:, 0].tolist()
    first, stop = edges[120], edges[121]
    damaged = (
        content[:first] + b"#" * (stop - first - 2) + content[stop - 2 : stop] + content[stop:]
    )
    if form == "es-bulk":
        half = content.index(b"\n", first)
        damaged = content[:first] + b"#" + content[first + 1 : half] + content[half:]
    with pytest.raises(ConfigError, match=rf"record 121 \(byte {first:,}\)"):
        scanned(form, tables, damaged)
    spool = io.BytesIO()
    found = scanned(form, tables, damaged, spool=spool)

    assert (found.skipped_rows, sum(found.rows)) == (1, ROWS * len(tables) - 1)
    assert found.skipped[0].startswith(f"record 121 (byte {first:,}): ")
    assert spool.getvalue() == content[:first] + content[stop:]
    assert found.index[-1, 0] == len(spool.getvalue())
