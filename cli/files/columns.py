"""A column of the user's file on its way into the prepared folder: typed, checked, written."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from simulator.data.block import Array
from simulator.data.schema import FLOATS, INTEGERS, Column, Role, Type, dtype_of
from simulator.data.workloads.file import Content, FileColumn, content_path
from simulator.errors import ConfigError, SetupError

MAX_LEVELS = 1 << 16
"""A text with at most so many different values becomes codes."""
MAX_TEXT_BYTES = 1024
"""A batch gives every text of a column the room of the longest."""

_STORED_AS = {Type.TIMESTAMP: "microseconds"}
_YEAR_1_US, _YEAR_10000_US = -62_135_596_800_000_000, 253_402_300_800_000_000


class Writer(ABC):
    """Writes one column, portion by portion; ConfigError names the row that cannot be stored."""

    def __init__(self, where: str, folder: Path, index: int, column: Column) -> None:
        """Take the column, its place in the folder, and the words that name it in an error."""
        self._where = where
        self._folder = folder
        self._index = index
        self.column = column
        self.rows = 0
        self.nulls = 0

    def add(self, array: Any, first_row: int) -> None:
        """Take in a portion whose first row is called `first_row`."""
        nulls = array.is_null().to_numpy(zero_copy_only=False)
        if nulls.any():
            if self.column.role is Role.TIME:
                self._refuse(nulls, first_row, "no value; every row needs a time")
            if not self.nulls:
                self._append(Content.VALID, np.ones(self.rows, np.bool_))
            self.nulls += int(nulls.sum())
        if self.nulls:
            self._append(Content.VALID, ~nulls)
        self._write(array, first_row)
        self.rows += len(array)

    @abstractmethod
    def _write(self, array: Any, first_row: int) -> None:
        """Check and write the values."""

    @abstractmethod
    def finish(self) -> FileColumn:
        """Return the column as it is now known."""

    def _append(self, content: Content, array: Array) -> None:
        try:
            with content_path(self._folder, self._index, content).open("ab") as file:
                file.write(np.ascontiguousarray(array).data)
        except OSError as error:
            raise SetupError(
                f"--data: {self._folder}: cannot be written: {error.strerror or error}; the file"
                " needs about as much room again: make it, or name another folder with TMPDIR"
            ) from error

    def _refuse(self, wrong: Array, first_row: int, reason: str) -> None:
        """Raise the reason for the first row that is wrong, if one is."""
        if wrong.any():
            raise ConfigError(f"{self._where}: row {first_row + int(wrong.argmax())}: {reason}")

    def _refusal(self, array: Any, first_row: int, reason: str) -> ConfigError:
        """Return the error for a portion that Arrow refuses without telling the row."""
        rows = f"between rows {first_row} and {first_row + len(array) - 1}"
        return ConfigError(f"{self._where}: {rows}: {reason}; mend the value, or leave it out")

    def _described(self, *, coded: bool = False, summable: bool = False) -> FileColumn:
        column = self.column
        return FileColumn(
            name=column.name,
            type=column.type,
            role=column.role,
            nullable=self.nulls > 0,
            coded=coded,
            summable=summable,
        )


class NumberWriter(Writer):
    """Numbers, booleans and instants."""

    _largest = 0.0

    def _write(self, array: Any, first_row: int) -> None:
        values = self._cast(array, first_row)
        kind = self.column.type
        if kind in FLOATS:
            reason = "not a finite number, which not every database stores; make it NULL"
            self._refuse(~np.isfinite(values), first_row, reason)
        if kind is Type.TIMESTAMP:
            outside = (values < _YEAR_1_US) | (values >= _YEAR_10000_US)
            self._refuse(outside, first_row, "outside the years 1 to 9999")
        if len(values) and kind in FLOATS | INTEGERS:
            low, high = float(values.min()), float(values.max())
            self._largest = max(self._largest, abs(low), abs(high))
        self._append(Content.VALUES, values)

    def _cast(self, array: Any, first_row: int) -> Array:
        import pyarrow as pa  # noqa: PLC0415

        kind = self.column.type
        try:
            if kind is Type.TIMESTAMP:
                zone = getattr(array.type, "tz", None)
                array = array.cast(pa.timestamp("us", zone)).cast(pa.int64())
            elif kind in INTEGERS:
                array = array.cast(kind.value)
        except pa.ArrowInvalid as error:
            told = f"{error}; it is stored as {_STORED_AS.get(kind, kind)}"
            raise self._refusal(array, first_row, told) from error
        filler = False if kind is Type.BOOL else 0
        values: Array = array.fill_null(filler).to_numpy(zero_copy_only=False)
        return values.astype(dtype_of(kind), copy=False)

    def finish(self) -> FileColumn:
        """Return the column as it is now known."""
        kind = self.column.type
        limit = 1e300 if kind in FLOATS else 2.0**62
        return self._described(
            summable=kind in FLOATS | INTEGERS and self.rows * self._largest < limit
        )


class TextWriter(Writer):
    """Text: as codes while there are few different values, and in full, until one is dropped."""

    def __init__(self, where: str, folder: Path, index: int, column: Column) -> None:
        super().__init__(where, folder, index, column)
        self._codes: dict[bytes, int] = {}
        self._bytes = 0
        self._append(Content.OFFSETS, np.zeros(1, np.int64))

    @property
    def _coded(self) -> bool:
        return len(self._codes) <= MAX_LEVELS

    def _write(self, array: Any, first_row: int) -> None:
        import pyarrow as pa  # noqa: PLC0415

        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        try:
            array.validate(full=True)  # Parquet may hold what is no UTF-8
        except pa.ArrowInvalid as error:
            raise self._refusal(array, first_row, str(error)) from error
        texts = array.fill_null("").cast(pa.large_binary())
        self._write_in_full(texts, first_row)
        if self._coded:
            distinct = texts.dictionary_encode()
            known = self._codes
            codes = [known.setdefault(text, len(known)) for text in distinct.dictionary.to_pylist()]
            self._append(Content.CODES, np.array(codes, np.int64)[distinct.indices.to_numpy()])

    def _write_in_full(self, texts: Any, first_row: int) -> None:
        _, ends, content = texts.buffers()
        rows = slice(texts.offset, texts.offset + len(texts) + 1)
        offsets = np.frombuffer(ends, np.int64)[rows]
        lengths = np.diff(offsets)
        too_long = f"a text of more than {MAX_TEXT_BYTES} bytes; cut it, or leave the column out"
        self._refuse(lengths > MAX_TEXT_BYTES, first_row, too_long)
        letters = np.frombuffer(content or b"", np.uint8)[offsets[0] : offsets[-1]]
        zeros = np.flatnonzero(letters == 0)
        if len(zeros):
            holds = np.searchsorted(offsets, zeros[0] + offsets[0], "right") - 1
            wrong = np.arange(len(texts)) == holds
            self._refuse(wrong, first_row, "a NUL byte, which databases refuse; remove it")
        self._append(Content.OFFSETS, offsets[1:] - offsets[0] + self._bytes)
        self._append(Content.BYTES, letters)
        self._bytes += len(letters)

    def finish(self) -> FileColumn:
        """Keep the codes or the texts, whichever it is."""
        kept = self._coded
        for content in (Content.BYTES, Content.OFFSETS) if kept else (Content.CODES,):
            content_path(self._folder, self._index, content).unlink(missing_ok=True)
        if kept:
            with content_path(self._folder, self._index, Content.LEVELS).open("wb") as file:
                np.save(file, np.array(list(self._codes), np.bytes_))
        return self._described(coded=kept)


def writer(where: str, folder: Path, index: int, column: Column) -> Writer:
    """Return the writer of a column."""
    cls = TextWriter if column.type is Type.TEXT else NumberWriter
    return cls(where, folder, index, column)
