"""Verification against a database that has been tampered with, and the verdicts that follow."""

import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import product

import numpy as np
import pytest

from simulator.data.block import Coded, Values
from simulator.data.query import DistinctQuery, Function, RowsQuery
from simulator.data.ranges import LANE_ROWS, RowRange, lane_range
from simulator.data.reader import DatasetReader
from simulator.data.schema import Column, PrimaryKey, Role, Table, Type
from simulator.data.workloads import WORKLOADS
from simulator.data.workloads.base import Params, Workload
from simulator.errors import counted
from simulator.modules.contract import Unsupported
from simulator.modules.sqlite import Sqlite, SqliteOptions, SqliteSession
from simulator.protocol.verdict import Check, Status, Verdict, VerifyMode
from simulator.verify.stored import comparison, statistics, whole_tables
from simulator.verify.stored.comparison import verify
from tests.unit.specs import dataset
from tests.unit.stored_rows import store

ROWS = 500


class _Made(Workload):
    version = 1
    params_model = Params

    def queries(self, tables):
        return {}


class Pair(_Made):
    """Two tables; a row holds its number."""

    name = "pair"

    @property
    def tables(self):
        columns = (Column("at", Type.INT64, Role.TIME), Column("big", Type.INT64, Role.FIELD))
        return tuple(Table(name, columns, ("at",)) for name in ("left", "right"))

    def draw(self, table, rows):
        data = {"at": Values(rows), "big": Values(np.full(len(rows), 2**62))}
        return {column.name: data[column.name] for column in table.columns}


class Keyless(_Made):
    """No natural key; a value that is not exact, and every row like the one ten before it."""

    name = "keyless"

    @property
    def tables(self):
        columns = (
            Column("at", Type.INT64, Role.TIME),
            Column("v", Type.FLOAT64, Role.FIELD, nullable=True, exact=False),
        )
        return (Table("readings", columns, ()),)

    def draw(self, table, rows):
        at = rows % 10
        data = {"at": Values(at), "v": Values(at * 0.1, at != 3)}
        return {column.name: data[column.name] for column in table.columns}


@pytest.fixture(scope="module", autouse=True)
def _workloads():
    with pytest.MonkeyPatch.context() as patch:
        for workload in (Pair, Keyless, Tagged):
            patch.setitem(WORKLOADS, workload.name, workload)
        yield


class Tagged(_Made):
    """A tag that every other row lacks."""

    name = "tagged"

    @property
    def tables(self):
        columns = (
            Column("at", Type.INT64, Role.TIME),
            Column("owner", Type.TEXT, Role.TAG, nullable=True),
        )
        return (Table("things", columns, ("at",)),)

    def draw(self, table, rows):
        owners = Coded(rows % 3, np.array([b"None", b"ann", b"bob"]), rows % 2 > 0)
        data = {"at": Values(rows), "owner": owners}
        return {column.name: data[column.name] for column in table.columns}


class Stored:
    """A dataset in SQLite, to be tampered with."""

    def __init__(self, path, workload="iot", parts=1, primary_key=PrimaryKey.NONE):
        self.path = path
        self.database = Sqlite(SqliteOptions(path=str(path), synchronous="off"))
        self.dataset = dataset(
            workload=workload,
            params={"devices": 3} if workload == "iot" else {},
            start_ms=10**12,
            primary_key=primary_key,
            parts=parts,
        )
        self.dataset = self.dataset.with_ranges(
            item.model_copy(update={"table": table})
            for item in (lane_range(0, 0, ROWS // 2), lane_range(1, 10, ROWS // 2))
            for table in range(len(DatasetReader(self.dataset).tables))
        )
        store(self.database, self.dataset, batch_rows=ROWS)

    def tamper(self, *statements):
        with closing(sqlite3.connect(self.path)) as connection:
            for statement in statements:
                assert connection.execute(statement).rowcount > 0
            connection.commit()
        return self

    def verify(self, level, *uncertain):
        return verify(self.database, self.dataset, uncertain, level)


@pytest.fixture
def stored(tmp_path):
    return Stored(tmp_path / "stored.db")


def check_of(verdict, name):
    (check,) = [check for check in verdict.checks if check.name == name]
    return check


def wrong(verdict):
    return [check.name for check in verdict.checks if check.ok is False]


FIRST = "rowid = (SELECT min(rowid) FROM events)"
COMPARED = [VerifyMode.COUNTS, VerifyMode.FULL]


def test_counts_compare_hashes_where_the_database_computes_them(stored):
    verdict = stored.verify(VerifyMode.COUNTS)

    assert [check.name for check in verdict.checks] == ["events: count", "events: hashes of rows"]
    assert verdict.level is VerifyMode.HASHES


def test_counts_compare_every_column(stored):
    stored.database.row_hash = None
    names = [check.name for check in stored.verify(VerifyMode.COUNTS).checks]
    columns = ("timestamp", "sequence_number", "temperature")

    assert sorted(names) == sorted(
        [
            "events: count",
            "events: min_device_id",
            "events: max_device_id",
            *(f"events: {f}_{c}" for f, c in product(("min", "max", "sum"), columns)),
            "events: distinct (device_id, timestamp, sequence_number)",
            "events: rows by device_id",
        ]
    )


@pytest.mark.parametrize("level", COMPARED)
def test_a_row_stored_twice_is_a_mismatch(stored, level):
    stored.tamper(f"INSERT INTO events SELECT * FROM events WHERE {FIRST}")
    verdict = stored.verify(level)

    assert verdict.status is Status.MISMATCH
    assert {
        "events: count",
        "events: distinct (device_id, timestamp, sequence_number)",
    } <= set(wrong(verdict))


@pytest.mark.parametrize("level", COMPARED)
@pytest.mark.parametrize("left", [0, 1])
def test_answers_that_change_are_distinguished_from_rows_that_are_wrong(
    stored, monkeypatch, level, left
):
    """Two rows are there twice, until the question is repeated; one may still be then."""
    stored.tamper("INSERT INTO events SELECT * FROM events WHERE rowid < 3")
    monkeypatch.setattr(
        statistics.time,
        "sleep",
        lambda _: stored.tamper(f"DELETE FROM events WHERE rowid > {ROWS + left}"),
    )
    verdict = stored.verify(level)
    check = check_of(verdict, "events: the same questions a moment later")

    assert verdict.status is Status.MISMATCH
    assert verdict.reason.startswith("events: the same questions a moment later: expected the same")
    if left:
        assert "others, of which are wrong: events: count 501, " in check.found
    else:
        assert check.found == "the right answers"


@pytest.mark.parametrize("again", [True, False], ids=["statistics", "rows"])
def test_an_error_does_not_hide_what_was_wrong_before(stored, monkeypatch, again):
    """The server fails as it is asked the second time, or as its rows are read."""
    stored.tamper("DELETE FROM events WHERE sequence_number = 7")

    def fail(*_):
        raise sqlite3.OperationalError("disk I/O error")

    method = "run" if again else "stream"
    failing = partial(monkeypatch.setattr, SqliteSession, method, fail)
    if again:
        monkeypatch.setattr(statistics.time, "sleep", lambda _: failing())
    else:
        failing()
    verdict = stored.verify(VerifyMode.FULL)

    assert verdict.status is Status.MISMATCH
    assert "events: count: expected 500, found 499" in verdict.reason
    (rest,) = verdict.not_compared
    assert rest.startswith("the rest, after an error: ")
    assert "disk I/O error" in rest


def test_an_error_before_anything_is_wrong_is_raised(stored, monkeypatch):
    def fail(*_):
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(SqliteSession, "stream", fail)

    with pytest.raises(sqlite3.OperationalError):
        stored.verify(VerifyMode.FULL)


UNCERTAIN = RowRange(start=LANE_ROWS + 100, stop=LANE_ROWS + 110)


@pytest.mark.parametrize("level", [VerifyMode.COUNTS, VerifyMode.FULL])
@pytest.mark.parametrize("unsure", [(), (UNCERTAIN,)], ids=["known", "uncertain"])
@pytest.mark.parametrize("is_right", [True, False], ids=["right", "wrong"])
def test_sums_that_cannot_be_computed_are_an_error_only_if_every_row_is_right(
    stored, monkeypatch, level, unsure, is_right
):
    run = SqliteSession.run

    def fail(session, statement):
        if "sum(" in statement.text:
            raise sqlite3.OperationalError("integer overflow")
        return run(session, statement)

    monkeypatch.setattr(SqliteSession, "run", fail)
    if is_right and (level, unsure) != (VerifyMode.FULL, (UNCERTAIN,)):
        with pytest.raises(sqlite3.OperationalError, match="integer overflow"):
            stored.verify(level, *unsure)
        return
    if is_right:  # which asks for no sums
        assert stored.verify(level, *unsure).status is Status.VERIFIED
        return
    stored.tamper(f"UPDATE events SET temperature = 99 WHERE {FIRST}")
    verdict = stored.verify(level, *unsure)

    assert verdict.status is Status.MISMATCH
    assert re.search(r"(missing 1|1 lost) \(0\)", verdict.reason)


def test_a_number_of_missing_rows_that_is_not_all_of_them_says_so(stored, monkeypatch):
    monkeypatch.setattr(comparison, "_MAX_BUCKETS", 3)
    stored.tamper("DELETE FROM events")
    check = check_of(stored.verify(VerifyMode.FULL), "events: every row")

    assert check.found.startswith("0 rows; missing at least 3 (")


@pytest.mark.parametrize("level", COMPARED)
def test_one_row_in_place_of_another_is_a_mismatch(stored, level):
    stored.tamper(
        "DELETE FROM events WHERE sequence_number = 7",
        f"INSERT INTO events SELECT * FROM events WHERE {FIRST}",
    )

    assert stored.verify(level).status is Status.MISMATCH


@pytest.mark.parametrize("level", COMPARED)
@pytest.mark.parametrize(
    ("change", "seen_in"),
    [
        ("temperature = temperature + 0.015625", "sum_temperature"),
        ("temperature = NULL", "sum_temperature"),
        ("timestamp = timestamp + 1", "sum_timestamp"),
        ("sequence_number = -1", "min_sequence_number"),
        ("device_id = ''", "min_device_id"),
    ],
)
def test_an_altered_value_is_a_mismatch(stored, level, change, seen_in):
    stored.tamper(f"UPDATE events SET {change} WHERE sequence_number = 100")
    verdict = stored.verify(level)

    assert verdict.status is Status.MISMATCH
    assert f"events: {seen_in}" in wrong(verdict)


DELETE_UNCERTAIN = "DELETE FROM events WHERE sequence_number BETWEEN 100 AND {} AND rowid > 250"


@pytest.mark.parametrize("mode", COMPARED)
def test_uncertain_rows_that_are_stored_are_verified(stored, mode):
    verdict = stored.verify(mode, UNCERTAIN)

    assert verdict.status is Status.VERIFIED
    assert (verdict.uncertain_present, verdict.uncertain_absent) == (10, 0)


def test_counts_of_tags_are_left_out_by_name_where_rows_are_uncertain(stored):
    verdict = stored.verify(VerifyMode.COUNTS, UNCERTAIN)

    assert "events: rows by device_id: some rows have an unknown outcome" in verdict.left_out


@pytest.mark.parametrize("mode", COMPARED)
@pytest.mark.parametrize("last", [109, 104, 100])
def test_uncertain_rows_that_are_not_stored_leave_the_dataset_incomplete(stored, mode, last):
    stored.tamper(DELETE_UNCERTAIN.format(last))
    verdict = stored.verify(mode, UNCERTAIN)
    absent = last - 99

    assert verdict.status is Status.INCOMPLETE
    assert (verdict.uncertain_present, verdict.uncertain_absent) == (10 - absent, absent)
    assert verdict.reason == f"{counted(absent, 'row')} of unknown outcome: not stored"


def test_a_table_is_read_whole_if_too_many_rows_have_the_times_of_uncertain_ones(
    stored, monkeypatch
):
    stored.tamper(DELETE_UNCERTAIN.format(104))
    monkeypatch.setattr("simulator.verify.stored.uncertain.PASS_ROWS", 9)
    verdict = stored.verify(VerifyMode.COUNTS, UNCERTAIN)

    assert (verdict.uncertain_present, verdict.uncertain_absent) == (5, 5)
    assert [check.name for check in verdict.checks] == ["events: every row"]


@pytest.mark.parametrize("mode", COMPARED)
def test_a_table_without_any_row_is_never_verified(stored, mode):
    stored.tamper("DELETE FROM events")
    everything = (
        RowRange(start=0, stop=ROWS // 2),
        RowRange(start=LANE_ROWS + 10, stop=LANE_ROWS + 10 + ROWS // 2),
    )
    verdict = stored.verify(mode, *everything)

    assert verdict.status is Status.INCOMPLETE
    assert verdict.uncertain_absent == ROWS


@pytest.mark.parametrize("level", COMPARED)
def test_more_missing_than_uncertain_is_a_mismatch(stored, level):
    stored.tamper(DELETE_UNCERTAIN.format(110))

    assert stored.verify(level, UNCERTAIN).status is Status.MISMATCH


@pytest.mark.parametrize("mode", COMPARED)
def test_a_lost_row_is_seen_behind_the_uncertain_ones(stored, mode):
    stored.tamper(
        DELETE_UNCERTAIN.format(104),
        "DELETE FROM events WHERE sequence_number = 200 AND rowid < 250",
    )
    verdict = stored.verify(mode, UNCERTAIN)

    assert verdict.status is Status.MISMATCH
    assert check_of(verdict, "events: every row").found == (
        "489 acknowledged rows, 1 lost (200), 5 of unknown outcome"
    )


TEAR = "UPDATE events SET temperature = NULL WHERE sequence_number = {} AND rowid > 250"


@pytest.mark.parametrize("mode", COMPARED)
def test_an_uncertain_row_may_be_stored_in_part(stored, mode):
    """As points, of which each field is one."""
    stored.tamper(TEAR.format(105))
    verdict = stored.verify(mode, UNCERTAIN)

    assert verdict.status is Status.INCOMPLETE
    assert (verdict.uncertain_present, verdict.uncertain_absent) == (9, 1)
    assert check_of(verdict, "events: every row").found == (
        "490 acknowledged rows, 0 lost, 9 of unknown outcome, 1 stored in part"
    )


@pytest.mark.parametrize("mode", COMPARED)
@pytest.mark.parametrize("row", [99, 105])
def test_no_other_row_may_be(stored, mode, row):
    """An acknowledged one, and one that is stored as a whole as well."""
    if row == 105:
        stored.tamper("INSERT INTO events SELECT * FROM events WHERE sequence_number = 105")
    stored.tamper(TEAR.format(row) + " AND rowid <= 500")

    assert stored.verify(mode, UNCERTAIN).status is Status.MISMATCH


@pytest.mark.parametrize("level", COMPARED)
def test_an_uncertain_row_stored_twice_is_a_mismatch(stored, level):
    stored.tamper(
        "INSERT INTO events SELECT * FROM events WHERE sequence_number = 105 AND rowid > 250"
    )

    assert stored.verify(level, UNCERTAIN).status is Status.MISMATCH


@pytest.mark.parametrize("level", COMPARED)
def test_uncertain_rows_of_one_table_do_not_excuse_another(tmp_path, level):
    stored = Stored(tmp_path / "stored.db", "pair")
    stored.tamper('DELETE FROM "right" WHERE at IN (1, 3)')
    rows_of_left = RowRange(start=0, stop=10)
    verdict = stored.verify(level, rows_of_left)

    assert verdict.status is Status.MISMATCH
    assert "right: count: expected 500, found 498" in verdict.reason


@pytest.mark.parametrize("level", COMPARED)
def test_of_rows_that_are_alike_the_uncertain_ones_may_be_missing(tmp_path, level):
    stored = Stored(tmp_path / "stored.db", "keyless")
    stored.tamper("DELETE FROM readings WHERE at = 5 AND rowid > 495")
    verdict = stored.verify(level, RowRange(start=0, stop=10))

    assert verdict.status is Status.INCOMPLETE
    assert verdict.uncertain_absent == 1


def test_inexact_sums_are_compared_with_slack(tmp_path):
    stored = Stored(tmp_path / "stored.db", "keyless")
    stored.tamper("UPDATE readings SET v = v + 1e-9 WHERE at = 4")

    assert wrong(stored.verify(VerifyMode.COUNTS)) == ["readings: sum_v"]


def test_what_the_database_cannot_express_is_unknown(stored, monkeypatch):
    render = stored.database.render

    def refuse(query):
        if isinstance(query, RowsQuery):
            raise Unsupported("it keeps no rows")
        return render(query)

    monkeypatch.setattr(stored.database, "render", refuse)

    assert stored.verify(VerifyMode.COUNTS).status is Status.VERIFIED
    assert stored.verify(VerifyMode.FULL) == Verdict(
        status=Status.UNKNOWN, reason="it keeps no rows", level=VerifyMode.FULL
    )


def test_what_the_database_cannot_be_asked_is_left_out_by_name_and_the_rest_compared(
    stored, monkeypatch
):
    render = stored.database.render

    def refuse(query):
        if isinstance(query, DistinctQuery):
            raise Unsupported("no distinct")
        if any(aggregate.label == "max_device_id" for aggregate in query.aggregates):
            raise Unsupported("no order of text")
        return render(query)

    monkeypatch.setattr(stored.database, "render", refuse)
    verdict = stored.verify(VerifyMode.COUNTS)

    assert verdict.status is Status.VERIFIED
    assert verdict.not_compared == (
        "events: max_device_id: no order of text",
        "events: distinct (device_id, timestamp, sequence_number): no distinct",
    )
    assert "events: min_device_id" in {check.name for check in verdict.checks}
    stored.tamper(f"DELETE FROM events WHERE {FIRST}")
    assert stored.verify(VerifyMode.COUNTS).status is Status.MISMATCH


DISTINCT = "events: distinct (device_id, timestamp, sequence_number)"


def test_distinct_keys_of_many_rows_are_not_counted_and_a_swapped_row_is_found(stored, monkeypatch):
    monkeypatch.setattr(statistics, "_MOST_DISTINCT", 400)
    verified = stored.verify(VerifyMode.COUNTS)
    stored.tamper(f"INSERT INTO events SELECT * FROM events WHERE {FIRST}")
    stored.tamper("DELETE FROM events WHERE sequence_number = 7")
    verdict = stored.verify(VerifyMode.COUNTS)

    assert verified.status is Status.VERIFIED
    assert DISTINCT not in {check.name for check in verified.checks}
    assert verdict.status is Status.MISMATCH
    assert "events: sum_temperature" in wrong(verdict)
    assert "events: count" not in wrong(verdict)


def test_distinct_keys_of_many_rows_are_counted_where_no_field_is_summed(stored, monkeypatch):
    monkeypatch.setattr(statistics, "_MOST_DISTINCT", 400)
    render = stored.database.render

    def refuse(query):
        if not isinstance(query, DistinctQuery):
            summed = [each.column for each in query.aggregates if each.function is Function.SUM]
            if "temperature" in summed:
                raise Unsupported("no sums of floats")
        return render(query)

    monkeypatch.setattr(stored.database, "render", refuse)
    verdict = stored.verify(VerifyMode.COUNTS)

    assert verdict.status is Status.VERIFIED
    assert DISTINCT in {check.name for check in verdict.checks}


# --- a server that gives up


class _TooLongError(Exception):
    """What a server answers that gives up."""


@dataclass
class Impatient:
    """Gives up on statements about more rows than `most_rows`."""

    most_rows: int
    asked: list[int] = field(default_factory=list)
    """Rows of each statement."""

    @property
    def answered(self):
        return [rows for rows in self.asked if rows <= self.most_rows]

    def run(self, session, statement):
        source = statement.text.partition(" FROM ")[2].partition(" GROUP BY ")[0]
        if "pragma_table_info" in source:
            return session.connection.execute(statement.text).fetchall()
        ((rows,),) = session.connection.execute(f"SELECT count(*) FROM {source}")
        self.asked.append(rows)
        if rows > self.most_rows:
            raise _TooLongError("no answer within 10 s")
        return session.connection.execute(statement.text).fetchall()


@pytest.fixture
def impatient(monkeypatch):
    server = Impatient(100)

    def run(session, statement):
        return server.run(session, statement)

    monkeypatch.setattr(SqliteSession, "run", run)
    monkeypatch.setattr(SqliteSession, "gave_up", lambda _, e: isinstance(e, _TooLongError))
    return server


def test_statistics_that_take_a_server_too_long_are_asked_for_in_parts(stored, impatient):
    verdict = stored.verify(VerifyMode.COUNTS)

    assert verdict.status is Status.VERIFIED
    assert sum(impatient.answered) == ROWS
    assert len(impatient.answered) > ROWS / 100
    too_much = "is too much for the server: no answer within 10 s"
    assert verdict.not_compared == (f"{DISTINCT}: {too_much}",)
    assert f"events: rows by device_id: {too_much}" in verdict.left_out


def test_rows_of_more_series_than_an_answer_may_have_are_not_counted(stored, monkeypatch):
    stored.database.row_hash = None
    monkeypatch.setattr(whole_tables, "MOST_SERIES", 2)
    verdict = stored.verify(VerifyMode.COUNTS)

    assert verdict.status is Status.VERIFIED
    assert "events: rows by device_id: there are more than 2" in verdict.left_out
    assert not [check for check in verdict.checks if "rows by" in check.name]


def test_null_is_one_more_value_of_a_tag(tmp_path):
    """Swap owners: the number of rows without an owner and the extremes stay."""
    stored = Stored(tmp_path / "stored.db", "tagged")
    stored.database.row_hash = None
    assert stored.verify(VerifyMode.COUNTS).status is Status.VERIFIED
    stored.tamper(
        "UPDATE things SET owner = NULL WHERE at = 1",
        "UPDATE things SET owner = 'None' WHERE at = 0",
    )
    (check,) = [each for each in stored.verify(VerifyMode.COUNTS).checks if each.ok is False]

    assert check.name == "things: rows by owner"
    assert check.expected.startswith("4 combinations; None: ")
    assert "; ann: " in check.expected
    assert "NULL" not in check.expected


@pytest.mark.parametrize(
    ("change", "seen_in"),
    [
        (f"DELETE FROM events WHERE {FIRST}", "events: count"),
        (f"UPDATE events SET temperature = 99 WHERE {FIRST}", "events: max_temperature"),
        (f"UPDATE events SET timestamp = 5 WHERE {FIRST}", "events: min_timestamp"),
        (f"INSERT INTO events SELECT * FROM events WHERE {FIRST}", "events: sum_temperature"),
    ],
)
def test_what_is_wrong_is_found_in_parts_too(stored, impatient, change, seen_in):
    verdict = stored.tamper(change).verify(VerifyMode.COUNTS)

    assert verdict.status is Status.MISMATCH
    assert seen_in in wrong(verdict)
    assert len(impatient.answered) > 1


def test_rows_are_counted_in_parts_too(stored, impatient):
    assert stored.verify(VerifyMode.ROWS).status is Status.VERIFIED
    assert sum(impatient.answered) == ROWS


def test_a_server_that_gives_up_on_everything_is_not_asked_for_ever(stored, impatient):
    impatient.most_rows = -1
    with pytest.raises(_TooLongError):
        stored.verify(VerifyMode.COUNTS)

    assert len(impatient.asked) == 5 + 1  # the last one is of the catalogue


def test_after_another_error_no_part_is_asked_for(stored, impatient, monkeypatch):
    monkeypatch.setattr(SqliteSession, "gave_up", lambda *_: False)
    with pytest.raises(_TooLongError):
        stored.verify(VerifyMode.COUNTS)

    # Again before every row is read, and then the catalogue.
    assert impatient.asked == [ROWS, ROWS, 1]


def check(ok, name="n"):
    return Check(name=name, expected="1", found="2", ok=ok)


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        ([], Status.UNKNOWN),
        ([True], Status.VERIFIED),
        ([True, None], Status.UNKNOWN),
        ([None, False, True], Status.MISMATCH),
        ([False], Status.MISMATCH),
        ([None], Status.UNKNOWN),
    ],
)
def test_a_mismatch_beats_unknown_and_unknown_beats_verified(outcomes, status):
    assert Verdict.of([check(ok) for ok in outcomes]).status is status


def test_the_reason_names_the_worst_checks_and_how_many_more():
    checks = [check(None, "open"), *(check(ok=False, name=f"w{n}") for n in range(7))]
    shown = [f"w{n}: expected 1, found 2" for n in range(5)]

    assert Verdict.of(checks).reason == "; ".join([*shown, "and 2 more"])
