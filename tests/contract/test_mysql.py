"""What is specific to MySQL and MariaDB: engines, options, what errors mean, and secrets."""

import threading
import time
from dataclasses import replace

import pymysql
import pytest

from simulator.data.query import Aggregate, AggregateQuery, Function, Selection
from simulator.data.schema import Column, PrimaryKey, Role, TimeUnit, Type
from simulator.data.workloads.devops import Devops, DevopsParams
from simulator.data.workloads.iot import EVENTS, Iot
from simulator.errors import SetupError, UnstorableError
from simulator.modules.contract import BATCH, SINGLE, Failure, RowCountMismatch
from simulator.modules.mysql.database import MySql, MySqlOptions
from simulator.modules.mysql.query import MySqlDialect
from simulator.modules.mysql.server import durability
from simulator.modules.shared.sql.transactions import PREPARED, TRANSACTION, VALUES
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests.contract.harness import Wideset, count, encoded, refusal
from tests.contract.wide import READINGS

pytestmark = pytest.mark.server("mysql", "mariadb")

MODES = [SINGLE, BATCH, VALUES, TRANSACTION, PREPARED]
BOTH_ENGINES = pytest.mark.parametrize("engine", ["InnoDB", "MyISAM"])
SUM = (Aggregate(Function.SUM, "small"),)


@pytest.fixture
def open_mysql(server_options):
    return lambda **options: MySql(MySqlOptions(**{**server_options, **options}))


@pytest.fixture
def mysql(open_mysql):
    return open_mysql()


def fetch(database, statement):
    with database.connect() as session:
        return list(session.connection.fetch(statement))


# --- tables --------------------------------------------------------------------------------------

M62 = [
    ("timestamp", "bigint"),
    ("device_id", "varchar(12)"),
    ("sequence_number", "bigint"),
    ("temperature", "float"),
]


@pytest.mark.parametrize(
    ("primary_key", "id_type"),
    [
        (PrimaryKey.DB, "bigint"),
        (PrimaryKey.CLIENT, "varchar(250)"),
        (PrimaryKey.UUID, "binary(16)"),
        (PrimaryKey.NONE, None),
    ],
)
@BOTH_ENGINES
def test_the_events_table_is_that_of_the_reference_document(
    open_mysql, engine, primary_key, id_type
):
    database = open_mysql(engine=engine)
    database.create([EVENTS.stored(primary_key, 1)], 1000)
    described = fetch(
        database,
        "SELECT column_name, column_type, column_key FROM information_schema.columns "
        "WHERE table_schema = DATABASE() AND table_name = 'events' ORDER BY ordinal_position",
    )
    columns = [(name, kind.replace("bigint(20)", "bigint")) for name, kind, _ in described]
    assert columns == ([("id", id_type), *M62] if id_type else M62)
    assert [name for name, _, key in described if key == "PRI"] == (["id"] if id_type else [])
    stored = fetch(
        database,
        "SELECT engine, table_collation FROM information_schema.tables "
        "WHERE table_schema = DATABASE()",
    )
    ((found, order),) = stored
    assert found == engine
    assert order in ("utf8mb4_0900_bin", "utf8mb4_nopad_bin")


@BOTH_ENGINES
def test_indices_are_those_of_the_reference_document(open_mysql, engine):
    database = open_mysql(engine=engine, create_indices=True)
    database.create([EVENTS], 1)
    found = fetch(
        database,
        "SELECT index_name, GROUP_CONCAT(column_name ORDER BY seq_in_index) "
        "FROM information_schema.statistics WHERE table_schema = DATABASE() GROUP BY index_name "
        "ORDER BY index_name",
    )
    assert found == [
        ("events_field_index", "temperature"),
        ("events_series_index", "device_id,timestamp,temperature"),
    ]


def test_a_text_gets_the_length_and_a_table_the_indices_that_they_declare(open_mysql):
    database, (table, *_) = open_mysql(create_indices=True), Devops(DevopsParams(), 1, 0).tables
    note = Column("note", Type.TEXT, Role.FIELD, max_characters=200)
    book = Column("book", Type.TEXT, Role.FIELD, max_characters=20_000)
    database.create([replace(table, columns=(*table.columns, note, book))], 1)
    types = dict(
        fetch(
            database,
            "SELECT column_name, column_type FROM information_schema.columns "
            "WHERE table_schema = DATABASE() AND table_name = 'cpu' "
            "AND column_name IN ('hostname', 'region', 'arch', 'note', 'book')",
        )
    )
    assert types == {
        "hostname": "varchar(13)",
        "region": "varchar(14)",
        "arch": "varchar(3)",
        "note": "varchar(200)",
        "book": "mediumtext",
    }
    assert fetch(
        database,
        "SELECT index_name, GROUP_CONCAT(column_name ORDER BY seq_in_index) "
        "FROM information_schema.statistics WHERE table_schema = DATABASE() GROUP BY index_name",
    ) == [("cpu_series_index", "hostname,time")]


def test_an_index_takes_the_beginning_of_long_texts():
    key = MySqlDialect().index_key
    tags = [Column(name, Type.TEXT, Role.TAG) for name in ("a", "b")]
    note, number = Column("n", Type.TEXT, Role.FIELD), Column("x", Type.INT64, Role.FIELD)
    assert key([tags[0], number]) == "`a`, `x`"
    assert key([*tags, number]) == "`a`(95), `b`(95), `x`"
    assert key([note]) == "`n`(190)"


@pytest.mark.parametrize(
    ("unit", "value", "literal"),
    [
        (TimeUnit.SECOND, -1, "TIMESTAMP'1969-12-31 23:59:59'"),
        (TimeUnit.MILLISECOND, 1, "TIMESTAMP'1970-01-01 00:00:00.001000'"),
        (TimeUnit.NANOSECOND, 1, "TIMESTAMP'1970-01-01 00:00:00.000001'"),
    ],
)
def test_an_instant_is_compared_as_one_and_rounded_up(unit, value, literal):
    assert MySqlDialect().instant(value, unit) == literal


def test_a_query_that_reads_an_instant_is_served_by_an_index(mysql):
    wide = Wideset()
    wide.fill(mysql)
    query = AggregateQuery(READINGS, SUM, selection=Selection(since=0, until=1_000_000))
    with mysql.connect() as session:
        session.connection.query("CREATE INDEX by_time ON readings (time)")
        plan = session.connection.fetch(f"EXPLAIN {mysql.render(query).text}")
    assert "by_time" in str(plan)


def test_the_newest_row_of_each_device_is_found_in_seconds_among_many(mysql, execute):
    mysql.create([EVENTS], 1)
    execute(
        "INSERT INTO events (timestamp, device_id, sequence_number, temperature) "
        "WITH RECURSIVE one_by_one AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM one_by_one "
        "WHERE n < 1000) SELECT a.n * 1000 + b.n, 'device', a.n * 1000 + b.n, 20 "
        "FROM one_by_one AS a, one_by_one AS b WHERE a.n <= 100"
    )
    query = Iot(Iot.params_model(), 1, 0).queries([EVENTS])["newest-per-device"]
    start = time.monotonic()
    with mysql.connect() as session:
        assert session.run(mysql.render(query)) == (("device", 20.0),)
    assert time.monotonic() - start < 30


# --- options -------------------------------------------------------------------------------------


def test_the_server_prepares_a_statement_once_for_each_connection_and_table(mysql):
    def counted(session):
        names = ("Com_stmt_prepare", "Com_stmt_execute", "Com_insert")
        rows = dict(session.connection.fetch("SHOW SESSION STATUS LIKE 'Com\\_%'"))
        return [int(rows[name]) for name in names]

    wide = Wideset(parts=2)
    mysql.create(wide.tables, 10)
    with mysql.connect() as session, mysql.connect() as other:
        before = counted(session)
        for block in wide.batches:
            for payload in session.encode(block, PREPARED, 50):
                session.send(payload)
        rows = sum(map(len, wide.batches))
        used = [after - past for past, after in zip(before, counted(session), strict=True)]
        assert used[:2] == [len({block.name for block in wide.batches}), rows]
        (payload,) = session.encode(wide.batches[0].slice(0, 1), PREPARED, 1)
        other.send(payload)  # a batch that the connection before it has encoded
        assert counted(other)[0] == 1


@pytest.mark.parametrize("mode", [TRANSACTION, PREPARED])
def test_a_transaction_may_end_whenever_some_time_has_passed(open_mysql, execute, mode):
    wide = Wideset()
    database = open_mysql(transaction=True, commit_every_s=1e-6)
    database.create(wide.tables, 10)
    execute("CREATE UNIQUE INDEX once ON readings (time)")
    first = wide.batches[0]
    with database.connect() as session, database.connect() as other:
        (payload,) = session.encode(first.slice(5, 6), mode, 1)
        session.send(payload)
        with pytest.raises(pymysql.IntegrityError) as caught:
            session.send(encoded(session, first, mode, 10))  # the sixth is already stored
        assert session.classify(caught.value) is Failure.UNKNOWN
        assert count(database, other, wide.tables[0]) == 6


def test_an_engine_that_the_server_lacks_is_named_with_those_that_it_has(open_mysql):
    with pytest.raises(SetupError, match=r"no storage engine 'Falcon'; it has: .*InnoDB"):
        open_mysql(engine="Falcon").connect()


def test_what_a_session_sends_is_stored_unchanged_in_every_server_mode(mysql, execute):
    execute("SET GLOBAL sql_mode = ''", "SET GLOBAL autocommit = OFF")
    try:
        wide = Wideset()
        wide.fill(mysql)
        with mysql.connect() as session, pytest.raises(pymysql.DataError):
            session.connection.query("INSERT INTO readings (small) VALUES (40000)")
        mysql.carry_out("DELETE FROM readings")
        with mysql.connect() as session, mysql.connect() as other:
            session.send(encoded(session, wide.batches[0], SINGLE, 1))
            assert count(mysql, other, wide.tables[0]) == 1
    finally:
        execute("SET GLOBAL sql_mode = DEFAULT", "SET GLOBAL autocommit = DEFAULT")


def test_rows_that_a_trigger_refuses_are_an_error_that_names_triggers(mysql):
    wide = Wideset()
    mysql.create(wide.tables, 10)
    mysql.carry_out(
        "CREATE TRIGGER no BEFORE INSERT ON readings FOR EACH ROW "
        "SIGNAL SQLSTATE '45000' SET message_text = 'not today'"
    )
    with mysql.connect() as session:
        with pytest.raises(pymysql.Error) as caught:
            session.send(encoded(session, wide.batches[0], SINGLE, 1))
        assert session.classify(caught.value) is Failure.FATAL
    assert mysql.explain(caught.value) == "not today; look for triggers on the table"


# --- what an error means for the rows ------------------------------------------------------------


@pytest.mark.parametrize(
    ("engine", "mode", "meaning", "stored"),
    [
        ("InnoDB", BATCH, Failure.FATAL, 1),
        ("InnoDB", VALUES, Failure.FATAL, 1),
        ("InnoDB", TRANSACTION, Failure.FATAL, 1),
        ("InnoDB", PREPARED, Failure.FATAL, 1),
        ("MyISAM", PREPARED, Failure.UNKNOWN, 6),
        ("MyISAM", BATCH, Failure.UNKNOWN, 10),  # LOAD DATA goes on behind a refused row
        ("MyISAM", VALUES, Failure.UNKNOWN, 6),
        ("MyISAM", TRANSACTION, Failure.UNKNOWN, 6),
    ],
)
def test_a_batch_is_stored_as_a_whole_or_not_at_all_unless_there_are_no_transactions(
    open_mysql, engine, mode, meaning, stored
):
    wide, database = Wideset(PrimaryKey.CLIENT), open_mysql(engine=engine)
    database.create(wide.tables, 10)
    first = wide.batches[0]
    with database.connect() as session:
        (one,) = session.encode(first.slice(5, 6), SINGLE, 1)
        session.send(one)
        with pytest.raises(pymysql.IntegrityError, match="Duplicate entry") as caught:
            session.send(encoded(session, first, mode, 10))
        assert session.classify(caught.value) is meaning
        assert session.alive
        assert count(database, session, wide.tables[0]) == stored


@BOTH_ENGINES
def test_a_batch_of_which_no_row_is_stored_is_certainly_not_stored(open_mysql, engine):
    wide, database = Wideset(PrimaryKey.CLIENT), open_mysql(engine=engine)
    database.create(wide.tables, 10)
    with database.connect() as session:
        payload = encoded(session, wide.batches[0], BATCH, 10)
        session.send(payload)
        with pytest.raises(pymysql.IntegrityError) as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.FATAL
        assert count(database, session, wide.tables[0]) == 10


@pytest.mark.parametrize(
    ("engine", "mode", "meaning"),
    [
        ("InnoDB", VALUES, Failure.UNKNOWN),
        ("InnoDB", TRANSACTION, Failure.FATAL),  # rolled back
        ("InnoDB", PREPARED, Failure.FATAL),
        ("MyISAM", PREPARED, Failure.UNKNOWN),
        ("InnoDB", SINGLE, Failure.FATAL),
        ("MyISAM", VALUES, Failure.UNKNOWN),
        ("MyISAM", TRANSACTION, Failure.UNKNOWN),
    ],
)
def test_rows_that_the_server_leaves_out_are_an_error(open_mysql, engine, mode, meaning):
    """IGNORE makes the server skip a row whose key exists, and count the others."""
    database, wide = open_mysql(engine=engine), Wideset(PrimaryKey.CLIENT)
    database.create(wide.tables, 10)
    first = wide.batches[0]
    rows = first.slice(5, 6) if mode == SINGLE else first.slice(0, 10)
    with database.connect() as session:
        session.send(encoded(session, first.slice(5, 6), SINGLE, 1))
        payload = encoded(session, rows, mode, len(rows))
        prepared = payload.data[1:] if mode == PREPARED else ()
        inserts = payload.data if mode == TRANSACTION else [payload.data]
        inserts = payload.data[:1] if prepared else inserts
        ignoring = [insert.replace(b"INSERT INTO", b"INSERT IGNORE INTO", 1) for insert in inserts]
        data = ignoring if mode == TRANSACTION else ignoring[0]
        data = (data, *prepared) if prepared else data
        with pytest.raises(RowCountMismatch, match="server acknowledged") as caught:
            session.send(payload._replace(data=data))
        assert session.classify(caught.value) is meaning
        assert session.alive
        stored = count(database, session, wide.tables[0])
    assert (stored == 1) == (meaning is Failure.FATAL)


@pytest.mark.parametrize("mode", MODES)
def test_a_text_that_would_be_truncated_is_an_error(mysql, execute, mode):
    wide = Wideset()
    mysql.create(wide.tables, 10)
    execute("ALTER TABLE readings MODIFY site varchar(2)")
    with mysql.connect() as session:
        rows = 1 if mode == SINGLE else 10
        with pytest.raises(pymysql.DataError, match=r"(?i)too long|truncated") as caught:
            session.send(encoded(session, wide.batches[0], mode, rows))
        assert session.classify(caught.value) is Failure.FATAL
        assert count(mysql, session, wide.tables[0]) == 0


def test_a_tag_that_is_too_long_is_refused_before_it_is_sent(mysql, monkeypatch):
    wide = Wideset()
    monkeypatch.setattr("simulator.modules.mysql.query.TEXT_LENGTHS", {Role.TAG: 4, Role.KEY: 250})
    mysql.create(wide.tables, 10)
    with (
        mysql.connect() as session,
        pytest.raises(UnstorableError, match="column 'site': expected at most 4 characters"),
    ):
        session.encode(wide.batches[0], BATCH, 10)


def wait_until(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it did not become true"
        time.sleep(0.05)


def state_of(database, number):
    """Return what a connection does, as the server reports it."""
    return next(
        (str(row[6]) for row in fetch(database, "SHOW PROCESSLIST") if row[0] == number), ""
    )


def send_and(database, session, payload, how):
    """Send into a locked table, kill the waiting connection or query, and return the error."""
    caught = []

    def sending():
        try:
            session.send(payload)
        except pymysql.Error as error:
            caught.append(error)

    thread = threading.Thread(target=sending)
    with database.connect() as blocker:
        blocker.connection.query("LOCK TABLES readings WRITE")
        number = session.connection.thread_id()
        thread.start()
        try:
            wait_until(lambda: state_of(database, number).startswith("Waiting for table"))
            with database.connect() as killer:
                killer.connection.query(f"{how} {number}")
            thread.join(20)
        finally:
            blocker.connection.query("UNLOCK TABLES")
            thread.join()
    (error,) = caught
    return error


@BOTH_ENGINES
@pytest.mark.parametrize("mode", MODES)
def test_a_connection_that_is_killed(open_mysql, engine, mode):
    wide, database = Wideset(), open_mysql(engine=engine)
    database.create(wide.tables, 10)
    with database.connect() as session:
        payload = encoded(session, wide.batches[0], mode, 1 if mode == SINGLE else 10)
        error = send_and(database, session, payload, "KILL")
        requested = mode in (SINGLE, VALUES) or engine == "MyISAM"
        assert session.classify(error) is (Failure.UNKNOWN if requested else Failure.NOT_APPLIED)
        assert not session.alive

        with pytest.raises(pymysql.Error) as again:
            session.send(payload)
        assert session.classify(again.value) is Failure.NOT_APPLIED  # it was never sent


@pytest.mark.parametrize("mode", MODES)
def test_a_query_that_is_killed_means_not_applied(mysql, mode):
    wide = Wideset()
    mysql.create(wide.tables, 10)
    with mysql.connect() as session:
        payload = encoded(session, wide.batches[0], mode, 1 if mode == SINGLE else 10)
        error = send_and(mysql, session, payload, "KILL QUERY")
        assert session.classify(error) is Failure.NOT_APPLIED
        session.send(payload)
        assert count(mysql, session, wide.tables[0]) == payload.rows


@BOTH_ENGINES
@pytest.mark.parametrize(
    "mode",
    [SINGLE, *(pytest.param(n, marks=pytest.mark.rare) for n in (BATCH, VALUES, PREPARED)),
     TRANSACTION],
)  # fmt: skip
def test_a_lock_that_is_not_granted_in_time_means_not_applied(open_mysql, engine, mode):
    wide, database = Wideset(), open_mysql(engine=engine)
    database.create(wide.tables, 10)
    with database.connect() as session, database.connect() as blocker:
        payload = encoded(session, wide.batches[0], mode, 1 if mode == SINGLE else 10)
        session.connection.query("SET lock_wait_timeout = 1")
        blocker.connection.query("LOCK TABLES readings WRITE")
        with pytest.raises(pymysql.Error) as caught:
            session.send(payload)
        blocker.connection.query("UNLOCK TABLES")
        assert session.classify(caught.value) is Failure.NOT_APPLIED
        session.send(payload)
        assert count(database, session, wide.tables[0]) == payload.rows


def uncommitted(database, table):
    """Return how many rows a table holds, with those that no transaction has committed yet."""
    with database.connect() as session:
        session.connection.query("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED")
        return count(database, session, table)


def test_a_deadlock_means_not_applied(mysql, execute):
    wide = Wideset()
    mysql.create(wide.tables, 10)
    execute("CREATE UNIQUE INDEX once ON readings (time)", "CREATE TABLE other (x int PRIMARY KEY)")
    first = wide.batches[0]
    with mysql.connect() as session, mysql.connect() as blocker:
        singles = encoded(session, first, TRANSACTION, 10)
        # The blocker holds the row that the session comes to, and waits for one it has written.
        held = session.encode(first.slice(9, 10), SINGLE, 1)[0].data
        wanted = session.encode(first.slice(0, 1), SINGLE, 1)[0].data
        blocker.connection.query("BEGIN")
        blocker.connection.query(
            "INSERT INTO other VALUES " + ",".join(f"({i})" for i in range(99))
        )
        blocker.connection.query(held)
        caught = []

        def sending():
            try:
                session.send(singles)
            except pymysql.Error as error:
                caught.append(error)

        thread = threading.Thread(target=sending)
        thread.start()
        wait_until(lambda: uncommitted(mysql, wide.tables[0]) > 1)
        blocker.connection.query(wanted)  # the victim is who has written less: the session
        thread.join()
        blocker.connection.query("ROLLBACK")
        (error,) = caught
        assert error.args[0] == 1213
        assert session.classify(error) is Failure.NOT_APPLIED
        session.send(singles)
        assert count(mysql, session, wide.tables[0]) == 10


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (pymysql.OperationalError(1040, "Too many connections"), Failure.NOT_APPLIED),
        (pymysql.OperationalError(1213, "Deadlock found"), Failure.NOT_APPLIED),
        (pymysql.OperationalError(1180, "Got error 5 during COMMIT"), Failure.UNKNOWN),
        (pymysql.OperationalError(2013, "Lost connection"), Failure.UNKNOWN),
        (pymysql.InterfaceError(0, ""), Failure.UNKNOWN),
        (pymysql.OperationalError(1114, "The table is full"), Failure.FATAL),
        (RuntimeError(), Failure.UNKNOWN),
    ],
)
def test_what_an_error_means_once_a_commit_was_asked_for(mysql, error, meaning):
    wide = Wideset()
    mysql.create(wide.tables, 1)
    with mysql.connect() as session:
        session.send(encoded(session, wide.batches[0], SINGLE, 1))
        assert session.classify(error) is meaning


def test_a_table_that_is_gone_is_fatal_also_without_transactions(open_mysql):
    wide, database = Wideset(), open_mysql(engine="MyISAM")
    with database.connect() as session:
        for mode in MODES:
            with pytest.raises(pymysql.ProgrammingError) as caught:
                session.send(encoded(session, wide.batches[0], mode, 1 if mode == SINGLE else 10))
            assert session.classify(caught.value) is Failure.FATAL
            assert "run an insert first" in database.explain(caught.value)


# --- being refused -------------------------------------------------------------------------------


def test_an_unknown_database_is_named(open_mysql):
    for message in refusal(open_mysql(database="nowhere")):
        assert "Unknown database 'nowhere'; create it" in message


def test_a_server_that_does_not_answer_is_an_error_in_time(open_mysql, silent):
    start = time.monotonic()
    with pytest.raises(SetupError, match=r"timed out.*; "):
        open_mysql(port=silent, connect_timeout_s=0.5).connect()
    assert time.monotonic() - start < 5


@pytest.fixture
def silent():
    """The port of a server that accepts connections and sends nothing."""
    import socket  # noqa: PLC0415

    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_missing_permissions_are_named_with_the_remedy(server_database, open_mysql, execute):
    execute(
        "CREATE USER 'guest'@'127.0.0.1' IDENTIFIED BY 'guest-password'",
        f"GRANT SELECT ON {server_database}.* TO 'guest'@'127.0.0.1'",
    )
    try:
        guest = open_mysql(user="guest", password="guest-password")
        with pytest.raises(SetupError, match=r"denied to user 'guest'.*; grant the permission"):
            guest.create([EVENTS], 1)
    finally:
        execute("DROP USER 'guest'@'127.0.0.1'")


def test_load_data_that_the_server_does_not_allow_is_an_error_with_both_remedies(
    open_mysql, execute
):
    wide, database = Wideset(), open_mysql()
    database.create(wide.tables, 10)
    execute("SET GLOBAL local_infile = OFF")
    try:
        with database.connect() as session, pytest.raises(pymysql.Error) as caught:
            session.send(encoded(session, wide.batches[0], BATCH, 10))
        assert session.classify(caught.value) in (Failure.FATAL, Failure.NOT_APPLIED)
        message = database.explain(caught.value)
        assert "local_infile = ON" in message
        assert "use_values_lists=true" in message
        with database.connect() as session:
            session.send(encoded(session, wide.batches[0], VALUES, 10))
    finally:
        execute("SET GLOBAL local_infile = ON")


def test_no_file_of_the_client_is_ever_sent(mysql, execute, tmp_path):
    """A server that is not what it seems may ask for any file in answer to any statement."""
    secret = tmp_path / "secret"
    secret.write_text("hidden\n")
    execute("CREATE TABLE loot (line text)")
    with mysql.connect() as session, pytest.raises(RuntimeError, match="LOAD_LOCAL"):
        session.connection.query(f"LOAD DATA LOCAL INFILE '{secret}' INTO TABLE loot")
    assert fetch(mysql, "SELECT count(*) FROM loot") == [(0,)]


# --- TLS -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"insecure": True}, {"ca": True}])
@pytest.mark.server("mysql")
def test_a_connection_may_be_encrypted(server, open_mysql, options):
    authority = (server.data / "ca.pem").read_text()  # MySQL makes one for itself
    if options.pop("ca", None):
        # It names no host, so the check of the server's identity fails.
        with pytest.raises(SetupError, match="connect by a name in the server's certificate"):
            open_mysql(ca=authority).connect()
        return
    shown = fetch(open_mysql(**options), "SHOW STATUS LIKE 'Ssl_cipher'")
    assert shown[0][1].startswith("TLS")


def test_a_certificate_of_an_unknown_authority_is_refused(open_mysql, server_name):
    words = "CERTIFICATE_VERIFY_FAILED" if server_name == "mysql" else "SSL is required"
    with pytest.raises(SetupError, match=words):
        open_mysql(tls=True).connect()


def test_a_ca_that_cannot_be_read_is_an_error(open_mysql, tmp_path):
    with pytest.raises(SetupError, match="expected a certificate in PEM"):
        open_mysql(ca_file=str(tmp_path / "none.pem")).connect()


# --- statements to the server --------------------------------------------------------------------

SETTINGS = {
    "engine": "InnoDB",
    "innodb_flush_log_at_trx_commit": "1",
    "log_bin": "ON",
    "sync_binlog": "1",
    "innodb_flush_method": "O_DIRECT",
}


@pytest.mark.parametrize(
    ("changed", "durable", "words"),
    [
        ({}, True, "in the redo log on disk"),
        ({"log_bin": "OFF", "sync_binlog": "0"}, True, "in the redo log on disk"),
        ({"sync_binlog": "0"}, False, "the binary log is synced later"),
        ({"innodb_flush_log_at_trx_commit": "2"}, False, "but not of the machine"),
        ({"innodb_flush_log_at_trx_commit": "0"}, False, "may be lost in a crash"),
        ({"innodb_flush_method": "nosync"}, False, "no sync"),
        ({"innodb_redo_log_enabled": "OFF"}, False, "no redo log"),
        ({"engine": "ROCKSDB"}, None, "by ROCKSDB"),
    ],
)
def test_durability_follows_from_the_settings(changed, durable, words):
    found, meaning = durability({**SETTINGS, **changed}, transactional=True)
    assert found is durable
    assert words in meaning


@BOTH_ENGINES
def test_durability_is_read_from_the_server(open_mysql, execute, engine):
    database = open_mysql(engine=engine)
    server = database.describe()
    assert server.durable is (engine == "InnoDB")
    assert server.settings["innodb_flush_log_at_trx_commit"] == "1"
    pool = int(server.settings["innodb_buffer_pool_size"])
    assert server.buffer_bytes == (pool if engine == "InnoDB" else None)
    execute("SET GLOBAL innodb_flush_log_at_trx_commit = 2")
    try:
        assert database.describe().durable is False
    finally:
        execute("SET GLOBAL innodb_flush_log_at_trx_commit = 1")


@pytest.mark.server("mysql")  # MariaDB shows it only where its performance schema is on
def test_a_session_names_its_program(mysql):
    found = fetch(
        mysql,
        "SELECT attr_value FROM performance_schema.session_account_connect_attrs "
        "WHERE attr_name = 'program_name' AND processlist_id = CONNECTION_ID()",
    )
    assert found[0][0].startswith("benchmark ")


def test_a_statement_that_is_too_large_is_an_error_with_its_remedy(open_mysql, execute):
    wide, database = Wideset(), open_mysql(use_values_lists=True)
    database.create(wide.tables, 10)
    execute("SET GLOBAL max_allowed_packet = 1024")
    try:
        with database.connect() as session:
            payload = encoded(session, wide.batches[0], VALUES, 100)
            with pytest.raises(pymysql.Error) as caught:
                session.send(payload)
            assert session.classify(caught.value) is not Failure.NOT_APPLIED
            assert "max_allowed_packet" in database.explain(caught.value)
    finally:
        execute("SET GLOBAL max_allowed_packet = DEFAULT")


def test_compacting_finds_a_missing_table(mysql):
    with pytest.raises(SetupError, match=r"ANALYZE TABLE `readings`.*doesn't exist"):
        mysql.compact([READINGS])


def test_waits_of_innodb_are_counted(mysql):
    with mysql.background_work() as counters:
        found = counters()

    assert [*found] == ["waits for a free page", "waits for the log buffer"]
    assert min(found.values()) >= 0


def test_a_limit_on_rows_of_the_server_cuts_no_answer(mysql, execute):
    wide = Wideset()
    execute("SET GLOBAL sql_select_limit = 3")
    try:
        wide.fill(mysql)
        assert verify(mysql, wide.dataset, (), VerifyMode.FULL).status is Status.VERIFIED
    finally:
        execute("SET GLOBAL sql_select_limit = DEFAULT")
