"""The numbers of a run, the warnings that they call for, and how they are shown."""

import csv
import io
import json
import math
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cli.host.machine import Machine
from cli.metrics import insert_metrics, latency_of, merged
from cli.report.tables import _percentile, mismatches_of, printed, rows_of
from cli.report.warnings import spread, warnings_of
from cli.results import Result, RunRecord
from simulator.data.dataset import Dataset
from simulator.data.schema import PrimaryKey
from simulator.load.meter import Meter
from simulator.protocol.messages import Outcome, QueryTimes, QueryVerdict, ServerFacts, WorkerReport
from simulator.protocol.spec import Kind
from simulator.protocol.verdict import RowSlice, Status, Verdict

MS = 10**6
SERVER = ServerFacts(version="SQLite 3", nodes=1, durability="synced", durable=True, settings={})


def histogram(*milliseconds):
    meter = Meter(0)
    for latency in milliseconds:
        meter.record(0, int(latency * MS), 1)
    return meter.latency()


SENDS = histogram(*[0.1] * 99, 0.9)


def worker(index, rows=100, started=10.0, ended=12.0, **changes):
    fields = {
        "index": index,
        "rows": rows,
        "started_s": started,
        "ended_s": ended,
        "duration_s": ended - started,
        "send_s": ended - started,
    }
    return WorkerReport(**(fields | changes))


def outcome(*workers, **changes):
    fields = {
        "status": "done",
        "released_s": 10.0,
        "server": SERVER,
        "workers": workers or (worker(0),),
        "verdict": Verdict(status=Status.VERIFIED),
        "size_bytes": 8192,
    }
    return Outcome(**(fields | changes))


def run(found=None, *, number=1, level=0, **changes):
    found = found or outcome(**changes)
    return RunRecord(
        run_id="r",
        workers=len(found.workers),
        run=number,
        level=level,
        outcome=found,
        metrics=insert_metrics(found, 200),
    )


def result(runs, *, cores=8, kind=Kind.INSERT, **changes):
    fields = {
        "program_version": "1",
        "sweep_id": "s",
        "created": datetime(2026, 11, 21, tzinfo=UTC),
        "kind": kind,
        "target": "lite",
        "module": "sqlite",
        "runner": "local",
        "configuration": {"workers": [1], "num_inserts": 100, "batch": 10},
        "machine": Machine(
            system="Linux",
            processor="CPU",
            cores=cores,
            memory_bytes=2**34,
            python="3.11.2",
            load_average=0.5,
        ),
        "dataset": Dataset(
            workload="iot",
            workload_version=1,
            params={},
            seed=1,
            start_ms=0,
            primary_key=PrimaryKey.DB,
            parts=1,
        ),
        "status": "done",
        "runs": runs,
    }
    return Result(**(fields | changes))


# --- metrics --------------------------------------------------------------------------------------


def test_both_rates_are_computed_as_they_are_defined():
    """300 rows; the last acknowledgement 5 s after the barrier; durations of 1.5 s and 4.5 s."""
    workers = (
        worker(0, rows=100, started=10.0, ended=11.5),
        worker(1, rows=200, started=10.5, ended=15.0),
    )
    metrics = insert_metrics(outcome(*workers), 300)

    assert metrics.rows == 300
    assert metrics.rows_per_s == 300 / 5
    assert metrics.rows_per_s_reference == 300 / 3


def test_the_clients_share_is_all_that_neither_database_nor_schedule_took():
    workers = (
        worker(0, generate_s=0.5, encode_s=0.25, send_s=1.0, idle_s=0.5, cpu_s=1.0),
        worker(1, ended=16.0, generate_s=0.25, encode_s=1.0, send_s=4.5, cpu_s=3.0),
    )
    metrics = insert_metrics(outcome(*workers), 200)

    assert (metrics.client_share, metrics.cpu_share) == (2.0 / 8, 4.0 / 8)


def test_a_last_send_that_failed_leaves_no_negative_share():
    assert insert_metrics(outcome(worker(0, send_s=99.0)), 200).client_share == 0


def test_counts_are_added_over_the_workers():
    slices = (RowSlice(start=0, stop=10, step=1), RowSlice(start=11, stop=19, step=4))
    workers = (
        worker(0, uncertain=slices, retried=1, memory_peak_bytes=5),
        worker(1, uncertain=slices[:1], retried=2, memory_peak_bytes=7),
    )
    metrics = insert_metrics(outcome(*workers), 200)

    assert (metrics.uncertain_rows, metrics.retried, metrics.memory_peak_bytes) == (22, 3, 7)


@pytest.mark.parametrize(("size", "expected"), [(8192, 8192 / 200), (None, None)])
def test_bytes_per_row_are_of_what_the_tables_hold(size, expected):
    assert insert_metrics(outcome(size_bytes=size), 200).bytes_per_row == expected


def test_a_run_without_workers_has_no_rates():
    metrics = insert_metrics(Outcome(status="failed"), 0)

    assert (metrics.rows_per_s, metrics.rows_per_s_reference, metrics.client_share) == (0, 0, 0)
    assert (metrics.latency.sends, metrics.latency.max_ms) == (0, 0)


def test_a_lost_worker_does_not_hide_what_the_others_did():
    lost = WorkerReport(index=1, error="lost", rows=50)
    metrics = insert_metrics(outcome(worker(0), lost), 200)

    assert (metrics.rows, metrics.rows_per_s) == (150, 75)


def test_percentiles_of_all_workers_are_of_all_sends():
    fast, slow = histogram(*[1.0] * 10), histogram(*range(10, 100))
    latency = latency_of(merged((worker(0, latency=fast), worker(1, latency=slow))))
    found = (latency.p50_ms, latency.p95_ms, latency.p99_ms, latency.p999_ms, latency.max_ms)

    assert latency.sends == 100
    assert found == pytest.approx((49, 94, 98, 99, 99), rel=2e-3)
    assert latency.mean_ms == pytest.approx((10 + sum(range(10, 100))) / 100, rel=2e-3)


def test_the_percentile_of_few_values_is_one_of_them():
    """Nearest rank, counted in whole numbers."""
    values = range(1, 1001)
    ranks = {
        (n, per_cent): max(-(-n * per_cent // 100), 1) for n in values for per_cent in (50, 99)
    }
    found = {(n, per_cent): _percentile(range(1, n + 1), per_cent / 100) for n, per_cent in ranks}

    assert found == ranks


# --- warnings -------------------------------------------------------------------------------------


def test_a_quiet_sweep_has_no_warnings():
    assert warnings_of(result([run(), run(number=2)])) == []


def busy(client_s):
    return run(outcome(worker(0, send_s=2.0 - client_s)))


@pytest.mark.parametrize(("client_s", "warned"), [(1.0, False), (1.02, True)])
def test_a_client_that_took_more_than_half_of_the_time_is_warned_of(client_s, warned):
    told = warnings_of(result([busy(0.1), busy(client_s)]))

    assert [text.partition(" of the time")[0] for text in told] == ["1 worker: 51%"] * warned


def test_a_client_that_is_all_there_is_needs_no_warning():
    nothing = SERVER.model_copy(update={"nodes": 0})
    nothing_stored = outcome(worker(0, send_s=0.0), size_bytes=None, server=nothing)

    assert warnings_of(result([run(nothing_stored)])) == []


@pytest.mark.parametrize(("cores", "warned"), [(2, False), (1, True)])
def test_more_workers_than_cores_are_warned_of(cores, warned):
    told = warnings_of(result([run(outcome(worker(0), worker(1)))], cores=cores))

    assert [text.partition(" of this")[0] for text in told] == ["2 workers share 1 cores"] * warned


def timed(seconds, rows=1000, **changes):
    return run(outcome(worker(0, rows=rows, ended=10.0 + seconds, **changes)))


@pytest.mark.parametrize(("seconds", "warned"), [(1.1, False), (1.12, True)])
def test_runs_that_differ_by_more_than_a_tenth_are_warned_of(seconds, warned):
    told = warnings_of(result([timed(1.0), timed(seconds)]))

    assert ["the runs differ by 11% of their mean" in text for text in told] == [True] * warned


def test_steps_may_differ():
    configuration = {"workers": [1], "num_inserts": 1000, "steps": 2}

    assert warnings_of(result([timed(1), timed(9)], configuration=configuration)) == []


@pytest.mark.parametrize(("rate", "warned"), [(0, False), (1050, False), (1060, True)])
def test_a_rate_that_was_not_reached_is_warned_of(rate, warned):
    told = warnings_of(result([timed(1.0)], configuration={"rate": rate}))

    assert ["only 1,000 of the 1,060 rows/s" in text for text in told] == [True] * warned


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"retried": 2}, ["1 worker: 2 sends were repeated and 0 rows have no known outcome"]),
        (
            {"uncertain": (RowSlice(start=0, stop=9, step=4),)},
            ["1 worker: 0 sends were repeated and 3 rows have no known outcome"],
        ),
    ],
)
def test_repeated_sends_and_uncertain_rows_are_warned_of(changes, told):
    found = warnings_of(result([run(outcome(worker(0, **changes)))]))

    assert [text.partition(";")[0] for text in found] == told


@pytest.mark.parametrize(("durable", "warned"), [(True, False), (None, False), (False, True)])
def test_an_acknowledgement_that_is_not_durable_is_warned_of(durable, warned):
    server = SERVER.model_copy(update={"durable": durable})
    told = warnings_of(result([run(outcome(server=server))]))

    assert [text.partition(" (")[0] for text in told] == [
        "an acknowledged row is not durable"
    ] * warned


def test_what_was_not_compared_is_warned_of_once():
    left = Verdict(
        status=Status.VERIFIED, not_compared=("events: max_a: why", "events: max_b: why")
    )
    (told,) = warnings_of(result([run(outcome(verdict=left)), run(outcome(verdict=left))]))

    assert "cannot be asked: events: max_a: why; and 1 more, in the result file" in told


def test_failed_runs_and_queries_are_not_warned_of():
    failed = run(outcome(worker(0, retried=5), status="failed"))
    queried = result([busy(2.0)], kind=Kind.QUERY)

    assert warnings_of(result([failed])) == []
    assert warnings_of(queried) == []


@pytest.mark.parametrize(
    ("rates", "expected"), [([], 0), ([5.0], 0), ([9.0, 11.0, 10.0], 0.2), ([4.0, 4.0], 0)]
)
def test_spread_is_the_range_over_the_mean(rates, expected):
    assert spread(rates) == pytest.approx(expected)


# --- tables ---------------------------------------------------------------------------------------


def test_a_row_of_insert_sums_up_the_runs_of_a_worker_count():
    fast, slow = histogram(*[0.1] * 99), histogram(0.9)
    runs = [
        timed(1.0, latency=fast),
        timed(2.0, latency=slow),
        run(outcome(worker(0), worker(1))),
    ]
    one, two = rows_of(result(runs))

    assert [row["workers"] for row in (one, two)] == [1, 2]
    assert (one["runs"], one["rows_per_s_min"], one["rows_per_s_max"]) == (2, 500, 1000)
    assert (one["rows_per_s_avg"], one["rows_per_s_reference_avg"]) == (750, 750)
    assert one["spread"] == pytest.approx(500 / 750)
    assert two["rows_per_s_avg"] == 100
    assert (one["latency_p50_ms"], one["latency_max_ms"]) == (0.1, 0.9)


def test_failed_runs_are_not_in_the_table():
    assert rows_of(result([run(outcome(status="failed"))])) == []


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [
        ([Status.VERIFIED, Status.VERIFIED], "verified"),
        ([Status.VERIFIED, Status.OFF], "not verified"),
        ([Status.OFF, Status.UNKNOWN], "unknown"),
        ([Status.VERIFIED, None], "unknown"),
        ([Status.UNKNOWN, Status.MISMATCH, Status.VERIFIED], "mismatch"),
    ],
)
def test_the_worst_verdict_of_the_runs_stands_in_the_table(statuses, worst):
    verdicts = [status and Verdict(status=status) for status in statuses]
    (row,) = rows_of(result([run(outcome(verdict=verdict)) for verdict in verdicts]))

    assert row["verdict"] == worst


def lines_of(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def test_the_table_of_an_insert_reads_as_it_should():
    two = outcome(worker(0, latency=SENDS), worker(1, latency=SENDS))
    shown = result([timed(1.0, latency=SENDS), run(two)], warnings=["slow"])

    assert lines_of(printed(shown, Path("results/r.json"), "table")) == [
        (
            "Workers     Min     Max   Avg rows/s   Spread"
            "   p50 ms   p99 ms   Max ms   Client   Verdict"
        ),
        "─" * 92,
        "1   1,000   1,000        1,000        -    0.100    0.100    0.900     0.0%   verified",
        "2     100     100          100        -    0.100    0.100    0.900     0.0%   verified",
        "warning: slow",
        (
            "configuration: insert target=lite module=sqlite runner=local workers=1 num_inserts=100"
            " batch=10"
        ),
        "server: SQLite 3; synced",
        "on disk after settle: 8,192 bytes, 41.0 bytes/row",
        "client: CPU, 8 cores, 16 GiB, Linux, Python 3.11.2",
        "result file: results/r.json",
    ]


def test_the_table_of_steps_has_the_step_size_and_the_levels():
    configuration = {"workers": [4], "num_inserts": 250, "steps": 2}
    shown = result([timed(1), timed(2)], configuration=configuration)
    shown.runs[1] = shown.runs[1].model_copy(update={"level": 1000})
    text = printed(shown, None, "table")

    assert lines_of(text)[0] == "Stepsize: 1000"
    assert lines_of(text)[1].split()[:2] == ["Level", "Inserts/s"]
    assert [line.split()[:2] for line in lines_of(text)[3:5]] == [["0", "1,000"], ["1000", "500"]]


def queried(*, tuned=False):
    times = QueryTimes(name="q", durations_s=(0.25, 0.75), answers=("d",))
    verified = Verdict(status=Status.VERIFIED)
    refused = Verdict(status=Status.UNKNOWN, reason="not supported: no window functions")
    queries = (
        QueryVerdict(name="q", statement="SELECT 1", tuned=tuned, verdict=verified),
        QueryVerdict(name="u", statement="", tuned=False, verdict=refused),
    )
    workers = (
        WorkerReport(index=0, queries=(times,)),
        WorkerReport(index=1, queries=(times.model_copy(update={"durations_s": (1.0, 2.0)}),)),
    )
    return result([run(outcome(*workers, queries=queries))], kind=Kind.QUERY)


def test_a_row_of_query_sums_up_all_workers():
    asked, refused = rows_of(queried())

    assert asked == {
        "query": "q",
        "duration_s_min": 0.25,
        "duration_s_max": 2.0,
        "duration_s_avg": 1.0,
        "duration_s_p50": 0.75,
        "duration_s_p99": 2.0,
        "verdict": "verified",
    }
    assert refused == {"query": "u", "verdict": "not supported: no window functions"}


def test_the_table_of_queries_reads_as_it_should():
    assert lines_of(printed(queried(tuned=True), None, "table"))[2:4] == [
        "q       0.2500    2.00    1.00   0.7500    2.00   verified, tuned",
        "u            -       -       -        -       -   not supported: no window functions",
    ]


def test_what_failed_is_told_with_what_was_done_until_then():
    failed = run(outcome(worker(0, prefill_rows=1000), status="failed"))
    shown = result([run(), failed], status="failed", cause="disk is full")

    assert lines_of(printed(shown, None, "table"))[3:5] == [
        "failed: disk is full",
        (
            "until then: 1 runs done; in the last one 100 rows acknowledged"
            " (0 uncertain, 1,000 prefilled)"
        ),
    ]


def test_what_is_wrong_or_unknown_is_told_run_by_run():
    wrong = Verdict(status=Status.MISMATCH, reason="t: count: expected 2, found 1")
    unknown = Verdict(status=Status.UNKNOWN, reason="no answer")
    runs = [run(), run(outcome(verdict=wrong), number=2), run(outcome(verdict=unknown), number=3)]

    assert mismatches_of(result(runs)) == [
        "1 worker, run 2: t: count: expected 2, found 1",
        "1 worker, run 3: no answer",
    ]


def test_json_has_the_rows_and_what_is_needed_to_judge_them():
    shown = result([timed(1)], warnings=["slow"])
    found = json.loads(printed(shown, Path("r.json"), "json"))

    assert found.pop("rows") == rows_of(shown)
    assert found == {
        "kind": "insert",
        "target": "lite",
        "status": "done",
        "cause": "",
        "exit_code": 0,
        "mismatches": [],
        "warnings": ["slow"],
        "configuration": {"workers": [1], "num_inserts": 100, "batch": 10},
        "file": "r.json",
    }


def test_csv_has_a_line_for_each_row():
    lines = list(csv.DictReader(io.StringIO(printed(queried(), None, "csv"))))

    assert [line["query"] for line in lines] == ["q", "u"]
    assert lines[0]["duration_s_avg"] == "1.0"
    assert lines[1]["duration_s_avg"] == ""


def test_csv_keeps_every_digit():
    shown = result([timed(math.pi)])
    (line,) = csv.DictReader(io.StringIO(printed(shown, None, "csv")))

    assert float(line["rows_per_s_avg"]) == rows_of(shown)[0]["rows_per_s_avg"]
