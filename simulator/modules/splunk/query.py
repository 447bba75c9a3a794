"""Searches in SPL, and their results as answers.

The number of digits of a sum, mean or extreme from `stats` is not documented. So the server only
counts how often each text occurs, and this file calculates exact aggregates from the counts. A
statement has a line with a search for each column, and one for first and last values.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, assert_never

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
    Statement,
    outputs,
)
from simulator.data.schema import FLOAT64_EXACT, FLOATS, Table, TimeUnit, Type
from simulator.modules.contract import Unsupported
from simulator.modules.shared.client.partials import ROWS, Partial, PartialGroups, Row
from simulator.modules.splunk.wire import NULL, check_names, index

Found: TypeAlias = Mapping[str, str]
"""A row of results: field -> text."""
_SOME = 100
"""Number of events with fields that are compared with the fields of rows."""


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _field(column: str) -> str:
    return f'"r.{column}"'


def _value(column: str) -> str:
    return f"'r.{column}'"


def _of(names: Iterable[str]) -> str:
    return " OR ".join(f"index={_quote(index(name))}" for name in names)


def count(names: Iterable[str]) -> str:
    """Return the search that counts the rows of physical tables."""
    return f"search {_of(names)} | stats count"


def some(name: str) -> str:
    """Return the search for some events of an index, which may hold events of others."""
    return f"search index={_quote(name)} | head {_SOME} | fields _raw"


def buckets(name: str) -> str:
    """Return the search that lists the buckets of a physical table."""
    return f"| dbinspect index={_quote(index(name))}"


# --- searches -------------------------------------------------------------------------------------


def render(query: Query) -> Statement:
    """Return a query as searches, one per line; the statement has the query for `merge`."""
    return Statement("\n".join(_searches(query)), outputs(query), (query,))


def _searches(query: Query) -> list[str]:
    table = query.table
    check_names(table)
    rows = f"search {_of(table.names)}"
    match query:
        case AggregateQuery():
            rows += _filters(query)
            searches = [_count(rows, query, column) for column in _list_counted(query)]
            return [*searches, _ends(rows, query)] if ends_of(query) else searches
        case NewestQuery():
            _refuse_finer(table)
            rows += _filters(query) + _fill(table, query.tags)
            by = f" BY {' '.join(map(_field, query.tags))}" if query.tags else ""
            return [f"{rows} | stats latest(_raw) AS _raw{by}"]
        case DistinctQuery():
            filled = _fill(table, query.columns)
            fields = " ".join(map(_field, query.columns))
            return [f"{rows}{filled} | stats count BY {fields} | stats count"]
        case RowsQuery():
            rows += _filters(query)
            if query.newest is not None:
                _refuse_finer(table)
                rows += f" | sort {query.newest} - _time"
            shown = " ".join(_field(name) for name in query.columns)
            return [f"{rows} | table {shown}" if shown else f"{rows} | fields _raw"]
        case _:
            assert_never(query)


def _filters(query: Query) -> str:
    table, selection = query.table, query.selection
    conditions = []
    for one in selection.one_of:
        equal = [f"{_value(one.column)}=={_quote(value)}" for value in one.values]
        conditions.append(equal[0] if len(equal) == 1 else f"({' OR '.join(equal)})")
    for compared in selection.compared:
        is_float = table.column(compared.column).type in FLOATS
        if not is_float and abs(compared.value) >= FLOAT64_EXACT:
            raise Unsupported("searches calculate in doubles, which do not hold such integers")
        sign = "==" if compared.operator is Operator.EQUAL else compared.operator.value
        conditions.append(f"tonumber({_value(compared.column)}){sign}{compared.value!r}")
    counts_time = isinstance(query, AggregateQuery) and query.bucket is not None
    if table.time_unit is TimeUnit.NANOSECOND and (counts_time or selection.limits):
        raise Unsupported("searches calculate in doubles, which do not hold nanoseconds")
    time = f"tonumber({_value(table.time.name)})"
    conditions += [f"{time}{operator}{limit}" for operator, limit in selection.limits]
    return f" | where {' AND '.join(conditions)}" if conditions else ""


def _refuse_finer(table: Table) -> None:
    if table.time_unit is TimeUnit.NANOSECOND:
        raise Unsupported("Splunk orders events to the microsecond")


def _list_counted(query: AggregateQuery) -> list[str | None]:
    """Return the columns with values to count; None means the rows."""
    return [*dict.fromkeys(a.column for a in query.aggregates if a.function not in ENDS)]


def ends_of(query: AggregateQuery) -> list[Aggregate]:
    """Return the first and last values that a query asks for."""
    return [aggregate for aggregate in query.aggregates if aggregate.function in ENDS]


def _count(rows: str, query: AggregateQuery, column: str | None) -> str:
    """Return the search that counts each value of a column, or the rows, in groups."""
    return _group(rows, query, [*query.by, *([column] if column else [])], "count")


def _ends(rows: str, query: AggregateQuery) -> str:
    """Return the search for the first and last values, which are texts as they were sent."""
    _refuse_finer(query.table)
    called = {Function.FIRST: "earliest", Function.LAST: "latest"}
    wanted = (
        f"{called[end.function]}({_field(str(end.column))}) AS {_quote(end.label)}"
        for end in ends_of(query)
    )
    return _group(rows, query, query.by, " ".join(wanted))


def _group(rows: str, query: AggregateQuery, keys: Sequence[str], wanted: str) -> str:
    fields = [_field(name) for name in dict.fromkeys(keys)]
    text = rows + _fill(query.table, keys)
    if query.bucket is not None:
        # The number of a bucket, unlike its start, is printed with every digit.
        time = f"tonumber({_value(query.table.time.name)})"
        text += f" | eval bucket=floor({time}/{query.bucket})"
        fields.append("bucket")
    text += f" | stats {wanted}{' BY ' + ' '.join(fields) if fields else ''}"
    if query.newest is not None:
        text += " | sort 0 - bucket | streamstats dc(bucket) AS place"
        text += f" | where place<={query.newest}"
    return text


def _fill(table: Table, columns: Sequence[str]) -> str:
    fields = [_field(name) for name in dict.fromkeys(columns) if table.column(name).nullable]
    return f" | fillnull value={_quote(NULL)} {' '.join(fields)}" if fields else ""


# --- results --------------------------------------------------------------------------------------


def parse_typed(kind: Type, text: str | None) -> Any:
    """Return the value of a text; ValueError if it does not belong to the type."""
    if text is None or text == NULL:
        return None
    if kind is Type.TEXT:
        return text
    return float(text) if kind in FLOATS else int(text)


def rows_from_events(events: Iterable[Found], columns: Sequence[Output]) -> list[Row]:
    """Return events as rows."""
    return read_results((json.loads(event["_raw"])["r"] for event in events), columns)


def read_results(
    results: Iterable[Found], columns: Sequence[Output], prefix: str = ""
) -> list[Row]:
    """Return the results of a search as rows; `prefix` begins the names of their fields."""
    typed = [(column.type, prefix + column.name) for column in columns]
    return [tuple(parse_typed(kind, row.get(name)) for kind, name in typed) for row in results]


def merge(query: AggregateQuery, found: Sequence[Iterable[Found]]) -> list[Row]:
    """Return the groups' aggregates, exact; a mean or a sum of floats is rounded once."""
    table, ends, groups = query.table, ends_of(query), PartialGroups(query)
    for column, results in zip([*_list_counted(query), *ends[:1]], found, strict=True):
        for row in results:
            key = tuple(parse_typed(table.column(tag).type, row[f"r.{tag}"]) for tag in query.by)
            if query.bucket is not None:
                key += (int(row["bucket"]) * query.bucket,)
            groups.mention([key])
            if isinstance(column, Aggregate):
                for end in ends:
                    value = parse_typed(table.column(str(end.column)).type, row.get(end.label))
                    pair = None if value is None else (0, value)
                    groups.merge(key, Partial(end.function, end.column), pair)
            elif column is None:
                groups.merge(key, ROWS, int(row["count"]))
            else:
                kind, rows = table.column(column).type, int(row["count"])
                value = parse_typed(kind, row[f"r.{column}"])
                if value is not None:
                    groups.merge(key, Partial(Function.COUNT, column), rows)
                    groups.merge(key, Partial(Function.MIN, column), value)
                    groups.merge(key, Partial(Function.MAX, column), value)
                    if kind is not Type.TEXT:
                        exact = Fraction(value) if kind in FLOATS else value
                        groups.merge(key, Partial(Function.SUM, column), exact * rows)
    return [
        tuple(float(value) if isinstance(value, Fraction) else value for value in row)
        for row in groups.rows()
    ]
