"""Limits of databases of metrics: names, tags, numbers, instants."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded, ColumnData
from simulator.data.schema import FLOAT64_EXACT, FLOATS, INTEGERS, Column, Table, Type
from simulator.encode.columns import LevelCache
from simulator.errors import UnstorableError
from simulator.modules.shared.metrics.points import fields, find_counted


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a database."""

    product: str
    letters: str | None
    """The characters that names and tags may contain; None: any."""
    large_integers: bool
    """True if integers beyond 2**53 are stored exactly."""
    more_in_tags: str
    """Further characters that the value of a tag may contain."""
    allowed: str
    """`letters` and `more_in_tags` for messages."""
    finer: str
    """Remedy for times with a finer unit than the database stores."""
    null_tags: bool = False
    """True if a tag may be NULL."""
    longest_tag: int | None = None
    """Length of the longest possible tag, in bytes."""


class Checked:
    """Checks that a database can store the rows of a table; UnstorableError if it cannot."""

    def __init__(self, limits: Limits, table: Table, name: str, per_second: int) -> None:
        """Check names and columns; `per_second` is the unit of `times`."""
        self._limits, self._table, self._per_second = limits, table, per_second
        _check_names(limits, table, name)
        _check_columns(limits, table)
        wrong = LevelCache(self._find_wrong_tag)
        self._checks: list[tuple[Column, Callable[[ColumnData], str]]] = []
        for column in table.tags:
            if not limits.null_tags:
                self._checks.append((column, _find_null))
            if column.type is Type.TEXT:
                self._checks.append((column, lambda data: wrong(_list_levels(data))))
        for column in fields(table):
            if column.type in FLOATS:
                self._checks.append((column, _find_infinite))
            elif column.type in (Type.INT64, Type.TIMESTAMP) and not limits.large_integers:
                self._checks.append((column, self._find_too_large))

    def times(self, block: Block) -> NDArray[np.int64]:
        """Return the times of the rows; UnstorableError if a row cannot be stored."""
        for column, check in self._checks:
            problem = check(block.data[column.name])
            if problem:
                _refuse(column, problem)
        column, unit = self._table.time, self._table.time_unit
        values = block.data[column.name].values().astype(np.int64, copy=False)
        if unit.per_second <= self._per_second:
            return values * (self._per_second // unit.per_second)
        factor = unit.per_second // self._per_second
        times = values // factor
        if (times * factor != values).any():
            odd = int(values[times * factor != values][0])
            smallest = {1: "second", 1000: "millisecond"}[self._per_second]
            _refuse(
                column,
                f"{odd} {unit} is not a whole {smallest}, and {self._limits.product} has no "
                f"finer times; {self._limits.finer}",
            )
        return times

    def _find_wrong_tag(self, texts: Array) -> str:
        limits = self._limits
        product, letters, longest = limits.product, limits.letters, limits.longest_tag
        if letters is not None:
            known = (letters + limits.more_in_tags).encode() + b"\0"
            if np.ascontiguousarray(texts).tobytes().translate(None, known):
                odd = next(text for text in texts.tolist() if text.translate(None, known))
                shown = odd.decode(errors="replace")
                return f"{shown!r} cannot be a tag of {product}: only {limits.allowed}"
        if len(texts) and not np.strings.str_len(texts).all():
            return f"a tag of {product} cannot be an empty text"
        if longest is not None and texts.dtype.itemsize > longest:
            return f"a tag of {product} cannot be longer than {longest} bytes"
        return ""

    def _find_too_large(self, data: ColumnData) -> str:
        values = data.present()
        beyond = (values > FLOAT64_EXACT) | (values < -FLOAT64_EXACT)
        if not beyond.any():
            return ""
        return (
            f"{int(values[beyond][0])} is beyond 2**53, and {self._limits.product} stores "
            "doubles, which cannot distinguish such integers"
        )


def _check_names(limits: Limits, table: Table, name: str) -> None:
    for thing, called in (("table", name), *(("column", c.name) for c in table.columns)):
        if not called or (limits.letters is not None and called.strip(limits.letters)):
            raise UnstorableError(
                f"{thing} {called!r}: names in {limits.product} are made of {limits.allowed}"
            )


def _check_columns(limits: Limits, table: Table) -> None:
    for column in fields(table):
        if column.type is Type.TEXT:
            _refuse(column, "is text, and a point is a number; make it a tag")
    for column in table.tags:
        if column.type not in {Type.TEXT, *INTEGERS}:
            _refuse(column, f"is {column.type}, and a tag is text or an integer")
    if find_counted(table) is None:
        raise UnstorableError(
            f"{table.name}: {limits.product} needs a field that is never NULL, to count rows by"
        )


def _refuse(column: Column, problem: str) -> None:
    raise UnstorableError(f"column {column.name}: {problem}")


def _find_null(data: ColumnData) -> str:
    return "a tag cannot be NULL" if data.valid is not None and not data.valid.all() else ""


def _find_infinite(data: ColumnData) -> str:
    return "" if np.isfinite(data.present()).all() else "cannot be infinite or NaN"


def _list_levels(data: ColumnData) -> Array:
    return data.levels if isinstance(data, Coded) else data.present()
