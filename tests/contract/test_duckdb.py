"""What is specific to DuckDB: its file, its one process, and what errors mean."""

import subprocess
import sys

import duckdb
import numpy as np
import pytest

from simulator.data.block import Block, Coded, Values
from simulator.data.query import Aggregate, AggregateQuery, Function, RowsQuery, Selection
from simulator.data.schema import Column, PrimaryKey, Role, Table, TimeUnit, Type
from simulator.data.workloads.iot import EVENTS
from simulator.errors import InUseError, SetupError, UnstorableError
from simulator.modules.contract import BATCH, SINGLE, Failure, RowCountMismatch
from simulator.modules.duckdb.database import DuckDb, DuckDbOptions
from simulator.modules.duckdb.query import DuckDbDialect
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests import ROOT
from tests.contract.harness import Wideset, ask, count


@pytest.fixture
def duck(tmp_path):
    return DuckDb(DuckDbOptions(path=str(tmp_path / "test.db")))


def fetched(database, statement):
    with database.administration() as session:
        return session.connection.execute(statement).fetchall()


@pytest.mark.parametrize(
    ("primary_key", "id_type"),
    [
        (PrimaryKey.DB, "BIGINT"),
        (PrimaryKey.CLIENT, "VARCHAR"),
        (PrimaryKey.UUID, "UUID"),
        (PrimaryKey.NONE, None),
    ],
)
def test_the_events_table_is_that_of_the_reference_document(duck, primary_key, id_type):
    duck.create([EVENTS.stored(primary_key, 1)], 1000)
    described = fetched(duck, "SELECT column_name, column_type, key FROM (DESCRIBE events)")
    assert described == [
        *([("id", id_type, "PRI")] if id_type else []),
        ("timestamp", "BIGINT", None),
        ("device_id", "VARCHAR", None),
        ("sequence_number", "BIGINT", None),
        ("temperature", "FLOAT", None),
    ]


def test_every_reserved_word_is_quoted(duck):
    words = fetched(
        duck,
        "SELECT keyword_name FROM duckdb_keywords() "
        "WHERE keyword_category IN ('reserved', 'type_function')",
    )
    dialect = DuckDbDialect(TimeUnit.SECOND)
    assert len(words) > 50
    assert [word for (word,) in words if dialect.name(word) == word] == []


def test_a_batch_is_stored_as_a_whole_or_not_at_all(duck):
    wide = Wideset(PrimaryKey.CLIENT)
    duck.create(wide.tables, 10)
    first = wide.batches[0]
    with duck.connect() as session:
        (one,) = session.encode(first.slice(5, 6), BATCH, 1)
        (ten,) = session.encode(first.slice(0, 10), BATCH, 10)
        session.send(one)
        with pytest.raises(duckdb.ConstraintException) as caught:
            session.send(ten)
        assert session.classify(caught.value) is Failure.FATAL
        assert "--clean" in duck.explain(caught.value)
        assert count(duck, session, wide.tables[0]) == 1


@pytest.mark.parametrize(
    ("start", "sent", "stored", "meaning"),
    [(0, 10, 9, Failure.UNKNOWN), (5, 1, 0, Failure.FATAL)],
)
def test_rows_that_the_engine_leaves_out_are_an_error(duck, start, sent, stored, meaning):
    wide = Wideset(PrimaryKey.CLIENT)
    duck.create(wide.tables, 10)
    first = wide.batches[0]
    with duck.connect() as session:
        for payload in session.encode(first.slice(5, 6), BATCH, 1):
            session.send(payload)
        (payload,) = session.encode(first.slice(start, start + sent), BATCH, sent)
        insert, rows = payload.data
        ignoring = insert.replace("INSERT INTO", "INSERT OR IGNORE INTO")
        with pytest.raises(RowCountMismatch, match=f"{stored} of {sent} rows") as caught:
            session.send(payload._replace(data=(ignoring, rows)))
        assert session.classify(caught.value) is meaning
        assert count(duck, session, wide.tables[0]) == stored + 1


@pytest.mark.parametrize("unit", TimeUnit)
@pytest.mark.parametrize("mode", [SINGLE, BATCH])
def test_instants_come_back_in_the_tables_unit_and_the_last_ones_are_refused(duck, mode, unit):
    table = Table("t", (Column("at", Type.TIMESTAMP, Role.TIME),), ("at",), unit)
    most = {
        TimeUnit.NANOSECOND: 9_223_286_400_000_000_000,
        TimeUnit.MICROSECOND: 9_223_372_022_400_000_000,
        TimeUnit.MILLISECOND: 9_223_372_022_400_000,
        TimeUnit.SECOND: 9_223_372_022_400,
    }[unit]
    instants = np.array([-most, -1, 0, 1, 1_700_000_000, most])
    duck.create([table], 10)
    with duck.connect() as session:
        for payload in session.encode(
            Block(table, 0, np.arange(6), {"at": Values(instants)}),
            mode,
            1 if mode == SINGLE else 6,
        ):
            session.send(payload)
        stored = ask(session, duck.render(RowsQuery(table))).rows
        assert stored == tuple((int(instant),) for instant in instants)
        range_of_time = AggregateQuery(
            table,
            (Aggregate(Function.COUNT), Aggregate(Function.MAX, "at")),
            selection=Selection(since=-1, until=1),
        )
        assert ask(session, duck.render(range_of_time)).rows == ((2, 0),)

        for beyond in (most + 1, -most - 1):
            batch = Block(table, 0, np.arange(1), {"at": Values(np.array([beyond]))})
            with pytest.raises(UnstorableError, match=f"column at: {beyond} {unit}"):
                session.encode(batch, mode, 1)


def test_coded_texts_become_one_dictionary_for_all_blocks(duck):
    levels = np.array([b"a", b"b", b"never"])
    table = Table("t", (Column("tag", Type.TEXT, Role.TAG, nullable=True),), ())
    valid = np.array([True, False, True])
    batch = Block(table, 0, np.arange(3), {"tag": Coded(np.array([1, 0, 0]), levels, valid)})
    with duck.connect() as session:
        (one,) = session.encode(batch, BATCH, 3)
        (two,) = session.encode(batch, BATCH, 3)
    columns = [payload.data[1].column("tag").chunk(0) for payload in (one, two)]

    assert columns[0].to_pylist() == ["b", None, "a"]
    assert columns[0].dictionary.buffers()[2].address == columns[1].dictionary.buffers()[2].address


def test_nothing_is_left_to_load_when_the_clock_runs(tmp_path):
    look = f"""
import sys
from simulator.modules.duckdb.database import DuckDb, DuckDbOptions
from tests.perf.encode import TABLE, blocks
session = DuckDb(DuckDbOptions(path={str(tmp_path / "test.db")!r})).connect()
before = set(sys.modules)
session.encode(blocks(1)[0], "batch", 1000)
print(sorted(name for name in set(sys.modules) - before if "." not in name))
"""
    done = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("error", "meaning", "alive"),
    [
        (duckdb.TransactionException("conflict"), Failure.NOT_APPLIED, True),
        (duckdb.IOException("disk"), Failure.UNKNOWN, True),
        (duckdb.FatalException("invalidated"), Failure.UNKNOWN, False),
        (duckdb.InternalException("bug"), Failure.UNKNOWN, False),
        (duckdb.ConversionException("value"), Failure.FATAL, True),
        (duckdb.OutOfMemoryException("memory"), Failure.FATAL, True),
    ],
)
def test_what_an_error_means(duck, error, meaning, alive):
    with duck.connect() as session:
        assert session.classify(error) is meaning
        assert session.alive is alive


def test_durability_is_read_back_from_the_connection(tmp_path):
    for fsync, durable in (("standard", True), ("none", False)):
        path = str(tmp_path / f"{fsync}.db")
        server = DuckDb(DuckDbOptions(path=path, fsync=fsync)).describe()
        assert server.durable is durable
        assert server.settings["fsync_mode"].lower() == fsync
        assert server.version == f"DuckDB {duckdb.__version__}"


def test_a_file_that_another_process_has_open_is_an_error(duck, tmp_path):
    holder = (
        f"import duckdb, sys; c = duckdb.connect({str(tmp_path / 'test.db')!r}); "
        "print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "open\n"
        for attempt in (duck.connect, duck.describe):
            with pytest.raises(
                InUseError, match=f"process {other.pid} has the database open; wait"
            ):
                attempt()
        other.stdin.close()
        other.wait(30)
    duck.describe()


@pytest.mark.parametrize("kept", [20_000, 100_000])
def test_a_file_that_another_program_has_damaged_is_an_error_with_a_remedy(duck, kept):
    Wideset().fill(duck)
    content = duck.path.read_bytes()
    duck.path.write_bytes(content[:12_288] + bytes(kept - 12_288))
    with pytest.raises(SetupError, match="; something else has written to the file"):
        duck.describe()


def test_a_file_that_may_not_grow_is_an_error_with_a_remedy(duck):
    error = duckdb.TransactionException('Could not write file "a.wal": File too large')
    assert "raise the limit on the size of files (`ulimit -f`)" in duck.explain(error)


@pytest.mark.parametrize("reason", ["Operation not permitted", "Read-only file system"])
def test_a_path_where_no_file_can_be_written_is_an_error_with_a_remedy(tmp_path, reason):
    folder = DuckDb(DuckDbOptions(path=str(tmp_path)))
    remedy = "path must be a file in a folder where this user may write"
    with pytest.raises(SetupError, match=remedy):
        folder.connect()
    assert remedy in folder.explain(duckdb.IOException(f'Cannot open file "a.db": {reason}'))


@pytest.mark.parametrize("mode", [VerifyMode.COUNTS, VerifyMode.FULL])
@pytest.mark.parametrize("value", ["infinity", "-infinity"])
def test_infinity_in_place_of_null_is_a_mismatch(duck, mode, value):
    wide = Wideset()
    wide.fill(duck)
    name = wide.tables[0].name
    assert verify(duck, wide.dataset, (), mode).status is Status.VERIFIED
    one = f"SELECT min(rowid) FROM {name} WHERE seen IS NULL"
    duck.carry_out(f"UPDATE {name} SET seen = '{value}' WHERE rowid = ({one})")

    verdict = verify(duck, wide.dataset, (), mode)

    assert verdict.status is Status.MISMATCH
    assert f"{name}: every row" in verdict.reason or mode is VerifyMode.COUNTS
