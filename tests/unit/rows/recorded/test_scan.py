"""Scanning files of records: odd texts, portions of any size, damage."""

import os
import random
from itertools import pairwise
from tempfile import NamedTemporaryFile

import numpy as np
import pytest

from simulator.data.block import Block, Values
from simulator.data.schema import Column, Role, Table, Type
from simulator.errors import ConfigError
from simulator.protocol.records import RecordFormat
from simulator.records import scan as scanning
from simulator.records.cutting import layout_of
from simulator.records.formats import FORMATS
from simulator.records.scan import scan, scan_part, without

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

POINTS = (RecordFormat.OPENTSDB, RecordFormat.GRAPHITE)
POINT_TABLES = [
    Table(
        name,
        (
            Column("time", Type.TIMESTAMP, Role.TIME),
            Column("host", Type.TEXT, Role.TAG),
            Column("note", Type.INT32, Role.FIELD, nullable=True),
            Column("load", Type.FLOAT64, Role.FIELD),
            Column("free", Type.FLOAT64, Role.FIELD, nullable=True),
        ),
        ("host", "time"),
        group="fleet",
    )
    for name in ("cpu", "cpu-total", "mem")
]


def points(tables):
    """Rows some of whose fields have no point."""
    chance = random.Random(6)
    for table in tables:
        valid = np.array([chance.random() < 0.8 for _ in range(2 * ROWS)])
        data = {
            "time": Values(np.arange(ROWS) * 1000 + 1_767_225_600_000),
            "host": Values(np.array([b"a", b"b"] * (ROWS // 2))),
            "note": Values(np.arange(ROWS, dtype=np.int32), valid[:ROWS]),
            "load": Values(np.arange(ROWS) / 7),
            "free": Values(np.arange(ROWS) / 8, valid[ROWS:]),
        }
        yield Block(table, 0, np.arange(ROWS), data)


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
    drawn = points(tables) if form in POINTS else blocks(tables)
    return b"".join(FORMATS[form].stream(tables, [list(drawn)]))


def scanned(form, tables, content, *, batch_rows=7, limit=None, skip=False):
    with NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        return scan(
            file.name, "f", layout_of(form, tables), batch_rows=batch_rows, limit=limit, skip=skip
        )


def kept(content, found):
    """The bytes of a file that are in its batches."""
    start, stop = found.index[0, 0], found.index[-1, 0]
    return without(content[start:stop], start, [gap for gap in found.gaps if gap[0] < stop])


def tables_of(form):
    if form in POINTS:
        return POINT_TABLES
    return TABLES if FORMATS[form].names_tables else TABLES[:1]


@pytest.mark.parametrize("form", RecordFormat)
@pytest.mark.parametrize("chunk", [pytest.param(1, marks=pytest.mark.rare), 61, 1 << 20])
def test_every_record_is_found_in_portions_of_any_size(monkeypatch, form, chunk):
    monkeypatch.setattr(scanning, "_CHUNK_BYTES", chunk)
    tables = tables_of(form)
    content = written(form, tables)
    found = scanned(form, tables, content)

    assert found.rows == (ROWS,) * len(tables)
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
    if form in POINTS:  # without its last field, which may be NULL, a row looks whole
        complete |= {n + 1 for n, byte in enumerate(content) if byte == ord("\n")}
    for end in {chance.randrange(len(content)) for _ in range(100)} - complete:
        with pytest.raises(ConfigError, match=r"record [\d,]+ \(byte [\d,]+\)|begins with"):
            scanned(form, tables, content[:end])


@pytest.mark.parametrize("removed", [0, 1, None], ids=["action", "document", "neither"])
def test_a_bulk_file_with_a_line_too_few_or_too_many_costs_one_record(removed):
    lines = written("es-bulk", TABLES).splitlines(keepends=True)
    record = lines[240:242]
    damaged = [b"# a line\n"] if removed is None else [record[1 - removed]]
    content = b"".join([*lines[:240], *damaged, *lines[242:]])
    found = scanned("es-bulk", TABLES, content, skip=True)

    assert (found.skipped_rows, sum(found.rows)) == (1, ROWS * len(TABLES) - 1)
    assert kept(content, found) == b"".join([*lines[:240], *lines[242:]])


def test_a_record_without_an_end_is_not_read_into_memory(monkeypatch):
    monkeypatch.setattr(scanning, "_CHUNK_BYTES", 1000)
    monkeypatch.setattr(scanning, "_LONGEST_BYTES", 5000)
    content = written("bson", TABLES[:1])
    first = int(scanned("bson", TABLES[:1], content, batch_rows=1).index[100, 0])
    damaged = content[:first] + b"\xff\xff\xff\x7f" + content[first + 4 :]
    longest = 0

    class Noted(scanning._Scan):
        def take(self, content, *words, **named):
            nonlocal longest
            longest = max(longest, len(content))
            return super().take(content, *words, **named)

    monkeypatch.setattr(scanning, "_Scan", Noted)
    with pytest.raises(ConfigError, match=rf"record 101 \(byte {first:,}\): the file ends with"):
        scanned("bson", TABLES[:1], damaged)
    found = scanned("bson", TABLES[:1], damaged, skip=True)
    assert (found.rows, found.skipped_rows, found.size_bytes) == ((100,), 1, len(content))
    assert longest <= 6000


@pytest.mark.parametrize("form", ["influx", "es-bulk", "csv", "tsv", "pgcopy"])
def test_a_damaged_record_is_left_out_and_the_others_are_kept(form):
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
    found = scanned(form, tables, damaged, skip=True)

    assert (found.skipped_rows, sum(found.rows)) == (1, ROWS * len(tables) - 1)
    assert found.skipped[0].startswith(f"record 121 (byte {first:,}): ")
    begin = edges[0]
    assert kept(damaged, found) == content[begin:first] + content[stop:]


def damaged(form, content, edges):
    """The file with some records damaged so that the others are found."""
    for first, stop in [(edges[number], edges[number + 1]) for number in (1, 120, 121, 199)]:
        noise = (
            b"#" * (stop - first - 2) if FORMATS[form].header(TABLES[0]) or "copy" in form else b"#"
        )
        content = content[:first] + noise + content[first + len(noise) :]
    return content


@pytest.mark.parametrize(
    ("form", "skip"),
    [(form, False) for form in RecordFormat]
    + [(form, True) for form in RecordFormat if form not in ("bson", "pgcopy-binary")],
)
@pytest.mark.parametrize("workers", [1, 3, 100])
def test_workers_that_scan_their_parts_find_the_batches_of_the_whole_file(
    tmp_path, monkeypatch, form, skip, workers
):
    monkeypatch.setattr(scanning, "_CHUNK_BYTES", 1000)
    tables = tables_of(form)
    content = written(form, tables)
    if skip:
        edges = scanned(form, tables, content, batch_rows=1).index[:, 0].tolist()
        content = damaged(form, content, edges)
    path = tmp_path / "f"
    path.write_bytes(content)
    layout = layout_of(form, tables)
    whole = scan(str(path), "f", layout, batch_rows=7, limit=None, skip=skip)
    edges = whole.summarize([workers], tuple(range(len(tables)))).edges[workers]
    handle = os.open(path, os.O_RDONLY)
    found = []
    for (start, *before), (stop, *after) in pairwise(edges):
        part = scan_part(
            handle, "f", layout, (start, stop), batch_rows=7, skip=skip, tick=lambda: None
        )
        assert part.rows == tuple(np.subtract(after, before))
        found += np.add(part.index[:-1], [0, *before]).tolist()
    os.close(handle)

    assert len(edges) == workers + 1
    assert sum(whole.rows) == ROWS * len(tables) - (4 if skip else 0)
    assert (whole.skipped_rows > 0) == skip
    assert [*found, whole.index[-1].tolist()] == whole.index.tolist()
