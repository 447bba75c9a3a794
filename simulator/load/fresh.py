"""Queries about fresh rows: their statements, which move on with the rows, and their answers."""

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from simulator.data.fresh import FreshType
from simulator.data.query import Statement
from simulator.data.schema import FLOATS
from simulator.errors import RunError
from simulator.load.asker import Asked, Report, rows_of
from simulator.modules.base import Database
from simulator.protocol.arrivals import (
    ANSWER_COLUMNS,
    NULL_DOUBLE,
    NULL_INTEGER,
    FreshAnswers,
    Ticks,
)
from simulator.protocol.messages import Scalar
from simulator.protocol.packed import MOST_NUMBERS, packed

_PART_NUMBERS = MOST_NUMBERS // 4
_DOUBLE, _INTEGER = struct.Struct("<d"), struct.Struct("<q")


class Moving:
    """Statements about the rows since an instant, rendered again whenever that has moved."""

    def __init__(
        self, database: Database, fresh_type: FreshType, since_ms: Callable[[], int]
    ) -> None:
        """`since_ms` returns the instant, in ms since 1970."""
        self._database, self._type, self._since_ms = database, fresh_type, since_ms
        self._asked: Asked | None = None

    def _now(self, _: int = 0) -> Asked:
        since_ms = self._since_ms()
        if self._asked is None or self._asked.instance != since_ms:
            statement = self._database.statement(self._type.since(since_ms))
            self._asked = Asked(since_ms, statement)
        return self._asked

    first = warmup = timed = _now


class EveryAnswer:
    """All answers to one type about fresh rows, packed in parts."""

    def __init__(self, name: str, fresh_type: FreshType) -> None:
        self._name, self._type = name, fresh_type
        self._tags = len(fresh_type.tags)
        self._kept: list[tuple[int, int, int, Statement, Sequence[Sequence[Any]]]] = []
        self._values = 0
        self._parts: list[tuple[int, str, list[tuple[Scalar, ...]], str]] = []
        self.count = 0

    def keep(
        self, asked: Asked, rows: Sequence[Sequence[Any]], began_ns: int, ended_ns: int
    ) -> int:
        """Keep an answer, and pack what is kept once it is enough for a part; return 0."""
        self._kept.append((asked.instance, began_ns, ended_ns, asked.statement, rows))
        self.count += 1
        self._values += len(ANSWER_COLUMNS) + len(rows) * len(asked.statement.outputs)
        if self._values > _PART_NUMBERS:
            self._pack()
        return 0

    def reported(self, report: Report) -> int:
        """Return the number of answers, which `parts` reports."""
        del report
        return self.count

    def _pack(self) -> None:
        """Pack what is kept."""
        heads: list[tuple[int, int, int, int]] = []
        keys: dict[tuple[Scalar, ...], int] = {}
        values: list[list[int]] = []
        for since_ms, began_ns, ended_ns, statement, raw in self._kept:
            rows = rows_of(self._name, statement, raw)
            heads.append((since_ms, began_ns, ended_ns, len(rows)))
            for row in rows:
                key = keys.setdefault(row[: self._tags], len(keys))
                values.append([key, *map(_bits, self._columns, row[self._tags :])])
        width = 1 + len(self._columns)
        if len(values) * width > MOST_NUMBERS:
            raise RunError(
                f"query {self._name}: expected answers of at most {MOST_NUMBERS // width:,} rows"
                f" together, got {len(values):,}; choose others with --types"
            )
        self._parts.append(
            (
                len(heads),
                packed(np.array(heads, np.int64).reshape(-1, len(ANSWER_COLUMNS)).T),
                [*keys],
                packed(np.array(values, np.int64).reshape(-1, width).T),
            )
        )
        self._kept.clear()
        self._values = 0

    @property
    def _columns(self) -> Sequence[bool]:
        """Of each column behind the tags: whether it has numbers with a fraction."""
        return [output.type in FLOATS for output in self._type.outputs[self._tags :]]

    def parts(self, index: int, ticks: Ticks) -> Iterator[FreshAnswers]:
        """Yield what worker `index` reports; the last part may be empty."""
        self._pack()
        for number, (count, heads, keys, values) in enumerate(self._parts):
            yield FreshAnswers(
                index=index,
                part=number,
                last=number == len(self._parts) - 1,
                ticks=ticks,
                query=self._name,
                count=count,
                answers=heads,
                keys=tuple(keys),
                values=values,
            )


def _bits(is_double: bool, value: Any) -> int:  # noqa: FBT001 - mapped over columns
    """Return a number as an integer of 64 bits."""
    if value is None:
        return NULL_DOUBLE if is_double else NULL_INTEGER
    bits: int = _INTEGER.unpack(_DOUBLE.pack(value))[0] if is_double else int(value)
    return bits
