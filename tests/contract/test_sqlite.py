"""What is specific to SQLite: one file, writers that take turns, and unusable paths."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from simulator.control.database.marks import MarkTable
from simulator.data import workloads
from simulator.data.query import Aggregate, AggregateQuery, Function, RowsQuery
from simulator.data.ranges import RowRange
from simulator.data.schema import INTEGERS, PrimaryKey, Type
from simulator.data.workloads.devops import Devops, DevopsParams
from simulator.data.workloads.iot import EVENTS
from simulator.errors import SetupError
from simulator.modules.contract import BATCH, SINGLE, Failure, RowCountMismatch
from simulator.modules.sqlite import Sqlite, SqliteOptions
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests.contract.harness import Wideset, drop
from tests.contract.steps import ROWS, Steps
from tests.contract.steps import TABLE as STEPS
from tests.unit import specs
from tests.unit.stored_rows import store


@pytest.fixture
def sqlite(tmp_path):
    return Sqlite(SqliteOptions(path=str(tmp_path / "test.db"), busy_timeout_s=0))


@pytest.mark.parametrize("mode", [SINGLE, BATCH])
def test_a_locked_file_means_not_applied_and_the_same_payload_goes_through_later(sqlite, mode):
    wide = Wideset()
    sqlite.create(wide.tables, 10)
    count = sqlite.render(AggregateQuery(wide.tables[0], (Aggregate(Function.COUNT),)))
    with sqlite.connect() as session:
        (payload,) = session.encode(wide.batches[0].slice(0, 1), mode, 1)
        other = sqlite3.connect(sqlite.options.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="database is locked") as caught:
            session.send(payload)
        other.close()

        assert session.classify(caught.value) is Failure.NOT_APPLIED
        assert "busy_timeout_s" in sqlite.explain(caught.value)
        assert session.run(count) == [(0,)]
        session.send(payload)
        assert session.run(count) == [(1,)]


def test_a_batch_is_stored_as_a_whole_or_not_at_all(sqlite):
    wide = Wideset(PrimaryKey.CLIENT)
    sqlite.create(wide.tables, 10)
    first = wide.batches[0]
    with sqlite.connect() as session:
        (one,) = session.encode(first.slice(5, 6), BATCH, 1)
        (ten,) = session.encode(first.slice(0, 10), BATCH, 10)
        session.send(one)
        with pytest.raises(sqlite3.IntegrityError):
            session.send(ten)
        count = sqlite.render(AggregateQuery(wide.tables[0], (Aggregate(Function.COUNT),)))
        assert session.run(count) == [(1,)]


@pytest.mark.parametrize("mode", [SINGLE, BATCH])
def test_rows_that_a_trigger_drops_are_an_error_and_none_is_stored(sqlite, mode):
    wide = Wideset()
    sqlite.create(wide.tables, 10)
    skip = "CREATE TRIGGER skip BEFORE INSERT ON readings WHEN NEW.small = 0 "
    sqlite.change([f"{skip} BEGIN SELECT RAISE(IGNORE); END"])
    count = sqlite.render(AggregateQuery(wide.tables[0], (Aggregate(Function.COUNT),)))
    first, sent = (2, 1) if mode == SINGLE else (0, 6)  # `small` of the third row is 0
    with sqlite.connect() as session:
        (payload,) = session.encode(wide.batches[0].slice(first, first + sent), mode, sent)
        with pytest.raises(RowCountMismatch, match=f"{sent - 1} of {sent} rows") as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.FATAL
        assert session.run(count) == [(0,)]
        sqlite.change(["DROP TRIGGER skip", f"{skip} BEGIN SELECT RAISE(ABORT, 'no'); END"])
        with pytest.raises(sqlite3.IntegrityError) as caught:
            session.send(payload)
        assert sqlite.explain(caught.value).endswith(
            ": no; look for triggers, rules or policies on the table"
        )


def test_a_file_that_another_program_has_damaged_is_an_error_with_a_remedy(sqlite):
    wide = Wideset()
    wide.fill(sqlite)
    with sqlite.path.open("r+b") as file:
        file.seek(100)
        file.write(bytes(4000))
    with pytest.raises(Exception, match="malformed") as caught, sqlite.connect() as session:
        session.run(sqlite.render(RowsQuery(wide.tables[0])))
    assert "; something else has written to the file" in sqlite.explain(caught.value)


def test_a_file_that_may_not_grow_is_an_error_with_a_remedy(sqlite):
    error = sqlite3.OperationalError("disk I/O error")
    assert "limit on the size of files (`ulimit -f`)" in sqlite.explain(error)


@pytest.mark.parametrize("synchronous", ["off", "normal", "full", "extra"])
def test_durability_is_read_back_from_the_connection(tmp_path, synchronous):
    options = SqliteOptions(path=str(tmp_path / "test.db"), synchronous=synchronous)
    server = Sqlite(options).describe()
    assert server.durable == (synchronous in ("full", "extra"))
    assert server.settings == {"journal_mode": "wal", "synchronous": synchronous}


def test_a_file_that_keeps_its_journal_is_verified_in_full(sqlite):
    """A file that has tables of others keeps its journal mode: it is not WAL."""
    wide = Wideset()
    with closing(sqlite3.connect(sqlite.options.path)) as others:
        others.execute("CREATE TABLE notes (text TEXT)")
    wide.fill(sqlite)

    assert sqlite.describe().settings["journal_mode"] == "delete"
    assert verify(sqlite, wide.dataset, (), VerifyMode.FULL).status is Status.VERIFIED
    sqlite.change(["UPDATE readings SET single = single + 2e-13 WHERE rowid = 7"])
    verdict = verify(sqlite, wide.dataset, (), VerifyMode.FULL)
    assert verdict.status is Status.MISMATCH
    assert "readings: every row: expected 300 rows, found 300 rows; missing 1 (6)" in verdict.reason


def test_the_log_does_not_outlive_the_sessions(sqlite):
    wide = Wideset()
    wide.fill(sqlite)
    drop(sqlite, wide.tables)
    folder = Path(sqlite.options.path).parent
    assert [path.name for path in folder.iterdir()] == ["test.db"]


@pytest.mark.parametrize("name", ["notes", "iotbench_notes"])
def test_drop_renumbers_no_rows_of_others(sqlite, name):
    sqlite.create([EVENTS], 10)
    with sqlite.connect() as session:
        session.connection.execute(f"CREATE TABLE {name} (text TEXT)")
        session.connection.execute(f"INSERT INTO {name} (rowid, text) VALUES (5, 'a'), (900, 'b')")
    sqlite.drop(["events"])

    with sqlite.connect() as session:
        rows = session.connection.execute(f"SELECT rowid FROM {name}").fetchall()
    assert rows == [(5,), (900,)]


def test_a_log_that_is_not_emptied_is_an_error(sqlite):
    wide = Wideset()
    wide.fill(sqlite)
    with sqlite.connect() as reader, sqlite.connect() as writer:
        statement = sqlite.render(AggregateQuery(wide.tables[0], (Aggregate(Function.COUNT),)))
        reader.run(statement)
        reader.run(type(statement)("BEGIN", ()))
        reader.run(statement)
        (payload,) = writer.encode(wide.batches[0].slice(0, 1), BATCH, 1)
        writer.send(payload)
        with pytest.raises(SetupError, match="another process"):
            sqlite.compact(wide.tables)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(SetupError, match="path must be a file"):
        Sqlite(SqliteOptions(path=str(tmp_path))).connect()


@pytest.mark.parametrize("parts", [1, 3])
def test_the_indices_are_those_that_the_workload_declares(tmp_path, parts):
    sqlite = Sqlite(SqliteOptions(path=str(tmp_path / "bench.db"), create_indices=True))
    cpu, *_ = Devops(DevopsParams(), 1, 0).tables
    tables = [table.stored(PrimaryKey.NONE, parts) for table in (EVENTS, cpu)]
    sqlite.create(tables, 1)
    sqlite.create_indices(tables)
    with closing(sqlite3.connect(sqlite.options.path)) as connection:
        made = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index'")
        found = {name: sql.partition(" ON ")[2] for name, sql in made}
    assert found == {
        f"{name}_{index.name}_index": f"{name} ({', '.join(index.columns)})"
        for table in tables
        for name in table.names
        for index in table.indices
    }
    assert found[f"{tables[0].names[-1]}_series_index"].endswith(
        " (device_id, timestamp, temperature)"
    )
    assert found[f"{tables[1].names[-1]}_series_index"].endswith(" (hostname, time)")


@pytest.mark.parametrize(
    "made",
    [
        ("(time INT, mark INT, part INT, value INT)", "(NULL, 5, 6, 7)"),
        ("(time INT, mark INT, part INT, value INT, note TEXT)", ""),
    ],
)
def test_a_table_of_others_with_the_columns_of_marks_is_foreign(sqlite, made):
    columns, row = made
    with sqlite.connect() as session:
        session.connection.execute(f"CREATE TABLE iotbench_marks {columns}")
        if row:
            session.connection.execute(f"INSERT INTO iotbench_marks VALUES {row}")

    assert [*MarkTable(sqlite).foreign()] == ["iotbench_marks"]


OF_ANOTHER_TYPE = {
    Type.TEXT: "CAST({} AS BLOB)",
    Type.FLOAT32: "{} || ' C'",
    Type.FLOAT64: "{} || ' C'",
}
"""Values that SQLite converts to the stored one where it needs bytes or a number."""
HASHED = [(column, True) for column in STEPS.columns]
SUMMED = [(column, False) for column in STEPS.columns if column.type in {*INTEGERS, Type.TIMESTAMP}]


@pytest.mark.parametrize(("column", "hashed"), [*HASHED, *SUMMED])
def test_counts_find_a_value_of_another_type(sqlite, monkeypatch, column, hashed):
    monkeypatch.setitem(workloads.WORKLOADS, Steps.name, Steps)
    if not hashed:
        sqlite.row_hash = None
    dataset = specs.dataset(
        workload=Steps.name, workload_version=Steps.version, ranges=(RowRange(start=0, stop=ROWS),)
    )
    store(sqlite, dataset)
    value = OF_ANOTHER_TYPE.get(column.type, "{} + 0.5").format(column.name)
    assert verify(sqlite, dataset, (), VerifyMode.COUNTS).status is Status.VERIFIED
    sqlite.change([f"UPDATE steps SET {column.name} = {value} WHERE rowid = 7"])

    assert verify(sqlite, dataset, (), VerifyMode.COUNTS).status is Status.MISMATCH
