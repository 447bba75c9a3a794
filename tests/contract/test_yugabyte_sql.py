"""What is specific to YugabyteDB: tested on PostgreSQL where the two agree.

Statements that PostgreSQL cannot parse are compared with the vendor's documentation as text.
"""

import psycopg2
import pytest

from simulator.data.query import Aggregate, AggregateQuery, Function
from simulator.data.schema import Column, PrimaryKey, Role, Table, Type
from simulator.data.workloads.iot import EVENTS
from simulator.errors import SetupError
from simulator.modules.contract import BATCH, SINGLE, Failure
from simulator.modules.shared.sql.transactions import TRANSACTION, VALUES
from simulator.modules.yugabyte_sql import YugabyteSql, YugabyteSqlOptions
from tests.contract.harness import Wideset
from tests.standins.relatives import YugabyteSqlOnPostgres

pytestmark = pytest.mark.server("postgres")

MODES = [SINGLE, BATCH, VALUES, TRANSACTION]


@pytest.fixture
def open_yugabyte(server_options):
    def make(cls=YugabyteSqlOnPostgres, **options):
        return cls(YugabyteSqlOptions(**{**server_options, **options}))

    return make


# --- what PostgreSQL can run ---------------------------------------------------------------------


@pytest.fixture
def conflicting(open_yugabyte, execute):
    """A database in which every insert fails as a transaction that must be tried again."""
    database = open_yugabyte()
    database.create(Wideset().tables, 10)
    execute(
        "CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION "
        "'Restart read required' USING ERRCODE = '40001'; END $$",
        "CREATE TRIGGER conflict BEFORE INSERT ON readings FOR EACH STATEMENT "
        "EXECUTE FUNCTION conflict()",
    )
    return database


@pytest.mark.parametrize(
    ("atomic", "meaning"), [(True, Failure.NOT_APPLIED), (False, Failure.UNKNOWN)]
)
@pytest.mark.parametrize("mode", MODES)
def test_where_writes_are_no_transactions_a_failed_send_may_be_stored_in_part(
    conflicting, mode, atomic, meaning
):
    with conflicting.connect() as session:
        session.atomic = atomic
        (payload,) = session.encode(Wideset().batches[0].slice(0, 1), mode, 1)
        with pytest.raises(psycopg2.Error) as caught:
            session.send(payload)
        assert session.classify(caught.value) is meaning

        session.connection.close()
        with pytest.raises(psycopg2.Error) as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.NOT_APPLIED  # it was never sent


def test_writes_are_transactions_unless_the_server_says_otherwise(open_yugabyte):
    with open_yugabyte().connect() as session:
        assert session.atomic


def test_the_size_has_the_tables_and_their_indices(open_yugabyte):
    wide = Wideset(PrimaryKey.CLIENT)
    database = open_yugabyte(create_indices=True)
    wide.fill(database)
    with database.connect() as session, session.connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(pg_table_size(oid)) FROM pg_class WHERE relname IN "
            "('readings', 'Machine States', 'readings_series_index', 'readings_field_index', "
            "'Machine States_series_index', 'Machine States_field_index')"
        )
        ((expected,),) = cursor.fetchall()
    assert database.size_bytes(wide.tables) == expected


# --- by the vendor's documentation, not run ------------------------------------------------------


def test_a_session_makes_copy_one_transaction_and_takes_the_options(open_yugabyte):
    def own(**options):
        settings = open_yugabyte(YugabyteSql, **options).session_settings()
        return {name: value for name, value in settings.items() if name.startswith("yb_")}

    whole = {"yb_default_copy_from_rows_per_transaction": "0"}
    assert own() == whole
    assert own(
        yb_enable_expression_pushdown=True,
        yb_enable_upsert_mode=True,
        yb_disable_transactional_writes=False,
    ) == {
        **whole,
        "yb_enable_expression_pushdown": "on",
        "yb_enable_upsert_mode": "on",
        "yb_disable_transactional_writes": "off",
    }


def test_the_settings_are_sent_to_the_server(open_yugabyte):
    # PostgreSQL has none of them and refuses them.
    with pytest.raises(SetupError, match='parameter "yb_default_copy_from_rows_per_transaction"'):
        open_yugabyte(YugabyteSql).connect()


def test_a_sharded_key_and_tablets_read_as_documented(open_yugabyte):
    database = open_yugabyte(
        primary_key_constraint="PRIMARY KEY (device_id HASH, timestamp ASC, sequence_number ASC)",
        tablets=12,
    )
    (statement,) = database.create_table(EVENTS.stored(PrimaryKey.DB, 1), "events", 1000)
    assert statement == (
        "CREATE TABLE events (id bigserial, timestamp bigint, device_id varchar, "
        "sequence_number bigint, temperature real, "
        "PRIMARY KEY (device_id HASH, timestamp ASC, sequence_number ASC)) SPLIT INTO 12 TABLETS"
    )


def test_a_mean_of_doubles_is_a_quotient_and_a_mean_of_reals_is_not(open_yugabyte):
    columns = {Type.FLOAT64: "load", Type.FLOAT32: "celsius"}
    table = Table(
        "rooms",
        (
            Column("time", Type.INT64, Role.TIME),
            *(Column(name, kind, Role.FIELD) for kind, name in columns.items()),
        ),
        key=("time",),
    )
    means = tuple(Aggregate(Function.AVG, name) for name in columns.values())

    assert open_yugabyte(YugabyteSql).render(AggregateQuery(table, means)).text == (
        "SELECT sum(load) / count(load), avg(celsius) FROM rooms"
    )


def test_upserts_and_indices_exclude_each_other(open_yugabyte):
    database = open_yugabyte(yb_enable_upsert_mode=True, create_indices=True)
    (problem,) = database.problems(PrimaryKey.DB, 1, BATCH, 100)
    assert "yb_enable_upsert_mode" in problem
