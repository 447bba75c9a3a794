"""QuasarDB, tested with its client library and without a server.

The library is the real one: its types, push modes, checks of arrays and errors. Calls to a server
are only recorded, and only methods that the library's classes have.
"""

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from pydantic import ValidationError

from simulator.data.block import Block, Coded, Values
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Condition,
    DistinctQuery,
    Function,
    NewestQuery,
    OneOf,
    Operator,
    RowsQuery,
    Selection,
)
from simulator.data.schema import Column, PrimaryKey, Role, Table, TimeUnit, Type
from simulator.data.workloads.iot import EVENTS
from simulator.errors import RunError, SetupError, UnstorableError
from simulator.modules.contract import BATCH, SINGLE, Failure, Unsupported
from simulator.modules.quasardb.database import QuasarDb, QuasarOptions
from simulator.modules.quasardb.query import check_names
from simulator.modules.quasardb.session import ASYNC, FAST, MaskedColumns, QuasarSession
from tests.contract.harness import Wideset, ask, drop
from tests.contract.targets import BY_ADDRESS
from tests.servers import free_port

quasardb = pytest.importorskip("quasardb")
import quasardb.numpy as qdbnp  # noqa: E402  # what the client itself checks arrays with

COLUMNS = (
    Column("t", Type.TIMESTAMP, Role.TIME),
    Column("site", Type.TEXT, Role.TAG),
    Column("small", Type.INT16, Role.FIELD),
    Column("level", Type.FLOAT32, Role.FIELD, nullable=True),
    Column("running", Type.BOOL, Role.FIELD),
    Column("seen", Type.TIMESTAMP, Role.FIELD, nullable=True),
    Column("note", Type.TEXT, Role.FIELD, nullable=True),
)
POINTS = Table("points", COLUMNS, ("site", "t"), TimeUnit.MICROSECOND)
EVENTS_TABLE = EVENTS.stored(PrimaryKey.NONE, 1)


def database(**given):
    return QuasarDb(QuasarOptions(**{"uri": "qdb://127.0.0.1:2836", **given}))


def points(rows=4, **columns):
    number = np.arange(rows)
    data = {
        "t": Values(1_700_000_000_000_007 + number),
        "site": Coded(number % 2, np.array([b"a", "Zürich".encode()])),
        "small": Values((number - 2).astype(np.int16)),
        "level": Values((number / 4).astype(np.float32), number > 0),
        "running": Values(number % 2 == 0),
        "seen": Values(np.where(number % 2, number, 2**63 - 1), number % 2 == 1),
        "note": Values(np.array([b"x", b"y"]).take(number % 2), number < 3),
        **columns,
    }
    return Block(POINTS, 0, number, data)


# --- a synthetic cluster -------------------------------------------------------------------------


class Recorded:
    """Records the calls of methods that an object of the library has."""

    def __init__(self, of, calls, **answers):
        self._of, self._calls, self._answers = of, calls, answers

    def __getattr__(self, name):
        assert hasattr(self._of, name), f"{self._of.__name__} has no {name}"

        def called(*args, **kwargs):
            self._calls.append((name, args, kwargs))
            answer = self._answers.get(name)
            return answer(*args, **kwargs) if callable(answer) else answer

        return called


@pytest.fixture
def calls():
    return []


@pytest.fixture
def tables():
    return set()


@pytest.fixture
def answers():
    """What the next queries give."""
    return []


@pytest.fixture
def cluster(calls, tables, answers):
    library = quasardb.quasardb

    def table(name):
        return Recorded(
            library.Table,
            calls,
            exists=lambda: name in tables,
            create=lambda *_: tables.add(name),
            remove=lambda: tables.remove(name),
        )

    return Recorded(
        library.Cluster,
        calls,
        table=table,
        writer=lambda: Recorded(library.Writer, calls),
        options=lambda: Recorded(library.Options, calls),
        query_numpy=lambda _: answers.pop(0),
        stream_query=lambda _, **__: nullcontext(answers.pop(0)),
        endpoints=["10.0.0.1:2836"],
        node_status=lambda _: {"engine_version": "3.14.1"},
        node_config=lambda _: {"local": {"depot": {"rocksdb": {"sync_every_write": True}}}},
    )


@pytest.fixture
def connected(monkeypatch, cluster):
    monkeypatch.setattr(quasardb, "Cluster", lambda *_, **__: cluster)
    return database


def recorded_driver():
    """The library, with a container of rows that takes tables which are none."""
    appended = []
    data = SimpleNamespace(append=lambda *given: appended.append(given))
    names = ("WriterPushMode", "RetryOptions", "AliasNotFoundError", "IncompatibleTypeError",
             "InvalidArgumentError", "OutOfBoundsError", "TryAgainError",
             "AsyncPipelineFullError")  # fmt: skip
    driver = SimpleNamespace(
        WriterData=lambda: data, **{name: getattr(quasardb, name) for name in names}
    )
    return driver, appended


# --- the library ---------------------------------------------------------------------------------


def test_the_library_takes_the_arrays_as_they_are():
    """Its own checks find nothing to convert, so that nothing is converted while the clock runs."""
    types = quasardb.ColumnType
    kinds = [("site", types.String), ("small", types.Int64), ("level", types.Double),
             ("running", types.Int64), ("seen", types.Int64), ("note", types.String)]  # fmt: skip
    index, arrays = MaskedColumns(POINTS).encode(points())
    qdbnp._validate_dtypes(arrays, kinds)
    wanted = qdbnp._add_desired_dtypes([None] * len(kinds), kinds)
    coerced = qdbnp._coerce_data(list(arrays), wanted)
    assert all(after is before for after, before in zip(coerced, arrays, strict=True))
    assert index.dtype == np.dtype("datetime64[ns]")
    assert index.astype(np.int64).tolist()[:2] == [1_700_000_000_000_007_000,
                                                   1_700_000_000_000_008_000]  # fmt: skip
    assert [column.tolist() for column in arrays] == [
        ["a", "Zürich", "a", "Zürich"],
        [-2, -1, 0, 1],
        [None, 0.25, 0.5, 0.75],
        [1, 0, 1, 0],
        [None, 1, None, 3],
        ["x", "y", "x", None],
    ]


def test_a_connection_to_a_closed_port_is_refused_in_plain_words():
    refused = database(uri=f"qdb://127.0.0.1:{free_port()}")
    for attempt in (refused.connect, refused.describe, lambda: drop(refused, [POINTS])):
        with pytest.raises(SetupError, match=r"quasardb: qdb://.*Connection refused; check that"):
            attempt()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"uri": "qdb://no.such.host.invalid:2836"}, "cannot be resolved; check the host"),
        (
            {"user": "u", "user_private_key": "not-a-key", "cluster_public_key": "nor this"},
            "cryptographic key is invalid; check user_private_key",
        ),
    ],
)
def test_the_librarys_message_has_a_remedy_and_not_the_key(given, message):
    with pytest.raises(SetupError, match=message) as caught:
        database(**given).connect()
    assert "not-a-key" not in str(caught.value)


@pytest.mark.parametrize("uri", ["http://h:2836", "qdb://h", "h:2836"])
def test_an_address_of_another_kind_is_refused_at_once(uri):
    with pytest.raises(ValidationError, match="uri"):
        database(uri=uri)


def test_a_user_without_keys_is_named_before_anything_starts():
    found = database(user="u").problems(PrimaryKey.NONE, 1, BATCH, 10)
    assert found == ["user, user_private_key and cluster_public_key go together; set all of them"]
    assert database().problems(PrimaryKey.NONE, 1, BATCH, 10) == []


@pytest.mark.parametrize("group", BY_ADDRESS["quasardb"].lacks)
def test_the_values_that_it_cannot_store_are_in_its_row_of_the_contract(group):
    wide = Wideset(lacks=[each for each in BY_ADDRESS["quasardb"].lacks if each is not group])
    with pytest.raises(UnstorableError):  # noqa: PT012  # from one or the other
        check_names(wide.tables)
        [MaskedColumns(block.table).encode(block) for block in wide.batches]


# --- rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("push", "asked", "mode", "expected"),
    [
        ("transactional", SINGLE, SINGLE, "Transactional"),
        ("transactional", BATCH, BATCH, "Transactional"),
        ("fast", BATCH, FAST, "Fast"),
        ("async", BATCH, ASYNC, "Async"),
        ("async", SINGLE, SINGLE, "Transactional"),
    ],
)
def test_what_is_pushed_and_how(  # noqa: PLR0917
    cluster, calls, push, asked, mode, expected
):
    assert database(push=push).insert_mode(asked) == mode
    driver, appended = recorded_driver()
    session = QuasarSession(driver, cluster, write_through=True)
    payloads = session.encode(points(), mode, 3)
    assert [payload.rows for payload in payloads] == [3, 1]
    for payload in payloads:
        session.send(payload)
    pushes = [kwargs for name, _, kwargs in calls if name == "push"]
    assert [kwargs["push_mode"] for kwargs in pushes] == [
        getattr(quasardb.WriterPushMode, expected)
    ] * 2
    assert all(not kwargs["retries"].has_next() for kwargs in pushes)
    assert [len(index) for _, index, _ in appended] == [3, 1]
    assert len([name for name, _, _ in calls if name == "table"]) == 1


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"note": Values(np.array([b"x", b"", b"y", b"z"]))}, "note: an empty string means NULL"),
        ({"level": Values(np.array([1, np.nan, 2, 3], np.float32))}, "level: cannot be infinite"),
        ({"seen": Values(np.array([0, -(2**63), 1, 2]))}, "seen: -9223372036854775808 means NULL"),
        ({"t": Values(np.array([0, 2**62, 1, 2]))}, "t: 4611686018427387904 us is outside"),
    ],
)
def test_a_value_that_quasardb_cannot_hold_is_refused(columns, message):
    with pytest.raises(UnstorableError, match=message):
        MaskedColumns(POINTS).encode(points(**columns))


@pytest.mark.parametrize("name", ["two words", "1st", 'a"b', "é"])
def test_a_name_of_another_form_than_documented_is_refused(name):
    with pytest.raises(UnstorableError, match="QuasarDB does not allow these names: table"):
        database().create([replace(POINTS, name=name)], 10)


@pytest.mark.parametrize(
    ("error", "meaning", "alive"),
    [
        ("AliasNotFoundError", Failure.FATAL, True),
        ("IncompatibleTypeError", Failure.FATAL, True),
        ("TryAgainError", Failure.UNKNOWN, True),
        ("AsyncPipelineFullError", Failure.UNKNOWN, True),
        ("Error", Failure.UNKNOWN, False),
    ],
)
def test_what_an_error_means_for_the_rows(cluster, error, meaning, alive):
    session = QuasarSession(quasardb, cluster, write_through=True)
    assert session.classify(getattr(quasardb, error)("words")) is meaning
    assert session.alive is alive


# --- tables --------------------------------------------------------------------------------------


def test_tables_are_created_with_types_that_hold_every_value(connected, calls, tables):
    connected(shard_size_s=3600).create([POINTS], 10)
    ((columns, size),) = [args for name, args, _ in calls if name == "create"]
    types = quasardb.ColumnType
    assert [(column.name, column.type) for column in columns] == [
        ("site", types.String),
        ("small", types.Int64),
        ("level", types.Double),
        ("running", types.Int64),
        ("seen", types.Int64),
        ("note", types.String),
    ]
    assert size.total_seconds() == 3600
    assert tables == {"points"}


def test_a_second_table_in_the_way_leaves_no_first_one_behind(connected, tables):
    tables.add("points")
    with pytest.raises(SetupError, match=r"points already exists.*--clean"):
        connected().create([EVENTS_TABLE, POINTS], 10)
    assert tables == {"points"}


def test_dropping_takes_what_is_named_and_may_be_repeated(connected, tables):
    tables.update({"points", "points0", "points3", "other"})
    connected().drop(["points", "points0"])
    connected().drop(["points", "points0"])
    assert tables == {"points3", "other"}


def test_only_if_asked_old_versions_are_trimmed_before_files_are_compacted(connected, calls):
    connected().compact([POINTS])
    assert calls == []
    connected(trim=True).compact([POINTS])
    names = [name for name, _, _ in calls]
    order = [names.index(name) for name in ("trim_all", "compact_full", "wait_for_compaction")]
    assert order == sorted(order)


def test_pipelines_are_waited_for_until_the_count_rests(connected, answers):
    counts = [1, 2, *[3] * 21]
    answers += [[("count(sequence_number)", np.array([n]))] for n in counts]
    connected(push="async", quiet_s=0.3).visible([EVENTS_TABLE])
    assert len(answers) < 20


@pytest.mark.parametrize(("push", "durable"), [("transactional", True), ("async", False)])
def test_describe_reads_what_the_node_says(connected, push, durable):
    described = connected(push=push).describe()
    assert (described.version, described.nodes) == ("QuasarDB 3.14.1", 1)
    assert described.durable is durable
    assert described.durability.startswith("an acknowledged row is")
    assert described.settings["sync_every_write"] == "true"


# --- queries -------------------------------------------------------------------------------------


def test_each_part_is_asked_by_itself_in_a_range_and_the_answers_are_put_together(cluster, answers):
    table = EVENTS.stored(PrimaryKey.NONE, 4)
    temperature = (Aggregate(Function.AVG, "temperature"), Aggregate(Function.COUNT))
    query = AggregateQuery(
        table,
        temperature,
        by=("device_id",),
        selection=Selection((OneOf("device_id", ("d",)),), since=1000),
    )
    statement = database().render(query)
    assert statement.text.splitlines()[3] == (
        'SELECT "device_id", sum("temperature"), count("sequence_number") '
        'FROM "events3" IN RANGE(1970-01-01T00:00:01.000000000Z, 2262-04-11T23:47:16.854775807Z) '
        'WHERE "device_id" = \'d\' GROUP BY "device_id"'
    )
    for total, count in ((1.5, 2), (2.0, 2)):
        columns = (["d"], [total], [count])
        answers.append([("", np.ma.masked_array(column)) for column in columns])
    answers += [[], []]
    session = QuasarSession(quasardb, cluster, write_through=True)
    assert ask(session, statement).rows == (("d", 0.875, 4),)


def test_rows_come_in_portions_with_their_times_in_the_tables_unit(cluster, answers):
    statement = database().render(RowsQuery(POINTS))
    assert statement.text.startswith('SELECT $timestamp, "site", "small"')
    index, arrays = MaskedColumns(POINTS).encode(points())
    names = [column.name for column in COLUMNS]
    answers.append(
        [
            dict(zip(names, [index[part], *(a[part] for a in arrays)], strict=True))
            for part in (slice(0, 3), slice(3, 4))
        ]
    )
    session = QuasarSession(quasardb, cluster, write_through=True)
    portions = list(session.stream(statement, 3))
    assert [len(portion) for portion in portions] == [3, 1]
    assert portions[0][1] == (1_700_000_000_000_008, "Zürich", -1, 0.25, 0, 1, "y")
    assert portions[0][0][3] is None


def test_a_sum_that_64_bits_may_not_hold_is_an_error(cluster, answers):
    query = AggregateQuery(POINTS, (Aggregate(Function.SUM, "seen"),))
    answers.append([("", np.array([n])) for n in (7, 3, -(2**62), 2**62)])
    session = QuasarSession(quasardb, cluster, write_through=True)
    with pytest.raises(RunError, match="overflow"):
        session.run(database().render(query))


def test_selected_rows_and_the_newest_of_them():
    chosen = Selection(
        (OneOf("device_id", ("d", "e")),), (Condition("temperature", Operator.AT_LEAST, 1.5),)
    )
    one = Selection((OneOf("device_id", ("d",)),), until=1000)
    where = 'WHERE ("device_id" = \'d\' OR "device_id" = \'e\') AND "temperature" >= 1.5'
    texts = {
        RowsQuery(EVENTS, ("temperature", "timestamp"), chosen): (
            f'SELECT "temperature", $timestamp FROM "events" {where}'
        ),
        RowsQuery(EVENTS, ("temperature",), one, 5): (
            'SELECT "temperature" FROM "events" IN RANGE(1677-09-21T00:12:43.145224193Z, '
            "1970-01-01T00:00:01.000000000Z) WHERE \"device_id\" = 'd' "
            "ORDER BY $timestamp DESC LIMIT 5"
        ),
        NewestQuery(EVENTS, ("device_id",), ("temperature",), chosen): (
            f'SELECT "device_id", last("temperature") FROM "events" {where} GROUP BY "device_id"'
        ),
    }
    for query, text in texts.items():
        assert database().render(query).text == text


@pytest.mark.parametrize(
    "query",
    [
        AggregateQuery(POINTS, (Aggregate(Function.COUNT),), bucket=60),
        AggregateQuery(POINTS, (Aggregate(Function.MAX, "t"),)),
        AggregateQuery(
            POINTS, (Aggregate(Function.COUNT),), selection=Selection((OneOf("site", ("it's",)),))
        ),
        AggregateQuery(POINTS, (Aggregate(Function.LAST, "level"),), by=("site",)),
        AggregateQuery(POINTS, (Aggregate(Function.COUNT),), bucket=60, newest=5),
        RowsQuery(POINTS, selection=Selection(compared=(Condition("level", Operator.MORE, 1),))),
        RowsQuery(replace(POINTS, parts=4), ("t",), Selection((OneOf("site", ("a",)),)), 5),
        NewestQuery(POINTS, ("site",), ("level",)),
        DistinctQuery(POINTS, POINTS.key),
    ],
)
def test_a_query_of_undocumented_form_is_unsupported(query):
    with pytest.raises(Unsupported):
        database().render(query)
