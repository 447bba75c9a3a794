"""The judge compares each different answer to each instance with its own truth."""

from dataclasses import replace

import pytest

from simulator.control.answers.judge import Judge
from simulator.data.answer import Answer
from simulator.data.derived import derive
from simulator.data.own_query import OwnQuery, ParameterSource, make_own_types
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Condition,
    Function,
    Operator,
    RowsQuery,
    Selection,
)
from simulator.data.query_type import always
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.workloads import workload_class
from simulator.modules.sqlite import Sqlite, SqliteOptions
from simulator.protocol.messages import digest_of
from simulator.protocol.spec import QueryLoad
from simulator.protocol.verdict import Status
from simulator.verify.truth.folding import truths
from tests.unit.specs import dataset

HOSTS, TICKS = 4, 3 * 360


def fleet(**params):
    """Three hours of four hosts, of which every row is stored."""
    cls = workload_class("devops")
    params = cls.params_model(scale=HOSTS, duration_ms=TICKS * 10_000, **params)
    empty = dataset(
        workload="devops", workload_version=cls.version, params=params.model_dump(mode="json")
    )
    rows = [RowRange(start=0, stop=HOSTS * TICKS, table=table) for table in range(9)]
    return empty.with_ranges(rows)


STORED = fleet()
TYPES = DatasetReader(STORED).query_types()
NAMES = ("1-host-1-hr", "count-mem")


def true_answers(name, instances):
    asked = {number: TYPES[name].instance(number) for number in instances}
    found = truths(list(asked.values()), STORED)
    return [(number, found[query].answer) for number, query in asked.items()]


def judged(answers, shown=0, *, digests=False):
    load = QueryLoad(queries=dict.fromkeys(NAMES, ""), shown_answers=shown, digests=digests)
    judge = Judge(Sqlite(SqliteOptions(path="unused")), STORED, load)
    return judge.judge({name: TYPES[name] for name in NAMES}, lambda name: answers[name])


@pytest.fixture
def right():
    return {NAMES[0]: true_answers(NAMES[0], range(30)), NAMES[1]: true_answers(NAMES[1], [0])}


def test_right_answers_are_verified_and_counted(right):
    hosts, count = judged(right)

    assert (hosts.verdict.status, hosts.answers) == (Status.VERIFIED, 30)
    assert (count.verdict.status, count.answers) == (Status.VERIFIED, 1)
    assert "'host_" in hosts.statement


def test_own_queries_are_kept_and_not_judged(monkeypatch):
    own = OwnQuery(
        table="cpu", columns={"n": "int64"}, texts={"sql": "SELECT {n}"},
        parameters={"n": ParameterSource(between=(1, 99))},
    )  # fmt: skip
    load = QueryLoad(queries={"mine": ""}, own={"mine": own}, shown_answers=1, digests=True)
    judge = Judge(Sqlite(SqliteOptions(path="unused")), STORED, load)
    given = [(number, Answer(("n",), ((number,), (2,)))) for number in range(3)]
    (found,) = judge.list_unchecked(make_own_types(load.own, STORED), lambda _: given)

    assert (found.verdict.status, found.own, found.answers) == (Status.UNCHECKED, True, 3)
    assert found.statement.startswith("SELECT ")
    assert [each.rows for each in found.digests] == [((n,), (2,)) for n in range(3)]
    assert {each.ok for each in found.digests} == {None}
    assert [(each.instance, each.ok, each.rows) for each in found.shown] == [
        (0, None, ((0,), (2,)))
    ]

    monkeypatch.setattr("simulator.control.answers.judge._MOST_OWN_VALUES", 5)
    judge = Judge(Sqlite(SqliteOptions(path="unused")), STORED, load)
    (found,) = judge.list_unchecked(make_own_types(load.own, STORED), lambda _: given)
    assert [each.rows is None for each in found.digests] == [False, False, True]


def test_an_answer_to_another_instance_is_wrong(right):
    (first, one), (second, other), *others = right[NAMES[0]]
    right[NAMES[0]] = [(first, other), (second, one), *others]
    hosts, count = judged(right)

    assert hosts.verdict.status is Status.MISMATCH
    assert [check.name for check in hosts.verdict.checks] == [
        "1-host-1-hr: answers", "1-host-1-hr: answer 0", "1-host-1-hr: answer 1",
    ]  # fmt: skip
    assert hosts.verdict.checks[0].expected == "30 answers equal to the truth"
    assert hosts.verdict.checks[0].found == "28"
    assert count.verdict.status is Status.VERIFIED


def test_few_of_many_wrong_answers_are_described(right):
    instances = [number for number, _ in right[NAMES[0]]]
    shifted = [answer for _, answer in right[NAMES[0]][1:]] + [right[NAMES[0]][0][1]]
    right[NAMES[0]] = list(zip(instances, shifted, strict=True))
    hosts, _ = judged(right)

    assert len(hosts.verdict.checks) == 6
    assert hosts.verdict.checks[0].found == "0"


def test_the_first_answers_are_shown_as_far_as_the_user_asked(right):
    hosts, count = judged(right, shown=2)

    assert [each.instance for each in hosts.shown] == [0, 1]
    assert [len(each.rows) for each in hosts.shown] == [20, 20]
    assert all(each.all_rows >= 60 and each.ok for each in hosts.shown)
    assert count.shown[0].rows == ((HOSTS * TICKS,),)


def altered(answer, row, value):
    """The answer with another last value in one row."""
    rows = [*answer.rows]
    rows[row] = (*rows[row][:-1], value)
    return replace(answer, rows=tuple(rows))


def test_a_wrong_answer_is_shown_from_its_first_difference_on_beside_the_true_one(right):
    number, answer = right[NAMES[0]][0]
    right[NAMES[0]][0] = number, altered(answer, 45, -1.0)
    hosts, _ = judged(right, shown=1)

    (shown,) = hosts.shown
    assert (shown.ok, shown.skipped, shown.all_rows) == (False, 45, len(answer.rows))
    assert shown.rows[0] == (answer.rows[45][0], -1.0)
    assert shown.truth == answer.rows[45:65]
    assert shown.rows[1:] == shown.truth[1:]


def test_digests_are_those_of_all_answers_and_wrong_ones_are_shown(right):
    number, answer = right[NAMES[0]][7]
    right[NAMES[0]][7] = number, altered(answer, 0, -1.0)
    hosts, count = judged(right, digests=True)

    assert [each.instance for each in hosts.digests] == list(range(30))
    assert [each.instance for each in hosts.digests if not each.ok] == [7]
    assert hosts.digests[3].digest == digest_of(right[NAMES[0]][3][1].rows)
    assert [each.instance for each in hosts.shown] == [7]
    assert (len(count.digests), count.shown) == (1, ())
    assert judged(right)[0].digests == ()


def test_an_answer_is_unknown_where_a_rounded_mean_is_the_limit():
    stored = fleet(precision="full")
    cpu = DatasetReader(stored).table("cpu")
    mean = Aggregate(Function.AVG, "usage_user")
    means = AggregateQuery(cpu, (mean,), ("hostname",))
    ordered = sorted(row[::-1] for row in truths([means], stored)[means].answer.rows)
    limit = Condition(mean.label, Operator.LESS, ordered[2][0])
    query = RowsQuery(derive("hosts", means), ("hostname",), Selection(compared=(limit,)))
    load = QueryLoad(queries={"idle": ""}, shown_answers=9, digests=True)
    judge = Judge(Sqlite(SqliteOptions(path="unused")), stored, load)

    def answered(hosts):
        given = Answer(("hostname",), tuple(sorted((host,) for _, host in hosts)))
        (found,) = judge.judge({"idle": always(query)}, lambda _: [(0, given)])
        return found

    right, either, wrong = answered(ordered[:2]), answered(ordered[:3]), answered(ordered[1:])

    assert (right.verdict.status, right.shown[0].ok) == (Status.VERIFIED, True)
    assert (either.verdict.status, either.shown[0].ok) == (Status.UNKNOWN, None)
    assert [each.ok for each in either.digests] == [None]
    assert "avg_usage_user < " in either.verdict.reason
    assert "depends on the order in which a sum was computed" in either.verdict.reason
    assert wrong.verdict.status is Status.UNKNOWN
