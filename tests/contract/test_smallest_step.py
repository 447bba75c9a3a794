"""Full verification finds a stored value that differs by the smallest step of the database's type.

The rows are stored without some, and these with one altered value each, by the module's own encoder
for a table of finer types. `-rP` prints the matrix of a target.
"""

import math
import re
import time
from collections import Counter

import numpy as np
import pytest

from simulator.data import workloads
from simulator.data.answer import answer
from simulator.data.block import Texts
from simulator.data.dataset import Dataset
from simulator.data.query import RowsQuery, outputs
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.errors import UnstorableError
from simulator.modules.contract import BATCH, SINGLE, Alike, Payload
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests.contract import reference
from tests.contract.harness import drop, send
from tests.contract.steps import ROWS, STAND_IN, Step, Steps, altered_rows
from tests.contract.targets import TARGETS
from tests.unit import specs

ALIKE = {Step.ZERO: Alike.ZEROS, Step.NAN: Alike.NULLS}
"""Steps after which a database may return the value before, if its module says so."""


@pytest.fixture(autouse=True)
def _steps_are_known(monkeypatch):
    monkeypatch.setitem(workloads.WORKLOADS, Steps.name, Steps)
    monkeypatch.setattr("simulator.verify.stored.checks.MOST_SHOWN", ROWS)


def _dataset(target) -> Dataset:
    start_s = int(time.time()) - 3600
    return specs.dataset(
        workload=Steps.name,
        workload_version=Steps.version,
        params={"lacks": sorted(target.lacks)},
        start_ms=start_s * 1000,
        primary_key=target.wide().dataset.primary_key,
        ranges=(RowRange(start=0, stop=ROWS),),
    )


def _stored(database, altered) -> str:
    """Store an altered row; return why not, or nothing."""
    try:
        with database.connect() as session:
            for data in _encoded(session, altered):
                session.send(Payload(1, SINGLE, data))
    except UnstorableError as error:
        return f"refused by the encoder: {error}"
    except Exception as error:  # noqa: BLE001  # of any driver
        return f"refused by the server: {database.explain(error)}"
    return ""


def _encoded(session, altered):
    """The payloads of an altered row; an encoder may drop a NUL, which then replaces a letter."""
    encode = session.encoder(altered.block.table, altered.block.name, SINGLE)
    if altered.step is not Step.NUL or not isinstance(altered.block.data[altered.name], Texts):
        return encode(altered.block, 1)
    data, as_before = encode(altered.block, 1), encode(altered.with_text(b""), 1)
    if repr(data) != repr(as_before):
        return data
    return [_replaced(each) for each in encode(altered.with_text(STAND_IN), 1)]


def _replaced(data):
    match data:
        case bytes():
            return data.replace(STAND_IN, b"\0")
        case str():
            return data.replace(STAND_IN.decode(), "\0")
        case tuple() if hasattr(data, "_fields"):
            return type(data)(*map(_replaced, data))
        case tuple() | list():
            return type(data)(map(_replaced, data))
    return data


def test_full_verification_finds_the_smallest_step_of_every_type(target, database):
    if target.stand_in and target.module.startswith(("cratedb", "tests.standins.relatives:Crate")):
        pytest.skip("the stand-in's times are those of another workload")
    dataset = _dataset(target)
    reader = DatasetReader(dataset)
    (table,) = reader.tables
    (block,) = (each for turn in reader.blocks(dataset.ranges) for each in turn)
    every = [*altered_rows(block, target.finest or table.time_unit, doubles=target.doubles)]
    drop(database, [table])
    database.create([table], 100)
    others = np.setdiff1d(np.arange(ROWS), [each.number for each in every])
    with database.connect() as session:
        send(session, block.take(others), BATCH, 100)
    refused = {each: why for each in every if (why := _stored(database, each))}
    again = [each.number for each in refused]
    if again:
        with database.connect() as session:
            send(session, block.take(np.array(again)), BATCH, 100)
    database.visible([table])

    verdict = verify(database, dataset, (), VerifyMode.FULL)

    (check,) = (each for each in verdict.checks if each.name == f"{table.name}: every row")
    named = re.search(r"missing \d+ \(([\d, ]+)\)", check.found)
    missing = {*map(int, named[1].split(","))} if named else set()
    statement = database.render(RowsQuery(table))
    with database.connect() as session:
        stored = [row for row in session.run(statement) if "nan" not in map(str, row)]
    found = answer(statement.outputs, stored)
    right = answer(outputs(RowsQuery(table)), _rows(block))
    changed = Counter(right.rows) - Counter(found.rows)
    matrix = {
        str(each): refused.get(each) or ("found" if each.number in missing else "none")
        for each in every
    }
    for step, outcome in matrix.items():
        print(f"{database.name} | {step} | {outcome[:150]}")
    assert verdict.status is Status.MISMATCH
    same = {each.step for each in every if matrix[str(each)] == "none"}
    alike = database.capabilities.alike
    assert same == {step for step, two in ALIKE.items() if two in alike}
    assert {f"{two}: {alike[two]}" for two in alike} <= {*verdict.left_out}
    signs = [math.copysign(1, cell) for row in stored for cell in row if cell == 0]
    has_sign = Step.ZERO not in {*same, *(each.step for each in refused)}
    # The module declares for MySQL and MariaDB together, and MySQL returns -0.0.
    assert (-1 in signs) is has_sign or target.server == "mysql"
    zeros = {each.number for each in every if each.step is Step.ZERO}  # -0.0 == 0.0 in answers
    assert changed.total() == len(missing - zeros)


ADD_7_US = {
    "duckdb": "{} + INTERVAL 7 MICROSECOND",
    "postgres": "{} + INTERVAL '7 microseconds'",
    "timescaledb": "{} + INTERVAL '7 microseconds'",
    "mysql": "TIMESTAMPADD(MICROSECOND, 7, {})",
}


@pytest.mark.parametrize(
    "target",
    [each for each in TARGETS.values() if each.database.name in ADD_7_US and not each.stand_in],
    ids=[n for n, t in TARGETS.items() if t.database.name in ADD_7_US and not t.stand_in],
)
@pytest.mark.parametrize("column", ["time", "seen"])
def test_times_that_are_all_later_by_less_than_a_unit_are_found(target, database, column):
    dataset = _dataset(target)
    reader = DatasetReader(dataset)
    (table,) = reader.tables
    (block,) = (each for turn in reader.blocks(dataset.ranges) for each in turn)
    drop(database, [table])
    database.create([table], 100)
    name = f"`{column}`" if database.name == "mysql" else f'"{column}"'
    update = f"UPDATE steps SET {name} = {ADD_7_US[database.name].format(name)}"
    with database.connect() as session:
        send(session, block, BATCH, 100)
        assert verify(database, dataset, (), VerifyMode.FULL).status is Status.VERIFIED
        if database.name == "mysql":
            session.connection.query(update)
        else:
            (session.connection if database.name == "duckdb" else session.cursor).execute(update)

    verdict = verify(database, dataset, (), VerifyMode.FULL)

    assert verdict.status is Status.MISMATCH
    assert f"missing {ROWS} (0, 1, 2" in verdict.checks[-1].found
    with database.connect() as session:
        statement = database.render(RowsQuery(table))
        found = answer(statement.outputs, session.run(statement)).rows
    place = [each.name for each in table.columns].index(column)
    assert not any(row[place].is_integer() for row in map(list, found))


def _rows(block):
    return [tuple(row.values()) for row in reference.rows_of([block])]
