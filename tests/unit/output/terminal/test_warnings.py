"""Warnings: each names what was seen, why it matters, and what to do."""

from dataclasses import replace

import pytest

from iotbench.machine.bystanders import OtherWork
from iotbench.measurements.warnings import warnings_of
from simulator.data.ranges import RowRange
from simulator.data.schema import Role, Type
from simulator.data.workloads.file import BadCells, FileColumn, FileParams, OnError
from simulator.load.durations import encode_durations
from simulator.protocol.messages import QueryTimes, WorkerReport
from simulator.protocol.verdict import Status, Verdict
from tests.unit.output.terminal.made import SERVER, outcome, result, run, timed, worker


def busy(client_s):
    return run(outcome(worker(0, send_s=2.0 - client_s)))


def of(*workers, configuration=None, **changes):
    """Return a result of one run with these workers."""
    options = configuration or {"workers": [1], "num_inserts": 100, "batch": 10}
    return result([run(outcome(*workers, **changes))], configuration=options)


def served(**changes):
    return replace(SERVER, **changes)


ENDED = "1 worker: a worker had written all its rows after 2 s, before its time"
ALL = (RowRange(start=0, stop=1000),)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (result([run(), run(number=2)]), ""),
        (result([busy(0.1), busy(1.0)]), ""),
        (result([busy(0.1), busy(1.02)]), "1 worker: the client itself took 51% of the time"),
        (of(worker(0, send_s=0.0), size_bytes=None, server=served(nodes=0)), ""),
        (of(server=served(durable=True)), ""),
        (of(server=served(durable=None)), ""),
        (of(server=served(durable=False)), "an acknowledged row is not durable ("),
        (result([run(outcome(worker(0), worker(1)))], cores=2), ""),
        (result([run(outcome(worker(0), worker(1)))], cores=1), "2 workers share 1 core of this"),
        (result([timed(1.0), timed(1.1)]), ""),
        (result([timed(1.0), timed(1.12)]), "1 worker: the runs differ by 11% of their mean"),
        (result([timed(1), timed(9)], configuration={"steps": 2}), ""),
        (result([timed(1.0)], configuration={"rate": 0}), ""),
        (result([timed(1.0)], configuration={"rate": 1050}), ""),
        (
            result([timed(1.0)], configuration={"rate": 1060}),
            "1 worker: reached only 1,000 of the requested 1,060 rows/s",
        ),
        (of(worker(0, unsent=0), configuration={"rate": 50}), ""),
        (of(worker(0, unsent=1), configuration={"rate": 50}), "1 worker: 1 batch fell due"),
        (of(worker(0, unsent=1500), configuration={"rate": 50}), "1 worker: 1,500 batches fell"),
        (of(worker(0), configuration={"duration_s": 60.0}), ENDED),
        (of(worker(0), configuration={"stages": "1:30s,2:30s"}), ENDED),
        (of(worker(0), configuration={"duration_s": 0.0}), ""),
        (of(worker(0), configuration={"duration_s": 60.0, "limit": 1000}), ""),
        (of(worker(0, written=ALL), configuration={"duration_s": 60.0}), ""),
        (
            of(worker(0, retried=2, backoff_s=0.15), worker(1, retried=1, backoff_s=0.05)),
            "2 workers: 3 sends failed without effect and were repeated, after pauses of 0.2 s in",
        ),
        (
            of(worker(0, disconnected_s=8.5), worker(1, disconnected_s=9.0)),
            "2 workers: connections were lost, and workers were without one for 17.5 s in all",
        ),
        (of(worker(0, ended=20.0), worker(1, ended=18.1)), ""),
        (
            of(worker(0, ended=20.0), worker(1, ended=17.9)),
            "2 workers: all of them were sending for only 79% of the time",
        ),
        (of(worker(0, ended=10.9), worker(1, ended=10.1)), ""),
    ],
)  # fmt: skip
def test_a_warning_begins_where_its_reason_does(found, text):
    assert [each.startswith(text) for each in warnings_of(found)] == [True] * bool(text)


@pytest.mark.parametrize(("others", "warned"), [((None, 0.79), False), ((0.3, 0.9), True)])
def test_work_of_others_from_a_tenth_of_the_cores_on_is_warned_of(others, warned):
    work = [each and OtherWork(cores=each, busiest={"make": each}) for each in others]
    beside = [run().model_copy(update={"other_work": each}) for each in work]
    reported = warnings_of(result(beside, cores=8))

    assert ["(0.90 cores: make 0.90)" in text for text in reported] == [True] * warned


@pytest.mark.parametrize(
    ("verdict", "known"),
    [
        (Verdict(status=Status.OFF), "it was not checked whether they are stored"),
        (
            Verdict(status=Status.INCOMPLETE, uncertain_present=2, uncertain_absent=1),
            "after the run, 2 of them are stored and 1 are not",
        ),
    ],
)
@pytest.mark.parametrize("cause", ["", "connection reset"])
def test_rows_of_unknown_outcome_are_warned_of_with_all_that_is_known(verdict, known, cause):
    uncertain = (RowRange(start=0, stop=9, take=1, every=4),)
    found = outcome(worker(0, uncertain=uncertain, uncertain_cause=cause), verdict=verdict)
    (warning,) = warnings_of(result([run(found)]))

    last = f" (last error: {cause})" if cause else ""
    assert warning.startswith(f"1 worker: 3 rows have no known outcome{last}, and rates do not")
    assert known in warning
    assert "log" not in warning


def test_bad_cells_of_a_file_are_warned_of_for_insert_and_query():
    bad = BadCells(
        column="x", expected="a number", action=OnError.NULL, count=4, first=("line 2: 'a'",)
    )
    time = FileColumn(name="time", type=Type.TIMESTAMP, role=Role.TIME)
    params = FileParams(
        source="x.csv", sha256="", rows=1, table="x", columns=(time,), bad_cells=(bad,), folder=""
    )
    for kind in "insert", "query":
        found = result([run()], kind=kind)
        found.dataset = found.dataset.model_copy(
            update={"workload": "file", "params": params.model_dump(mode="json")}
        )

        (warning,) = warnings_of(found)
        assert warning == (
            "--data: column 'x': 4 cells are not a number (line 2: 'a', ...); stored as NULL, so"
            " sums and averages do not include them; correct the file"
        )


def test_what_was_not_compared_is_warned_of_once():
    left = Verdict(
        status=Status.VERIFIED, not_compared=("events: max_a: why", "events: max_b: why")
    )
    (reported,) = warnings_of(result([run(outcome(verdict=left)), run(outcome(verdict=left))]))

    assert "did not compare everything: events: max_a: why; and 1 more, in the result" in reported


def test_failed_runs_and_queries_are_not_warned_of():
    failed = run(outcome(worker(0, retried=5), status="failed"))
    queried = result([busy(2.0)], kind="query")

    assert warnings_of(result([failed])) == []
    assert warnings_of(queried) == []


@pytest.mark.parametrize(
    ("throttled", "share"),
    [(((0, 0), (0, 0)), ""), (((40, 2), (0, 0)), ""), (((40, 37), (10, 8)), "90%")],
)
def test_workers_that_a_cpu_limit_stopped_are_warned_of(throttled, share):
    reports = [
        worker(index, cpu_periods=periods, throttled_periods=stopped)
        for index, (periods, stopped) in enumerate(throttled)
    ]
    found = [text for text in warnings_of(of(*reports)) if "CPU limit" in text]

    assert [text.partition(" of the periods (100 ms)")[0] for text in found] == [
        f"2 workers: the CPU limit of this machine or container stopped the workers in {share}"
    ] * bool(share)
    assert not any("--set" in text for text in found)


def test_workers_with_queries_that_a_cpu_limit_stopped_are_warned_of():
    asked = QueryTimes(name="q", runs=1, waits=encode_durations([10**9]), wait_s=1.0,
                       first_s=1.0, client_s=0.0, elapsed_s=1.0, answers=1)  # fmt: skip
    reports = [
        WorkerReport(index=index, queries=(asked,), cpu_periods=50, throttled_periods=throttled)
        for index, throttled in enumerate((40, 10))
    ]
    (warning,) = warnings_of(result([run(outcome(*reports))], kind="query", runner="kubernetes"))

    assert warning.startswith(
        "2 workers with queries: the CPU limit of the pods stopped the workers in"
    )
    assert " 50% of the periods (100 ms) in which they ran" in warning
    assert warning.endswith("--set worker.resources.limits.cpu=...")


PAUSED = "stood still for {} s while the clock ran"


@pytest.mark.parametrize("kind", ["insert", "query"])
def test_the_longest_pause_of_each_worker_count_is_warned_of(kind):
    runs = [
        run(outcome(worker(0, paused_s=2.0)), number=1),
        run(outcome(worker(0, paused_s=18.2)), number=2),
        run(outcome(worker(0), worker(1, paused_s=3.0), paused_s=4.0)),
        run(outcome(worker(0), worker(1), worker(2))),
    ]
    paused = [text for text in warnings_of(result(runs, kind=kind)) if "stood still" in text]

    assert [text.partition(" (")[0] for text in paused] == [
        f"1 worker: worker 0 {PAUSED.format(18)}",
        f"2 workers: the collector {PAUSED.format(4)}",
    ]
    assert all(text.endswith("; repeat the run") for text in paused)


def course(*rates):
    ended = 10.0 + len(rates)
    return run(outcome(worker(0, rows=sum(rates), ended=ended, rows_by_second=rates)))


COLD = course(*[50] * 12, *[100] * 88)


@pytest.mark.parametrize(
    ("runs", "configuration", "warned"),
    [
        ([COLD], {}, True),
        ([COLD, COLD, course(*[94] * 100)], {}, True),
        ([COLD, course(*[94] * 100)], {}, False),
        ([COLD], {"steps": 1}, False),
        ([course(*[94] * 100)], {}, False),
    ],
)
def test_a_warm_up_is_warned_of_if_most_runs_begin_with_one(runs, configuration, warned):
    reported = warnings_of(result(runs, configuration=configuration))
    text = (
        "1 worker: the first 15 s ran at 60 rows/s and the rest at 100 rows/s, so the average is 6%"
        " lower than the rate that lasts; leave them out with --warmup 15s"
    )

    assert reported == [text] * warned
    if warned:
        (later,) = warnings_of(result(runs, configuration={"warmup_s": 4.5}))
        assert later.endswith("--warmup 20s"), "without the warm-up that was left out"
