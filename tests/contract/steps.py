"""A small workload of every type, and its rows altered by the smallest step that a database has."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Block, ColumnData, Rows, Texts, Values
from simulator.data.query import Query
from simulator.data.schema import INTEGERS, Column, Role, Table, TimeUnit, Type
from simulator.data.workloads.base import Params, Workload
from tests.contract.wide import Awkward

ROWS = 60
STEP_MS = 7_000
EIGHTHS = 8
STAND_IN = b"\x7f"
"""A letter that no other value has."""
TABLE = Table(
    "steps",
    (
        Column("time", Type.TIMESTAMP, Role.TIME),
        Column("site", Type.TEXT, Role.TAG),
        Column("flag", Type.BOOL, Role.FIELD),
        Column("small", Type.INT16, Role.FIELD),
        Column("whole", Type.INT32, Role.FIELD),
        Column("large", Type.INT64, Role.FIELD),
        Column("single", Type.FLOAT32, Role.FIELD),
        Column("precise", Type.FLOAT64, Role.FIELD),
        Column("maybe", Type.FLOAT64, Role.FIELD, nullable=True),
        Column("note", Type.TEXT, Role.FIELD, nullable=True),
        Column("seen", Type.TIMESTAMP, Role.FIELD),
    ),
    key=("site", "time"),
)


class StepsParams(Params):
    """What is left out."""

    lacks: tuple[Awkward, ...] = ()


class Steps(Workload):
    """Rows a few seconds apart."""

    name = "steps"
    version = 1
    params_model = StepsParams
    params: StepsParams

    @property
    def tables(self) -> tuple[Table, ...]:
        if Awkward.TEXT_FIELDS not in self.params.lacks:
            return (TABLE,)
        return (replace(TABLE, columns=tuple(c for c in TABLE.columns if c.name != "note")),)

    def size(self, table: Table) -> int:
        return ROWS

    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        part = EIGHTHS if Awkward.MANY_DIGITS in self.params.lacks else 10
        large = 2**40 if Awkward.LARGE_INTEGERS in self.params.lacks else 2**60
        notes = np.array([f"caf\u00e9 {number}".encode() for number in rows.tolist()])
        drawn: dict[str, ColumnData] = {
            "time": Values(self.start_ms + rows * STEP_MS),
            "site": Values(np.array([b"north", b"south"])[rows % 2]),
            "flag": Values(rows % 3 == 0),
            "small": Values((rows - 30).astype(np.int16)),
            "whole": Values((rows * 1000).astype(np.int32)),
            "large": Values(large + rows),
            "single": Values((rows / part + 1).astype(np.float32)),
            "precise": Values(rows / part + 0.5),
            "maybe": Values(np.zeros(len(rows)), ~_is_null(rows)),
            "note": Values(notes),
            "seen": Values(self.start_ms + rows * STEP_MS + 1000),
        }
        return {column.name: drawn[column.name] for column in table.columns}

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        return {}


def _is_null(rows: Rows) -> NDArray[np.bool_]:
    """Return which rows have NULL in place of a zero."""
    return np.asarray(rows % 4 == 1)


class Step(StrEnum):
    """How a value is altered."""

    UNIT = "one unit of the database's finest time"
    INTEGER = "one more"
    FLIP = "the other truth value"
    SINGLE = "one step of single precision"
    DOUBLE = "one step of double precision"
    ZERO = "the sign of zero"
    NULL = "NULL"
    NAN = "NaN in place of NULL"
    EMPTY = "an empty text"
    NUL = "NUL at the end"
    BLANK = "a blank at the end"
    CASE = "another case"
    FORM = "another normal form of Unicode"


@dataclass(frozen=True, eq=False)
class Altered:
    """A row of which one value is altered."""

    number: int
    column: Column
    step: Step
    block: Block

    @property
    def name(self) -> str:
        return self.column.name

    def with_text(self, end: bytes) -> Block:
        """The row with other bytes in place of the last one of its text."""
        (text,) = self.block.data[self.name].to_list()
        return replace(self.block, data={**self.block.data, self.name: _text(text[:-1] + end)})

    def __str__(self) -> str:
        return f"{self.column.type} {self.column.name}: {self.step}"


def altered_rows(block: Block, finest: TimeUnit, *, doubles: bool) -> Iterator[Altered]:
    """Yield a row for each column and step.

    `finest` is the unit in which the database counts instants; `doubles` says that it keeps a
    float32 as a double.
    """
    number = 1
    for column in block.table.columns:
        for step in _steps_of(column, doubles=doubles):
            if column.name == "maybe" and (number % 4 == 1) is not (step is Step.NAN):
                number += 2
            row = block.take(np.array([number]))
            yield Altered(number, column, step, _with(row, column, step, finest))
            number += 2


def _steps_of(column: Column, *, doubles: bool) -> list[Step]:
    if column.type is Type.TEXT:
        field = [] if column.role is Role.TAG else [Step.FORM, Step.NULL, Step.EMPTY]
        return [Step.NUL, Step.BLANK, Step.CASE, *field]
    if column.name == "maybe":
        return [Step.ZERO, Step.NULL, Step.NAN]
    if column.type is Type.FLOAT32:
        return [Step.SINGLE, *([Step.DOUBLE] if doubles else [])]
    if column.type in INTEGERS:
        return [Step.INTEGER]
    return [{Type.BOOL: Step.FLIP, Type.FLOAT64: Step.DOUBLE}.get(column.type, Step.UNIT)]


def _with(row: Block, column: Column, step: Step, finest: TimeUnit) -> Block:
    """Return the row with one value altered, in a table whose types can express it."""
    table, data = row.table, dict(row.data)
    old = data[column.name].values()
    if step is Step.UNIT and finest is not table.time_unit:
        factor = finest.per_second // table.time_unit.per_second
        for each in table.columns:
            if each.type is Type.TIMESTAMP:
                data[each.name] = Values(data[each.name].values() * factor)
        table, old = replace(table, time_unit=finest), old * factor
    if step is Step.DOUBLE and column.type is Type.FLOAT32:
        wider = replace(column, type=Type.FLOAT64)
        table = replace(table, columns=tuple(wider if c is column else c for c in table.columns))
    data[column.name] = _value(old, step)
    return Block(table, row.part, row.rows, data)


def _value(old: Any, step: Step) -> ColumnData:
    if step in _LETTERS:
        return _text(_LETTERS[step](old[0]))
    if step in (Step.NULL, Step.EMPTY):
        filler = old if step is Step.NULL else np.array([b""])
        return Values(filler, np.array([step is Step.EMPTY]))
    match step:
        case Step.FLIP:
            return Values(~old)
        case Step.SINGLE:
            return Values(np.nextafter(old, np.float32(np.inf)))
        case Step.DOUBLE:
            return Values(np.nextafter(old.astype(np.float64), np.inf))
        case Step.ZERO:
            return Values(-old)
        case Step.NAN:
            return Values(old + np.nan)
        case _:
            return Values(old + 1)


_LETTERS: dict[Step, Callable[[bytes], bytes]] = {
    Step.NUL: lambda text: text + b"\0",
    Step.BLANK: lambda text: text + b" ",
    Step.CASE: lambda text: text.upper(),
    Step.FORM: lambda text: text.replace("\u00e9".encode(), "e\u0301".encode()),
}


def _text(content: bytes) -> Texts:
    letters = np.frombuffer(content, np.uint8)
    return Texts(letters, np.array([0]), np.array([len(content)]))
