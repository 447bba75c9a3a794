"""CSV and TSV files: every cell is read as text, and its type is inferred."""

import csv as plain_csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
from pyarrow import csv

from iotbench.rows.files.cells import is_utf8
from iotbench.rows.files.content import expect_text, head_of, open_content
from iotbench.rows.files.names import column_names
from iotbench.rows.files.records import Malformed, Records, Scanner
from iotbench.rows.files.source import FilePart, Portion, not_utf8
from iotbench.rows.files.types import looks_like_data
from simulator.data.workloads.file import FileReading
from simulator.errors import ConfigError, counted

BLOCK_BYTES = 4 << 20
"""Number of bytes at the beginning of a file from which types are inferred."""
_HEAD_BYTES = 1 << 16
_HEAD_RECORDS = 20
_DELIMITERS = ",;\t|"
_MAX_COLUMNS = 4096
_NO_HEADING = (
    "looks like data ({}); add a line with the names of the columns above it, or use --no-heading"
)
_SEPARATOR = b"sep="
"""Line that Excel writes above the heading, such as "sep=;"."""


class DelimitedPart(FilePart):
    """A file of delimited text, with or without a heading."""

    unit = "line"

    def __init__(self, path: Path, name: str, reading: FileReading) -> None:
        """Read the heading; ConfigError if there is none."""
        self._path, self.name, self._reading = path, name, reading
        self._skipped = reading.skip_lines
        with open_content(path, self.where) as content:
            head = head_of(content, _HEAD_BYTES)
        expect_text(head, self.where)
        lines = head.splitlines(keepends=True)[self._skipped :]
        own = ""
        if lines and lines[0].lower().startswith(_SEPARATOR):
            own = lines[0][len(_SEPARATOR) :].decode(errors="replace")[:1]
            self._skipped, lines = self._skipped + 1, lines[1:]
        comment = reading.comment.encode()
        text = b"".join(each for each in lines if not comment or not each.startswith(comment))
        tabs = "\t" * (".tsv" in path.name.lower())
        detected = _detect_delimiter(text.decode(errors="replace"), whole=len(head) < _HEAD_BYTES)
        self._delimiter = reading.delimiter or own or tabs or detected
        self.names = self._read_heading()

    def portions(self, columns: Sequence[int]) -> Iterator[tuple[Portion, Sequence[Malformed]]]:
        names_are_next = self._reading.heading
        with open_content(self._path, self.where) as content:
            for found in self._cut_records(content, BLOCK_BYTES):
                cells, rows = self._parse(found, columns), found.lines
                if names_are_next and len(rows):
                    cells, rows = [each.slice(1) for each in cells], rows[1:]
                    names_are_next = False
                yield Portion(cells, rows), found.malformed

    def no_rows(self) -> str:
        return f"has no rows, only the heading ({', '.join(self.names)})"

    def _cut_records(self, content: IO[bytes], block_bytes: int) -> Iterator[Records]:
        for number in range(self._skipped):
            if not content.readline():
                raise ConfigError(
                    f"--skip-lines: {self.name} has {counted(number, 'line')}; leave fewer out"
                )
        scanner = Scanner(self._delimiter, self._reading.comment, self._skipped + 1)
        for found in scanner.records(content, block_bytes):
            self._width = scanner.width
            yield found

    def _parse(self, found: Records, columns: Sequence[int]) -> list[Any]:
        """Return the cells of records as text; empty cells are NULL unless quoted."""
        if not len(found.lines):
            return [pa.nulls(0, pa.string()) for _ in columns]
        names = [f"f{number}" for number in range(len(self.names))]
        table = csv.read_csv(
            pa.BufferReader(found.content),
            read_options=csv.ReadOptions(block_size=len(found.content) + 1, column_names=names),
            parse_options=csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                include_columns=[names[column] for column in columns],
                column_types=dict.fromkeys(names, pa.string()),
                check_utf8=False,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        if len(table) != len(found.lines):
            raise ConfigError(
                f"{self.where}: lines {found.lines[0]} to {found.lines[-1]} have"
                f" {len(found.lines):,} rows, and the parser found {len(table):,}; nothing was"
                " inserted: please report this"
            )
        return [each.combine_chunks() for each in table.columns]

    def _read_heading(self) -> tuple[str, ...]:
        """Return the names of the columns; ConfigError if the first record has none."""
        with open_content(self._path, self.where) as content:
            found = next(self._cut_records(content, _HEAD_BYTES), None)
        if not found:
            below = f" below line {self._skipped}" if self._skipped else ""
            raise ConfigError(
                f"{self.where}: is empty{below}; it needs a line with the names of the columns, and"
                " rows below it"
            )
        wrong = found.malformed[0] if found.malformed else None
        if wrong and not (len(found.lines) and found.lines[0] < wrong.line):
            raise ConfigError(f"{self.where}: line {wrong.line}: {wrong.reason}: {wrong.text}")
        line, width = int(found.lines[0]), self._width
        if width > _MAX_COLUMNS:
            raise ConfigError(
                f"{self.where}: has {width:,} columns; at most {_MAX_COLUMNS:,} are read"
            )
        self.names = ("",) * width
        cells = [
            each[0].cast(pa.binary()).as_py() or b"" for each in self._parse(found, range(width))
        ]
        for number, name in enumerate(cells, 1):
            if not is_utf8(name):
                raise not_utf8(f"{self.where}: line {line}, column {number}", name)
        names = tuple(name.decode() for name in cells)
        if not self._reading.heading:
            return column_names(self.names)
        if looks_like_data(names):
            shown = _NO_HEADING.format(", ".join(names))
            raise ConfigError(f"{self.where}: has no heading: line {line} {shown}")
        return column_names(names)


def _detect_delimiter(head: str, *, whole: bool) -> str:
    """Return the delimiter that splits the first records into the most columns.

    A delimiter that gives all records the same number of columns is preferred, because decimal
    commas occur in the rows but not in the heading. `whole` is True if `head` is the whole file;
    otherwise the last record may be incomplete.
    """

    def count_columns(delimiter: str) -> tuple[bool, int]:
        reader = plain_csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
        try:
            widths = [len(record) for record in islice(reader, _HEAD_RECORDS) if record]
        except plain_csv.Error:  # a cell beyond the module's limit
            return False, 0
        if not whole and len(widths) < _HEAD_RECORDS:
            del widths[-1:]
        return len({*widths}) == 1 and widths[0] > 1, widths[0] if widths else 0

    return max(_DELIMITERS, key=count_columns)
