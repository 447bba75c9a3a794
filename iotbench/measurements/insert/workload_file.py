"""A workload that a user declares in YAML. All errors in the file are reported at once."""

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from iotbench.config.input.records import FOLDER, Record, read_record
from iotbench.config.input.values import Count, Notation, Number, Seconds, Share
from simulator.data.choice import Skew
from simulator.data.schema import FLOATS, INTEGERS, Role, Type, dtype_of
from simulator.data.workloads import GENERATORS, workload_class
from simulator.data.workloads.base import Workload
from simulator.data.workloads.declared import (
    MOST_SERIES,
    MOST_VALUES,
    Declared,
    DeclaredParams,
    DeclaredTable,
    DrawnColumn,
)
from simulator.errors import ConfigError, nearest

ENDINGS = (".yaml", ".yml")
TABLE_NAME = r"[a-z][a-z0-9_]{0,39}"
_NAME = re.compile(TABLE_NAME)
_MOST_TABLES, _MOST_COLUMNS, _LONGEST_TEXT = 100, 1000, 1000
_Value = str | int | float
_Exponent = Annotated[Number, Field(gt=0, le=10)]
_Part = Annotated[Share, Field(ge=0.001)]


class _Skewed(Record):
    """A choice among numbered values: uniform, or skewed by one law."""

    zipf: _Exponent | None = Field(
        None, description="value number r is as frequent as 1 / r to this power, such as 0.99"
    )
    hotspot: tuple[_Part, _Part] | None = Field(
        None, description="share of the values, and of the rows that get them, such as [20%, 80%]"
    )
    latest: _Exponent | None = Field(
        None, description="like zipf, and value 1 is the newest one, which moves on with the rows"
    )

    @model_validator(mode="after")
    def _check_laws(self) -> "_Skewed":
        if len(given := self.laws) > 1:
            raise ValueError(f"expected one of zipf, hotspot, latest, got {', '.join(given)}")
        return self

    @property
    def laws(self) -> list[str]:
        """Names of the given laws."""
        laws = {"zipf": self.zipf, "hotspot": self.hotspot, "latest": self.latest}
        return [name for name, value in laws.items() if value is not None]

    @property
    def skew(self) -> Skew | None:
        """The given law in the form that workers use; None: the choice is uniform."""
        if self.hotspot:
            hot, rows = self.hotspot
            return Skew(law="hotspot", hot=hot, rows=rows)
        if self.zipf:
            return Skew(law="zipf", exponent=self.zipf)
        return Skew(law="latest", exponent=self.latest) if self.latest else None


class _Column(_Skewed):
    """The common part of tags and fields."""

    values: tuple[_Value, ...] = Field((), description="one of these")
    weights: tuple[Number, ...] = Field((), description="how frequent each of the values is")

    @model_validator(mode="after")
    def _check_weights(self) -> "_Column":
        if self.weights and len(self.weights) != len(self.values):
            raise ValueError(f"weights: expected {len(self.values)}, one for each value")
        if any(not math.isfinite(each) or each < 0 for each in self.weights) or (
            self.weights and not sum(self.weights)
        ):
            raise ValueError("weights: expected numbers from 0 on, not all of them 0")
        if self.weights and (laws := self.laws):
            raise ValueError(f"weights, {laws[0]}: both set how frequent a value is; leave one out")
        if len(self.values) > MOST_VALUES:
            raise ValueError(f"values: expected at most {MOST_VALUES:,}, got {len(self.values):,}")
        return self


class Tag(_Column):
    """A text that each series keeps. If no key is given, each series has a different text."""

    count: Annotated[Count, Field(ge=1, le=MOST_VALUES)] | None = Field(
        None, description="how many different names the series share"
    )
    name: str = Field("", description="a name with {} in place of its number")

    @model_validator(mode="after")
    def _check(self) -> "Tag":
        if self.values and (self.count or self.name):
            raise ValueError("values: expected alone, without count and name")
        if self.name and self.name.count("{}") != 1:
            raise ValueError("name: expected a text with one {}, such as meter-{}")
        if not all(isinstance(value, str) for value in self.values):
            raise ValueError("values: expected texts; put numbers in quotes")
        if self.laws and not (self.values or self.count):
            raise ValueError(f"{self.laws[0]}: chooses among values or count names; add one")
        if self.latest:
            raise ValueError("latest: a series keeps its tags; use it in a field or the table")
        return self

    def declare(self, name: str) -> DrawnColumn:
        """Return the declaration from which workers draw the column."""
        how: Literal["values", "numbered", "series"] = (
            "values" if self.values else "numbered" if self.count else "series"
        )
        return DrawnColumn(
            name=name, type=Type.TEXT, role=Role.TAG, how=how, values=self.values,
            weights=self.weights, skew=self.skew, pattern=self.name or f"{name}-{{}}",
            count=self.count or 0,
        )  # fmt: skip


class FieldOf(_Column):
    """A measured value: its type, and one distribution."""

    type: Literal["int16", "int32", "int64", "float32", "float64", "bool", "text"]
    uniform: tuple[Number, Number] | None = Field(
        None, description="evenly from the first to the second number"
    )
    normal: tuple[Number, Number] | None = Field(
        None, description="normally distributed, with this mean and standard deviation"
    )
    exponential: Number | None = Field(
        None, description="exponentially distributed, with this mean"
    )
    true_share: Share | None = Field(None, description="share of true, such as 30%")
    length: tuple[Count, Count] | None = Field(
        None, description="random letters; the least and the greatest number of them"
    )
    distinct: Annotated[Count, Field(ge=1, le=MOST_VALUES)] = Field(
        1000, description="how many different texts of random letters there are"
    )
    step: Annotated[Number, Field(ge=0)] = Field(
        0.0, description="numbers are multiples of it; of powers of two, sums are exact"
    )
    nulls: Share = Field(0.0, description="share of rows without a value")

    @model_validator(mode="after")
    def _check(self) -> "FieldOf":
        kind = Type(self.type)
        numbers = ("values", "uniform", "normal", "exponential")
        known = {Type.BOOL: ("true_share",), Type.TEXT: ("values", "length")}.get(kind, numbers)
        given = [name for name in (*numbers, "true_share", "length") if self._has(name)]
        if len(given) != 1 or given[0] not in known:
            raise ValueError(
                f"expected one of {', '.join(known)}, got {', '.join(given) or 'none'}"
            )
        if problems := [*self._problems(kind)]:
            raise ValueError("; ".join(problems))
        return self

    def _has(self, name: str) -> bool:
        return getattr(self, name) not in (None, ())

    def _problems(self, kind: Type) -> Iterator[str]:
        low, high = self._ends
        if not all(map(math.isfinite, (low, high, self.step))):
            yield "expected finite numbers"
        if self.uniform and not (low < high or (kind in INTEGERS and low == high)):
            yield "uniform: expected the lower number first"
        if self.normal and high < 0:
            yield "normal: expected a standard deviation from 0 on"
        if self.exponential is not None and self.exponential <= 0:
            yield "exponential: expected a mean above 0"
        if self.length and not 0 <= low <= high <= _LONGEST_TEXT:
            yield f"length: expected two numbers from 0 to {_LONGEST_TEXT:,}, the lower one first"
        if self.laws and not (self.values or self.length):
            yield f"{self.laws[0]}: chooses among values or texts of a length; use one of them"
        if kind in INTEGERS:
            yield from self._integer_problems(np.iinfo(dtype_of(kind)))
        if kind in FLOATS and not all(map(_is_number, self.values)):
            yield "values: expected numbers"
        if kind is Type.TEXT and not all(isinstance(value, str) for value in self.values):
            yield "values: expected texts; put numbers in quotes"

    def _integer_problems(self, ends: np.iinfo[Any]) -> Iterator[str]:
        given = (*self.values, *(self.uniform or ()))
        if any(not _is_whole(value) for value in given):
            yield f"{'uniform' if self.uniform else 'values'}: expected whole numbers"
        elif any(not ends.min <= int(value) <= ends.max for value in given):
            yield f"expected numbers from {ends.min:,} to {ends.max:,}"
        elif self.uniform and self.uniform[1] - self.uniform[0] >= 1 << 31:
            yield "uniform: expected less than 2**31 different numbers"
        if self.step:
            yield "step: is for float32 and float64"

    @property
    def _ends(self) -> tuple[float, float]:
        both = self.uniform or self.normal or self.length
        return both or (self.exponential or self.true_share or 0.0, 0.0)

    def declare(self, name: str) -> DrawnColumn:
        """Return the declaration from which workers draw the column."""
        names = ("values", "uniform", "normal", "exponential")
        how = next((each for each in names if self._has(each)), "")
        low, high = self._ends
        return DrawnColumn.model_validate(
            {
                "name": name, "type": self.type, "role": Role.FIELD,
                "how": how or ("bool" if self.type == "bool" else "text"),
                "values": self.values, "weights": self.weights, "skew": self.skew,
                "count": self.distinct, "low": low, "high": high, "step": self.step,
                "nulls": self.nulls,
            }
        )  # fmt: skip


_OptionalTag = Annotated[Tag, BeforeValidator(lambda tag: {} if tag is None else tag)]
"""A tag, or only its name."""


class TableOf(_Skewed):
    """A table: a row of each series in every interval, or rows with a series drawn by a law."""

    series: Annotated[Count, Field(ge=1, le=MOST_SERIES)] = Field(
        description="how many series it has"
    )
    interval: Annotated[Seconds, Field(ge=0.001)] = Field(
        description="time between two rows of a series, such as 10s"
    )
    time: str = Field("time", description="name of the column with the time")
    tags: dict[str, _OptionalTag] = Field({}, description="name -> a text that each series keeps")
    fields: dict[str, FieldOf] = Field(description="name -> a measured value")

    def declare(self, name: str) -> DeclaredTable:
        """Return the declaration from which workers draw the table."""
        tags = (tag.declare(column) for column, tag in self.tags.items())
        fields = (each.declare(column) for column, each in self.fields.items())
        return DeclaredTable(
            name=name, time=self.time, series=self.series,
            interval_ms=round(self.interval * 1000), columns=(*tags, *fields), skew=self.skew,
        )  # fmt: skip


class WorkloadFile(Record):
    """A workload that the user declares."""

    duration: Annotated[Seconds, Field(ge=0.001)] = Field(
        description="how long the data lasts from --start-time on, such as 24h"
    )
    tables: dict[str, TableOf] = Field(description="name -> table")


def is_file(workload: str) -> bool:
    """Return whether `workload` is the path of a file."""
    return workload.endswith(ENDINGS)


def class_of(workload: str) -> type[Workload]:
    """Return the class of a workload, given by its name or by the path of a workload file."""
    return Declared if is_file(workload) else workload_class(workload)


def read_workload(path: str) -> DeclaredParams:
    """Return the parameters that a file declares; ConfigError names everything that is wrong."""
    found = read_record(Path(path), WorkloadFile)
    if wrong := [f"{path}: {text}" for text in _problems(found)]:
        raise ConfigError(wrong)
    tables = tuple(each.declare(name) for name, each in found.tables.items())
    return DeclaredParams(duration_ms=round(found.duration * 1000), tables=tables)


class _Chosen(Notation):
    """The name of a workload, or a path relative to the file that contains the path."""

    def _parse(self, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, str):
            raise ValueError("expected the name of a workload, or of a file in YAML")  # noqa: TRY004
        if not is_file(value):
            return self.parse(value)
        folder: Path = (info.context or {}).get(FOLDER, Path())
        return str(folder / value)


def _check_name(text: str) -> str:
    if text in GENERATORS or is_file(text):
        return text
    raise ValueError(
        f"expected one of {', '.join(GENERATORS)}, or a file in YAML, got {text!r}"
        f" ({nearest(text, GENERATORS)})"
    )


WorkloadName = Annotated[str, _Chosen("NAME|FILE", _check_name)]


def _problems(found: WorkloadFile) -> Iterator[str]:
    if not 1 <= len(found.tables) <= _MOST_TABLES:
        yield f"tables: expected 1 to {_MOST_TABLES}, got {len(found.tables)}"
    for name, table in found.tables.items():
        place = f"tables.{name}"
        if not _NAME.fullmatch(name):
            yield f"{place}: expected a name of lower-case letters, digits and _"
        yield from (f"{place}.{text}" for text in _table_problems(table))


def _table_problems(table: TableOf) -> Iterator[str]:
    columns = [table.time, *table.tags, *table.fields]
    for name in dict.fromkeys(columns):
        if not _NAME.fullmatch(name) or name == "id":
            yield f"{name}: expected a name of lower-case letters, digits and _, other than id"
        if columns.count(name) > 1:
            yield f"{name}: is the name of {columns.count(name)} columns"
    if not 1 <= len(table.fields) <= _MOST_COLUMNS or len(table.tags) > _MOST_COLUMNS:
        yield f"fields: expected 1 to {_MOST_COLUMNS:,}, got {len(table.fields):,}"
    if table.laws and table.series > round(table.interval * 1000):
        yield (
            f"{table.laws[0]}: expected an interval of {table.series:,} ms at least, since so many"
            f" rows are spread over it, a millisecond apart at least; got {table.interval:g}s"
        )
    own = [name for name, tag in table.tags.items() if not tag.values and not tag.count]
    if table.series > 1 and not own:
        yield (
            "tags: expected one that differs in each series, since a row is known by its tags and"
            " its time; leave values and count out of one"
        )


def _is_number(value: _Value) -> bool:
    return not isinstance(value, str | bool) and math.isfinite(value)


def _is_whole(value: _Value) -> bool:
    return _is_number(value) and value == int(value)


def contents_of(workload: str) -> Mapping[str, Any] | None:
    """Return the content of a workload file; None if `workload` is a name."""
    if not is_file(workload):
        return None
    return read_workload(workload).model_dump(mode="json", exclude_none=True)
