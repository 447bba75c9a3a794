"""A CSV or TSV file as a source: every cell is read as text and typed by what it looks like."""

import contextlib
import csv as plain_csv
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from cli.files.cells import guessed, is_utf8, looks_like_data
from cli.files.request import Request
from cli.files.source import SHOWN_CASES, Portion, Source, not_utf8
from simulator.data.block import Array
from simulator.data.workloads.file import BadCells, OnError
from simulator.errors import ConfigError, counted

BLOCK_BYTES = 4 << 20
"""The types are those of the cells in so many bytes at the beginning."""
_HEAD_BYTES = 1 << 16
_HEAD_RECORDS = 20
_DELIMITERS = ",;\t|"
_MAX_COLUMNS = 4096
_NO_HEADING = "which looks like data ({}); add a line with the names of the columns above it"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class DelimitedSource(Source):
    """A text file with a heading, whose first row is row 1."""

    def __init__(self, request: Request) -> None:
        """Read the heading and the first rows; ConfigError if there are none."""
        self._path = request.path
        self._name = request.name
        self._where = f"--data: {request.name}"
        self._zipped = request.file.name.lower().endswith(".gz")
        self._skip = request.on_error is OnError.SKIP
        self._ragged: list[tuple[int, int]] = []
        """Number of each such row, and how many cells it has."""
        self._width = 0
        """How many cells the heading has."""
        self._head = self._read_head()
        self._delimiter = request.delimiter or self._detected()
        self.names = ()
        first = next(self.portions(), None)
        if first is None:
            raise ConfigError(f"{self._where}: {self._no_rows()}")
        self.first = first
        if looks_like_data(self.names):
            line = _NO_HEADING.format(", ".join(self.names))
            raise ConfigError(f"{self._where}: has no heading: line 1, {line}")
        self.types = tuple(map(guessed, first.columns))

    def portions(self) -> Iterator[Portion]:
        """Yield the rows in order, from the first each time."""
        self._ragged.clear()
        with self._opened() as file:
            next_row = 1
            for batch in self._batches(file):
                rows = self._numbers(next_row, len(batch))
                next_row = int(rows[-1]) + 1
                columns = batch.columns
                if rows[0] == 1:
                    self.names = self._heading(columns)
                    columns, rows = [column[1:] for column in columns], rows[1:]
                self._check_utf8(self._name, columns, rows)
                if len(rows):
                    yield Portion(columns, rows)

    def places(self, rows: Iterable[int]) -> dict[int, str]:
        """Return the lines where rows start; a cell may hold several lines."""
        wanted = set(rows)
        found = {row: f"row {row}" for row in wanted}  # for a cell beyond the limit of plain_csv
        if not wanted:
            return found
        number, line = 0, 1
        with self._opened() as file, contextlib.suppress(plain_csv.Error):
            text = io.TextIOWrapper(file, "utf-8", errors="replace", newline="")
            reader = plain_csv.reader(text, delimiter=self._delimiter)
            for record in reader:
                number += bool(record)  # blank lines are no rows, here as in Arrow
                if record and number in wanted:
                    found[number] = f"line {line}"
                    wanted.remove(number)
                    if not wanted:
                        break
                line = reader.line_num + 1
        return found

    def left_out(self) -> tuple[BadCells, ...]:
        """Return the rows that were left out because of their number of cells."""
        if not self._ragged:
            return ()
        ragged = dict(self._ragged[:SHOWN_CASES])
        first = [f"{at}: {ragged[row]}" for row, at in sorted(self.places(ragged).items())]
        return (
            BadCells(
                column="",
                expected=counted(self._width, "cell"),
                action=OnError.SKIP,
                count=len(self._ragged),
                first=tuple(first),
            ),
        )

    def _batches(self, file: Any) -> Iterator[Any]:
        names = {f"f{number}": pa.string() for number in range(_MAX_COLUMNS)}
        # One thread is as fast here as several, and only one reports the numbers of ragged rows.
        try:
            yield from self._decodable(
                csv.open_csv,
                file,
                read_options=csv.ReadOptions(
                    use_threads=False, block_size=BLOCK_BYTES, autogenerate_column_names=True
                ),
                parse_options=csv.ParseOptions(
                    delimiter=self._delimiter,
                    newlines_in_values=True,
                    invalid_row_handler=self._on_ragged,
                ),
                convert_options=csv.ConvertOptions(
                    column_types=names,
                    check_utf8=False,
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid as error:
            if self._ragged and not self._skip:
                raise self._ragged_error(*self._ragged[0]) from error
            if "Empty CSV file" in str(error):
                return
            raise

    def _decodable(self, opened: Callable[..., Any], *given: Any, **options: Any) -> Iterator[Any]:
        """Yield batches; ConfigError for a ragged row that Arrow cannot hand to `_on_ragged`."""
        undecodable: list[bytes] = []

        def hook(ignored: Any) -> None:  # Arrow reports it nowhere else
            if isinstance(ignored.exc_value, UnicodeDecodeError):
                undecodable.append(ignored.exc_value.object)
            else:
                before(ignored)

        before = sys.unraisablehook
        reader = None
        while True:
            sys.unraisablehook = hook
            try:
                reader = reader or opened(*given, **options)
                batch = next(reader, None)
            except pa.ArrowInvalid:
                if not undecodable:
                    raise
                batch = None
            finally:
                sys.unraisablehook = before
            if undecodable:
                raise not_utf8(f"{self._where}: a row with a wrong number of cells", undecodable[0])
            if batch is None:
                return
            yield batch

    def _on_ragged(self, row: Any) -> str:
        self._ragged.append((row.number, row.actual_columns))
        self._width = row.expected_columns
        return "skip" if self._skip else "error"

    def _ragged_error(self, row: int, found: int) -> ConfigError:
        expected = counted(self._width, "cell")
        return ConfigError(
            f"{self._where}: {self.place(row)}: expected {expected} as in the heading, found"
            f" {found}; correct the line, leave such rows out with --on-error skip, or name another"
            f" --delimiter than {self._delimiter!r}"
        )

    def _numbers(self, first: int, count: int) -> Array:
        """Return the numbers of `count` rows from `first` on, without those left out."""
        left_out = [row for row, _ in self._ragged if row >= first]
        numbers = np.arange(first, first + count + len(left_out))
        return np.setdiff1d(numbers, left_out)[:count] if left_out else numbers

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with pa.OSFile(str(self._path)) as file:
            if not self._zipped:
                yield file
                return
            with pa.CompressedInputStream(file, "gzip") as content:
                yield content

    def _read_head(self) -> bytes:
        with self._opened() as file:
            head: bytes = file.read(_HEAD_BYTES)
        if head.startswith(_UTF16) or b"\0" in head:
            raise ConfigError(
                f"{self._where}: is not text in UTF-8 (it has NUL bytes, as UTF-16 has); convert"
                " it, for example with iconv -f UTF-16 -t UTF-8"
            )
        return head

    def _detected(self) -> str:
        if ".tsv" in self._path.name.lower():
            return "\t"
        return _delimiter_of(_text(self._head), whole=len(self._head) < _HEAD_BYTES)

    def _heading(self, columns: list[Any]) -> tuple[str, ...]:
        if len(columns) > _MAX_COLUMNS:
            raise ConfigError(
                f"{self._where}: has {len(columns):,} columns; at most {_MAX_COLUMNS:,} are read"
            )
        names = [column[:1].cast(pa.binary())[0].as_py() or b"" for column in columns]
        for number, name in enumerate(names, 1):
            if not is_utf8(name):
                raise not_utf8(f"{self._where}: {self.place(1)}, column {number}", name)
        return tuple(name.decode() for name in names)

    def _no_rows(self) -> str:
        self.names = self.names or tuple(_text(self._head).strip().split(self._delimiter))
        if self.names == ("",):
            return "is empty; it needs a line with the names of the columns, and rows below it"
        if looks_like_data(self.names):
            return f"has one line only, {_NO_HEADING.format(', '.join(self.names))}"
        return f"has no rows, only the heading ({', '.join(self.names)})"


def _text(head: bytes) -> str:
    return head.decode("utf-8-sig", errors="replace")


def _delimiter_of(head: str, *, whole: bool) -> str:
    """Return the delimiter that splits the first records into the most columns.

    A delimiter that splits all records into equally many columns is preferred to one that does
    not: a decimal comma is in the rows, and not in the heading. `whole` says that `head` is the
    whole file; otherwise its last record may be cut.
    """
    return max(_DELIMITERS, key=lambda each: _columns_of(head, each, whole=whole))


def _columns_of(head: str, delimiter: str, *, whole: bool) -> tuple[bool, int]:
    widths = [len(record) for record in _head_records(head, delimiter) if record]
    if not whole and len(widths) < _HEAD_RECORDS:
        del widths[-1:]
    if not widths:
        return False, 0
    return len(set(widths)) == 1 and widths[0] > 1, widths[0]


def _head_records(head: str, delimiter: str) -> list[list[str]]:
    """Return the first records; none where the text is not CSV."""
    try:
        reader = plain_csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
        return list(islice(reader, _HEAD_RECORDS))
    except plain_csv.Error:  # a cell beyond the module's limit
        return []
