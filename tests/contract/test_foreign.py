"""What this program did not make is neither dropped, emptied, altered nor written into.

On every database: something under each name that a run needs, with rows in it, and no mark. Every
kind of run is refused with exit code 2, names it, and leaves it as it was.
"""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from simulator.control.database.marks import TABLE as MARKS
from simulator.control.database.work import DatabaseWork
from simulator.data.block import Block, ColumnData, Values
from simulator.data.query import RowsQuery
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import FLOATS, Column, PrimaryKey, Role, Table, Type
from simulator.errors import ConfigError, SetupError
from simulator.modules.contract import BATCH, Database
from simulator.protocol.mark import State
from simulator.protocol.spec import Ask, InsertTask, RunSpec, Work
from tests.contract.harness import Wideset, ask, drop, send
from tests.contract.targets import TARGETS, Target
from tests.unit.control.interleaved import Killed
from tests.unit.specs import dataset, run_spec

NOW_MS = int(time.time()) * 1000
OTHER_MARKS = replace(
    MARKS,
    columns=(
        Column("time", Type.INT64, Role.TIME),
        Column("value", Type.FLOAT64, Role.FIELD),
    ),
)
"""A table of somebody else with the name of the marks."""
UNCOUNTED = ("cassandra", "influxdb", "influxdb1", "influxdb3")
"""Where to count the rows takes as long as to read them."""
BY_POINTS = ("graphite", "opentsdb", "victoriametrics")
"""Where a table exists by points that only this program writes."""
STORED = r"\(([\d,]+ (rows|points|paths?)|rows unknown), [^)]+\)"


def runs(wide: Wideset, database: Database) -> Iterator[RunSpec]:
    """Yield a run of every kind that would drop, create, write or alter."""
    rows, empty = wide.dataset.ranges, wide.dataset.with_ranges(())
    writes = InsertTask(timed=rows)
    yield run_spec(workers=(writes,), dataset=empty)
    yield run_spec(workers=(InsertTask(prefill=rows),), dataset=empty, clean=False)
    yield run_spec(workers=(writes,), dataset=wide.dataset, clean=False)
    asks = Ask(place=0, every=1, runs=1)
    yield run_spec(work=Work.MIXED, workers=(writes, asks), dataset=wide.dataset, clean=False)
    if database.capabilities.indices:
        yield run_spec(
            work=Work.QUERY, workers=(asks,), dataset=wide.dataset, clean=False,
            options={"create_indices": True},
        )  # fmt: skip


def prepare(spec: RunSpec, database: Database) -> None:
    work = DatabaseWork(spec, database, lambda _: None)
    try:
        work.prepare()
    finally:
        work.background.finish()


OTHER = {
    "type": lambda column: replace(column, type=Type.TEXT),
    "name": lambda column: replace(column, name=f"{column.name}_of_others"),
}
"""How a table of somebody else differs from one of ours, in one column."""


@contextmanager
def _made_by_others(database: Database, wide: Wideset, table: Table) -> Iterator[Database]:
    """A table with rows and without a mark, for as long as the context lasts."""
    mine = [block for block in wide.batches if block.table.name == table.name]
    if table is OTHER_MARKS:
        database = database.for_own_tables()
        times = {"time": Values(NOW_MS - 1000 * np.arange(3)), "value": Values(np.arange(3) + 0.5)}
        mine = [Block(table, 0, np.arange(3), times)]
    mine = [replace(each, table=table, data=_data_of(table, each)) for each in mine]
    database.create([table], 100)
    try:
        with database.connect() as session:
            for block in mine:
                send(session, block, BATCH, 100)
        database.visible([table])
        yield database
    finally:
        drop(database, [table])


def _data_of(table: Table, block: Block) -> dict[str, ColumnData]:
    """Return the columns of a block, or equal values for those that a table has in their place."""
    was = {column.name: column for column in block.table.columns}
    texts, numbers = np.full(len(block), b"mine"), np.full(len(block), 2.5)
    return {
        c.name: block.data[c.name]
        if was.get(c.name) == c
        else Values(texts if c.type is Type.TEXT else numbers)
        for c in table.columns
    }


def _rows(database: Database, table: Table) -> object:
    with database.connect() as session:
        return ask(session, database.render(RowsQuery(table))).rows


def test_what_others_made_is_refused_and_stays_as_it_is(target: Target, database: Database):
    wide = target.wide()
    for table in (wide.tables[0], OTHER_MARKS):
        with _made_by_others(database, wide, table) as others:
            before, names = _rows(others, table), others.objects(table)
            found = others.find_existing(names)
            assert before
            assert found
            for spec in runs(wide, database):
                with pytest.raises(ConfigError) as refused:
                    prepare(spec, database)
                assert refused.value.exit_code == 2
                for name, each in found.items():
                    assert f"{each.kind} {name} (" in str(refused.value)
            assert _rows(others, table) == before
            assert others.find_existing(names) == found


def test_what_is_replaced_by_name_is_ours_from_then_on(target: Target, database: Database):
    wide = target.wide()
    spec = next(runs(wide, database))
    table = wide.tables[0]
    try:
        with _made_by_others(database, wide, table):
            named = {"replace_tables": tuple(database.objects(table))}
            prepare(spec.model_copy(update=named), database)
            database.visible(wide.tables)
            assert _rows(database, table) == ()
            prepare(spec, database)
    finally:
        drop(database, wide.tables)


@pytest.mark.parametrize("failure", [pytest.param(SetupError, marks=pytest.mark.rare), Killed])
def test_a_users_table_after_a_failed_creation_of_ours_survives_the_next_insert(
    target: Target,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    failure: type[BaseException],
):
    """An intention to create a table allows nothing: not even to drop one with the same columns."""
    if target.module in BY_POINTS:
        pytest.skip("nobody else makes a table there; metrics of others have a test of their own")
    wide = target.wide()
    spec, table = next(runs(wide, database)), wide.tables[0]
    with monkeypatch.context() as patched:
        patched.setattr(database, "create", Mock(side_effect=failure("it failed")))
        with pytest.raises(failure):
            prepare(spec, database)
    with _made_by_others(database, wide, table) as others:
        before = _rows(others, table)
        with pytest.raises(ConfigError, match="did not make"):
            prepare(spec, database)
        assert _rows(others, table) == before
    try:
        prepare(spec, database)
        prepare(spec, database)
    finally:
        drop(database, wide.tables)


def test_what_is_created_is_ours_at_once(
    target: Target, database: Database, monkeypatch: pytest.MonkeyPatch
):
    """Before a mark says that it is made: by its signature, or because it is empty."""
    wide = target.wide()
    spec, create = next(runs(wide, database)), database.create

    def dying(tables: Sequence[Table], batch_rows: int) -> None:
        create(tables, batch_rows)
        raise Killed

    try:
        with monkeypatch.context() as patched:
            patched.setattr(database, "create", dying)
            with pytest.raises(Killed):
                prepare(spec, database)
        prepare(spec, database)
        assert _rows(database, wide.tables[0]) == ()
    finally:
        drop(database, wide.tables)


def test_what_an_earlier_version_filled_is_recognised_by_its_columns(
    target: Target, database: Database
):
    wide = target.wide()
    spec = next(runs(wide, database))
    try:
        database.create(wide.tables, 100)
        with database.connect() as session:
            for block in wide.batches:
                send(session, block, BATCH, 100)
        database.visible(wide.tables)
        DatabaseWork(spec, database, lambda _: None).ownership.record(State.COMPLETE)
        prepare(spec, database)
        assert _rows(database, wide.tables[0]) == ()
    finally:
        drop(database, wide.tables)


@pytest.mark.parametrize("differs", OTHER)
def test_a_mark_makes_nothing_ours_that_has_other_columns_or_types(
    target: Target, database: Database, differs: str
):
    """The mark of an earlier version, which had no signatures; or a database without a place."""
    wide = target.wide()
    spec, (table, *_) = next(runs(wide, database)), wide.tables
    if not [*database.layouts(database.objects(table)[0], [table])]:
        pytest.skip("no columns to compare: its things have a signature, or are points of ours")
    last = next(column for column in reversed(table.fields) if column.type in FLOATS)
    other = OTHER[differs](last)
    if differs == "type" and target.module == "splunk":
        pytest.skip("every column is text there")
    theirs = replace(table, columns=tuple(other if c is last else c for c in table.columns))
    DatabaseWork(spec, database, lambda _: None).ownership.record(State.COMPLETE)
    with _made_by_others(database, wide, theirs):
        before = _rows(database, theirs)
        assert before
        with pytest.raises(ConfigError, match="did not make") as refused:
            prepare(spec, database)
        assert refused.value.exit_code == 2
        assert _rows(database, theirs) == before


def test_the_refusal_says_how_much_is_stored(target: Target, database: Database):
    wide = target.wide()
    spec, table = next(runs(wide, database)), wide.tables[0]
    with (
        _made_by_others(database, wide, table),
        pytest.raises(ConfigError, match=STORED) as refused,
    ):
        prepare(spec, database)
    assert ("rows unknown" in str(refused.value)) == (target.module in UNCOUNTED)
    counts = re.findall(r"\(([\d,]+) rows", str(refused.value))
    assert not counts or any(int(count.replace(",", "")) for count in counts)


_ATTACHED = {
    "view": ("CREATE VIEW mine AS SELECT * FROM {name}", "view mine"),
    "materialized view": (
        "CREATE MATERIALIZED VIEW mine AS SELECT * FROM {name}", "materialized view mine",
    ),
    "foreign key": (
        "ALTER TABLE {name} ADD UNIQUE (id); CREATE TABLE mine (id bigint REFERENCES {name} (id))",
        "constraint mine_id_fkey on table mine",
    ),
    "child": ("CREATE TABLE mine () INHERITS ({name})", "table mine"),
    "default": (
        "CREATE TABLE mine (id bigint DEFAULT nextval('{name}_id_seq'))",
        "default value for column id of table mine",
    ),
    "function of rows": (
        "CREATE FUNCTION mine() RETURNS SETOF {name} LANGUAGE sql AS 'SELECT * FROM {name}'",
        "function mine()",
    ),
    "function with a body": (
        "CREATE FUNCTION mine() RETURNS bigint LANGUAGE sql RETURN (SELECT count(*) FROM {name})",
        "function mine()",
    ),
    "column of rows": ("CREATE TABLE mine (a int, rows {name}[])", "column rows of table mine"),
    "policy": (
        "CREATE TABLE mine (); CREATE POLICY wants ON mine USING (EXISTS (SELECT FROM {name}))",
        "policy wants on table mine",
    ),
    "rule": (
        "CREATE RULE also AS ON INSERT TO iotbench_marks DO ALSO DELETE FROM {name} WHERE false",
        "rule also on table iotbench_marks",
    ),
    "sequence": ("CREATE SEQUENCE mine OWNED BY {name}.device_id", "sequence mine"),
}  # fmt: skip


ATTACHED = {
    "postgres": _ATTACHED,
    "mysql": {
        "foreign key": (
            "CREATE TABLE mine (id bigint, FOREIGN KEY (id) REFERENCES {name} (id))",
            "foreign key mine_ibfk_1 of table mine",
        ),
        "foreign key to a missing table": (
            (
                "CREATE TABLE mine (id bigint, FOREIGN KEY (id) REFERENCES {name} (id)); "
                "SET GLOBAL foreign_key_checks = 0; DROP TABLE {name}; "
                "SET GLOBAL foreign_key_checks = 1"
            ),
            "foreign key mine_ibfk_1 of table mine",
        ),
    },
    "duckdb": {
        "foreign key": (
            "CREATE TABLE mine (id BIGINT REFERENCES {name} (id))", "foreign key of table mine",
        ),
        "default": (
            "CREATE TABLE mine (id BIGINT DEFAULT nextval('{name}_id'))",
            "default of column id of table mine",
        ),
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("target", "attached"),
    [
        pytest.param(TARGETS[name], each, id=f"{name}-{kind}")
        for name, kinds in ATTACHED.items()
        for kind, each in kinds.items()
    ],
)
def test_a_table_that_something_depends_on_is_refused_before_anything_is_changed(
    request, target, attached
):
    database = target.open(request)
    statements, described = attached
    rows = dataset(primary_key=PrimaryKey.DB)
    spec = run_spec(workers=(InsertTask(timed=(RowRange(start=0, stop=9),)),), dataset=rows)
    (table,) = DatasetReader(rows).tables
    prepare(spec, database)
    before = DatabaseWork(spec, database, lambda _: None).ownership.read().entries
    for statement in statements.split("; "):
        database.carry_out(statement.format(name=table.name))

    with pytest.raises(ConfigError, match=f"{re.escape(described)}(,|;| |$)") as refused:
        prepare(spec, database)
    assert refused.value.exit_code == 2
    assert DatabaseWork(spec, database, lambda _: None).ownership.read().entries == before
