"""Boundaries of records in delimited text, and malformed records.

Quotes follow RFC 4180: a quoted cell begins after a delimiter and ends before a delimiter, and
quotes inside the cell are doubled. pyarrow fills the columns. It receives only well-formed records,
and must find the number of records that is counted here. docs/performance.md compares pyarrow with
other readers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import numpy as np

from iotbench.rows.files.content import head_of
from simulator.data.block import Array

MOST_CELL_BYTES = 1 << 16
"""Maximum size of a quoted cell; a longer cell counts as an unclosed quote."""
_MOST_RECORD_BYTES = 16 << 20
_LEAST_WINDOW_BYTES = 4 * MOST_CELL_BYTES
_SHOWN_BYTES = 60
_NEWLINE, _RETURN, _QUOTE = b'\n\r"'
_QUOTING = "a quote is not closed, or is inside a cell and not doubled"
_ROWS_INSIDE = "a quote is not closed: each of the lines up to the next quote looks like a row"
_LONE_RETURN = "a carriage return without a line feed"
_TOO_LONG = f"no line break within {_MOST_RECORD_BYTES >> 20} MiB"
_NONE = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Malformed:
    """A malformed record."""

    line: int
    """Number of the first line of the record."""
    reason: str
    """Reason; empty: the number of cells is wrong."""
    text: str
    cells: int
    height: int = 1
    """Number of lines of the record."""


@dataclass(frozen=True, slots=True)
class Records:
    """Consecutive records."""

    content: bytes
    """Well-formed records, and blank lines."""
    lines: Array
    """Number of the first line of each well-formed record."""
    malformed: tuple[Malformed, ...]


class Scanner:
    """Cuts a text into records, block by block."""

    def __init__(self, delimiter: str, comment: str, line: int) -> None:
        """Set the delimiter, the prefix of comments, and the number of the first line."""
        self._delimiter = ord(delimiter)
        self._comment = ord(comment) if comment else -1
        self._line = line
        self.width = 0
        """Number of cells that each record must have; the first record determines the number."""

    def records(self, content: IO[bytes], block_bytes: int) -> Iterator[Records]:
        """Yield the records of the content."""
        data, at_end, window = b"", False, block_bytes
        while True:
            if len(data) < window and not at_end:
                piece = head_of(content, block_bytes)
                at_end = len(piece) < block_bytes
                data += piece
                if at_end and data and not data.endswith(b"\n"):
                    data += b"\n"
            whole = at_end and len(data) <= window
            found, used = self._cut_records(data[:window], at_end=whole)
            if len(found.lines) or found.malformed:
                yield found
            data = data[used:]
            if whole and not data:
                return
            # Data after a malformed record is cut again; the next such record may be far away.
            window = _LEAST_WINDOW_BYTES if found.malformed else max(block_bytes, window * 2)
            window = window if used else max(window, 2 * len(data))
            if len(data) > _MOST_RECORD_BYTES and not used:
                wrong = Malformed(self._line, _TOO_LONG, _format(data), 0)
                yield Records(b"", _NONE, (wrong,))
                return

    def _cut_records(self, data: bytes, *, at_end: bool) -> tuple[Records, int]:
        """Return the records up to the first one with wrong quotes, and their length in bytes.

        A record that may continue after the data is excluded.
        """
        letters = np.frombuffer(data, np.uint8)
        breaks = np.flatnonzero(letters == _NEWLINE)
        quotes, wrong, used = _NONE, -1, int(breaks[-1]) + 1 if len(breaks) else 0
        if b'"' in data:
            quotes, wrong, used = self._find_quotes(letters, breaks, at_end=at_end)
        data, letters, breaks = data[:used], letters[:used], breaks[breaks < used]
        ends = breaks[np.searchsorted(quotes, breaks) & 1 == 0] if len(quotes) else breaks
        if wrong >= 0:  # it ends with its line
            ends = np.append(ends[ends < wrong], used - 1)
        starts = np.append(np.zeros(1, np.int64), ends + 1)[: len(ends)]
        first_lines = np.searchsorted(breaks, starts)
        heights = np.searchsorted(breaks, ends) - first_lines + 1
        lines = self._line + first_lines
        self._line += len(breaks)

        sizes = ends - starts
        blank = (sizes == 0) | ((sizes == 1) & (letters[starts] == _RETURN))
        comment = (letters[starts] == self._comment) & ~blank
        rows = ~(blank | comment & (heights == 1))
        cells, delimiters = self._count_cells(letters, quotes, starts, ends)
        if not self.width and rows.any():
            self.width = int(cells[rows.argmax()])
        reasons = dict.fromkeys(np.flatnonzero(comment & rows).tolist(), _QUOTING)
        reasons |= dict.fromkeys(_find_lone_returns(data, letters, quotes, ends), _LONE_RETURN)
        like_rows = (heights > 1) & (delimiters == heights * (self.width - 1)) & (self.width > 1)
        for record in np.flatnonzero(like_rows).tolist():
            inside = data[starts[record] : ends[record]].split(b"\n")
            if all(each.count(self._delimiter) == self.width - 1 for each in inside):
                reasons[record] = _ROWS_INSIDE
        if wrong >= 0:
            reasons[len(ends) - 1] = _QUOTING
        bad = cells != self.width
        bad[list(reasons)] = True
        malformed = tuple(
            Malformed(
                int(lines[each]),
                reasons.get(each, ""),
                _format(data[starts[each] : ends[each]]),
                int(cells[each]),
                int(heights[each]),
            )
            for each in np.flatnonzero(bad & rows).tolist()
        )
        left_out = (bad | ~rows) & ~blank
        content = _leave_out(data, starts, ends, left_out) if left_out.any() else data
        return Records(content, lines[rows & ~bad], malformed), used

    def _count_cells(
        self, letters: Array, quotes: Array, starts: Array, ends: Array
    ) -> tuple[Array, Array]:
        """Return the numbers of cells and of delimiters, quoted or not, in each record."""
        found = np.flatnonzero(letters == self._delimiter)
        each = self.width - 1
        if each > 0 and not len(quotes) and len(found) == each * len(ends):
            of_record = found.reshape(len(ends), each)
            if (of_record[:, 0] >= starts).all() and (of_record[:, -1] < ends).all():
                same = np.full(len(ends), each)
                return same + 1, same
        delimiters = np.searchsorted(found, ends) - np.searchsorted(found, starts)
        if not len(quotes):
            return delimiters + 1, delimiters
        found = found[np.searchsorted(quotes, found) & 1 == 0]
        return np.searchsorted(found, ends) - np.searchsorted(found, starts) + 1, delimiters

    def _find_quotes(
        self, letters: Array, breaks: Array, *, at_end: bool
    ) -> tuple[Array, int, int]:
        """Return the quotes of whole records, the first malformed record, and the length of both.

        Quotes open and close cells in turn. The malformed record is given by the index of its first
        byte; -1: no record is malformed. The length in bytes includes the malformed record.
        """
        quotes = np.flatnonzero(letters == _QUOTE)
        before = np.append(np.uint8(_NEWLINE), letters[:-1])[quotes[0::2]]
        after = np.append(letters[1:], np.uint8(_NEWLINE))[quotes[1::2]]
        opens, closes = quotes[0::2], quotes[1::2]
        doubled = np.append(False, opens[1:] - 1 == closes[: len(opens) - 1])
        begins = np.flatnonzero(~doubled)
        ends = np.flatnonzero(~np.append(doubled[1:], False)[: len(closes)])
        # The cell of each mistake, by the index of the quote that opens it.
        wrong = [begins[~np.isin(before[begins], (self._delimiter, _NEWLINE))]]
        misplaced = ends[~np.isin(after[ends], (self._delimiter, _NEWLINE, _RETURN))]
        wrong.append(begins[np.searchsorted(begins, misplaced, "right") - 1])
        wrong.append(
            begins[: len(ends)][closes[ends] - opens[begins[: len(ends)]] > MOST_CELL_BYTES]
        )
        complete = len(letters)
        if len(opens) > len(closes):
            is_wrong = at_end or len(letters) - opens[begins[-1]] > MOST_CELL_BYTES
            wrong.append(begins[-1:] if is_wrong else begins[:0])
            complete = int(opens[begins[-1]])
        cells = np.concatenate(wrong)
        ends_of_records = breaks[np.searchsorted(quotes, breaks) & 1 == 0]
        if not len(cells):
            whole = ends_of_records[ends_of_records < complete]
            return quotes, -1, int(whole[-1]) + 1 if len(whole) else 0
        place = int(opens[cells.min()])
        earlier = ends_of_records[ends_of_records < place]
        record = int(earlier[-1]) + 1 if len(earlier) else 0
        line_ends = breaks[breaks >= place]
        quotes = quotes[quotes < record]
        return (quotes, record, int(line_ends[0]) + 1) if len(line_ends) else (quotes, -1, record)


def _find_lone_returns(data: bytes, letters: Array, quotes: Array, ends: Array) -> list[int]:
    """Return the indices of the records with a lone carriage return outside quotes."""
    if data.count(b"\r") == data.count(b"\r\n"):
        return []
    found = np.flatnonzero((letters[:-1] == _RETURN) & (letters[1:] != _NEWLINE))
    found = found[np.searchsorted(quotes, found) & 1 == 0]
    records: list[int] = np.unique(np.searchsorted(ends, found)).tolist()
    return records


def _leave_out(data: bytes, starts: Array, ends: Array, left_out: Array) -> bytes:
    edges = np.flatnonzero(np.diff(np.concatenate(([True], left_out, [True])).astype(np.int8)))
    runs = zip(edges[0::2].tolist(), edges[1::2].tolist(), strict=True)
    return b"".join(data[starts[first] : ends[last - 1] + 1] for first, last in runs)


def _format(record: bytes) -> str:
    text = record[:_SHOWN_BYTES].decode(errors="replace").rstrip("\r\n")
    return repr(text) if len(record) <= _SHOWN_BYTES else f"{text!r}..."
