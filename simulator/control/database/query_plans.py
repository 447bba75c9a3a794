"""Reads the plans of a run's queries, after its clocks have stopped."""

from collections.abc import Iterator, Mapping
from dataclasses import astuple
from itertools import islice

from simulator.data.own_query import TextQuery
from simulator.data.query import Query, Statement
from simulator.data.query_type import QueryType
from simulator.modules.contract import Database, Unsupported
from simulator.protocol.events import QueryPlan, QueryPlans
from simulator.protocol.spec import QueryLoad

MOST_STATEMENTS = 4
"""Maximum number of statements explained for one query, such as one for each physical table."""
_MOST_CHARACTERS = 1 << 14
"""Maximum length of the plans of a query type, and of their shapes."""
_CUT = "\n..."


def explain_queries(
    database: Database, load: QueryLoad, types: Mapping[str, QueryType[Query | TextQuery]]
) -> Iterator[QueryPlans]:
    """Yield the plans of the first instance of each query type that is asked.

    If the database does not explain a query, the reason takes the place of its plans.
    """
    for name, text in load.queries.items():
        try:
            statement = database.statement(types[name].instance(0), text)
        except Unsupported:
            continue  # the query is not asked either
        yield _explain(database, name, statement)


def _explain(database: Database, name: str, statement: Statement) -> QueryPlans:
    """Return the plans of a statement, read over a new connection, as an error may break it."""
    redact = database.options.redact
    try:
        with database.connect() as session:
            if statement.own:
                session.read_only()
            found = list(islice(session.query_plans(statement), MOST_STATEMENTS + 1))
    except Unsupported as reason:
        return QueryPlans(query=name, problem=str(reason))
    except Exception as error:  # noqa: BLE001 - a driver's error
        return QueryPlans(query=name, problem=redact(database.explain(error)))
    most = _MOST_CHARACTERS // min(max(len(found), 1), MOST_STATEMENTS)
    return QueryPlans(
        query=name,
        statements=tuple(
            QueryPlan(*(redact(_cut(part, most)) for part in astuple(plan)))
            for plan in found[:MOST_STATEMENTS]
        ),
        more=len(found) > MOST_STATEMENTS,
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + _CUT
