"""A file that is read portion by portion, in bounded memory."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from cli.files.cells import CellType, invalid_utf8
from cli.files.types import type_of
from simulator.data.block import Array
from simulator.data.schema import Type
from simulator.data.workloads.file import BadCells
from simulator.errors import ConfigError

SHOWN_CASES = 3
"""So many bad cells of a column are shown and kept."""
_MAX_SHOWN = 300
_SHOWN_BYTES = 20


@dataclass(frozen=True, slots=True)
class Portion:
    """Consecutive rows of a file."""

    columns: list[Any]
    """An Arrow array for each column."""
    rows: Array
    """The rows' numbers in the file; `Source.places` describes them."""


class Source(ABC):
    """A file with its columns; the first portion has been looked at."""

    names: tuple[str, ...]
    types: tuple[CellType, ...]
    first: Portion
    """The first rows, to look at; `portions` yields them again."""

    @abstractmethod
    def portions(self) -> Iterator[Portion]:
        """Yield the rows in order, from the first each time."""

    @abstractmethod
    def places(self, rows: Iterable[int]) -> dict[int, str]:
        """Return where rows are: "line 17" of a text file, "row 17" of another."""

    def place(self, row: int) -> str:
        """Return where a row is."""
        return self.places([row])[row]

    def _check_utf8(self, name: str, columns: Sequence[Any], rows: Array) -> None:
        for column, cells in zip(self.names, columns, strict=True):
            found = invalid_utf8(cells) if type_of(cells.type) is Type.TEXT else None
            if found:
                place = f"--data: {name}: {self.place(int(rows[found[0]]))}, column {column!r}"
                raise not_utf8(place, found[1])

    def left_out(self) -> tuple[BadCells, ...]:
        """Return the rows that were left out because of their number of cells."""
        return ()


def not_utf8(place: str, content: bytes) -> ConfigError:
    """Return the error for a text that is not valid UTF-8."""
    return ConfigError(
        f"{place}: {content[:_SHOWN_BYTES]!r} is not valid UTF-8; convert the file, for example"
        " with iconv -f LATIN1 -t UTF-8"
    )


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Turn the errors of reading a file, as the user names it, into one ConfigError."""
    try:
        yield
    except pa.ArrowException as error:
        raise ConfigError(f"--data: {name}: cannot be read: {str(error)[:_MAX_SHOWN]}") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"--data: {name}: cannot be read: {reason}") from error
