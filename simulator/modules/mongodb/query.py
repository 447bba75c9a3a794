"""MongoDB's documents, and the logical queries as aggregation pipelines over them.

The document formats come from influxdb-comparisons' loader for MongoDB (-document-format). The
pipelines are exact: $sum of int64 stays int64 until it overflows, which the session detects; wide
sums are decimals, which have 34 digits; floats on a grid add up without rounding, and $avg divides
that sum by the count.
https://www.mongodb.com/docs/manual/reference/operator/aggregation/
"""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, assert_never

from simulator.data.own_query import PLACEHOLDER, TextQuery
from simulator.data.query import (
    ENDS,
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    Operator,
    Output,
    Query,
    RowsQuery,
    Selection,
    Statement,
    outputs,
)
from simulator.data.schema import ID, Column, Index, Role, Table, TimeUnit, Type
from simulator.encode.bson import BsonField, Constant, Element, Embedded
from simulator.modules.shared.http.json_texts import JsonTexts, strings

Stage = dict[str, Any]
_OPERATORS = {
    Operator.LESS: "$lt",
    Operator.AT_MOST: "$lte",
    Operator.EQUAL: "$eq",
    Operator.AT_LEAST: "$gte",
    Operator.MORE: "$gt",
}


# --- documents ------------------------------------------------------------------------------------


class DocumentFormat(StrEnum):
    """A document format."""

    FLAT = "flat"
    """Every column is a field of the document."""
    KEY_PAIR = "key-pair"
    """Tags and fields are two arrays of {key, val}; a NULL is a null."""
    TIMESERIES = "timeseries"
    """A time-series collection: the time is a Date, the tags are one embedded document."""


class TableDocuments:
    """The documents of one table. A NULL is left out, except in an array."""

    def __init__(self, table: Table, layout: DocumentFormat) -> None:
        self._table = table
        self._layout = layout
        self.tags_field, self._fields, self._date = (
            table.find_unused(name) for name in ("tags", "fields", "date")
        )

    @property
    def time_field(self) -> str:
        """The field of a row's instant, which is a Date in a time-series collection."""
        name = self._table.time.name
        own = self._layout is not DocumentFormat.TIMESERIES or self._is_date(self._table.time)
        return name if own else self._date

    @property
    def elements(self) -> tuple[Element, ...]:
        """Elements of a document."""
        tags, table = self._table.tags, self._table
        if self._layout is DocumentFormat.FLAT:
            return tuple(self._field(column) for column in table.columns)
        grouped = [*tags, *(table.fields if self._layout is DocumentFormat.KEY_PAIR else ())]
        apart = [self._field(column) for column in table.columns if column not in grouped]
        if self._layout is DocumentFormat.KEY_PAIR:
            return (*apart, _pairs(self.tags_field, tags), _pairs(self._fields, table.fields))
        meta = Embedded(self.tags_field, tuple(self._field(column) for column in tags))
        date = (
            [BsonField(self._date, table.time, date=True)] if self.time_field == self._date else []
        )
        return (*date, meta, *apart)

    def _field(self, column: Column) -> BsonField:
        return BsonField(_name(column), column, date=self._is_date(column))

    def _is_date(self, column: Column) -> bool:
        """Return whether a column is stored as a Date, which counts milliseconds."""
        if self._table.time_unit is not TimeUnit.MILLISECOND:
            return False
        in_series = self._layout is DocumentFormat.TIMESERIES and column.role is Role.TIME
        in_pair = self._layout is DocumentFormat.KEY_PAIR and column.role in (Role.TAG, Role.FIELD)
        return in_series or (column.type is Type.TIMESTAMP and not in_pair)

    def value(self, name: str) -> Any:
        """Return the expression of a column; an instant is an integer in the table's unit."""
        column = self._table.column(name)
        if self._is_date(column):
            return {"$toLong": f"${_name(column)}"}
        if self._layout is DocumentFormat.KEY_PAIR:
            for group, columns in self._groups():
                if column in columns:
                    return {"$arrayElemAt": [f"${group}.val", columns.index(column)]}
        if self._layout is DocumentFormat.TIMESERIES and column.role is Role.TAG:
            return f"${self.tags_field}.{name}"
        return f"${_name(column)}"

    def instant(self, value: int) -> Any:
        """Return an instant in the form of the stored time: a Date, or a number in its unit."""
        return date(value) if self._is_date(self._table.time) else value

    def _groups(self) -> tuple[tuple[str, tuple[Column, ...]], ...]:
        return ((self.tags_field, self._table.tags), (self._fields, self._table.fields))

    def conditions(self, selection: Selection) -> list[dict[str, Any]]:
        """Return the conditions that select rows."""
        found = []
        for one in selection.one_of:
            several = len(one.values) > 1
            wanted = {"$in": list(one.values)} if several else one.values[0]
            found.append(self._condition(one.column, wanted))
        for each in selection.compared:
            is_date = self._is_date(self._table.column(each.column))
            value = date(int(each.value)) if is_date else each.value
            found.append(self._condition(each.column, {_OPERATORS[each.operator]: value}))
        for operator, limit in selection.limits:
            comparison, time = _OPERATORS[operator], self._table.time
            found.append({time.name: {comparison: self.instant(limit)}})
            if self.time_field != time.name:  # the server finds its buckets by the Date
                near = date(limit * 1000 // self._table.time_unit.per_second)
                found.append({self.time_field: {comparison.rstrip("e") + "e": near}})
        return found

    def _condition(self, name: str, wanted: Any) -> dict[str, Any]:
        column = self._table.column(name)
        if self._layout is DocumentFormat.KEY_PAIR:
            for group, columns in self._groups():
                if column in columns:
                    return {group: {"$elemMatch": {"key": name, "val": wanted}}}
        is_meta = self._layout is DocumentFormat.TIMESERIES and column.role is Role.TAG
        return {f"{self.tags_field}.{name}" if is_meta else _name(column): wanted}

    def indices(self) -> dict[str, list[tuple[str, int]]]:
        """Return the table's secondary indices: name -> fields with their order."""
        return {
            f"{index.name}_index": [(path, 1) for path in self._paths(index)]
            for index in self._table.indices
        }

    def _paths(self, index: Index) -> list[str]:
        """Return the fields of an index, with only the first of several arrays."""
        found: dict[str, None] = {}
        arrays: dict[str, None] = {}
        for column in map(self._table.column, index.columns):
            groups = [group for group, columns in self._groups() if column in columns]
            if self._layout is DocumentFormat.KEY_PAIR and groups:
                arrays |= dict.fromkeys(groups)
                if groups[0] == next(iter(arrays)):
                    found |= dict.fromkeys((f"{groups[0]}.key", f"{groups[0]}.val"))
            elif self._layout is DocumentFormat.TIMESERIES and column.role is Role.TAG:
                found[f"{self.tags_field}.{column.name}"] = None
            else:
                found[self.time_field if column.role is Role.TIME else column.name] = None
        return [*found]


def problems(table: Table) -> list[str]:
    """Return a sentence for each name of a column that MongoDB cannot have."""
    return [
        f"column {column.name!r}: a query cannot address it, because in MongoDB a dot separates "
        "names, a dollar sign begins an operator and _id is the key; rename it"
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
    """Return the field of a column; a key of the client is the document's _id."""
    return "_id" if column == ID else column.name


def _pairs(name: str, columns: Sequence[Column]) -> Embedded:
    pairs = [
        (Constant("key", column.name), BsonField("val", column, null=True)) for column in columns
    ]
    numbered = (Embedded(str(place), pair) for place, pair in enumerate(pairs))
    return Embedded(name, tuple(numbered), array=True)


# --- pipelines ------------------------------------------------------------------------------------


def render(query: Query, layout: DocumentFormat) -> Statement:
    """Return a query as an `aggregate` command in extended JSON."""
    documents = TableDocuments(query.table, layout)
    conditions = documents.conditions(query.selection)
    command = _write_command(query.table, conditions, _stages(query, documents))
    return Statement(command, outputs(query))


def _write_command(table: Table, conditions: Sequence[Stage], stages: Sequence[Stage]) -> str:
    """Return the command that runs stages over the selected rows of all parts of a table."""
    match: list[Stage] = [{"$match": {"$and": list(conditions)}}] if conditions else []
    others = ({"$unionWith": {"coll": name, "pipeline": match}} for name in table.names[1:])
    pipeline = [*match, *others, *stages]
    command = {"aggregate": table.names[0], "pipeline": pipeline, "allowDiskUse": True}
    return json.dumps(command, ensure_ascii=False)


def fields_of(columns: Sequence[Output]) -> list[str]:
    """Return unique names of the columns, which are the fields of an answer's documents."""
    names: list[str] = []
    for column in columns:
        name = column.name
        while name in names:
            name += "_"
        names.append(name)
    return names


def _stages(query: Query, documents: TableDocuments) -> list[Stage]:
    match query:
        case AggregateQuery():
            return _aggregates(query, documents)
        case NewestQuery():
            return _newest(query, documents)
        case DistinctQuery(columns=columns):
            combination = {name: documents.value(name) for name in columns}
            return [{"$group": {"_id": combination}}, {"$count": "count"}]
        case RowsQuery(table=table):
            shown = {column.name: documents.value(column.name) for column in query.read}
            latest: list[Stage] = []
            if query.newest is not None:
                latest = [{"$sort": {table.time.name: -1}}, {"$limit": query.newest}]
            return [*latest, {"$project": {"_id": 0, **shown}}]
        case _:
            assert_never(query)


def _newest(query: NewestQuery, documents: TableDocuments) -> list[Stage]:
    names = fields_of(outputs(query))
    tags, columns = names[: len(query.tags)], names[len(query.tags) :]
    output = dict(zip(columns, map(documents.value, query.columns), strict=True))
    top = {"sortBy": {query.table.time.name: -1}, "output": output}
    groups = dict(zip(tags, map(documents.value, query.tags), strict=True))
    group = {"_id": groups, "newest": {"$top": top}}
    shown = {name: f"$_id.{name}" for name in tags} | {n: f"$newest.{n}" for n in columns}
    return [{"$group": group}, {"$project": {"_id": 0, **shown}}]


def _aggregates(query: AggregateQuery, documents: TableDocuments) -> list[Stage]:
    table, names = query.table, fields_of(outputs(query))
    groups: dict[str, Any] = {tag: documents.value(tag) for tag in query.by}
    if query.bucket is not None:
        groups["bucket"] = _bucket(documents.value(table.time.name), query.bucket)
    keys, results = names[: len(groups)], names[len(groups) :]
    groups = dict(zip(keys, groups.values(), strict=True))
    accumulated: dict[str, Any] = {}
    shown: dict[str, Any] = {name: f"$_id.{name}" for name in keys}
    for name, aggregate in zip(results, query.aggregates, strict=True):
        accumulated[name] = _accumulator(aggregate, table, documents)
        shown[name] = 1
        if aggregate.function is Function.SUM and table.column(str(aggregate.column)).nullable:
            # $sum of no values is 0, but the answer must be NULL.
            counted = f"{name} counted"
            count = Aggregate(Function.COUNT, aggregate.column)
            accumulated[counted] = _accumulator(count, table, documents)
            shown[name] = {"$cond": [{"$eq": [f"${counted}", 0]}, None, f"${name}"]}
        if aggregate.function in ENDS:
            shown[name] = f"${name}.value"
    group = {"_id": groups or None, **accumulated}
    latest: list[Stage] = []
    if query.newest is not None:
        latest = [{"$sort": {f"_id.{keys[-1]}": -1}}, {"$limit": query.newest}]
    return [{"$group": group}, *latest, {"$project": {"_id": 0, **shown}}]


def _bucket(time: Any, width: int) -> Any:
    """Return the start of a row's time bucket. $mod has the sign of the dividend."""
    positive = {"$mod": [{"$add": [{"$mod": [time, width]}, width]}, width]}
    return {"$subtract": [time, positive]}


def _accumulator(aggregate: Aggregate, table: Table, documents: TableDocuments) -> Any:
    if aggregate.column is None:
        return {"$sum": 1}
    column = table.column(aggregate.column)
    value = documents.value(column.name)
    match aggregate.function:
        case Function.COUNT:
            # Null and a missing field sort before every value.
            return {"$sum": {"$cond": [{"$gt": [value, None]}, 1, 0]} if column.nullable else 1}
        case Function.SUM | Function.AVG:
            number = {"$toInt": value} if column.type is Type.BOOL else value
            number = {"$toDecimal": number} if aggregate.wide else number
            return {f"${aggregate.function}": number}
        case Function.MIN | Function.MAX:
            return {f"${aggregate.function}": value}
        case Function.FIRST | Function.LAST:
            # Documents compare field by field, and an extreme ignores null.
            pair = {"time": documents.value(table.time.name), "value": value}
            extreme = "$min" if aggregate.function is Function.FIRST else "$max"
            present = {"$cond": [{"$gt": [value, None]}, pair, None]}
            return {extreme: present if column.nullable else pair}
    assert_never(aggregate.function)


# --- a user's own queries -------------------------------------------------------------------------

_WRITES = ("$out", "$merge")
_EXPECTED = 'expected a list of stages, such as [{"$match": {...}}, {"$group": {...}}]'
_VERBATIM = frozenset({"$match", "$literal"})
"""Operators in which a text may begin with $; within `$expr` such a text names a field."""


class Pipelines(JsonTexts):
    """A user's pipelines in extended JSON over the documents of all parts of one table."""

    given_names = frozenset({"_id", "count"})

    def __init__(self, table: Table, layout: DocumentFormat, keys: Sequence[str]) -> None:
        super().__init__(table, keys)
        self._documents = TableDocuments(table, layout)

    @property
    def places(self) -> Mapping[str, str]:
        return {"table": self.table.name} if self.table.parts == 1 else {}

    def content_problem(self, content: Any) -> str:
        """Return why a text's content is not a pipeline that only reads; empty if it is."""
        if not isinstance(content, list) or not all(
            isinstance(stage, dict) and len(stage) == 1 and next(iter(stage)).startswith("$")
            for stage in content
        ):
            return _EXPECTED
        written = next((name for name in _WRITES if name in {*strings(content)}), "")
        return f"must only read, found {written!r}" if written else ""

    def instant(self, value: int) -> Any:
        return self._documents.instant(value)

    def with_values(self, text: str, query: TextQuery) -> str:
        return _write_command(self.table, [], self.fill_values(text, query))

    def fill_parameters(self, content: Any, values: dict[str, Any]) -> Any:
        """Return a content in which parameters are values, never names of fields."""
        return self._replace_values(content, values, verbatim=False)

    def _replace_values(self, content: Any, values: dict[str, Any], *, verbatim: bool) -> Any:
        match content:
            case dict():
                return {
                    key: self._replace_values(
                        each, values, verbatim=key in _VERBATIM or (verbatim and key != "$expr")
                    )
                    for key, each in content.items()
                }
            case list():
                return [self._replace_values(each, values, verbatim=verbatim) for each in content]
            case str() if found := PLACEHOLDER.fullmatch(content):
                value = values[found[1]]
                is_field = isinstance(value, str) and value.startswith("$") and not verbatim
                return {"$literal": value} if is_field else value
            case _:
                return content
