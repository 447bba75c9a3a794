"""The treatment of cells that do not have their column's type (`--on-error`)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from iotbench.rows.files.cells import CellType, TextInstead, present
from iotbench.rows.files.request import FilesRequest
from iotbench.rows.files.source import SHOWN_CASES, FileSource, Portion, Tally
from iotbench.rows.files.types import widen
from simulator.data.block import Array
from simulator.data.schema import Column, Role
from simulator.data.workloads.file import BadCells, OnError
from simulator.errors import ConfigError

_MAX_SHOWN = 40


class Retyped(Exception):
    """A column needs a type other than the type of its first cells."""

    def __init__(self, index: int, cell_type: CellType) -> None:
        super().__init__(index)
        self.index = index
        self.cell_type = cell_type


class Checker:
    """Parses portions one after the other, and treats bad cells as the user requested."""

    def __init__(
        self,
        request: FilesRequest,
        source: FileSource,
        columns: Sequence[Column],
        types: Sequence[CellType],
        places: Sequence[int],
    ) -> None:
        """Store the arguments; `places` has the index of each column's cells in a portion."""
        self._request = request
        self._source = source
        self._columns = columns
        self._types = types
        self._places = places
        self._tallies: dict[int, Tally] = {}

    def check(self, portion: Portion) -> Portion:
        """Return a portion with typed values; bad cells may raise Retyped or ConfigError."""
        arrays, kept = [], np.ones(len(portion.rows), np.bool_)
        problems = []
        for index, place in enumerate(self._places):
            cells = portion.columns[place]
            array, bad = self._types[index].parse(cells)
            if self._columns[index].role is Role.TIME:
                bad = bad | ~present(array)
            arrays.append(array)
            if not bad.any():
                continue
            comma = self._request.reading.decimal_comma
            wider = widen(self._types[index], cells.filter(pa.array(bad)), decimal_comma=comma)
            if wider:
                raise Retyped(index, wider)
            first = int(bad.argmax())
            problem = self._find_problem(index, int(portion.rows[first]), cells.slice(first, 1))
            if problem:
                problems.append(problem)
            elif self._request.reading.on_error is OnError.SKIP:
                kept &= ~bad
            self._count(index, cells, bad, portion.rows)
        if problems:
            raise ConfigError(problems)
        if kept.all():
            return Portion(arrays, portion.rows)
        chosen = pa.array(kept)
        return Portion([array.filter(chosen) for array in arrays], portion.rows[kept])

    def _find_problem(self, index: int, row: int, cell: Any) -> str | None:
        """Return why a bad cell stops the insert; None if it does not."""
        action, column = self._request.reading.on_error, self._columns[index]
        is_time = column.role is Role.TIME
        if action is OnError.SKIP or (action is OnError.NULL and not is_time):
            return None
        if action is OnError.TEXT and not is_time:
            if not isinstance(self._types[index], TextInstead):
                raise Retyped(index, TextInstead(self._types[index]))
            return None
        place = f"--data: {self._request.name}: {self._source.place(row)}, column {column.name!r}"
        choices = "text, null or skip"
        if is_time:
            choices = "skip, as every row needs a time"
        elif self._source.is_typed:
            choices = "null or skip"
        wrong = f"{_format(cell[0])} is not {self._types[index].why(cell)}"
        return f"{place}: {wrong}; correct it, or use --on-error {choices}"

    def _count(self, index: int, cells: Any, bad: Array, rows: Array) -> None:
        expected, action = self._types[index].expected, self._request.reading.on_error
        tally = self._tallies.setdefault(
            index, Tally(expected, action, column=self._columns[index].name)
        )
        tally.count += int(bad.sum())
        for at in np.flatnonzero(bad)[: SHOWN_CASES - len(tally.first)].tolist():
            tally.first.append(f"{self._source.place(int(rows[at]))}: {_format(cells[at])}")

    def bad_cells(self) -> tuple[BadCells, ...]:
        """Return the bad cells of all portions, column by column."""
        return tuple(tally.bad_cells() for _, tally in sorted(self._tallies.items()))


def _format(cell: Any) -> str:
    value = str(cell.cast(pa.string())) if pa.types.is_timestamp(cell.type) else cell.as_py()
    value = value if cell.is_valid else None
    if value is None:
        return "no value"
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 4]}...{text[-1]}"
