"""Files of InfluxDB line protocol: the points of one measurement are the rows of a table.

The columns are the time, then all tags, then all fields; a missing value is NULL. Comments, blank
lines and the DDL section of files for `influx -import` are left out.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa

from iotbench.rows.files.content import open_content
from iotbench.rows.files.names import table_name
from iotbench.rows.files.records import Malformed
from iotbench.rows.files.source import FilePart, Portion
from simulator.errors import ConfigError, counted, nearest

_TIME = "time"
_PORTION_ROWS = 1 << 16
_HEAD_LINES = 1000
_LONGEST_BYTES = 1 << 16
_SHOWN_BYTES = 60
_SHOWN_NAMES = 5
_DDL, _DML = b"# DDL", b"# DML"

_MORE = rb"[^,= \\]*(?:\\.[^,= \\]*)*"
_NAME = rb"(?:[^,= \\]|\\.)" + _MORE
_KEY = rb"(?:[^,= \\\"]|\\.)" + _MORE
_TEXT = rb'"[^"\\]*(?:\\.[^"\\]*)*'
_FIELD = rb"(?P<key>" + _KEY + rb")=(?P<value>" + _TEXT + rb'"|[^," ]+)'
_ONE_FIELD = re.compile(_FIELD + rb"(?:,|$)", re.DOTALL)
_ONE_TAG = re.compile(rb",(" + _NAME + rb")=(" + _NAME + rb")")
_BEGIN = (
    rb"(?P<name>(?:[^, \\]|\\.)[^, \\]*(?:\\.[^, \\]*)*)(?P<tags>(?:,"
    + _NAME
    + rb"="
    + _NAME
    + rb")*) +"
    rb"(?P<fields>(?:" + re.sub(rb"\?P<\w+>", rb"?:", _FIELD) + rb",)*"
)
_POINT = re.compile(
    _BEGIN + re.sub(rb"\?P<\w+>", rb"?:", _FIELD) + rb")(?: +(?P<time>-?\d+))? *", re.DOTALL
)
_OPEN = re.compile(_BEGIN + _KEY + rb"=" + _TEXT + rb")", re.DOTALL)
"""Beginning of a point with a text that continues on the next line."""
_FLOAT = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_BOOLS = {
    **dict.fromkeys((b"t", b"T", b"true", b"True", b"TRUE"), True),
    **dict.fromkeys((b"f", b"F", b"false", b"False", b"FALSE"), False),
}
_INTEGER = re.compile(rb"-?\d+[iu]")
_INT64 = range(-(1 << 63), 1 << 63)
_INTEGERS = {b"i": ("an integer", _INT64), b"u": ("an unsigned integer", range(1 << 64))}

Value = tuple[str, Any]
"""Type and value of a field."""
Point = tuple[bytes, Mapping[bytes, bytes], Mapping[bytes, Value], int]
"""Measurement, tags, fields and time."""

_TYPES: Mapping[str, Callable[[], Any]] = {
    "an integer": pa.int64,
    "an unsigned integer": pa.uint64,
    "a float": pa.float64,
    "a boolean": pa.bool_,
    "a text": pa.string,
}


def looks_like_lines(path: Path, where: str) -> bool:
    """Return whether the first line is a point, not counting comments."""
    with open_content(path, where) as content:
        for number, (_, line) in enumerate(_split_lines(content)):
            if line is not None:
                return _POINT.fullmatch(line) is not None
            if number == _HEAD_LINES:
                break
    return False


class LinesPart(FilePart):
    """A file of line protocol."""

    unit = "line"
    time = _TIME
    well_formed = "the form of line protocol"

    def __init__(self, path: Path, name: str, measurement: str) -> None:
        """Read the names and types of the columns; ConfigError unless there is one measurement."""
        self._path, self.name = path, name
        found = self._find_measurements()
        self._measurement = self._choose(found, measurement.encode())
        tags, self._kinds = found[self._measurement]
        self._keys = [b"", *tags, *self._kinds]
        self._tags = len(tags)
        self.names = (_TIME, *(_format(key) for key in self._keys[1:]))
        self.tags = self.names[1 : 1 + len(tags)]
        texts = [pa.string()] * len(tags)
        fields = [_TYPES[kind]() for kind in self._kinds.values()]
        self.types = (pa.int64(), *texts, *fields)
        self.table = table_name([Path(_format(self._measurement).replace(".", "_"))])

    def portions(self, columns: Sequence[int]) -> Iterator[tuple[Portion, Sequence[Malformed]]]:
        rows: list[Point] = []
        lines: list[int] = []
        malformed: list[Malformed] = []
        with open_content(self._path, self.where) as content:
            for number, line in _split_lines(content):
                if line is None:
                    continue
                try:
                    point = self._parse_point(line)
                except ValueError as error:
                    text = line[:_SHOWN_BYTES].decode(errors="replace")
                    malformed.append(Malformed(number, str(error), text, 0))
                    continue
                if point[0] == self._measurement:
                    rows.append(point)
                    lines.append(number)
                if len(rows) == _PORTION_ROWS:
                    yield self._make_portion(rows, lines, columns), malformed
                    rows, lines, malformed = [], [], []
        yield self._make_portion(rows, lines, columns), malformed

    def no_rows(self) -> str:
        return "has no points"

    def _make_portion(
        self, points: Sequence[Point], lines: Sequence[int], columns: Sequence[int]
    ) -> Portion:
        return Portion([self._make_column(points, at) for at in columns], np.array(lines, np.int64))

    def _make_column(self, points: Sequence[Point], at: int) -> Any:
        key, kind = self._keys[at], self.types[at]
        if at == 0:
            return pa.array([time for *_, time in points], kind)
        if at <= self._tags:
            return pa.array([tags.get(key) for _, tags, _, _ in points], pa.binary()).view(kind)
        values = [fields[key][1] if key in fields else None for _, _, fields, _ in points]
        if pa.types.is_string(kind):
            return pa.array(values, pa.binary()).view(kind)
        return pa.array(values, kind)

    def _parse_point(self, line: bytes) -> Point:
        """Return the point of a line; ValueError if it has none, or a field changes its type."""
        point = _parse(line)
        if point[0] == self._measurement:
            for key, (kind, _) in point[2].items():
                if kind != self._kinds[key]:
                    expected = f"{self._kinds[key]}, as before"
                    raise ValueError(f"field {_format(key)!r} is {kind}; expected {expected}")
        return point

    def _find_measurements(self) -> dict[bytes, tuple[dict[bytes, None], dict[bytes, str]]]:
        """Return measurement -> tags, and fields with the types of their first values."""
        found: dict[bytes, tuple[dict[bytes, None], dict[bytes, str]]] = {}
        with open_content(self._path, self.where) as content:
            for _, line in _split_lines(content):
                try:
                    name, tags, fields, _ = _parse(line or b"")
                except ValueError:  # reported with the rows
                    continue
                known_tags, known_fields = found.setdefault(name, ({}, {}))
                known_tags.update(dict.fromkeys(tags))
                for key, (kind, _) in fields.items():
                    known_fields.setdefault(key, kind)
        return found

    def _choose(self, found: Mapping[bytes, object], wanted: bytes) -> bytes:
        names = [_format(name) for name in found]
        if wanted in found:
            return wanted
        if wanted:
            raise ConfigError(
                f"--measurement: {self.name} has no {_format(wanted)!r}"
                f" ({nearest(_format(wanted), names)})"
            )
        if not found:
            raise ConfigError(f"{self.where}: {self._find_problem()}")
        if len(found) > 1:
            more = ", ..." * (len(names) > _SHOWN_NAMES)
            raise ConfigError(
                f"{self.where}: has {counted(len(names), 'measurement')}"
                f" ({', '.join(names[:_SHOWN_NAMES])}{more}); each makes a table: name one with"
                " --measurement, and insert the others apart"
            )
        return next(iter(found))

    def _find_problem(self) -> str:
        with open_content(self._path, self.where) as content:
            for number, line in _split_lines(content):
                if line is not None:
                    try:
                        _parse(line)
                    except ValueError as error:
                        text = line[:_SHOWN_BYTES].decode(errors="replace")
                        return f"line {number}: {error}: {text}"
        return self.no_rows()


def _split_lines(content: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """Yield the number and the text of each line; the text of a line without a point is None.

    A text in quotes may have line breaks, but none of its lines may look like a point. A DDL
    section comes before all points, and ends with the first point.
    """
    pending, begins, is_ddl, is_data = b"", 0, False, False
    for number, raw in enumerate(content, 1):
        line = raw.rstrip(b"\r\n")
        if pending:
            joined, is_next = pending + raw, _POINT.fullmatch(line) is not None
            whole = joined.rstrip(b"\r\n")
            if not is_next and _POINT.fullmatch(whole):
                yield begins, whole
                pending = b""
                continue
            if not is_next and _OPEN.fullmatch(joined) and len(joined) < _LONGEST_BYTES:
                pending = joined
                continue
            yield begins, pending.rstrip(b"\r\n")
            pending = b""
        is_ddl = is_ddl or (line.startswith(_DDL) and not is_data)
        is_ddl = is_ddl and not (line.startswith(_DML) or _POINT.fullmatch(line))
        is_data = is_data or not (is_ddl or line.startswith(b"#") or not line.strip())
        if is_ddl or line.startswith(b"#") or not line.strip():
            yield number, None
        elif b'"' in line and not _POINT.fullmatch(line) and _OPEN.fullmatch(line):
            pending, begins = raw, number
        else:
            yield number, line
    if pending:
        yield begins, pending.rstrip(b"\r\n")


def _parse(line: bytes) -> Point:
    """Return the point of a line; ValueError with the reason if the line is not a point."""
    match = _POINT.fullmatch(line)
    if match is None:
        closes = " (a quote is not closed)" if _OPEN.fullmatch(line) else ""
        raise ValueError(f"expected MEASUREMENT[,TAG=VALUE] FIELD=VALUE TIME{closes}")
    if match["time"] is None:
        raise ValueError("has no time; every row needs one")
    time = int(match["time"])
    if time not in _INT64:
        raise ValueError("the time is beyond 64 bits")
    fields: dict[bytes, Value] = {}
    for each in _ONE_FIELD.finditer(match["fields"]):
        key = _unescape(each["key"])
        if key in fields:
            raise ValueError(f"has field {_format(key)!r} twice")
        fields[key] = _parse_value(key, each["value"])
    return _unescape(match["name"]), _parse_tags(match["tags"]), fields, time


@lru_cache(maxsize=1 << 16)
def _parse_tags(text: bytes) -> Mapping[bytes, bytes]:
    pairs = [(_unescape(key), _unescape(value)) for key, value in _ONE_TAG.findall(text)]
    for key, times in Counter(key for key, _ in pairs).items():
        if times > 1:
            raise ValueError(f"has tag {_format(key)!r} twice")
    return dict(pairs)


def _parse_value(key: bytes, text: bytes) -> Value:
    if text.startswith(b'"'):
        plain = text[1:-1]
        return "a text", re.sub(rb'\\(["\\])', rb"\1", plain) if b"\\" in plain else plain
    if _FLOAT.fullmatch(text):
        return "a float", float(text)
    if text in _BOOLS:
        return "a boolean", _BOOLS[text]
    if _INTEGER.fullmatch(text):
        kind, allowed = _INTEGERS[text[-1:]]
        if (found := int(text[:-1])) in allowed:
            return kind, found
        raise ValueError(f"field {_format(key)!r} is beyond 64 bits")
    raise ValueError(f"field {_format(key)!r} is not a number, a boolean or a text in quotes")


def _unescape(text: bytes) -> bytes:
    return re.sub(rb"\\([,= ])", rb"\1", text) if b"\\" in text else text


def _format(text: bytes) -> str:
    return text.decode(errors="replace")
