"""The smallest step of one value by UPDATE in the tables of the workloads: full and hashes find it.

The first column of each type and role in a table of each workload, the last ones in another.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from simulator.data.dataset import Dataset
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import Column, Table, Type
from simulator.data.workloads import GENERATORS
from simulator.modules.contract import Database
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored import comparison
from tests.contract.harness import drop
from tests.contract.targets import TARGETS, Target
from tests.unit.stored_rows import store

ROWS = 40
ONE_ROW = {
    "sqlite": "rowid = (SELECT min(rowid) FROM {table})",
    "duckdb": "rowid = (SELECT min(rowid) FROM {table})",
    "postgres": "ctid = (SELECT ctid FROM {table} LIMIT 1)",
    "timescaledb": "(tableoid, ctid) = (SELECT tableoid, ctid FROM {table} LIMIT 1)",
    "mysql": "{column} = {column} LIMIT 1",
}
"""The condition that selects the same row each time, of a table that nobody else changes."""
HERE = "<the altered row>"
LATER = {
    "sqlite": "{column} + 1",
    "duckdb": "{column} + INTERVAL 1 MICROSECOND",
    "postgres": "{column} + INTERVAL '1 microsecond'",
    "timescaledb": "{column} + INTERVAL '1 microsecond'",
    "mysql": "TIMESTAMPADD(MICROSECOND, 1, {column})",
}
EVERY_TYPE = ("iot", "homes", "trucks", "large")
"""Workloads that together have every type in every role, and NULLs.

The others add names only: they are rare.
"""
CASES = [
    pytest.param(
        target, workload, id=f"{name}-{workload}",
        marks=[] if workload in EVERY_TYPE else [pytest.mark.rare],
    )
    for name, target in TARGETS.items()
    if target.module in ONE_ROW and not target.stand_in
    and name in ("sqlite", "duckdb", "postgres", "timescaledb", "mysql", "mariadb")
    for workload in GENERATORS
]  # fmt: skip


def _dataset(target: Target, workload: str) -> Dataset:
    cls = GENERATORS[workload]
    bare = target.iot().model_copy(
        update={"workload": workload, "workload_version": cls.version, "params": {}}
    )
    tables = DatasetReader(bare).tables
    return bare.with_ranges([
        RowRange(start=0, stop=ROWS, table=place) for place in range(min(len(tables), 2))
    ])  # fmt: skip


@pytest.mark.parametrize(("target", "workload"), CASES)
def test_the_smallest_step_of_each_column_is_found(
    target: Target, database: Database, workload: str
) -> None:
    dataset = _dataset(target, workload)
    reader = DatasetReader(dataset)
    drop(database, reader.tables)
    store(database, dataset, batch_rows=100)
    filled = [reader.tables[each.table] for each in dataset.ranges]
    unseen = []
    with database.connect() as session:
        execute = _executing(database, session)
        for table in filled:
            for column in _some(table, last=table is not filled[0]):
                for change, back, modes in _changes(database, table, column, execute):
                    moved = execute(change)
                    # test_smallest_step.py shows the same of full verification.
                    for mode in modes if table is filled[0] else modes[-1:]:
                        verdict = comparison.verify(database, dataset, (), mode)
                        if verdict.status is not Status.MISMATCH:
                            unseen.append((table.name, column.name, mode, verdict.status))
                    execute(_where(back, database, table, column, moved))
    assert unseen == []
    for mode in (VerifyMode.FULL, VerifyMode.COUNTS):
        assert comparison.verify(database, dataset, (), mode).status is Status.VERIFIED


def _some(table: Table, *, last: bool) -> list[Column]:
    """Return the first or the last column of each type and role."""
    columns = table.columns if last else table.columns[::-1]
    return [*{(column.type, column.role): column for column in columns}.values()]


def _executing(database: Database, session: Any) -> Callable[[str], list[Any]]:
    def execute(statement: str) -> list[Any]:
        if database.name == "mysql":
            session.connection.query(statement)
            return []
        if database.name in ("postgres", "timescaledb"):
            session.cursor.execute(statement)
            return session.cursor.fetchall() if session.cursor.description else []
        return [*session.connection.execute(statement).fetchall()]

    return execute


def _where(
    back: str, database: Database, table: Table, column: Column, moved: Sequence[Any]
) -> str:
    """Return the statement with the condition for the row that was altered."""
    if database.name in ("postgres", "timescaledb"):
        ((relation, place),) = moved
        return back.replace(HERE, f"tableoid = {relation} AND ctid = '{place}'::tid")
    dialect = database.dialect_of(table)  # type: ignore[attr-defined]
    names = {"table": dialect.name(table.names[0]), "column": dialect.name(column.name)}
    return back.replace(HERE, ONE_ROW[database.name].format(**names))


def _changes(
    database: Database, table: Table, column: Column, execute: Callable[[str], list[Any]]
) -> Iterator[tuple[str, str, Sequence[VerifyMode]]]:
    """Yield the statement that alters a value of one row, the one that restores it, and the levels.

    The hashes of MySQL and SQLite count doubles from 8 on in steps of 2**-20.
    """
    both = (VerifyMode.FULL, VerifyMode.COUNTS)
    dialect = database.dialect_of(table)  # type: ignore[attr-defined]
    of, name = dialect.name(table.names[0]), dialect.name(column.name)
    one = ONE_ROW[database.name].format(table=of, column=name)
    back = f"UPDATE {of} SET {name} = {{}} WHERE {HERE}"
    update = back.replace(HERE, one)
    if database.name in ("postgres", "timescaledb"):
        update += " RETURNING tableoid::bigint, ctid::text"  # the row moves
    if column.type is Type.TIMESTAMP:
        later = LATER[database.name].format(column=name)
        sooner = later.replace("+", "-").replace(" 1,", " -1,")
        yield update.format(later), back.format(sooner), both
        return
    read = f"SELECT {name} FROM {of} WHERE {one}"
    if database.name == "mysql":
        with database.connect() as session:
            ((found,),) = session.connection.fetch(read)  # type: ignore[attr-defined]
    else:
        ((found,),) = execute(read)
    if found is not None:
        new, old = (_literal(dialect, column, each) for each in (_next(column, found), found))
        is_coarse = database.name in ("sqlite", "mysql") and column.type is Type.FLOAT64
        modes = both[:1] if is_coarse and abs(float(found)) >= 8 else both
        yield update.format(new), back.format(old), modes


def _next(column: Column, value: Any) -> Any:
    match column.type:
        case Type.BOOL:
            return not value
        case Type.TEXT:
            return value[:-1] + ("b" if value.endswith("a") else "a")
        case Type.FLOAT32:
            return float(np.nextafter(np.float32(value), np.float32(np.inf)))
        case Type.FLOAT64:
            return float(np.nextafter(float(value), np.inf))
    return int(value) + 1


def _literal(dialect: Any, column: Column, value: Any) -> str:
    if column.type is Type.TEXT:
        return str(dialect.text(value))
    if column.type is Type.FLOAT32:
        return repr(float(np.float32(value)))
    if column.type is Type.BOOL:
        return "TRUE" if value else "FALSE"
    return repr(value)
