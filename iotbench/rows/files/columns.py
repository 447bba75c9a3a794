"""Writing a column of typed values into the prepared folder."""

import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from iotbench.rows.files.cells import mask_of
from simulator.data.block import Array
from simulator.data.schema import INTEGERS, Column, Role, Type, dtype_of
from simulator.data.workloads.file import Content, FileColumn, content_path
from simulator.errors import ConfigError, SetupError
from simulator.records.arrays import (
    MAX_TEXT_BYTES,
    YEAR_1_US,
    YEAR_10000_US,
    is_summable,
    largest_of,
)

MAX_LEVELS = 1 << 16
"""Maximum number of distinct values of a text column that is stored as codes."""


class ColumnWriter(ABC):
    """Writes one column, portion by portion; ConfigError names a row that cannot be stored."""

    def __init__(
        self, where: str, place: Callable[[int], str], folder: Path, index: int, column: Column
    ) -> None:
        """Store the column and its index; `where` and `place` name the file and a row in errors."""
        self._where = where
        self._place = place
        self._folder = folder
        self._index = index
        self.column = column
        self.rows = 0
        self.nulls = 0
        self.ends: list[int] = []
        """First and last value, if this is a column of times."""

    def add(self, array: Any, rows: Array) -> None:
        """Write a portion; `rows` has the number of each row in the file."""
        nulls = array.is_null().to_numpy(zero_copy_only=False)
        if nulls.any():
            if not self.nulls:
                self._append(Content.VALID, np.ones(self.rows, np.bool_))
            self.nulls += int(nulls.sum())
        if self.nulls:
            self._append(Content.VALID, ~nulls)
        self._write(array, rows)
        self.rows += len(array)

    @abstractmethod
    def _write(self, array: Any, rows: Array) -> None:
        """Check and write the values."""

    @abstractmethod
    def finish(self) -> FileColumn:
        """Return the column with the properties of its values."""

    def _append(self, content: Content, array: Array) -> None:
        try:
            with content_path(self._folder, self._index, content).open("ab") as file:
                file.write(np.ascontiguousarray(array).data)
        except OSError as error:
            raise SetupError(
                f"--data: {self._folder}: cannot be written: {error.strerror or error}; the file"
                " needs about its own size again: free some space, or set TMPDIR to another folder"
            ) from error

    def _refuse(self, wrong: Array, rows: Array, reason: str) -> None:
        """Raise ConfigError with the reason for the first wrong row, if there is one."""
        if wrong.any():
            place, name = self._place(int(rows[wrong.argmax()])), self.column.name
            can_drop = self.column.role is not Role.TIME
            drop = f", or leave the column out with --drop-columns {shlex.quote(name)}" * can_drop
            raise ConfigError(f"{self._where}: {place}, column {name!r}: {reason}{drop}")

    def _describe(self, *, coded: bool = False, summable: bool = False) -> FileColumn:
        column = self.column
        return FileColumn(
            name=column.name,
            type=column.type,
            role=column.role,
            nullable=self.nulls > 0,
            coded=coded,
            summable=summable,
        )


class NumberWriter(ColumnWriter):
    """Numbers, booleans and instants."""

    _largest = 0.0

    def _write(self, array: Any, rows: Array) -> None:
        values = self._cast(array, rows)
        kind = self.column.type
        if kind is Type.TIMESTAMP:
            outside = (values < YEAR_1_US) | (values >= YEAR_10000_US)
            self._refuse(outside, rows, "outside the years 1 to 9999; correct the value")
            self.ends = [*self.ends[:1], *map(int, values[[0, -1] if not self.ends else [-1]])]
        self._largest = max(self._largest, largest_of(values))
        self._append(Content.VALUES, values)

    def _cast(self, array: Any, rows: Array) -> Array:
        kind = self.column.type
        if kind is Type.TIMESTAMP:
            array = array.cast(pa.int64())
        elif pa.types.is_uint64(array.type):
            beyond = mask_of(pc.greater(array, pa.scalar(2**63 - 1, pa.uint64())))
            self._refuse(beyond, rows, "an integer beyond 2**63 - 1; correct the value")
        if kind in INTEGERS:
            array = array.cast(kind.value)
        filler = False if kind is Type.BOOL else 0
        values: Array = array.fill_null(filler).to_numpy(zero_copy_only=False)
        return values.astype(dtype_of(kind), copy=False)

    def finish(self) -> FileColumn:
        return self._describe(summable=is_summable(self.column.type, self.rows, self._largest))


class TextWriter(ColumnWriter):
    """Text, written in full, and also as codes while there are few distinct values."""

    def __init__(
        self, where: str, place: Callable[[int], str], folder: Path, index: int, column: Column
    ) -> None:
        super().__init__(where, place, folder, index, column)
        self._codes: dict[bytes, int] = {}
        self._bytes = 0
        self._append(Content.OFFSETS, np.zeros(1, np.int64))

    @property
    def _coded(self) -> bool:
        return len(self._codes) <= MAX_LEVELS

    def _write(self, array: Any, rows: Array) -> None:
        texts = array.fill_null("").cast(pa.large_binary())
        self._write_in_full(texts, rows)
        if self._coded:
            distinct = texts.dictionary_encode()
            known = self._codes
            codes = [known.setdefault(text, len(known)) for text in distinct.dictionary.to_pylist()]
            self._append(Content.CODES, np.array(codes, np.int64)[distinct.indices.to_numpy()])

    def _write_in_full(self, texts: Any, rows: Array) -> None:
        _, ends, content = texts.buffers()
        offsets = np.frombuffer(ends, np.int64)[texts.offset : texts.offset + len(texts) + 1]
        lengths = np.diff(offsets)
        too_long = f"a text of more than {MAX_TEXT_BYTES} bytes; cut it"
        self._refuse(lengths > MAX_TEXT_BYTES, rows, too_long)
        letters = np.frombuffer(content or b"", np.uint8)[offsets[0] : offsets[-1]]
        zeros = np.flatnonzero(letters == 0)
        if len(zeros):
            holds = np.searchsorted(offsets, zeros[0] + offsets[0], "right") - 1
            wrong = np.arange(len(texts)) == holds
            self._refuse(wrong, rows, "a NUL byte, which databases refuse; remove it")
        self._append(Content.OFFSETS, offsets[1:] - offsets[0] + self._bytes)
        self._append(Content.BYTES, letters)
        self._bytes += len(letters)

    def finish(self) -> FileColumn:
        """Keep either the codes or the texts, and return the column."""
        kept = self._coded
        for content in (Content.BYTES, Content.OFFSETS) if kept else (Content.CODES,):
            content_path(self._folder, self._index, content).unlink(missing_ok=True)
        if kept:
            with content_path(self._folder, self._index, Content.LEVELS).open("wb") as file:
                np.save(file, np.array(list(self._codes), np.bytes_))
        return self._describe(coded=kept)


def writer(
    where: str, place: Callable[[int], str], folder: Path, index: int, column: Column
) -> ColumnWriter:
    """Return the writer of a column."""
    cls = TextWriter if column.type is Type.TEXT else NumberWriter
    return cls(where, place, folder, index, column)
