"""How the answers of several targets compare, and what is printed of it."""

import csv
import io
import json
import math

import pytest

from iotbench.output.terminal.agreements import format_validated
from iotbench.results.agreement import (
    Agreement,
    are_near,
    compare_answers,
    exit_code,
    list_differences,
)
from simulator.data.ranges import RowRange
from simulator.protocol.events import AnswerDigest, QueryVerdict, ShownAnswer
from simulator.protocol.messages import digest_of
from simulator.protocol.verdict import Check, Status, Verdict
from tests.unit.output.terminal.made import outcome, result, run, stored

RIGHT = Verdict(status=Status.VERIFIED)
WRONG = Verdict.of([Check(name="q: answer 1", expected="(1,)", found="(2,)", ok=False)])
UNABLE = Verdict(status=Status.UNKNOWN, reason="not supported: no newest row")


def query(name="q", *answers, verdict=RIGHT, shown=()):
    """The verdict on a query with (instance, a letter that stands for the answer, ok)."""
    digests = tuple(
        AnswerDigest(instance=instance, digest=letter * 64, ok=ok)
        for instance, letter, ok in answers
    )
    return QueryVerdict(
        name=name, statement="SELECT 1", tuned=False, verdict=verdict, digests=digests, shown=shown
    )


def asked(target, *queries, status="done", cause=""):
    verdict = Verdict.of([check for each in queries for check in each.verdict.checks])
    done = run(outcome(verdict=verdict if verdict.checks else RIGHT, queries=queries))
    return result([done], kind="query", target=target, status=status, cause=cause)


def test_equal_rounded_and_different_answers_are_distinguished():
    one = asked("one", query("q", (0, "a", True), (1, "b", True), (2, "c", True), (3, "d", False)))
    two = asked("two", query("q", (0, "a", True), (1, "e", True), (2, "f", False), (3, "d", False)))

    (found,) = compare_answers([one, two])
    assert found == Agreement("q", answers=4, equal=2, rounded=1, different=(2,))
    assert exit_code([one, two], [found]) == 3


def test_an_instance_with_two_answers_is_equal_to_none():
    one = asked("one", query("q", (0, "a", True), (0, "b", False)))
    two = asked("two", query("q", (0, "a", True)))

    assert compare_answers([one, two]) == [Agreement("q", answers=1, different=(0,))]


def test_an_instance_that_a_target_has_not_answered_is_no_agreement():
    one = asked("one", query("q", (0, "a", False)))
    two = asked("two", query("q", (1, "a", False)))

    assert compare_answers([one, two])[0].different == (0, 1)


def test_a_query_that_a_target_cannot_express_is_not_compared():
    one = asked("one", query("q", (0, "a", True)), query("u", (0, "a", True)))
    two = asked("two", query("q", (0, "a", True)), query("u", verdict=UNABLE))
    found = compare_answers([one, two])

    assert found[1] == Agreement("u", problem="two: not supported: no newest row")
    assert exit_code([one, two], found) == 0
    assert exit_code([one, two], found[1:]) == 4


def test_equal_answers_that_are_wrong_are_a_mismatch():
    both = [asked(name, query("q", (1, "a", False), verdict=WRONG)) for name in ("one", "two")]

    assert compare_answers(both) == [Agreement("q", answers=1, equal=1)]
    assert exit_code(both, compare_answers(both)) == 3


UNCHECKED = Verdict(status=Status.UNCHECKED, reason="no truth")


def own(*answers, name="own", rows=True):
    """An own query with (instance, rows of its answer)."""
    digests = tuple(
        AnswerDigest(
            instance=instance, digest=digest_of(found), ok=None, rows=found if rows else None
        )
        for instance, found in answers
    )
    return QueryVerdict(
        name=name, statement="SELECT 1", tuned=False, own=True, columns=("n", "mean"),
        verdict=UNCHECKED, digests=digests,
    )  # fmt: skip


def own_asked(target, *queries, verdict=UNCHECKED):
    done = run(outcome(verdict=verdict, queries=queries))
    return result([done], kind="query", target=target, dataset=stored(10))


def last_digit(value):
    return math.nextafter(value, math.inf)


def test_own_answers_are_compared_by_their_values():
    rows = ((1, 0.1), (2, 2.5), (None, None))
    close = ((1, last_digit(0.1)), (2, 2.5), (None, None))
    one = own_asked("one", own((0, rows), (1, rows), (2, rows), (3, rows), (4, rows)))
    two = own_asked(
        "two",
        own((0, rows), (1, close), (2, rows[:2]), (3, ((1, 0.2), *rows[1:])), (4, rows[1:])),
    )

    (found,) = compare_answers([one, two])
    assert found == Agreement("own", answers=5, equal=1, rounded=1, different=(2, 3, 4), own=True)
    assert exit_code([one, two], [found]) == 3
    (same,) = compare_answers([one, own_asked("two", *one.runs[0].outcome.queries)])
    assert (same.equal, same.rounded, same.different) == (5, 0, ())
    assert exit_code([one, one], [same]) == 0


def test_rows_that_a_last_digit_orders_otherwise_are_near():
    one = ((0.1, "b"), (0.3, "a"))
    two = ((last_digit(0.1), "b"), (0.3, "a"))

    assert are_near(one, two, 2**-50)
    assert are_near(one, two[::-1], 2**-50)
    assert not are_near(one, two, 0.0)
    assert not are_near(((None, "a"),), ((0.0, "a"),), 1.0)
    assert are_near((("x", None), ("x", 1.5)), (("x", 1.5), ("x", None)), 0.0)


def test_own_answers_that_were_not_kept_are_not_compared():
    rows = ((1, 2.0),)
    both = [own_asked(name, own((0, rows), rows=False)) for name in ("one", "two")]
    (found,) = compare_answers(both)

    assert "more values than are kept" in found.problem
    assert exit_code(both, [found]) == 4


def test_own_queries_do_not_hide_what_could_not_be_verified():
    rows = ((1, 2.0),)
    unable = Verdict(status=Status.UNKNOWN, reason="cannot")
    both = [own_asked(name, own((0, rows)), verdict=unable) for name in ("one", "two")]

    assert exit_code(both, compare_answers(both)) == 4
    assert both[0].exit_code == 4
    assert not both[0].is_unchecked
    assert own_asked("one", own((0, rows))).is_unchecked


def test_different_own_answers_stand_side_by_side():
    one, two = (own_asked(name, own((7, ((n, 0.5),)))) for name, n in (("one", 1), ("two", 2)))
    text = format_validated([one, two], compare_answers([one, two]), [None, None], "table")

    assert "own, answer 7: n | mean" in text
    assert "1 | 0.5" in text
    assert "2 | 0.5" in text
    assert "not checked" in text


def test_a_run_that_failed_decides_the_exit_code():
    failed = asked("two", status="interrupted")

    assert exit_code([asked("one"), failed], []) == 130


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"parts": 4}, []),
        ({"ranges": (RowRange(start=0, stop=3), RowRange(start=3, stop=9))}, []),
        ({"seed": 2}, ["seed 1 and 2"]),
        ({"params": {"devices": 5}}, ["devices None and 5"]),
        ({"ranges": (RowRange(start=0, stop=5),)}, ["9 rows and 5"]),
    ],
)
def test_datasets_are_the_same_if_their_rows_are(changes, expected):
    assert list_differences(stored(9), stored(9, **changes)) == expected


def shown(target_rows, *, ok=True, truth=None):
    return ShownAnswer(
        instance=1, statement="", columns=("n",), rows=target_rows, all_rows=3, ok=ok, truth=truth
    )


def test_the_table_shows_wrong_answers_beside_the_truth(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    wrong = shown(((2,),), ok=False, truth=((1,),))
    one = asked("one", query("q", (1, "a", True)))
    two = asked("two", query("q", (1, "b", False), verdict=WRONG, shown=(wrong,)))
    found = [*compare_answers([one, two]), Agreement("u", problem="two: not supported")]
    lines = format_validated([one, two], found, [None, None], "table").splitlines()

    assert lines[0].split() == ["Query", "Answers", "Equal", "Rounded", "Differ", "one", "two"]
    assert lines[2].split() == ["q", "1", "0", "0", "1", "verified", "mismatch"]
    assert lines[3].split() == ["u", "-", "-", "-", "-", "not", "asked", "not", "asked"]
    assert "not compared: u: two: not supported" in lines
    at = lines.index("q, answer 1: n")
    assert lines[at + 1].split() == ["truth", "one", "two"]
    assert lines[at + 3].split() == ["1", "equal", "to", "the", "truth", "2"]
    assert lines[at + 4] == "  and 2 more rows"


def test_json_and_csv_have_a_record_for_each_query(tmp_path):
    both = [asked(name, query("q", (0, "a", True), shown=(shown(((1,),)),))) for name in "ab"]
    found = compare_answers(both)
    content = json.loads(format_validated(both, found, [tmp_path / "r.json", None], "json"))
    (line,) = csv.DictReader(io.StringIO(format_validated(both, found, [None, None], "csv")))

    expected = {
        "query": "q",
        "answers": 1,
        "equal": 1,
        "rounded": 0,
        "different": 0,
        "verdict_a": "verified",
        "verdict_b": "verified",
        "not_compared": "",
    }
    assert content["queries"] == [expected]
    assert [(each["target"], each["rows"]) for each in content["answers"]] == [
        ("a", [[1]]), ("b", [[1]]),
    ]  # fmt: skip
    assert (content["targets"], content["status"]) == (["a", "b"], "done")
    assert content["files"] == [str(tmp_path / "r.json"), None]
    assert line == {name: str(value) for name, value in expected.items()}
