"""A mixed run as summary, table, warnings, thresholds and comparison."""

from pathlib import Path

import pytest

from iotbench.comparison.comparison import Judgement, compare_sides
from iotbench.comparison.sides import Side, expect_comparable
from iotbench.comparison.thresholds import Scope, checks_of, list_failures, parse
from iotbench.measurements import summary_of
from iotbench.measurements.mixed.figures import LOAD
from iotbench.measurements.warnings import warnings_of
from iotbench.output.terminal.tables import format_record, records_of, totals_of
from iotbench.plans.measures import is_measure, measures_of
from iotbench.results.metrics import insert_metrics
from iotbench.results.result import RunRecord
from simulator.data.ranges import RowRange
from simulator.protocol.events import QueryVerdict
from simulator.protocol.messages import QueryTimes, WorkerReport
from simulator.protocol.verdict import Check, Status, Verdict
from tests.unit.output.terminal.made import histogram, outcome, result, stored, worker

QUERIES = ("count-events", "newest-per-device")
RIGHT = Verdict.of([Check(name="count", expected="1", found="1", ok=True)])
WRONG = Verdict.of([Check(name="answers", expected="2", found="1", ok=False)])


def times(name, *waits, **changes):
    return QueryTimes(
        name=name, first_s=0.1, runs=len(waits), waits=histogram(*waits) if waits else "",
        wait_s=sum(waits) / 1000, client_s=0.0, elapsed_s=2.0, answers=1, **changes,
    )  # fmt: skip


def asker(index, *of_types):
    return WorkerReport(index=index, started_s=10.0, ended_s=12.0, duration_s=2.0, queries=of_types)


def mixed(
    *,
    waits=((5, 5, 5, 5), (20, 20)),
    ended=12.0,
    answers=RIGHT,
    inserted=(1.0,),
    asked=None,
    **changes,
):
    """A result of two workers that wrote 200 rows, and two that asked two types in turn."""
    sent = (RowRange(start=0, stop=100),)
    writers = [
        worker(i, rows=100, ended=ended, latency=histogram(*inserted), written=sent)
        for i in range(2)
    ]
    askers = [
        asker(
            i,
            *(
                times(name, *of_type, **(asked or {}))
                for name, of_type in zip(QUERIES, waits, strict=True)
            ),
        )
        for i in (2, 3)
    ]
    found = outcome(
        *writers, *askers,
        queries=tuple(
            QueryVerdict(name=name, statement="", tuned=False, verdict=answers) for name in QUERIES
        ),
        rows_verdict=RIGHT, verdict=RIGHT.beside(answers),
    )  # fmt: skip
    only_writers = found.model_copy(update={"workers": tuple(writers)})
    run = RunRecord(
        run_id="r", workers=4, run=1, level=100, outcome=found,
        metrics=insert_metrics(only_writers, stored(300)),
    )  # fmt: skip
    configuration = {"insert_workers": 2, "query_workers": 2, "duration_s": 2.0, **changes}
    return result([run], kind="mixed", configuration=configuration, dataset=stored(100))


def figures(row):
    return {name: figure.value for name, figure in row.figures.items()}


def test_inserts_and_queries_are_rows_with_the_workers_of_their_kind():
    summary = summary_of(mixed())
    inserts, count, newest = summary.rows
    (total,) = summary.totals

    assert summary.subject.name == "load"
    assert [str(row.place) for row in summary.every] == [
        f"{name}, 2 workers" for name in ("inserts", *QUERIES, "all queries")
    ]
    assert figures(inserts)["rows_per_s"] == 100
    assert figures(count)["queries_per_s"] == 4
    assert figures(newest)["p50_ms"] == pytest.approx(20, rel=0.01)
    assert figures(total)["queries_per_s"] == 6  # 12 queries in the same 2 s
    assert summary.headline is inserts


def repeated(*of_runs, **changes):
    """A result with the runs of several results, one after the other."""
    runs = [each.runs[0].model_copy(update={"run": n}) for n, each in enumerate(of_runs, 1)]
    return of_runs[0].model_copy(update={"runs": runs, **changes})


def test_several_runs_are_one_row_with_the_spread_of_their_rates():
    found = repeated(
        mixed(inserted=(1.0,)),
        mixed(inserted=(3.0,), ended=11.0, waits=((5, 5), (20, 20))),
    )
    inserts, count, newest = summary_of(found).rows
    (total,) = summary_of(found).totals

    assert [row.runs for row in (inserts, count, newest, total)] == [2, 2, 2, 2]
    rate, asked = inserts.figures["rows_per_s"], count.figures["queries_per_s"]
    assert (rate.value, rate.spread, rate.n) == (150, pytest.approx(2 / 3), 2)
    assert (asked.value, asked.spread) == (3, pytest.approx(2 / 3))  # 4 and 2
    assert inserts.figures["avg_ms"].value == pytest.approx(2.0, rel=0.01)
    assert total.figures["queries_per_s"].value == 5  # 6 and 4
    rows, *queries = records_of(found)
    assert rows["rows_per_s_spread"] == pytest.approx(2 / 3)
    assert [each["queries_per_s_spread"] for each in queries] == [pytest.approx(2 / 3), 0]
    assert "Spread" in format_record(found, Path("r.json"), "table")
    assert "Spread" not in format_record(mixed(), Path("r.json"), "table")


def test_the_verdict_of_a_row_is_that_of_the_worst_run():
    found = repeated(mixed(), mixed(answers=WRONG), mixed())

    assert [row.verdict for row in summary_of(found).rows] == ["verified", "mismatch", "mismatch"]
    assert (found.exit_code, found.runs[1].outcome.verdict.reason) == (3, WRONG.reason)


def test_rows_and_queries_of_the_warmup_are_named_below_the_table():
    found = mixed(warmup_s=1.0, asked={"warmup_runs": 3})
    (run,) = found.runs
    metrics = run.metrics.model_copy(update={"warmup_rows": 70})
    found.runs[:] = [run.model_copy(update={"metrics": metrics})]
    text = format_record(found, None, "table")

    assert "warm-up: 1 s before each run is measured: 70 rows and 12 queries in all" in text


def test_records_have_the_same_names_for_both():
    inserts, count, _ = records_of(mixed())

    assert {"workers", "timed", "p50_ms", "p99_ms", "verdict"} <= {*inserts} & {*count}
    assert (inserts["load"], count["query"]) == ("inserts", "count-events")
    assert (inserts["timed"], count["timed"]) == (2, 8)
    assert totals_of(mixed())[0]["query"] == "all queries"
    assert format_record(mixed(), None, "csv").count("\n") == 5


def test_the_table_shows_rates_of_both():
    text = format_record(mixed(), Path("r.json"), "table", plotted=True)

    assert [line.split()[0] for line in text.splitlines()[3:6]] == ["inserts", *QUERIES]
    assert "median" in text


def test_a_query_without_a_timed_run_has_no_figures_and_a_warning():
    found = mixed(waits=((5, 5), ()))

    row = summary_of(found).rows[2]
    assert (row.figures, row.verdict) == ({}, "verified, not timed")
    assert summary_of(found).totals == ()
    (warning,) = warnings_of(found)
    assert warning.startswith("not timed, since others took all of the time: newest-per-device")


def test_queries_that_fell_due_and_were_not_asked_count_in_the_average_and_not_in_the_rate():
    found = mixed(asked={"unsent": 3, "unsent_s": 0.3, "due_s": 3.0})

    count = summary_of(found).rows[1]
    assert figures(count)["queries_per_s"] == pytest.approx(8 / 3)  # the runs cover 3 s
    assert figures(count)["avg_ms"] == pytest.approx((8 * 5 + 2 * 300) / (8 + 6))
    assert any(text.startswith("12 queries fell due") for text in warnings_of(found))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"query_rate": 6.2}, []),
        ({"query_rate": 7.0}, []),
        ({"query_rate": 8.0}, ["reached only 6 of the requested 8 queries/s"]),
        ({"insert_rate": 110.0}, ["4 workers: reached only 100 of the requested 110 rows/s"]),
        ({"ended": 11.0}, ["the last row was inserted after 1 s of 2 s"]),
        ({"ended": 11.0, "insert_rate": 150.0, "batch": 150}, []),
        ({"duration_s": 1.0, "warmup_s": 1.0, "query_rate": 12.0}, []),
    ],
)
def test_what_was_not_reached_is_named(changes, expected):
    found = warnings_of(mixed(**changes))

    assert len(found) == len(expected)
    assert all(text.startswith(start) for text, start in zip(found, expected, strict=True))


def failed(text):
    problems = []
    scope = Scope((LOAD,), workers=(), queries=("inserts", *QUERIES, "all queries"))
    thresholds = parse([text], scope, problems)
    assert problems == []
    return list_failures(tuple(checks_of(thresholds, summary_of(mixed()))))


@pytest.mark.parametrize(
    ("text", "failing"),
    [
        ("rows_per_s < 200", 1),
        ("rows_per_s < 50", 0),
        ("queries_per_s < 5", 2),
        ("p99_ms > 0.5", 4),
        ("p99_ms > 0.5 at query=inserts", 1),
        ("first_ms > 99", 3),
        ("client_share > 200%", 0),
    ],
)
def test_a_threshold_holds_against_the_rows_that_have_its_figure(text, failing):
    assert len(failed(text)) == failing


def of_sweep(found, name):
    return found.model_copy(update={"sweep_id": name})


def test_mixed_runs_are_judged_by_their_latencies():
    base = mixed(), mixed(inserted=(1.01,)), mixed(inserted=(0.99,))
    slow = [mixed(inserted=(ms,)) for ms in (2.0, 2.01, 1.99)]
    sides = [
        Side(
            tuple(
                (Path(f"{name}{n}.json"), of_sweep(each, f"{name}{n}")) for n, each in enumerate(of)
            )
        )
        for name, of in (("a", base), ("b", slow))
    ]
    expect_comparable(sides)
    rows = {row.place.name: row for row in compare_sides(*sides).rows}

    assert rows["inserts"].lines[0].judgement is Judgement.NOT_IN_TURNS
    assert rows["count-events"].lines[0].judgement is Judgement.NOISE
    names = [line.figure.name for line in rows["inserts"].lines]
    assert names == [
        "p50_ms", "rows_per_s", "rows_per_s_stored", "p95_ms", "client_share", "bytes_per_row",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "answers", "expected"),
    [
        (Status.VERIFIED, Status.VERIFIED, Status.VERIFIED),
        (Status.OFF, Status.VERIFIED, Status.OFF),
        (Status.INCOMPLETE, Status.VERIFIED, Status.INCOMPLETE),
        (Status.INCOMPLETE, Status.MISMATCH, Status.MISMATCH),
        (Status.UNKNOWN, Status.OFF, Status.UNKNOWN),
    ],
)
def test_two_verdicts_come_to_the_worse_one(rows, answers, expected):
    first = Verdict(status=rows, reason="a", uncertain_absent=2)
    found = first.beside(Verdict(status=answers, reason="b"))

    assert (found.status, found.uncertain_absent) == (expected, 2)
    assert {*found.reason.split("; ")} == {"a", "b"}


def test_a_plan_has_measures_of_each_row_and_of_all_queries():
    found = measures_of([mixed()])

    assert (found["mixed_rows_per_s inserts"], found["verified"]) == (100, 1)
    assert found["mixed_queries_per_s count-events"] == 4
    assert found["mixed_queries_per_s all queries"] == 6
    assert found["mixed_p50_ms newest-per-device"] == pytest.approx(20, rel=0.01)
    assert all(is_measure(name) for name in found)
    assert not is_measure("mixed_p50_ms")
