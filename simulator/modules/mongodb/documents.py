"""How a table's rows lie in MongoDB's documents, and where a query finds a column in them.

The formats are those of influxdb-comparisons' loader for MongoDB (-document-format).
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from simulator.data.schema import ID, Column, Role, Table, TimeUnit, Type
from simulator.encode.bson import Constant, Element, Embedded, Field

MATCH_ALL: dict[str, Any] = {}


class Format(StrEnum):
    """A document format."""

    FLAT = "flat"
    """Every column is a field of the document."""
    KEY_PAIR = "key-pair"
    """Tags and fields are two arrays of {key, val}; a NULL is a null there."""
    TIMESERIES = "timeseries"
    """A time-series collection: time a Date, the tags one document."""


class Documents:
    """One table's documents. A NULL is left out, but for those in an array."""

    def __init__(self, table: Table, layout: Format) -> None:
        self._table = table
        self._layout = layout
        self._tags, self._fields, self._date = (
            _free(name, table) for name in ("tags", "fields", "date")
        )

    @property
    def time_field(self) -> str:
        """The field that holds the row's instant, a Date in a time-series collection."""
        name = self._table.time.name
        own = self._layout is not Format.TIMESERIES or self._is_date(self._table.time)
        return name if own else self._date

    @property
    def meta_field(self) -> str:
        """The field that holds the tags."""
        return self._tags

    @property
    def elements(self) -> tuple[Element, ...]:
        """What a document is made of."""
        tags, table = self._table.tags, self._table
        if self._layout is Format.FLAT:
            return tuple(self._field(column) for column in table.columns)
        grouped = [*tags, *(table.fields if self._layout is Format.KEY_PAIR else ())]
        apart = [self._field(column) for column in table.columns if column not in grouped]
        if self._layout is Format.KEY_PAIR:
            return (*apart, _pairs(self._tags, tags), _pairs(self._fields, table.fields))
        meta = Embedded(self._tags, tuple(self._field(column) for column in tags))
        date = [Field(self._date, table.time, date=True)] if self.time_field == self._date else []
        return (*date, meta, *apart)

    def _field(self, column: Column) -> Field:
        return Field(_name(column), column, date=self._is_date(column))

    def _is_date(self, column: Column) -> bool:
        """Whether a Date, which counts milliseconds, is what holds this column."""
        if self._table.time_unit is not TimeUnit.MILLISECOND:
            return False
        in_series = self._layout is Format.TIMESERIES and column.role is Role.TIME
        in_pair = self._layout is Format.KEY_PAIR and column.role in (Role.TAG, Role.FIELD)
        return in_series or (column.type is Type.TIMESTAMP and not in_pair)

    def value(self, name: str) -> Any:
        """Return the expression of a column's value; instants are integers in the table's unit."""
        column = self._table.column(name)
        if self._is_date(column):
            return {"$toLong": f"${_name(column)}"}
        if self._layout is Format.KEY_PAIR:
            for group, columns in self._groups():
                if column in columns:
                    return {"$arrayElemAt": [f"${group}.val", columns.index(column)]}
        if self._layout is Format.TIMESERIES and column.role is Role.TAG:
            return f"${self._tags}.{name}"
        return f"${_name(column)}"

    def _groups(self) -> tuple[tuple[str, tuple[Column, ...]], ...]:
        return ((self._tags, self._table.tags), (self._fields, self._table.fields))

    def where(self, tags: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
        """Return the conditions that find rows by their tags."""
        if self._layout is Format.KEY_PAIR:
            pairs = [{"key": name, "val": value} for name, value in tags]
            return [{self._tags: {"$elemMatch": pair}} for pair in pairs]
        before = f"{self._tags}." if self._layout is Format.TIMESERIES else ""
        return [{f"{before}{name}": value} for name, value in tags]

    def between(self, since: int | None, until: int | None) -> list[dict[str, Any]]:
        """Return the conditions that find rows in a half-open range of time."""
        time, conditions = self._table.time, []
        limits = {"$gte": since, "$lt": until}
        for comparison, limit in limits.items():
            if limit is None:
                continue
            literal = date(limit) if self._is_date(time) else limit
            conditions.append({time.name: {comparison: literal}})
            if self.time_field != time.name:  # a bucket of a time-series is found by its Date
                near = date(limit * 1000 // self._table.time_unit.per_second)
                conditions.append({self.time_field: {comparison.rstrip("e") + "e": near}})
        return conditions

    def indices(self) -> dict[str, list[tuple[str, int]]]:
        """Return the secondary indices: series in time with the first field; the first field."""
        time, fields = (self._table.time.name, 1), self._table.fields[:1]
        if self._layout is Format.KEY_PAIR:
            tags, field = ([(f"{group}.{part}", 1) for part in ("key", "val")]
                           for group, _ in self._groups())  # fmt: skip
            return {"series_index": [*tags, time], "field_index": field}
        before = f"{self._tags}." if self._layout is Format.TIMESERIES else ""
        tags = [(f"{before}{column.name}", 1) for column in self._table.tags]
        field = [(column.name, 1) for column in fields]
        indices = {"series_index": [*tags, (self.time_field, 1), *field], "field_index": field}
        return {name: keys for name, keys in indices.items() if keys}


def problems(table: Table) -> list[str]:
    """Return, a sentence each, what MongoDB cannot have as names of a table's columns."""
    return [
        f"column {column.name!r}: a query could not reach it in MongoDB, where a dot parts names, "
        "a dollar begins an operator and _id is the key; rename it"
        for column in table.columns
        if not column.name
        or "." in column.name
        or column.name.startswith("$")
        or column.name == "_id"
    ]


def date(milliseconds: int) -> dict[str, Any]:
    """Return a Date in extended JSON."""
    return {"$date": {"$numberLong": str(milliseconds)}}


def _name(column: Column) -> str:
    """Return the field of a column; a key that the client makes is the document's own."""
    return "_id" if column == ID else column.name


def _pairs(name: str, columns: Sequence[Column]) -> Embedded:
    pairs = [(Constant("key", column.name), Field("val", column, null=True)) for column in columns]
    numbered = (Embedded(str(place), pair) for place, pair in enumerate(pairs))
    return Embedded(name, tuple(numbered), array=True)


def _free(name: str, table: Table) -> str:
    """Return a name that no column has."""
    while name in {column.name for column in table.columns}:
        name += "_"
    return name
