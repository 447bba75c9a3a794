"""Cuts files of points into rows: a point is a line with one field, and a row is several lines.

A NULL has no point. Lines that follow each other are one row while they have the same table, tags
and time, and their fields come in the order of the table's columns.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from simulator.data.records import RecordFormat
from simulator.data.schema import Table
from simulator.modules.shared.metrics.points import fields
from simulator.records.cutting import UNKNOWN, Bytes, Cutter, Places

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
    """Lines of the current row."""

    table: bytes = b""
    series: tuple[bytes, ...] = ()
    """Tags and time."""
    seen: list[int] = field(default_factory=list)
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class PointLines(Cutter):
    """Rows of points, of tables that each have fields in this order."""

    line: re.Pattern[bytes]
    fields: Mapping[bytes, Mapping[bytes, int]]
    """Table -> field -> its place."""
    needed: Mapping[bytes, frozenset[int]]
    """Table -> the places of fields that are never NULL."""
    expected: str

    def cut(self, content: Bytes, *, last: bool) -> tuple[Places, Places]:
        """Return where rows end, and the place of each row's table.

        The end of a row is known once its last field is there, or the next row.
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
            if at > (found[-1][0] if found else 0) and self._begins(row, table, series, place):
                close()
                row = _Row()
            if place == UNKNOWN:
                row.damaged = True
            else:
                row.table, row.series = table, series
                row.seen.append(place)
            at = end
        ended = last and at == len(data)
        if at > (found[-1][0] if found else 0) and (ended or self._complete(row)):
            close()
        ends, tables = zip(*found, strict=True) if found else ((), ())
        return np.array(ends, np.int64), np.array(tables, np.int64)

    def _parse(self, data: bytes, at: int, end: int) -> tuple[bytes, tuple[bytes, ...], int]:
        """Return table, series and place of the field of a line; UNKNOWN if it is no point."""
        match = self.line.fullmatch(data, at, end)
        if match is None:
            return b"", (), UNKNOWN
        table, name, *series = match.group("table", "field", "tags", "time")
        return table, tuple(series), self.fields.get(table, {}).get(name, UNKNOWN)

    def _begins(self, row: _Row, table: bytes, series: tuple[bytes, ...], place: int) -> bool:
        """Return whether a line begins a row; a damaged line does so after a complete one only."""
        if place == UNKNOWN or not row.seen:
            return self._complete(row)
        return (row.table, row.series) != (table, series) or place <= row.seen[-1]

    def _complete(self, row: _Row) -> bool:
        """Return whether the last field of the row is there, after which no other can come."""
        return bool(row.seen) and row.seen[-1] == len(self.fields[row.table]) - 1


def point_lines(form: RecordFormat, tables: Sequence[Table]) -> PointLines:
    """Return the cutter of a format of points for files of rows of these tables."""
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
