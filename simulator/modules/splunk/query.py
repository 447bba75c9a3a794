"""Searches in SPL, and their results as answers.

The number of digits of a sum, mean or extreme from `stats` is not documented. So the server only
counts how often each text occurs, and every aggregate is calculated here from those counts,
exactly. A statement has one search per column, each on its own line.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, assert_never

from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    Output,
    Query,
    RowsQuery,
    Statement,
    outputs,
)
from simulator.data.schema import FLOATS, Table, TimeUnit, Type
from simulator.modules.base import Unsupported
from simulator.modules.splunk.wire import NULL, check_names, index

Found: TypeAlias = Mapping[str, str]
"""A row of results: field -> text."""
Row: TypeAlias = tuple[Any, ...]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _field(column: str) -> str:
    return f'"r.{column}"'


def _value(column: str) -> str:
    return f"'r.{column}'"


def _of(names: Iterable[str]) -> str:
    return " OR ".join(f"index={_quoted(index(name))}" for name in names)


def count(names: Iterable[str]) -> str:
    """Return the search that counts the rows of physical tables."""
    return f"search {_of(names)} | stats count"


def buckets(name: str) -> str:
    """Return the search that lists the buckets of a physical table."""
    return f"| dbinspect index={_quoted(index(name))}"


# --- searches -------------------------------------------------------------------------------------


def render(query: Query) -> Statement:
    """Return a query as searches, one per line, with the query itself to merge their results."""
    return Statement("\n".join(_searches(query)), outputs(query), (query,))


def _searches(query: Query) -> list[str]:
    table = query.table
    check_names(table)
    rows = f"search {_of(table.names)}"
    match query:
        case AggregateQuery():
            rows += _filters(query)
            keys = [*query.by]
            columns = dict.fromkeys(a.column for a in query.aggregates)
            return [_counted(rows, table, keys, query.bucket, column) for column in columns]
        case NewestQuery():
            if table.time_unit is TimeUnit.NANOSECOND:
                raise Unsupported("Splunk orders events to the microsecond")
            (tag,) = query.tags
            if table.column(tag).nullable:
                raise Unsupported("`stats` omits rows whose tag is NULL")
            return [f"{rows} | stats latest(_raw) AS _raw BY {_field(tag)}"]
        case DistinctQuery():
            filled = _filled(table, query.columns)
            fields = " ".join(map(_field, query.columns))
            return [f"{rows}{filled} | stats count BY {fields} | stats count"]
        case RowsQuery():
            return [f"{rows} | fields _raw"]
        case _:
            assert_never(query)


def _filters(query: AggregateQuery) -> str:
    table = query.table
    conditions = [f"{_value(tag)}=={_quoted(value)}" for tag, value in query.selection.equal]
    limits = [(">=", query.selection.since), ("<", query.selection.until)]
    given = [(comparison, limit) for comparison, limit in limits if limit is not None]
    if given or query.bucket is not None:
        _refuse_nanoseconds(table)
    time = f"tonumber({_value(table.time.name)})"
    conditions += [f"{time}{comparison}{limit}" for comparison, limit in given]
    return f" | where {' AND '.join(conditions)}" if conditions else ""


def _refuse_nanoseconds(table: Table) -> None:
    if table.time_unit is TimeUnit.NANOSECOND:
        raise Unsupported("searches calculate in doubles, which do not hold nanoseconds")


def _counted(
    rows: str, table: Table, keys: Sequence[str], bucket: int | None, column: str | None
) -> str:
    """Return the search that counts each value of a column, or the rows, in groups."""
    named = [*keys, *([column] if column else [])]
    fields = [_field(name) for name in dict.fromkeys(named)]
    text = rows + _filled(table, named)
    if bucket is not None:
        # The number of the bucket, not its start: small enough to be printed with every digit.
        text += f" | eval bucket=floor(tonumber({_value(table.time.name)})/{bucket})"
        fields.append("bucket")
    return f"{text} | stats count{' BY ' + ' '.join(fields) if fields else ''}"


def _filled(table: Table, columns: Sequence[str]) -> str:
    fields = [_field(name) for name in dict.fromkeys(columns) if table.column(name).nullable]
    return f" | fillnull value={_quoted(NULL)} {' '.join(fields)}" if fields else ""


# --- results --------------------------------------------------------------------------------------


def typed(kind: Type, text: str | None) -> Any:
    """Return the value of a text; ValueError if it does not belong to the type."""
    if text is None or text == NULL:
        return None
    if kind is Type.TEXT:
        return text
    return float(text) if kind in FLOATS else int(text)


def rows_of(events: Iterable[Found], columns: Sequence[Output]) -> list[Row]:
    """Return events as rows."""
    found = (json.loads(event["_raw"])["r"] for event in events)
    return [tuple(typed(c.type, values.get(c.name)) for c in columns) for values in found]


def own(results: Iterable[Found], columns: Sequence[Output]) -> list[Row]:
    """Return the results of a user's own search, whose fields are named as the columns."""
    return [tuple(typed(c.type, row.get(c.name)) for c in columns) for row in results]


class Counts:
    """How often each value of one column occurs in one group."""

    def __init__(self) -> None:
        self.rows = 0
        self.values: dict[Any, int] = defaultdict(int)

    def add(self, value: Any, rows: int) -> None:
        """Add rows with a value."""
        self.rows += rows
        if value is not None:
            self.values[value] += rows

    def aggregate(self, aggregate: Aggregate, *, is_float: bool) -> Any:
        """Return an aggregate, exact; a mean or a sum of floats is rounded once."""
        number = self.rows if aggregate.column is None else sum(self.values.values())
        match aggregate.function:
            case Function.COUNT:
                return number
            case _ if not self.values:
                return None
            case Function.MIN:
                return min(self.values, key=_order)
            case Function.MAX:
                return max(self.values, key=_order)
            case Function.SUM | Function.AVG:
                total: int | float | Fraction
                if is_float:
                    total = float(sum(Fraction(v) * rows for v, rows in self.values.items()))
                else:
                    total = sum(value * rows for value, rows in self.values.items())
                return total if aggregate.function is Function.SUM else total / number
            case Function.FIRST | Function.LAST:
                raise AssertionError("Capabilities.unsupported has them")
        assert_never(aggregate.function)


def _order(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


def merged(query: AggregateQuery, found: Sequence[Iterable[Found]]) -> list[Row]:
    """Return the groups' aggregates, from the counts that each search found."""
    table = query.table
    columns = [*dict.fromkeys(a.column for a in query.aggregates)]
    groups: dict[Row, dict[str | None, Counts]] = {}
    if not query.by and query.bucket is None:
        groups[()] = defaultdict(Counts)
    for column, results in zip(columns, found, strict=True):
        for row in results:
            key = tuple(typed(table.column(tag).type, row[f"r.{tag}"]) for tag in query.by)
            if query.bucket is not None:
                key += (int(row["bucket"]) * query.bucket,)
            value = typed(table.column(column).type, row[f"r.{column}"]) if column else None
            groups.setdefault(key, defaultdict(Counts))[column].add(value, int(row["count"]))
    floats = {column for column in columns if column and table.column(column).type in FLOATS}
    return [
        (
            *key,
            *(
                group[a.column].aggregate(a, is_float=a.column in floats)
                for a in query.aggregates
            ),
        )
        for key, group in groups.items()
    ]  # fmt: skip
