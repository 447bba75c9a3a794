"""What is InfluxDB's own, 2 and 1: texts of queries, errors and what they mean, secrets."""

from functools import partial

import numpy as np
import pytest
from influxdb_client import DBRPCreate, DBRPsService, InfluxDBClient

from simulator.data.block import Block, Coded
from simulator.data.query import Aggregate, AggregateQuery, Function, RowsQuery, Statement, outputs
from simulator.data.schema import Column, PrimaryKey, Role, Table, Type
from simulator.errors import SetupError
from simulator.modules import database_class
from simulator.modules.contract import BATCH, Failure
from simulator.modules.influxdb.database import Influxdb, InfluxOptions, _bucket_ids, shard_metrics
from simulator.modules.influxdb.session import PartialWrite
from simulator.modules.shared.http.client import HttpError, Refused
from simulator.modules.shared.influx.influxql import QueryFailed
from tests.contract import devices
from tests.contract.devices import TABLE, encoded, stored
from tests.contract.harness import Wideset, drop, refusal

BOTH = pytest.mark.server("influxdb", "influxdb1")
readings = partial(devices.readings, temperature=0.5)
ONLY_2 = pytest.mark.server("influxdb")


@pytest.fixture
def open_influxdb(server_name, server_options):
    """Open the module that is for the server."""
    database = database_class(server_name)
    return lambda **more: database(database.options_model(**{**server_options, **more}))


# --- queries -------------------------------------------------------------------------------------


def in_influxql(open_influxdb):
    """Return the database whose queries are InfluxQL, which 1 has no choice about."""
    model = open_influxdb().options_model
    return open_influxdb(**({"language": "influxql"} if "language" in model.model_fields else {}))


@BOTH
def test_a_query_of_the_targets_own_answers_by_the_names_of_its_columns(open_influxdb):
    database = in_influxql(open_influxdb)
    database.create([TABLE], 10)
    highest = AggregateQuery(TABLE, (Aggregate(Function.MAX, "temperature"),), by=("device_id",))
    source = f'"{database.options.prefix}events".."events"'
    own = f"SELECT max(temperature) AS max_temperature FROM {source} GROUP BY device_id"
    with database.connect() as session:
        session.send(encoded(session, readings()))
        assert session.run(Statement(own, outputs(highest), tuned=True)) == [("d1", 0.5)]
        other = own.replace("AS max_temperature", "AS highest")
        with pytest.raises(ValueError, match="max_temperature is missing"):
            session.run(Statement(other, outputs(highest), tuned=True))


@ONLY_2
def test_flux_too_may_be_a_targets_own(open_influxdb):
    database = open_influxdb(language="flux")
    database.create([TABLE], 10)
    highest = AggregateQuery(TABLE, (Aggregate(Function.MAX, "temperature"),), by=("device_id",))
    bucket = f"{database.options.prefix}events"
    own = (
        f'from(bucket: "{bucket}") |> range(start: 0) |> filter(fn: (r) => '
        'r._field == "temperature") |> max() |> rename(columns: {_value: "max_temperature"})'
    )
    with database.connect() as session:
        session.send(encoded(session, readings()))
        assert session.run(Statement(own, outputs(highest), tuned=True)) == [("d1", 0.5)]


@BOTH
def test_a_query_that_the_server_refuses_is_reported_in_its_words(open_influxdb):
    with (
        in_influxql(open_influxdb).connect() as session,
        pytest.raises(Refused, match=r"400: .*found nonsense, expected SELECT"),
    ):
        session.run(Statement("nonsense +", ()))


@ONLY_2
def test_flux_that_the_server_refuses_is_reported_in_its_words(open_influxdb):
    with (
        open_influxdb().connect() as session,
        pytest.raises(Refused, match=r"400: .*undefined identifier nonsense"),
    ):
        session.run(Statement("nonsense()", ()))


@BOTH
def test_a_statement_that_fails_inside_an_answer_of_success_is_an_error(open_influxdb):
    database = in_influxql(open_influxdb)
    with database.connect() as session, pytest.raises(QueryFailed) as caught:
        session.run(Statement('SELECT a FROM "nowhere".."m"', ()))
    assert database.explain(caught.value) == "database not found: nowhere; run an insert first"


# --- what an error means for the rows ------------------------------------------------------------


def conflicting(conflicts):
    """Rows of which as many have a text where the stored measurement has a number."""
    columns = [
        Column("temperature", Type.TEXT, Role.FIELD, nullable=True)
        if column.name == "temperature"
        else column
        for column in TABLE.columns
    ]
    table = Table("events", tuple(columns), ())
    batch = readings(first=5, table=table)
    valid = np.arange(5) < conflicts
    words = Coded(np.zeros(5, np.int64), np.array([b"warm"]), valid)
    return Block(table, 0, batch.rows, {**batch.data, "temperature": words})


@BOTH
@pytest.mark.parametrize(
    ("conflicts", "error", "meaning"),
    [(2, PartialWrite, Failure.UNKNOWN), (5, Refused, Failure.FATAL)],
)
def test_a_batch_of_which_rows_are_refused_is_no_success(open_influxdb, conflicts, error, meaning):
    database = open_influxdb()
    database.create([TABLE], 10)
    with database.connect() as session:
        session.send(encoded(session, readings()))
    with database.connect() as session:
        with pytest.raises(error) as caught:
            session.send(encoded(session, conflicting(conflicts)))
        assert session.classify(caught.value) is meaning
        assert session.alive
    reported = database.explain(caught.value)
    assert "field type conflict" in reported
    assert "run with --clean" in reported
    assert stored(database) == 10 - conflicts


@BOTH
def test_a_line_that_the_server_cannot_read_is_no_success(open_influxdb):
    """InfluxDB 2 refuses the whole request; InfluxDB 1 stores the other lines."""
    database = open_influxdb()
    database.create([TABLE], 10)
    with database.connect() as session:
        payload = encoded(session, readings())
        path, body = payload.data
        broken = type(payload)(payload.rows, payload.mode, (path, bytes(body) + b"events,oops\n"))
        with pytest.raises(HttpError, match="unable to parse 'events,oops'") as caught:
            session.send(broken)
        is_partial = database.name == "influxdb1"
        assert isinstance(caught.value, PartialWrite if is_partial else Refused)
        assert session.classify(caught.value) is (Failure.UNKNOWN if is_partial else Failure.FATAL)
    assert stored(database) == (5 if is_partial else 0)


@BOTH
def test_a_table_that_is_gone_is_fatal(open_influxdb):
    database = open_influxdb()
    database.create([TABLE], 10)
    with database.connect() as session:
        drop(database, [TABLE])
        with pytest.raises(Refused, match="not found") as caught:
            session.send(encoded(session, readings()))
        assert session.classify(caught.value) is Failure.FATAL
    assert "run an insert first" in database.explain(caught.value)


@ONLY_2
def test_a_full_cache_means_not_applied(own_server):
    with own_server(storage_cache_max_memory_size="1000") as small:
        database = Influxdb(InfluxOptions(**small.options("small")))
        database.create([TABLE], 1000)
        with database.connect() as session:
            payload = encoded(session, readings(1000))
            with pytest.raises(Refused, match="cache-max-memory-size exceeded") as caught:
                session.send(payload)
            assert session.classify(caught.value) is Failure.NOT_APPLIED


# --- being refused -------------------------------------------------------------------------------


@ONLY_2
def test_a_token_that_is_missing_is_named_before_anything_starts(open_influxdb):
    (problem,) = open_influxdb(token=None).problems(PrimaryKey.DB, 1, BATCH, 10)
    assert "the token is missing" in problem


@ONLY_2
def test_an_unknown_organization_is_named(open_influxdb):
    for reported in refusal(open_influxdb(org="nowhere")):
        assert 'organization name "nowhere" not found; name another' in reported


@pytest.mark.parametrize("name", ["time", "_value"])
def test_a_column_whose_name_influxdb_reserves_is_named(name):
    database = Influxdb(InfluxOptions(url="http://127.0.0.1:1", token="t"))
    table = Table("t", (*TABLE.columns, Column(name, Type.TEXT, Role.FIELD)), ())
    with pytest.raises(SetupError, match=f"column {name}: InfluxDB reserves"):
        database.create([table], 1)


# --- what the server is asked --------------------------------------------------------------------


@ONLY_2
def test_a_mapping_that_leads_influxql_to_another_bucket_is_named(open_influxdb, server):
    database = open_influxdb()
    options = database.options
    ours, theirs = f"{options.prefix}events", f"{options.prefix}of_others"
    with InfluxDBClient(server.url, server.token, org=options.org) as client:
        bucket = client.buckets_api().create_bucket(bucket_name=theirs)
        service = DBRPsService(client.api_client)
        asked = DBRPCreate(
            bucket_id=bucket.id, org=options.org, database=ours, retention_policy="autogen"
        )
        mapping = service.post_dbrp(asked)
        with pytest.raises(SetupError, match=f"{ours} is mapped to another bucket.*dbrp list"):
            database.describe()
        service.delete_dbrpid(mapping.id, org=options.org)
    assert database.describe().version.startswith("InfluxDB ")


@BOTH
def test_durability_is_read_from_the_server(open_influxdb):
    server = open_influxdb().describe()
    assert server.version.startswith("InfluxDB ")
    assert server.durable
    assert "wal-fsync-delay=0s" in server.durability


@BOTH
def test_a_shard_spans_as_much_time_as_wanted(open_influxdb):
    database = open_influxdb(shard_group_s=3600)
    database.create([TABLE], 10)
    with database.connect() as session:
        session.send(encoded(session, readings(rows=10_000)))  # 2.8 hours
        assert len([*session.stream(database.render(RowsQuery(TABLE)), 4000)]) >= 3
    if database.name == "influxdb1":
        with database.connect() as session:
            asked = f'SHOW RETENTION POLICIES ON "{database.options.prefix}events"'
            ((_, found),) = session.influxql(asked)
            assert found["shardGroupDuration"] == ("1h0m0s",)
    assert stored(database) == 10_000


@ONLY_2
def test_compacting_writes_the_cache_to_files(open_influxdb):
    wide = Wideset(PrimaryKey.DB)
    database = open_influxdb()
    wide.fill(database)
    with database.connect() as session:
        ids = _bucket_ids(session, database.buckets(wide.tables))
        (log, *logs) = [s.value for s in shard_metrics(session, ("storage_wal_size",), ids)]
        files = shard_metrics(session, ("storage_tsm_files_total",), ids)
    assert len(ids) == 2
    assert not any((log, *logs))
    assert all(sample.value for sample in files)
