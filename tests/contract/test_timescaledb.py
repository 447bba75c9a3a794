"""What is specific to TimescaleDB: hypertables, their chunks and keys, and the editions."""

import re

import pytest

from simulator.data.query import Aggregate, AggregateQuery, Function, Selection
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey
from simulator.data.workloads.iot import EVENTS
from simulator.errors import ConfigError, SetupError
from simulator.modules.contract import BATCH
from simulator.modules.postgres.database import Postgres, PostgresOptions
from simulator.modules.timescaledb.database import Timescaledb, TimescaledbOptions
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests import ROOT
from tests.contract.harness import Wideset, drop
from tests.contract.targets import STORING
from tests.contract.wide import READINGS, STATES
from tests.unit import specs
from tests.unit.stored_rows import store, write

pytestmark = pytest.mark.server("timescaledb", "timescaledb15")

COUNT = (Aggregate(Function.COUNT),)


@pytest.fixture
def open_timescaledb(server_options):
    return lambda **options: Timescaledb(TimescaledbOptions(**{**server_options, **options}))


@pytest.fixture
def timescaledb(open_timescaledb):
    return open_timescaledb()


def fetched(database, statement, *parameters):
    with database.connect() as session, session.connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)
        return cursor.fetchall()


def events():
    """Return the published events."""
    return specs.dataset(params={"devices": 3}, start_ms=1_795_232_700_000)


def stored(database, rows):
    """Create the table of events, and write a range of rows; return its reader."""
    store(database, events(), rows, batch_rows=1000)
    return DatasetReader(events())


def chunks(database, table="events"):
    """Return the ranges of integer time that the table's chunks hold, in order."""
    return fetched(
        database,
        "SELECT range_start_integer, range_end_integer FROM timescaledb_information.chunks "
        "WHERE hypertable_name = %s ORDER BY 1",
        table,
    )


# --- hypertables ---------------------------------------------------------------------------------


def dimensions(database):
    return fetched(
        database,
        "SELECT hypertable_name, column_name, time_interval, integer_interval "
        "FROM timescaledb_information.dimensions ORDER BY 1",
    )


def test_a_chunk_holds_as_much_time_as_asked_in_the_tables_own_unit(open_timescaledb):
    database = open_timescaledb(chunk_interval_s=7200)
    database.create([READINGS, STATES, EVENTS], 100)
    found = [(name, column, str(span), units) for name, column, span, units in dimensions(database)]
    assert found == [
        ("Machine States", "timestamp", "None", 7_200_000),
        ("events", "timestamp", "None", 7_200_000),
        ("readings", "time", "2:00:00", None),
    ]


def test_a_day_is_the_default_as_in_the_reference_document(timescaledb):
    timescaledb.create([EVENTS], 100)
    assert dimensions(timescaledb) == [("events", "timestamp", None, 86_400_000)]


@pytest.mark.parametrize("version", ["2.12.2", "2.13.0", "2.31.0-dev"])
def test_older_and_newer_versions_get_the_statement_of_their_form(timescaledb, version):
    tables = [READINGS, STATES]
    timescaledb.create([EVENTS], 100)
    fetched(timescaledb, "SELECT drop_chunks('events', older_than => 0)")
    make, day_s = timescaledb.dialect.make_hypertable, 86_400
    statements = [make(t, t.name, version, day_s, indexed=True) for t in tables]
    assert ["by_range" in text for text in statements] == [version != "2.12.2"] * 2
    with timescaledb.connect() as session, session.connection.cursor() as cursor:
        cursor.execute('CREATE TABLE readings ("time" timestamptz)')
        cursor.execute('CREATE TABLE "Machine States" (timestamp bigint)')
        for statement in statements:
            cursor.execute(statement)
    assert [str(span or units) for _, _, span, units in dimensions(timescaledb)] == [
        "86400000",
        "86400000",
        "1 day, 0:00:00",
    ]


@pytest.mark.parametrize(("wanted", "found"), [(True, ['btree ("timestamp" DESC)']), (False, [])])
def test_the_index_on_the_time_may_be_left_out(open_timescaledb, wanted, found):
    database = open_timescaledb(time_index=wanted)
    database.create([EVENTS], 100)
    rows = fetched(database, "SELECT indexdef FROM pg_indexes WHERE tablename = 'events'")
    assert [definition.split(" USING ")[1] for (definition,) in rows] == found


@pytest.mark.parametrize(
    ("primary_key", "constraint"),
    [
        (PrimaryKey.DB, 'PRIMARY KEY (id, "timestamp")'),
        (PrimaryKey.SQL, 'PRIMARY KEY (id, "timestamp")'),
        (PrimaryKey.CLIENT, 'PRIMARY KEY (id, "timestamp")'),
        (PrimaryKey.UUID, 'PRIMARY KEY (id, "timestamp")'),
        (PrimaryKey.NONE, None),
    ],
)
def test_every_primary_key_holds_the_time(timescaledb, primary_key, constraint):
    timescaledb.create([EVENTS.stored(primary_key, 1)], 1000)
    rows = fetched(
        timescaledb,
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE contype = 'p' AND conrelid = 'events'::regclass",
    )
    assert rows == ([(constraint,)] if constraint else [])
    assert timescaledb.problems(primary_key, 1, BATCH, 1000) == []


def test_a_key_without_the_time_is_an_error_with_a_remedy_and_leaves_no_table(open_timescaledb):
    database = open_timescaledb(primary_key_constraint="PRIMARY KEY (id)")
    with pytest.raises(SetupError, match=r'without the column "timestamp".*; put the time into'):
        database.create([EVENTS.stored(PrimaryKey.DB, 1)], 1000)
    assert fetched(database, "SELECT to_regclass('events')") == [(None,)]


# --- chunks --------------------------------------------------------------------------------------


def test_time_goes_on_from_step_to_step_so_that_full_chunks_are_left_behind(open_timescaledb):
    database = open_timescaledb(chunk_interval_s=3600)
    stored(database, RowRange(start=0, stop=20_000))
    before = chunks(database)
    write(database, events(), RowRange(start=20_000, stop=40_000), batch_rows=1000)
    after = chunks(database)

    assert len(before) > 2
    assert after[: len(before)] == before
    assert len(after) > len(before) + 1
    (newest_before,), (oldest_after,) = (
        fetched(database, f"SELECT {which}(timestamp) FROM events WHERE sequence_number {rows}")[0]
        for which, rows in (("max", "< 20000"), ("min", ">= 20000"))
    )
    assert newest_before < oldest_after


def test_compacting_reaches_the_chunks(timescaledb):
    reader = stored(timescaledb, RowRange(start=0, stop=5000))
    timescaledb.compact(reader.tables)
    found = fetched(
        timescaledb,
        "SELECT sum(reltuples), bool_and(relallvisible > 0) FROM pg_class "
        "WHERE oid IN (SELECT show_chunks('events'))",
    )
    assert found == [(5000, True)]


def test_the_size_is_that_of_the_chunks(timescaledb):
    reader = stored(timescaledb, RowRange(start=0, stop=5000))
    ((shell, chunked),) = fetched(
        timescaledb,
        "SELECT pg_total_relation_size('events'), sum(pg_total_relation_size(chunk)) "
        "FROM show_chunks('events') AS chunk",
    )
    size = timescaledb.size_bytes(reader.tables)
    assert size >= chunked > 5000 * 20 > shell


def test_a_query_for_a_range_of_time_reads_its_chunks_only(open_timescaledb):
    database = open_timescaledb(chunk_interval_s=3600)
    reader = stored(database, RowRange(start=0, stop=40_000))
    start, stop = chunks(database)[2]
    query = AggregateQuery(reader.tables[0], COUNT, selection=Selection(since=start, until=stop))
    plan = str(fetched(database, f"EXPLAIN {database.render(query).text}"))
    assert plan.count("_chunk") == str(plan).count("_hyper_1_3_chunk") > 0


def test_hypertables_are_dropped_with_their_chunks(timescaledb):
    wide = Wideset(parts=4)
    wide.fill(timescaledb)
    drop(timescaledb, wide.tables)
    left = "SELECT relname FROM pg_class WHERE relname LIKE '_hyper%%' AND relkind = 'r'"
    assert fetched(timescaledb, left) == []


# --- queries -------------------------------------------------------------------------------------


def test_the_tuned_text_of_the_configuration_answers_the_same(open_timescaledb):
    config = (ROOT / "config.yaml").read_text()
    (tuned,) = re.findall(r"# +newest-per-device: (SELECT device_id, last\(.*)", config)
    timescaledb = open_timescaledb(create_indices=True)
    reader = stored(timescaledb, RowRange(start=0, stop=500))
    published = timescaledb.render(reader.queries()["newest-per-device"]).text

    assert sorted(fetched(timescaledb, tuned)) == sorted(fetched(timescaledb, published))
    assert len(fetched(timescaledb, tuned)) == 3


def test_buckets_are_made_by_time_bucket(timescaledb):
    by_integer = AggregateQuery(STATES, COUNT, bucket=60_000)
    by_instant = AggregateQuery(READINGS, COUNT, bucket=60_000_000)
    assert "SELECT time_bucket(60000, timestamp)," in timescaledb.render(by_integer).text
    assert "time_bucket(INTERVAL '60000000 microseconds', time," in (
        timescaledb.render(by_instant).text
    )


# --- compression ---------------------------------------------------------------------------------


def test_an_edition_without_compression_says_so_before_anything_is_written(open_timescaledb):
    database = open_timescaledb(compress=True)
    assert database.describe().settings["timescaledb.license"] == "apache"
    with pytest.raises(SetupError, match=r'not supported under the current "apache" license') as no:
        database.create([EVENTS], 1000)
    assert "leave out compress and aggregate_intervals_s, or install the Comm" in str(no.value)
    assert fetched(database, "SELECT to_regclass('events')") == [(None,)]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"compress": True}, "compress"),
        ({"aggregate_intervals_s": "60"}, "aggregate_intervals_s"),
        (
            {"compress": True, "aggregate_intervals_s": "60,3600"},
            "compress and aggregate_intervals_s",
        ),
    ],
)
def test_the_apache_edition_is_refused_before_anything_starts(open_timescaledb, options, named):
    with pytest.raises(SetupError) as refused:
        open_timescaledb(**options).inspect()
    assert f": {named}: only in TimescaleDB's Community edition" in str(refused.value)
    assert f"leave out {named}, or install the Community edition" in str(refused.value)
    assert open_timescaledb().inspect().settings["timescaledb.license"] == "apache"


def test_a_segment_is_a_series_with_its_newest_rows_first(open_timescaledb):
    # As the vendor writes it; the Community edition is tried by its address.
    assert open_timescaledb().dialect.compress_chunks(EVENTS, "events") == (
        "ALTER TABLE events SET (timescaledb.compress, "
        "timescaledb.compress_orderby = 'timestamp DESC', "
        "timescaledb.compress_segmentby = 'device_id')"
    )
    assert "segmentby = 'site, \"user\"'" in open_timescaledb().dialect.compress_chunks(
        READINGS, "readings"
    )


# --- continuous aggregates -----------------------------------------------------------------------

AGGREGATES = [
    pytest.param(target, id=name)
    for name, target in STORING.items()
    if name == "timescaledb_aggregates"
]
"""Of the Community edition, which no registry has: with --address timescaledb_aggregates=..."""
OF_EVENTS = ["events", "events_every_60s", "events_every_3600s", "events_now"]


@pytest.mark.parametrize("target", AGGREGATES)
def test_a_view_of_somebody_else_is_none_of_the_aggregates(request, target):
    database = target.open(request)
    (table,) = DatasetReader(events()).tables
    with database.connect() as session, session.connection.cursor() as cursor:
        cursor.execute("CREATE VIEW events_every_60s AS SELECT 7 AS mine")
    assert database.find_existing(OF_EVENTS)["events_every_60s"].alike is False
    with pytest.raises(SetupError, match=r'"events_every_60s" already exists'):
        database.create([table], 1000)
    assert [*database.find_existing(OF_EVENTS)] == ["events_every_60s"]


@pytest.mark.parametrize("target", AGGREGATES)
def test_a_query_without_the_aggregates_of_an_insert_names_the_option(request, target):
    database, plain = target.open(request), target.open(request, aggregate_intervals_s="")
    (table,) = DatasetReader(events()).tables
    plain.create([table], 1000)
    statement = database.statement(AggregateQuery(table, COUNT))
    with (
        pytest.raises(SetupError, match=r"run an insert with the same aggregate_intervals_s"),
        database.administration() as session,
    ):
        session.run(statement)


# --- the server ----------------------------------------------------------------------------------


def test_describe_names_both_versions_and_the_edition(timescaledb):
    before = timescaledb.describe()  # the database is empty: the extension is not made yet
    timescaledb.create([EVENTS], 1)
    server = timescaledb.describe()
    assert before == server
    assert server.version.startswith("TimescaleDB 2.")
    assert " on PostgreSQL 1" in server.version
    assert server.settings["chunk_interval_s"] == "86400"
    assert server.durable
    plain = Postgres(PostgresOptions(**timescaledb.options.model_dump(exclude_unset=True)))
    assert re.search(r"^PostgreSQL 1.* with TimescaleDB 2\.", plain.inspect().version)


def test_a_server_that_did_not_load_timescaledb_is_refused_before_anything_starts(server):
    with type(server)(shared_preload_libraries="") as other, other.database() as name:
        bare = Timescaledb(TimescaledbOptions(**other.options(name)))
        for attempt in (bare.describe, lambda: bare.create([EVENTS], 1)):
            with pytest.raises(ConfigError, match=r"not loaded.*or install it and set shared_p"):
                attempt()


@pytest.mark.server("postgres")
def test_a_postgresql_without_timescaledb_is_refused_before_anything_starts(server_options):
    with pytest.raises(ConfigError, match=r"not loaded TimescaleDB; use .* module: postgres"):
        Timescaledb(TimescaledbOptions(**server_options)).inspect()


@pytest.mark.parametrize(
    "target",
    [pytest.param(t, id=n) for n, t in STORING.items() if n == "timescaledb_compressed"],
)
def test_the_columnstore_holds_the_same_rows_in_less_space(request, target):
    """Of the Community edition, which no registry has: with --address timescaledb_compressed=..."""
    dataset = specs.dataset(start_ms=1_700_000_000_000, ranges=(RowRange(start=0, stop=50_000),))
    reader, sizes = DatasetReader(dataset), {}
    for compress in (False, True):
        database = target.open(request, compress=compress)
        drop(database, reader.tables)
        store(database, dataset, batch_rows=1000)
        database.compact(reader.tables)
        sizes[compress] = database.size_bytes(reader.tables)
        verdict = verify(database, dataset, (), VerifyMode.FULL)
        assert verdict.status is Status.VERIFIED, verdict.reason
    assert sizes[True] < sizes[False] / 4
