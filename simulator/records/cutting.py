"""Cutters, which find the end and the table of each record in a format."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simulator.data.octets import view_items
from simulator.data.reader import DatasetReader
from simulator.data.schema import Table
from simulator.errors import ConfigError
from simulator.modules.shared.metrics.points import fields
from simulator.modules.splunk.wire import index
from simulator.protocol.records import FileManifest, RecordFormat
from simulator.records.formats import FORMATS

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]

UNKNOWN = -1
"""Place for a record that belongs to no table."""
_NEWLINE, _QUOTE, _BACKSLASH = b'\n"\\'
_FIELDS, _LENGTH = 2, 4


class Cutter(ABC):
    """Cuts the bytes of a format into records."""

    expected: str
    """Expected form of a record."""

    @abstractmethod
    def cut(self, content: Bytes, *, last: bool) -> tuple[Places, Places]:
        """Return the ends of the records in these bytes, and the place of each record's table.

        Bytes after the last end are not a whole record. UNKNOWN is the place for bytes that cannot
        be a record. `last` is True if the file ends after these bytes.
        """


@dataclass(frozen=True, slots=True)
class NamedLines(Cutter):
    """Records that are lines, each of which begins with the name of the record's table."""

    begins: Sequence[bytes]
    """First bytes of a record, for each table."""
    endings: bytes
    """Bytes that may precede the last line feed of a record."""
    expected: str
    quoted: bool = False
    """True if a line feed between quotes does not end a record."""
    action: bytes = b""
    """First bytes of a record's first line, if a record has two lines."""

    def cut(self, content: Bytes, *, last: bool) -> tuple[Places, Places]:
        """Return the ends of the records, and the place of the table that each record names."""
        ends = self._find_ends(content)
        starts = starts_of(ends)
        found = np.full(len(starts), UNKNOWN)
        width = max(map(len, self.begins))
        padded = np.concatenate((content, np.zeros(width, np.uint8)))
        for place, begin in enumerate(self.begins):
            open_ = np.flatnonzero(found == UNKNOWN)
            if not len(open_):
                break
            alike = view_items(padded, len(begin))[starts[open_]] == np.void(begin)
            alike &= (ends - starts)[open_] > len(begin)
            found[open_[alike]] = place
        whole = np.isin(content[np.maximum(ends - 2, 0)], np.frombuffer(self.endings, np.uint8))
        found[~whole] = UNKNOWN
        return ends, found

    def _find_ends(self, content: Bytes) -> Places:
        """Return the ends of the records: of each line, or of each line that follows an action."""
        found = _find_newlines(
            content, _find_quoted(content, escapes=True) if self.quoted else None
        )
        if not self.action or not len(found):
            return found
        padded = np.concatenate((content, np.zeros(len(self.action), np.uint8)))
        begins = np.concatenate(([0], found))
        actions = view_items(padded, len(self.action))[begins] == np.void(self.action)
        second = ~actions[:-1] & np.concatenate(([False], actions[:-2]))
        ends: Places = found[second | actions[1:]]
        return ends


@dataclass(frozen=True, slots=True)
class Cells(Cutter):
    """Lines of cells, which all belong to one table."""

    delimiter: bytes
    columns: int
    quoted: bool
    expected: str

    def cut(self, content: Bytes, *, last: bool) -> tuple[Places, Places]:
        """Return the ends of lines, and UNKNOWN as place of a line with a wrong number of cells."""
        quoted = _find_quoted(content, escapes=False) if self.quoted else None
        ends = _find_newlines(content, quoted)
        between = content == self.delimiter[0]
        if quoted is not None:
            between &= ~quoted
        counts = np.concatenate(([0], np.cumsum(between)))
        right = counts[ends] - counts[starts_of(ends)] == self.columns - 1
        return ends, np.where(right, 0, UNKNOWN)


@dataclass(frozen=True, slots=True)
class BsonDocuments(Cutter):
    """BSON documents."""

    expected: str = "a BSON document"

    def cut(self, content: Bytes, *, last: bool) -> tuple[Places, Places]:
        """Return the ends of documents, and UNKNOWN as place of one that does not end with NUL."""
        data, at, found = content.data, 0, []
        while at + _LENGTH <= len(data):
            length = int.from_bytes(data[at : at + _LENGTH], "little")
            if length <= _LENGTH:
                found.append(len(data))  # nothing can follow that makes sense
                break
            at += length
            if at > len(data):
                break
            found.append(at)
        ends = np.array(found, np.int64)
        starts = starts_of(ends)
        lengths = view_items(content, _LENGTH)[starts].view("<i4") if len(starts) else ends
        right = (content[ends - 1] == 0) & (lengths == ends - starts)
        return ends, np.where(right, 0, UNKNOWN)


@dataclass(frozen=True, slots=True)
class Tuples(Cutter):
    """Rows of PostgreSQL's binary COPY."""

    columns: int
    expected: str

    def cut(self, content: Bytes, *, last: bool) -> tuple[Places, Places]:
        """Return the ends of rows, which all belong to one table."""
        data, at, found = content.data, 0, []
        count = self.columns.to_bytes(_FIELDS, "big")
        while data[at : at + _FIELDS] == count:
            at += _FIELDS
            for _ in range(self.columns):
                length = int.from_bytes(data[at : at + _LENGTH], "big", signed=True)
                at += _LENGTH + max(length, 0)
            if at > len(data):
                break
            found.append(at)
        return np.array(found, np.int64), np.zeros(len(found), np.int64)


def _find_newlines(content: Bytes, quoted: NDArray[np.bool_] | None) -> Places:
    """Return the ends of lines; line feeds between quotes are ignored."""
    found = content == _NEWLINE
    return np.flatnonzero(found if quoted is None else found & ~quoted) + 1


def _find_quoted(content: Bytes, *, escapes: bool) -> NDArray[np.bool_] | None:
    """Return a mask of the bytes between quotes; None if there are none.

    A quote after an escape is not a quote.
    """
    quotes = content == _QUOTE
    if not quotes.any():
        return None
    if escapes:
        for at in np.flatnonzero(quotes).tolist():
            before = at
            while before and content[before - 1] == _BACKSLASH:
                before -= 1
            quotes[at] = (at - before) % 2 == 0
    return np.asarray(np.cumsum(quotes) % 2 == 1)


def starts_of(ends: Places) -> Places:
    """Return the starts of consecutive records with these ends."""
    return np.concatenate(([0], ends[:-1])) if len(ends) else ends


_NUMBER = rb"[-+0-9.eE]+"
_LINES = {
    RecordFormat.OPENTSDB: re.compile(
        rb'\{"metric":"(?P<table>[^".\n]+)\.(?P<field>[^".\n]+)","timestamp":(?P<time>\d+),"value":'
        + _NUMBER
        + rb',"tags":(?P<tags>\{[^{}\n]*\})\}\n'
    ),
    RecordFormat.GRAPHITE: re.compile(
        rb"(?P<table>[^. \n]+)(?P<tags>(?:\.[^. \n]+)*)\.(?P<field>[^. \n]+) "
        + _NUMBER
        + rb" (?P<time>\d+)\n"
    ),
}


@dataclass(slots=True)
class _Row:
    """State of the current row, while its lines are being read."""

    table: bytes = b""
    series: tuple[bytes, ...] = ()
    """Tags and time of the row."""
    seen: list[int] = field(default_factory=list)
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class PointLines(Cutter):
    """Rows of points; the fields of each table are in a fixed order."""

    line: re.Pattern[bytes]
    fields: Mapping[bytes, Mapping[bytes, int]]
    """Table -> field -> place of the field in the order."""
    needed: Mapping[bytes, frozenset[int]]
    """Table -> places of the fields that are never NULL."""
    expected: str

    def cut(self, content: Bytes, *, last: bool) -> tuple[Places, Places]:
        """Return the ends of rows, and the place of each row's table.

        A row ends with its last field, or where the next row begins.
        """
        data = content.tobytes()
        order = {name: place for place, name in enumerate(self.fields)}
        found: list[tuple[int, int]] = []
        row, at = _Row(), 0

        def close() -> None:
            whole = not row.damaged and self.needed[row.table] <= {*row.seen}
            found.append((at, order[row.table] if whole else UNKNOWN))

        while end := data.find(b"\n", at) + 1:
            table, series, place = self._parse(data, at, end)
            if at > (found[-1][0] if found else 0) and self._begins_row(row, table, series, place):
                close()
                row = _Row()
            if place == UNKNOWN:
                row.damaged = True
            else:
                row.table, row.series = table, series
                row.seen.append(place)
            at = end
        ended = last and at == len(data)
        if at > (found[-1][0] if found else 0) and (ended or self._is_complete(row)):
            close()
        ends, tables = zip(*found, strict=True) if found else ((), ())
        return np.array(ends, np.int64), np.array(tables, np.int64)

    def _parse(self, data: bytes, at: int, end: int) -> tuple[bytes, tuple[bytes, ...], int]:
        """Return table, series and place of the field in a line; UNKNOWN if it is not a point."""
        match = self.line.fullmatch(data, at, end)
        if match is None:
            return b"", (), UNKNOWN
        table, name, *series = match.group("table", "field", "tags", "time")
        return table, tuple(series), self.fields.get(table, {}).get(name, UNKNOWN)

    def _begins_row(self, row: _Row, table: bytes, series: tuple[bytes, ...], place: int) -> bool:
        """Return whether a line begins a row; a damaged line does only after a complete row."""
        if place == UNKNOWN or not row.seen:
            return self._is_complete(row)
        return (row.table, row.series) != (table, series) or place <= row.seen[-1]

    def _is_complete(self, row: _Row) -> bool:
        """Return whether the row has the table's last field."""
        return bool(row.seen) and row.seen[-1] == len(self.fields[row.table]) - 1


def point_lines(form: RecordFormat, tables: Sequence[Table]) -> PointLines:
    """Return the cutter for files of points in a format, with rows of these tables."""
    places = {
        table.name.encode(): {c.name.encode(): n for n, c in enumerate(fields(table))}
        for table in tables
    }
    needed = {
        table.name.encode(): frozenset(n for n, c in enumerate(fields(table)) if not c.nullable)
        for table in tables
    }
    names = " or ".join(table.name for table in tables)
    return PointLines(_LINES[form], places, needed, f"the points of a row of {names}")


@dataclass(frozen=True, slots=True)
class Layout:
    """The structure of a file of records."""

    cutter: Cutter
    tables: int
    header: bytes
    trailer: bytes


def layout_of(form: RecordFormat, tables: Sequence[Table]) -> Layout:
    """Return the layout of a file in a format, with rows of these tables."""
    known = FORMATS[form]
    return Layout(_make_cutter(form, tables), len(tables), known.header(tables[0]), known.trailer)


def tables_in(
    reader: DatasetReader, form: RecordFormat, name: str, manifest: FileManifest | None
) -> tuple[int, ...]:
    """Return the places of the tables with rows in a file.

    ConfigError if the file's manifest has a different format, or is needed to choose one table.
    """
    if manifest and manifest.format != form:
        raise ConfigError(
            f"--data-format {form}: {name} has format {manifest.format}, as its manifest says"
        )
    places = tuple(range(len(reader.tables)))
    if manifest:
        places = tuple(sorted({item.table for item in manifest.dataset.ranges}))
    if len(places) > 1 and not FORMATS[form].names_tables:
        raise ConfigError(
            f"--manifest: {name}: a file of format {form} has the rows of one table, which only its"
            " manifest names; give the manifest"
        )
    return places


def _make_cutter(form: RecordFormat, tables: Sequence[Table]) -> Cutter:
    names = [table.name.encode() for table in tables]
    columns = len(tables[0].columns)
    cells = f"{columns} cells ({', '.join(column.name for column in tables[0].columns)})"
    match form:
        case RecordFormat.INFLUX:
            begins = [
                name.replace(b",", b"\\,").replace(b" ", b"\\ ") + (b"," if table.tags else b" ")
                for name, table in zip(names, tables, strict=True)
            ]
            expected = f"a line of {_join_names(tables)} with tags, fields and time"
            return NamedLines(begins, b"0123456789", expected, quoted=True)
        case RecordFormat.ES_BULK:
            begins = [b'{"create":{"_index":"%s"}}\n{' % name for name in names]
            expected = f"an action and a document of {_join_names(tables)}"
            return NamedLines(begins, b"}", expected, action=b'{"create":{')
        case RecordFormat.SPLUNK:
            begins = [b'{"index":"%s",' % index(name.decode()).encode() for name in names]
            return NamedLines(begins, b"}", f"an event of {_join_names(tables)}")
        case RecordFormat.CSV:
            return Cells(b",", columns, quoted=True, expected=cells)
        case RecordFormat.TSV | RecordFormat.PGCOPY:
            return Cells(b"\t", columns, quoted=False, expected=cells)
        case RecordFormat.BSON:
            return BsonDocuments()
        case RecordFormat.PGCOPY_BINARY:
            return Tuples(columns, cells)
        case RecordFormat.OPENTSDB | RecordFormat.GRAPHITE:
            return point_lines(form, tables)


def _join_names(tables: Sequence[Table]) -> str:
    return " or ".join(table.name for table in tables)
