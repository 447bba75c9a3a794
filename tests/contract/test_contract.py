"""What every database module must do, whatever it speaks to. Runs over the table in targets.py."""

import threading
from itertools import chain

import pytest

from simulator.errors import BenchError
from simulator.modules.base import BATCH, NOT_VERIFIED, SINGLE, Database, Unsupported
from simulator.query import Aggregate, AggregateQuery, DistinctQuery, Function, RowsQuery
from simulator.schema import PrimaryKey
from simulator.verdict import Level, RowSlice, Status
from simulator.verify import verify
from simulator.workloads.iot import EVENTS
from tests.contract.harness import Wideset, ask, send
from tests.contract.targets import STORING, TARGETS
from tests.contract.wide import READINGS, STATES, Wide

COUNT = (Aggregate(Function.COUNT),)

MODES_AND_KEYS = [
    pytest.param(target, mode, key, id=f"{name}-{mode}-{key}")
    for name, target in STORING.items()
    for mode in target.database.capabilities.modes
    for key in target.database.capabilities.primary_keys
]


@pytest.mark.parametrize(("target", "mode", "primary_key"), MODES_AND_KEYS)
def test_every_value_comes_back_as_it_was_sent(request, target, mode, primary_key):
    database, wide = target.open(request), Wideset(primary_key)
    database.create(wide.tables, 100)
    with database.connect() as session:
        for batch in wide.batches:
            send(session, batch, mode, 1 if mode == SINGLE else 100)
    database.settle(wide.tables)

    with database.connect() as session:
        for table in wide.tables:
            query = RowsQuery(table)
            assert ask(session, database.render(query)) == wide.answer(query)


QUERIES = Wide(Wide.params_model(), 1, 0).queries((READINGS, STATES))


@pytest.mark.parametrize("parts", [1, 4])
def test_every_query_is_answered_truly(database, parts):
    wide = Wideset(parts=parts)
    wide.fill(database)
    with database.connect() as session:
        for name, query in Wide(Wide.params_model(), 1, 0).queries(wide.tables).items():
            found = ask(session, database.render(query))
            assert found == wide.answer(query), name


@pytest.mark.parametrize("target", STORING.values(), ids=STORING)
def test_a_sum_that_64_bits_cannot_hold_is_exact_or_an_error(request, target):
    database, wide = target.open(request), Wideset()
    wide.fill(database)
    query = AggregateQuery(wide.tables[0], (Aggregate(Function.SUM, "large"),))
    with database.connect() as session:
        if target.sums_beyond_64_bits:
            assert ask(session, database.render(query)) == wide.answer(query)
        else:
            with pytest.raises(Exception, match="overflow"):
                session.run(database.render(query))


@pytest.mark.parametrize("parts", [1, 4])
def test_the_product_verifies_what_is_stored_and_finds_what_is_missing(database, parts):
    wide = Wideset(PrimaryKey.CLIENT, parts)
    wide.fill(database)
    assert verify(database, wide.dataset, (), Level.FULL).status is Status.VERIFIED

    database.drop(wide.tables)
    database.create(wide.tables, 100)
    first, *others = wide.batches
    with database.connect() as session:
        for batch in (first.slice(0, len(first) - 1), *others):
            send(session, batch, BATCH, 100)
    lost = int(first.rows[-1])
    verdict = verify(database, wide.dataset, (), Level.FULL)
    assert verdict.status is Status.MISMATCH
    assert any(f"missing 1 ({lost})" in check.found for check in verdict.checks)

    uncertain = [RowSlice(start=lost, stop=lost + 1, step=1)]
    assert verify(database, wide.dataset, uncertain, Level.FULL).status is not Status.MISMATCH


def test_rows_are_streamed_in_portions(database):
    wide = Wideset()
    wide.fill(database)
    statement = database.render(RowsQuery(wide.tables[0]))
    with database.connect() as session:
        portions = list(session.stream(statement, 70))
        everything = session.run(statement)
        unfinished = session.stream(statement, 70)
        next(unfinished)
        unfinished.close()
        usable = session.run(database.render(AggregateQuery(wide.tables[0], COUNT)))

    assert [len(portion) for portion in portions] == [70, 70, 70, 70, 20]
    assert sorted(map(str, chain(*portions))) == sorted(map(str, everything))
    assert usable[0][0] == 300


def test_a_table_in_the_way_is_an_error_and_is_left_alone(database):
    wide = Wideset()
    wide.fill(database)
    with pytest.raises(BenchError, match=r"already exists.*--clean"):
        database.create(wide.tables, 100)
    with database.connect() as session:
        assert session.run(database.render(AggregateQuery(READINGS, COUNT)))[0][0] == 300


def test_a_second_table_in_the_way_leaves_no_first_one_behind(database):
    _, states = Wideset().tables
    database.create([states], 100)
    with pytest.raises(BenchError, match="already exists"):
        database.create(Wideset().tables, 100)
    database.drop([states])
    database.create(Wideset().tables, 100)


def test_drop_removes_every_part_and_may_be_repeated(database):
    single, multiple = Wideset(), Wideset(parts=4)
    database.drop(single.tables)
    for before, after in ((single, multiple), (multiple, single)):
        database.create(before.tables, 100)
        database.drop(after.tables)
        database.drop(after.tables)
        database.create(before.tables, 100)
        database.drop(before.tables)


def test_drop_leaves_other_tables_alone(database):
    database.create([EVENTS], 0)
    Wideset().fill(database)
    database.drop(Wideset().tables)
    with database.connect() as session:
        assert session.run(database.render(AggregateQuery(EVENTS, COUNT)))[0][0] == 0


def test_several_sessions_write_at_once(database):
    wide = Wideset(PrimaryKey.DB, parts=4)
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
    assert verify(database, wide.dataset, (), Level.COUNTS).status is Status.VERIFIED


def test_a_row_that_is_there_already_is_fatal_and_the_session_goes_on(database):
    wide = Wideset(PrimaryKey.CLIENT)
    wide.fill(database)
    with database.connect() as session:
        for mode in database.capabilities.modes:
            (payload,) = session.encode(wide.batches[0].slice(0, 1), mode, 1)
            with pytest.raises(Exception, match=r"(?i)unique") as caught:
                session.send(payload)
            assert session.classify(caught.value) == "fatal"
            assert session.alive
            assert "unique" in database.explain(caught.value).lower()
            count = AggregateQuery(wide.tables[0], COUNT)
            assert session.run(database.render(count))[0][0] == 300


def test_size_grows_with_rows_and_indices(database):
    wide = Wideset()
    database.create(wide.tables, 100)
    database.settle(wide.tables)
    empty = database.size_bytes(wide.tables)
    wide.fill(database)
    filled = database.size_bytes(wide.tables)
    database.create_indices(wide.tables)
    database.create_indices(wide.tables)
    database.settle(wide.tables)
    indexed = database.size_bytes(wide.tables)

    assert empty < filled < indexed


def test_the_option_create_indices_makes_them_with_the_tables(request):
    for target in STORING.values():
        wide = Wideset(parts=4)
        sizes = []
        for create_indices in (False, True):
            database = target.open(request, create_indices=create_indices)
            wide.fill(database)
            sizes.append(database.size_bytes(wide.tables))
        assert sizes[0] < sizes[1]


def test_an_empty_table_answers(database):
    wide = Wideset()
    database.create(wide.tables, 0)
    with database.connect() as session:
        query = AggregateQuery(READINGS, (*COUNT, Aggregate(Function.SUM, "small")))
        assert ask(session, database.render(query)).rows == ((0, None),)
        assert ask(session, database.render(DistinctQuery(STATES, STATES.key))).rows == ((0,),)
        assert list(session.stream(database.render(RowsQuery(STATES)), 10)) == []


def test_describe_says_version_and_durability(database):
    server = database.describe()
    assert server.version.split()[1][0].isdigit()
    assert server.nodes >= 1
    assert server.durability.startswith("an acknowledged row")
    assert server.durable is not None


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_a_primary_key_that_it_has_not_is_named_before_anything_starts(request, target):
    database = target.open(request)
    for key in PrimaryKey:
        found = database.problems(key, 1, 100)
        supported = key in database.capabilities.primary_keys
        assert supported == (found == [])
        assert supported or f" {key} key" in found[0]


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_capabilities_and_options_are_complete(request, target):
    database = target.open(request)
    capabilities = database.capabilities
    assert list(capabilities.modes)[:2] == [SINGLE, BATCH]
    assert database.insert_mode(0) == SINGLE
    assert database.insert_mode(10) == BATCH
    assert capabilities.acknowledged
    assert capabilities.verified_against != NOT_VERIFIED  # it is, right here
    for name, field in database.options_model.model_fields.items():
        assert field.description, name


def test_null_drops_everything_and_answers_nothing():
    wide = Wideset(PrimaryKey.CLIENT)
    model = TARGETS["null"].database.options_model
    for encode in ("none", "pgcopy", "csv", "tsv", "sql", "objects"):
        database: Database = TARGETS["null"].database(model(encode=encode))
        database.create(wide.tables, 100)
        with database.connect() as session:
            for batch in wide.batches:
                send(session, batch, BATCH, 70)
        database.settle(wide.tables)
        assert database.size_bytes(wide.tables) is None
        with pytest.raises(Unsupported):
            database.render(RowsQuery(READINGS))
