"""What every database module must do: the same cases for every row of targets.py."""

import re
import socket
import threading
import time
from datetime import datetime
from itertools import chain

import numpy as np
import pytest

from simulator.control.database.marks import MarkTable
from simulator.data.answer import answer
from simulator.data.block import Block
from simulator.data.features import Feature, features_of
from simulator.data.query import (
    EVERYTHING,
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    Operator,
    Output,
    RowsQuery,
)
from simulator.data.ranges import RowRange
from simulator.data.schema import PrimaryKey, Type
from simulator.errors import BenchError, UnstorableError
from simulator.load.write.preparing import write_files
from simulator.modules.contract import (
    BATCH,
    DRIVER,
    IMPORT,
    SINGLE,
    Capabilities,
    Database,
    Session,
    Unsupported,
)
from simulator.protocol.mark import Mark, State
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.accounting import verify_interrupted
from simulator.verify.stored.comparison import verify
from tests.contract.harness import Wideset, ask, count, drop, send
from tests.contract.targets import STORING, TARGETS, Duplicate, Target
from tests.contract.wide import ROWS, Awkward
from tests.unit.handed_over import SHORTENED, WITH_ZONE, read_handed_over

COUNT = (Aggregate(Function.COUNT),)
READ_HERE = {
    name: target
    for name, target in STORING.items()
    if target.database.capabilities.in_client and not target.database.capabilities.embedded
}
"""Targets whose answers come through a socket and are decoded or combined in Python."""
READ_S = 0.15
"""How much longer each read from a socket takes in the test of waiting."""
IMPORTING = {n: t for n, t in STORING.items() if IMPORT in t.database.capabilities.modes}
OBJECTS = ("duckdb", "quasardb", "sqlite")
"""Modules whose drivers make the bytes."""
COMPACTED = {
    "cassandra": ("memtable flushes", "compaction tasks"),
    "elasticsearch": ("refreshes", "flushes"),
}
"""Module -> counters of its own work that rise when tables are compacted."""
SAME_KEY = "(?i)unique|duplicate|same primary key"
"""How databases call a key that exists."""
NO_REASON = Capabilities({}, {}, "").no_plans
SINGLE_ROWS = 72
"""Of each table; among them is every value of the columns that hold awkward ones."""


def _modes_and_keys(target: Target) -> list[tuple[str, PrimaryKey]]:
    """Every insert mode with the default key, and every key with `batch`.

    How a key is encoded depends on what sends the rows and not on the mode, so the rest of the
    product adds nothing.
    """
    can = target.database.capabilities
    pairs = [(mode, can.default_key) for mode in can.modes]
    others = [k for k in can.primary_keys if k not in (can.default_key, *target.lacks_keys)]
    return pairs + [(mode, key) for mode in (BATCH, DRIVER) if mode in can.modes for key in others]


MODES_AND_KEYS = [
    pytest.param(target, mode, key, id=f"{name}-{mode}-{key}")
    for name, target in STORING.items()
    for mode, key in _modes_and_keys(target)
]


@pytest.mark.parametrize(("target", "mode", "primary_key"), MODES_AND_KEYS)
def test_every_value_comes_back_as_it_was_sent(request, target, mode, primary_key):
    database, wide = target.open(request), target.wide(primary_key, mode=mode)
    blocks = [block.slice(0, SINGLE_ROWS) if mode == SINGLE else block for block in wide.batches]
    database.create(wide.tables, 100)
    with database.connect() as session:
        _expect_sizes(database, session, wide.batches[0], mode)
        for block in blocks:
            send(session, block, mode, 1 if mode == SINGLE else 100)
    database.visible(wide.tables)

    with database.connect() as session:
        for table in wide.tables:
            query = RowsQuery(table)
            assert ask(session, database.render(query)) == wide.answer(query, blocks)


def _expect_sizes(database: Database, session: Session, block: Block, mode: str) -> None:
    """Check that payloads know how many bytes are sent.

    At least those of the texts in it, unless compressed; unknown where a driver makes them.
    """
    rows = 1 if mode == SINGLE else 20
    payloads = session.encode(block, mode, rows)
    if (database.name in OBJECTS and mode != IMPORT) or mode.startswith(DRIVER):
        assert {payload.size_bytes for payload in payloads} == {None}
        return
    if getattr(database.options, "gzip", False):
        assert [payload.size_bytes for payload in payloads] == [len(p.data[-1]) for p in payloads]
        return
    columns = [column.name for column in block.table.columns if column.type is Type.TEXT]
    for place, payload in enumerate(payloads):
        mine = np.arange(place * rows, place * rows + payload.rows)
        texts = [text for name in columns for text in block.data[name].take(mine).present()]
        assert payload.size_bytes >= sum(map(len, texts))


@pytest.mark.parametrize("parts", [1, 4])
def test_every_query_is_answered_correctly_or_refused_as_unsupported(target, database, parts):
    """Check sums beyond 64 bits, too, and that work of the client is counted where it has some."""
    wide, at_work = target.wide(parts=parts), set()
    wide.fill(database)
    with database.connect() as session:
        for name, query in wide.queries.items():
            reasons = database.capabilities.unsupported
            refused = [reasons[each] for each in features_of(query) if each in reasons]
            if refused or name in (target.unsupported or ()):
                with pytest.raises(Unsupported, match="; .*".join(map(re.escape, refused)) or None):
                    database.render(query)
                continue
            try:
                statement = database.render(query)
            except Unsupported:
                assert target.unsupported is None, name
                continue
            before_s, began_s = session.client_s, time.perf_counter()
            rows = session.run(statement)
            elapsed_s, client_s = time.perf_counter() - began_s, session.client_s - before_s
            at_work.add(client_s > 0)
            assert client_s < elapsed_s
            found = answer(statement.outputs, rows)
            assert (found == wide.answer(query)) == (name not in target.wrong), name
        if Awkward.LARGE_INTEGERS not in target.lacks:
            expect_large_sum(target, database, session, wide)
    assert at_work == {bool(database.capabilities.in_client)}


def expect_large_sum(target: Target, database: Database, session: Session, wide: Wideset) -> None:
    query = AggregateQuery(wide.tables[0], (Aggregate(Function.SUM, "large"),))
    if target.sums_beyond_64_bits:
        assert ask(session, database.render(query)) == wide.answer(query)
    else:
        with pytest.raises(Exception, match=r"(?i)overflow"):
            session.run(database.render(query))


@pytest.mark.parametrize(
    ("target", "group"),
    [pytest.param(t, g, id=f"{n}-{g}") for n, t in STORING.items() for g in t.lacks],
)
def test_a_value_that_it_cannot_store_is_refused_before_it_is_sent(request, target, group):
    database, primary_key = target.open(request), target.wide().dataset.primary_key
    wide = Wideset(primary_key, lacks=[other for other in target.lacks if other is not group])

    def create_and_encode():
        database.create(wide.tables, 100)
        with database.connect() as session:
            [session.encode(batch, BATCH, 100) for batch in wide.batches]

    with pytest.raises(UnstorableError):
        create_and_encode()


@pytest.mark.parametrize("parts", [pytest.param(1, marks=pytest.mark.rare), 4])
def test_the_product_verifies_what_is_stored_and_finds_what_is_missing(target, database, parts):
    wide = target.wide(PrimaryKey.CLIENT, parts)
    wide.fill(database)
    assert verify(database, wide.dataset, (), VerifyMode.FULL).status is Status.VERIFIED

    drop(database, wide.tables)
    database.create(wide.tables, 100)
    first, *others = wide.batches
    with database.connect() as session:
        for batch in (first.slice(0, len(first) - 1), *others):
            send(session, batch, BATCH, 100)
    database.visible(wide.tables)
    lost = int(first.rows[-1])
    verdict = verify(database, wide.dataset, (), VerifyMode.FULL)
    assert verdict.status is Status.MISMATCH
    assert any(f"missing 1 ({lost})" in check.found for check in verdict.checks)

    interrupted = verify_interrupted(database, wide.dataset)
    assert interrupted.status is Status.INCOMPLETE
    assert (interrupted.uncertain_present, interrupted.uncertain_absent) == (ROWS - 1, 1)

    uncertain = [RowRange(start=lost, stop=lost + 1)]
    assert verify(database, wide.dataset, uncertain, VerifyMode.FULL).status is not Status.MISMATCH
    uncertain = [RowRange(start=lost - 1, stop=lost + 1)]
    counted = verify(database, wide.dataset, uncertain, VerifyMode.COUNTS)
    assert counted.status is Status.INCOMPLETE
    assert (counted.uncertain_present, counted.uncertain_absent) == (1, 1)

    drop(database, wide.tables)
    for mode in (VerifyMode.COUNTS, VerifyMode.FULL):
        assert verify(database, wide.dataset, (), mode).status is Status.MISMATCH


def test_rows_are_streamed_in_portions_of_the_types_that_are_documented(target, database):
    wide = target.wide()
    wide.fill(database)
    statement = database.render(RowsQuery(wide.tables[0]))
    with database.connect() as session:
        portions = list(session.stream(statement, 70))
        everything = session.run(statement)
        unfinished = session.stream(statement, 70)
        next(unfinished)
        unfinished.close()
        assert count(database, session, wide.tables[0]) == 300

    assert len(portions) > 3
    assert all(0 < len(portion) <= 70 for portion in portions)
    assert sorted(map(str, chain(*portions))) == sorted(map(str, everything))
    types: dict[Type, set[str]] = {}
    for row in chain(*portions):
        for column, cell in zip(statement.outputs, row, strict=True):
            if cell is not None:
                types.setdefault(column.type, set()).add(_type_of(column, cell))
    assert types == {kind: read_handed_over()[database.name][kind] for kind in types}


def _type_of(column: Output, cell: object) -> str:
    if isinstance(cell, datetime) and cell.tzinfo:
        return type(cell).__name__ + WITH_ZONE
    return type(cell).__name__ + SHORTENED * column.shortened


@pytest.mark.parametrize("target", READ_HERE.values(), ids=READ_HERE)
def test_the_time_that_an_answer_takes_to_arrive_is_waiting(request, target, monkeypatch):
    database, wide = target.open(request), target.wide()
    wide.fill(database)
    query, reads = RowsQuery(wide.tables[0]), []

    def slow(read):
        def slowed(*arguments):
            reads.append(read)
            time.sleep(READ_S)
            return read(*arguments)

        return slowed

    with database.connect() as session:
        statement = database.render(query)
        with monkeypatch.context() as patched:
            for name in ("recv", "recv_into"):
                patched.setattr(socket.socket, name, slow(getattr(socket.socket, name)))
            before_s = session.client_s
            found = answer(statement.outputs, session.run(statement))
    assert found == wide.answer(query)
    assert reads
    assert 0 < session.client_s - before_s < READ_S


def test_neither_create_nor_drop_touches_another_table_and_none_is_left_behind(target, database):
    wide = target.wide()
    wide.fill(database)
    kept, dropped = wide.tables
    with pytest.raises(BenchError, match=r"already exists.*--clean"):
        database.create(wide.tables, 100)
    drop(database, [dropped])
    with database.connect() as session:
        assert count(database, session, kept) == 300

    database.create([dropped], 100)
    drop(database, [kept])
    with pytest.raises(BenchError, match="already exists"):
        database.create(wide.tables, 100)
    drop(database, [dropped])
    database.create(wide.tables, 100)


def test_drop_removes_every_part_and_may_be_repeated(target, database):
    for wide in (target.wide(), target.wide(parts=4)):
        drop(database, wide.tables)
        database.create(wide.tables, 100)
        drop(database, wide.tables)
        drop(database, wide.tables)
        names = [name for table in wide.tables for name in database.objects(table)]
        assert database.find_existing(names) == {}


def _mark(wide: Wideset) -> Mark:
    return Mark(
        sweep_id="20261122-120000-ab12",
        run_id="20261122-120000-ab12-4-1",
        state=State.WRITING,
        tables=tuple(table.name for table in wide.tables),
        dataset=wide.dataset,
        version="0.2.0",
        by="anna@laptop",
        at_ms=0,
    )


COLUMNS_NAMED = {
    "cassandra": {"clustering_columns": "site"},
    "clickhouse_embedded": {"order_by": "site"},
    "postgres17": {"primary_key_constraint": "PRIMARY KEY (site, time)"},
}


@pytest.mark.parametrize(
    ("target", "options"),
    [pytest.param(TARGETS[name], options, id=name) for name, options in COLUMNS_NAMED.items()],
)
def test_options_that_name_columns_of_the_workload_do_not_affect_marks(request, target, options):
    database = target.open(request, **options)
    marks = MarkTable(database)
    marks.open()

    assert marks.missing == ""
    assert marks.write_last(_mark(target.wide())).state is State.WRITING


def test_marks_are_kept_beside_the_tables_and_the_newest_one_counts(target, database):
    wide = target.wide()
    first = _mark(wide)
    second = first.model_copy(update={"state": State.COMPLETE})
    assert MarkTable(database).read().entries == ()

    writer = MarkTable(database)
    writer.open()
    assert writer.missing == ""
    first = writer.write(first)
    wide.fill(database)
    size = database.size_bytes(wide.tables)
    writer.renew(first)
    second = writer.write_last(second)
    found = MarkTable(database).read(visible=True)
    assert found.entries == (second, first)
    assert [*found.renewals] == [first.at_ms]
    assert database.size_bytes(wide.tables) == size or target.size_of_all

    drop(database, wide.tables)
    other = MarkTable(database)
    other.open()
    third = other.write_last(second)
    assert MarkTable(database).read().newest(second.tables) == third


def test_several_sessions_write_at_once(target, database):
    wide = target.wide(PrimaryKey.DB, parts=4)
    database.create(wide.tables, 10)
    errors: list[Exception] = []

    def write(share: int) -> None:
        try:
            with database.connect() as session:
                for batch in wide.batches[share::3]:
                    send(session, batch, BATCH, 10)
        except Exception as error:  # noqa: BLE001  # shown by the assertion
            errors.append(error)

    threads = [threading.Thread(target=write, args=(share,)) for share in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not errors
    database.visible(wide.tables)
    verdict = verify(database, wide.dataset, (), VerifyMode.COUNTS)
    assert verdict.status is Status.VERIFIED, verdict.reason
    if database.row_hash:
        assert verdict.level is VerifyMode.HASHES
        unseen = database.row_hash.unseen
        assert verdict.left_out == (f"hashes of rows: {unseen}",) * bool(unseen)


def test_a_row_whose_key_exists(target, database):
    wide = target.wide(PrimaryKey.CLIENT)
    wide.fill(database)
    # Where the driver lacks some values, the row has one of them.
    lacking = {DRIVER} & {*target.lacks_in}
    modes = [mode for mode in database.capabilities.modes if mode not in lacking]
    with database.connect() as session:
        for mode in modes:
            row = wide.batches[0].slice(0, 1)
            if target.duplicate is not Duplicate.REFUSED:
                send(session, row, mode, 1)
                continue
            with pytest.raises(Exception, match=SAME_KEY) as caught:
                send(session, row, mode, 1)
            assert session.classify(caught.value) == "fatal"
            assert session.alive
            assert re.search(SAME_KEY, database.explain(caught.value))
        database.visible(wide.tables)
        kept = len(modes) if target.duplicate is Duplicate.KEPT else 0
        assert count(database, session, wide.tables[0]) == 300 + kept


WITH_DRIVER = {n: t for n, t in STORING.items() if DRIVER in t.database.capabilities.modes}


@pytest.mark.parametrize("target", WITH_DRIVER.values(), ids=WITH_DRIVER)
def test_rows_that_a_driver_was_given_are_the_same_when_they_are_sent_again(target, database):
    wide = target.wide(PrimaryKey.CLIENT, mode=DRIVER)
    database.create(wide.tables, 100)
    with database.connect() as session:
        (payload,) = session.encode(wide.batches[0].slice(0, 1), DRIVER, 1)
        session.send(payload)
        if target.duplicate is Duplicate.REFUSED:
            with pytest.raises(Exception, match=SAME_KEY):
                session.send(payload)
        else:
            session.send(payload)
        database.visible(wide.tables)
        found = ask(session, database.render(RowsQuery(wide.tables[0])))
    rows = 2 if target.duplicate is Duplicate.KEPT else 1
    assert len(found.rows) == rows
    assert len({*found.rows}) == 1


@pytest.mark.parametrize(
    ("target", "mode", "group"),
    [
        pytest.param(target, mode, group, id=f"{name}-{mode}-{group}")
        for name, target in STORING.items()
        for mode, lacks in target.lacks_in.items()
        for group in lacks
    ],
)
def test_a_value_that_cannot_be_stored_in_a_mode_is_refused_before(request, target, mode, group):
    database = target.open(request)
    others = [each for each in target.lacks_in[mode] if each is not group]
    wide = Wideset(target.wide().dataset.primary_key, lacks=[*target.lacks, *others])
    with database.connect() as session:
        encode = session.encoder(wide.tables[0], wide.tables[0].name, mode)
        with pytest.raises(UnstorableError, match=r"import|client=own"):
            encode(wide.batches[0], 100)


@pytest.mark.parametrize("target", IMPORTING.values(), ids=IMPORTING)
def test_a_file_that_ends_with_no_row_is_not_imported(request, target, tmp_path):
    """All of it is refused, or it counts as uncertain; the session can be used, or says not."""
    database, wide = target.open(request), target.wide(mode=IMPORT)
    database.create(wide.tables, 100)
    block = wide.batches[0]
    with database.connect() as session:
        ((_, payload, _),) = write_files(session, [block], tmp_path)
        with payload.data[-1].open("ab") as file:
            file.write(b"no row\n")
        with pytest.raises(Exception, match=r".") as caught:
            session.send(payload)
        meaning = session.classify(caught.value)
        assert meaning in ("fatal", "unknown")
        assert session.alive
        stored = count(database, session, block.table)
    assert stored == 0 if meaning == "fatal" else stored in (0, len(block), len(block) + 1)


def test_size_grows_with_rows_and_indices(target, database):
    wide = target.wide()
    database.create(wide.tables, 100)
    database.compact(wide.tables)
    sizes = [database.size_bytes(wide.tables)]
    wide.fill(database)
    sizes.append(database.size_bytes(wide.tables))
    if database.capabilities.indices:
        database.create_indices(wide.tables)
        database.create_indices(wide.tables)
        database.compact(wide.tables)
        sizes.append(database.size_bytes(wide.tables))
    else:
        with pytest.raises(Unsupported):
            database.create_indices(wide.tables)

    assert target.size_unknown == (sizes[0] is None)
    is_of_others = target.size_of_all and target.by_address
    assert target.size_unknown or is_of_others or sizes == sorted({*sizes})


@pytest.mark.parametrize(
    "target",
    [t for t in STORING.values() if t.database.capabilities.indices],
    ids=[n for n, t in STORING.items() if t.database.capabilities.indices],
)
def test_the_option_create_indices_makes_them_with_the_tables(request, target):
    wide = target.wide(parts=4)
    sizes = []
    for create_indices in (False, True):
        database = target.open(request, create_indices=create_indices)
        wide.fill(database)
        sizes.append(database.size_bytes(wide.tables))
    assert sizes[0] < sizes[1]


def test_an_empty_table_answers(target, database):
    wide = target.wide()
    readings, states = wide.tables
    database.create(wide.tables, 0)
    with database.connect() as session:
        query = AggregateQuery(readings, (*COUNT, Aggregate(Function.SUM, "small")))
        assert ask(session, database.render(query)).rows == ((0, None),)
        assert ask(session, database.render(DistinctQuery(states, states.key))).rows == ((0,),)
        assert list(session.stream(database.render(RowsQuery(states)), 10)) == []


def test_the_servers_own_work_is_counted(target, database):
    with database.background_work() as counters:
        before = counters()
        wide = target.wide()
        wide.fill(database)
        database.visible(wide.tables)
        database.compact(wide.tables)
        after = counters()

    assert before.keys() == after.keys()
    assert all(0 <= count <= after[name] for name, count in before.items())
    done = [name for name, count in before.items() if after[name] > count]
    assert set(COMPACTED.get(database.name, ())) <= set(done)


def test_describe_reports_version_and_durability(target, database, record_property):
    server = database.describe()
    is_numbered, unknown = server.version.split()[1][0].isdigit(), server.durable is None
    record_property("server", server.version if is_numbered else target.product)
    assert is_numbered != bool(target.product) or target.by_address
    assert server.nodes >= 1
    assert server.durability.startswith("an acknowledged row")
    # At an address may be another product, such as MongoDB itself.
    assert target.durability_unknown == unknown or (target.by_address and not unknown)


@pytest.mark.parametrize(
    "target", [pytest.param(t, id=n) for n, t in STORING.items() if t.database.capabilities.plans]
)
def test_every_query_has_a_plan_whose_shape_is_that_of_the_next_run(request, target):
    database, wide = target.open(request), target.wide()
    wide.fill(database)
    shapes = set()
    with database.connect() as session:
        for name, query in wide.queries.items():
            try:
                statement = database.render(query)
                first, second = (list(session.query_plans(statement)) for _ in range(2))
            except Unsupported:
                continue
            assert all(plan.text.strip() for plan in first), name
            assert [plan.shape for plan in first] == [plan.shape for plan in second], name
            shapes.add("\n".join(plan.shape for plan in first))
        count = database.render(AggregateQuery(wide.tables[0], COUNT))
        assert session.run(count), "the session is of use after plans"

    assert len(shapes) > 1


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_capabilities_and_options_are_complete_and_other_primary_keys_are_named(request, target):
    database = target.open(request)
    capabilities = database.capabilities
    assert list(capabilities.modes)[:2] == [SINGLE, BATCH]
    assert (DRIVER in capabilities.modes) == ("client" in database.options_model.model_fields)
    assert database.insert_mode(SINGLE) == SINGLE
    assert database.insert_mode(BATCH) == BATCH
    assert capabilities.acknowledged
    assert capabilities.plans or capabilities.no_plans != NO_REASON
    for name, field in database.options_model.model_fields.items():
        assert field.description, name
    for key in PrimaryKey:
        found = database.problems(key, 1, BATCH, 100)
        supported = key in capabilities.primary_keys
        assert supported == (found == [])
        assert supported or f" {key} key" in found[0]


def test_null_stores_nothing_and_answers_nothing():
    wide = Wideset(PrimaryKey.CLIENT)
    readings, _ = wide.tables
    model = TARGETS["null"].database.options_model
    for encode in ("none", "pgcopy", "csv", "tsv", "sql", "lines", "objects"):
        database: Database = TARGETS["null"].database(model(encode=encode))
        database.create(wide.tables, 100)
        with database.connect() as session:
            for batch in wide.batches:
                send(session, batch, BATCH, 70)
        database.visible(wide.tables)
        database.compact(wide.tables)
        assert database.size_bytes(wide.tables) is None
        with pytest.raises(Unsupported):
            database.render(RowsQuery(readings))


def test_the_wide_queries_use_every_part_of_the_language():
    queries = Wideset().queries.values()
    aggregated = [query for query in queries if isinstance(query, AggregateQuery)]
    selections = [query.selection for query in queries if not isinstance(query, DistinctQuery)]
    assert {feature for query in queries for feature in features_of(query)} == {*Feature}
    assert {each.function for query in aggregated for each in query.aggregates} == {*Function}
    assert {each.operator for chosen in selections for each in chosen.compared} == {*Operator}


@pytest.mark.parametrize("lacks", [(), tuple(Awkward)], ids=["all", "least"])
def test_the_wide_selections_select_some_rows_and_not_all(lacks):
    wide = Wideset(lacks=lacks)
    for name, query in wide.queries.items():
        if isinstance(query, DistinctQuery) or query.selection == EVERYTHING:
            continue
        count = AggregateQuery(query.table, COUNT, selection=query.selection)
        ((selected,),) = wide.answer(count).rows
        assert 0 < selected < ROWS // 2 or (selected == 0 and "nothing" in name), name


def test_the_rows_that_are_sent_singly_hold_every_repeated_value():
    for block in Wideset().batches:
        first = block.slice(0, SINGLE_ROWS)
        columns = {name: set(data.present()) for name, data in block.data.items()}
        repeated = {name for name, values in columns.items() if len(values) <= SINGLE_ROWS}
        assert len(repeated) >= 3
        for name in repeated:
            assert set(first.data[name].present()) == columns[name], name


OWN_TABLE = {
    "cassandra": "CREATE TABLE scratch (n int PRIMARY KEY)",
    "clickhouse": "CREATE TABLE scratch (n Int32) ENGINE = Log",
}
"""Module -> a statement that makes a table, where it needs more than a column."""


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(target, id=name)
        for name, target in STORING.items()
        if not target.database.no_statements
        and not (target.stand_in and name == "cratedb")  # it parses ours only
    ],
)
def test_a_statement_of_the_users_own_is_carried_out_or_fails(request, target):
    database = target.open(request)
    kind = next((name for name in OWN_TABLE if name in database.name), "")
    create = OWN_TABLE.get(kind, "CREATE TABLE scratch (n INT)")
    database.create(target.wide().tables, 100)
    database.carry_out(create)
    try:
        with pytest.raises(Exception) as error:  # noqa: PT011 - of any driver
            database.carry_out(create)
        assert database.explain(error.value)
    finally:
        database.carry_out("DROP TABLE scratch")
