"""Query plans on a real SQLite file: of each type, of what fails, of many statements, cut."""

from types import MappingProxyType

import pytest

from simulator.control.database.explaining import MOST_STATEMENTS, explain_queries
from simulator.data.dataset import DatasetReader
from simulator.data.own_query import OwnQuery, make_own_types
from simulator.data.schema import Type
from simulator.modules.contract import QueryPlan
from simulator.modules.sqlite import Sqlite, SqliteOptions, SqliteSession
from simulator.protocol.spec import QueryLoad
from tests.unit.specs import dataset

DATA = dataset()
READER = DatasetReader(DATA)
TYPES = READER.query_types()


@pytest.fixture
def database(tmp_path):
    found = Sqlite(SqliteOptions(path=str(tmp_path / "bench.db")))
    found.create(READER.tables, 10)
    return found


def plans_of(database, *names, own=MappingProxyType({})):
    types = {**TYPES, **make_own_types(own, DATA)}
    load = QueryLoad(queries=dict.fromkeys((*names, *own), ""), own=dict(own))
    return list(explain_queries(database, load, types))


def own(text):
    return {"mine": OwnQuery(columns={"n": Type.INT64}, texts={"sqlite": text})}


def test_each_type_has_the_plan_that_the_database_prints(database):
    count, newest = plans_of(database, "count-events", "newest-per-device")

    (plan,) = count.statements
    assert (count.query, count.more, count.problem) == ("count-events", False, "")
    assert "SELECT count(*)" in plan.statement
    assert plan.text.startswith("SCAN events")
    assert newest.statements[0].text != plan.text


def test_a_query_that_fails_has_the_reason_and_the_others_have_plans(database):
    right, failed = plans_of(database, "count-events", own=own("SELECT absent FROM events"))

    assert right.statements
    assert failed.statements == ()
    assert "no such column: absent" in failed.problem


def test_an_own_query_cannot_write_while_it_is_explained(database, monkeypatch):
    asked = []
    explain = SqliteSession.query_plans

    def writing(session, statement):
        session.connection.execute("DELETE FROM events")
        asked.append(statement)
        yield from explain(session, statement)

    monkeypatch.setattr(SqliteSession, "query_plans", writing)

    (found,) = plans_of(database, own=own("SELECT count(*) FROM events"))

    assert "readonly" in found.problem
    assert asked == []


def test_the_first_statements_of_many_are_explained_and_long_plans_cut(database, monkeypatch):
    asked = []

    def many(*_):
        for number in range(100):
            asked.append(number)
            yield QueryPlan(f"statement {number}", "x" * 100_000, "y" * 100_000)

    monkeypatch.setattr(SqliteSession, "query_plans", many)

    (found,) = plans_of(database, "count-events")

    assert found.more
    assert [plan.statement for plan in found.statements] == [
        f"statement {number}" for number in range(MOST_STATEMENTS)
    ]
    assert len(asked) == MOST_STATEMENTS + 1
    size = sum(len(plan.text) for plan in found.statements)
    assert (1 << 14) <= size <= (1 << 14) + 100
    assert found.statements[0].text.endswith("\n...")
