"""A result as a table, JSON and CSV."""

import csv
import io
import json
import math
from pathlib import Path

import pytest

from iotbench.figures.figures import FIGURES, spread_of
from iotbench.figures.numbers import significant
from iotbench.figures.rows import Place
from iotbench.measurements import summary_of
from iotbench.output.terminal.notes import mismatches_of
from iotbench.output.terminal.tables import format_record, records_of
from iotbench.plans.measures import is_measure, measures_of
from simulator.data.walks import Precision
from simulator.load.durations import encode_durations
from simulator.protocol.events import QueryRamp, QueryVerdict, ShownAnswer
from simulator.protocol.messages import QueryTimes, WorkerReport
from simulator.protocol.verdict import Accounts, Check, Status, Verdict, VerifyMode
from tests.unit.output.terminal.made import SENDS, histogram, outcome, result, run, timed, worker


@pytest.mark.parametrize(
    ("rates", "expected"),
    [([], None), ([5.0], None), ([0.0, 0.0], None), ([9.0, 11.0, 10.0], 0.2), ([4.0, 4.0], 0)],
)
def test_spread_is_the_range_over_the_mean(rates, expected):
    assert spread_of(rates) == (expected if expected is None else pytest.approx(expected))


def test_every_figure_has_its_unit_and_the_number_of_its_measurements():
    summary = summary_of(result([timed(1.0, latency=SENDS), timed(2.0, latency=SENDS)]))
    (row,) = summary.rows
    found = {name: (FIGURES[name].unit.value, each.n) for name, each in row.figures.items()}

    assert (summary.subject.name, row.place, row.runs) == ("workers", Place(workers=1), 2)
    assert (row.verdict, row.figures["rows_per_s"].spread) == ("verified", pytest.approx(500 / 750))
    assert found == {
        "rows": ("rows", 2),
        **dict.fromkeys(("timed_s", "stored_s"), ("s", 2)),
        **dict.fromkeys(("rows_per_s", "rows_per_s_reference", "rows_per_s_stored"), ("rows/s", 2)),
        "bytes_per_s": ("bytes/s", 2),
        "values_per_s": ("values/s", 2),
        **dict.fromkeys([f"{name}_ms" for name in LATENCIES if name != "p999"], ("ms", 200)),
        "client_share": ("share", 2),
        "driver_share": ("share", 2),
        "bytes_per_row": ("bytes/row", 2),
    }
    asked, refused = summary_of(queried()).rows
    assert {name: each.n for name, each in asked.figures.items()} == {
        **dict.fromkeys(("timed_s", "first_ms", "avg_ms", "queries_per_s", "client_share"), 1),
        **dict.fromkeys(("min_ms", "p50_ms", "p95_ms", "max_ms"), 4),
    }
    assert (refused.figures, refused.verdict) == ({}, "not supported: no window functions")


def test_a_row_of_insert_sums_up_the_runs_of_a_worker_count():
    fast, slow = histogram(*[0.1] * 99), histogram(0.9)
    runs = [
        timed(1.0, latency=fast),
        timed(2.0, latency=slow),
        run(outcome(worker(0), worker(1))),
    ]
    one, two = records_of(result(runs))

    assert [row["workers"] for row in (one, two)] == [1, 2]
    assert (one["runs"], one["rows_per_s_min"], one["rows_per_s_max"]) == (2, 500, 1000)
    assert (one["rows_per_s"], one["rows_per_s_reference"]) == (750, 750)
    assert one["rows_per_s_spread"] == pytest.approx(500 / 750)
    assert two["rows_per_s"] == 100
    assert (one["p50_ms"], one["max_ms"], one["timed"]) == (0.1, 0.9, 100)


def test_failed_runs_are_not_in_the_table():
    assert records_of(result([run(outcome(status="failed"))])) == []


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [
        ([Status.VERIFIED, Status.VERIFIED], "verified"),
        ([Status.VERIFIED, Status.OFF], "not verified"),
        ([Status.OFF, Status.UNKNOWN], "unknown"),
        ([Status.VERIFIED, Status.UNCHECKED, Status.OFF], "not checked"),
        ([Status.VERIFIED, None], "unknown"),
        ([Status.UNKNOWN, Status.MISMATCH, Status.VERIFIED], "mismatch"),
    ],
)
def test_the_worst_verdict_of_the_runs_stands_in_the_table(statuses, worst):
    verdicts = [status and Verdict(status=status) for status in statuses]
    (row,) = records_of(result([run(outcome(verdict=verdict)) for verdict in verdicts]))

    assert row["verdict"] == worst


INSERTED = """\
            Min     Max     Avg  Stored                  p50    p99    Max
Workers  rows/s  rows/s  rows/s  rows/s  MB/s  Spread     ms     ms     ms  Client  Verdict
────────────────────────────────────────────────────────────────────────────────────────────
      1   1,000   1,000   1,000     500  1.23       -  0.100  0.100  0.900    0.0%  verified
      2     100     100     100     100     -       -  0.100  0.100  0.900    0.0%  verified
"""
LATENCIES = ("min", "avg", "p50", "p95", "p99", "p999", "max")
ONE = worker(0, rows=1000, ended=11.0, latency=SENDS, payload_bytes=1_234_567)


def lines_of(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.fixture(autouse=True)
def width(monkeypatch):
    """Set the width of standard output; without that it is not a terminal."""
    monkeypatch.delenv("COLUMNS", raising=False)
    return lambda columns: monkeypatch.setenv("COLUMNS", str(columns))


def test_the_table_of_an_insert_reads_as_it_should(width):
    width(100)
    two = outcome(worker(0, latency=SENDS), worker(1, latency=SENDS, payload_bytes=None))
    one = run(outcome(ONE, phases_s={"visible": 1.0, "compact": 0.1}))
    shown = result([one, run(two)], warnings=["slow"])

    assert format_record(shown, Path("results/r.json"), "table").splitlines() == [
        *INSERTED.splitlines(),
        "",
        "warning: slow",
        (
            "rows/s by the published formula (rows / mean duration of the workers):"
            " 1,000 (1 worker), 100 (2 workers)"
        ),
        (
            "configuration: insert target=lite module=sqlite runner=local workers=1 num_inserts=100"
            " batch=10"
        ),
        "server: SQLite 3; synced",
        (
            "on disk after compaction: 8,192 bytes, 41.0 bytes/row, 81.9 bits/value"
            " (precision grid: about 13 bits, which compress well)"
        ),
        (
            "workers: all 2 sending in 100% of the time, the slowest at 100% of the fastest one's"
            " rows/s"
        ),
        "client: CPU, 8 cores, 16 GiB, Linux, Python 3.11.2",
        "result file: results/r.json",
    ]


WIDE = [
    run(outcome(worker(0, rows=rows, ended=11.0, latency=histogram(4_321.0, 98_765.0))))
    for rows in (12_345_678, 9_999_999)
]


def table_of(text):
    """The lines of the table, up to the blank line below it."""
    lines = text.splitlines()
    return lines[: lines.index("")]


def test_a_setting_for_colours_drops_no_column(monkeypatch):
    plain = format_record(result(WIDE), None, "table")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")

    assert format_record(result(WIDE), None, "table") == plain


@pytest.mark.parametrize(
    ("columns", "dropped"),
    [
        (60, "Min rows/s, Max rows/s, Spread, p50 ms, Max ms"),
        (45, "Min rows/s, Max rows/s, Stored rows/s, Spread, p50 ms, p99 ms, Max ms, Client"),
        (None, "Min rows/s, Max rows/s, Max ms"),
        (109, ""),
    ],
)
def test_a_table_fits_the_width_and_names_the_columns_that_it_dropped(width, columns, dropped):
    if columns:
        width(columns)
    limit = columns or 80
    text = format_record(result(WIDE), None, "table")

    assert max(map(len, table_of(text))) <= limit
    assert "11,172,838" in text
    assert "verified" in text
    assert " 447 " in text
    assert ("9,999,999" in text) == (not dropped)
    noted = f"not shown in {limit} columns: {dropped} (see them with --format json)"
    assert [line for line in text.splitlines() if "not shown" in line] == [noted] * bool(dropped)


@pytest.mark.parametrize(
    ("precision", "words"),
    [
        (Precision.FULL, "precision full: every bit of a double"),
        (Precision.GRID, "precision grid: about 13 bits, which compress well"),
        (None, "values of workload iot"),
    ],
)
def test_bits_per_value_stand_beside_the_precision_of_the_values(precision, words):
    drawn = run().metrics.model_copy(update={"precision": precision, "bits_per_value": 12.34})
    text = format_record(result([run().model_copy(update={"metrics": drawn})]), None, "table")

    assert f"41.0 bytes/row, 12.3 bits/value ({words})\n" in text


def test_the_table_of_steps_has_the_step_size_and_the_levels():
    configuration = {"workers": [4], "num_inserts": 250, "steps": 2}
    shown = result([timed(1), timed(2)], configuration=configuration)
    shown.runs[1] = shown.runs[1].model_copy(update={"level": 1000})
    text = format_record(shown, None, "table")

    assert lines_of(text)[0] == "Stepsize: 1000"
    assert lines_of(text)[2].split()[:4] == ["Level", "Inserts/s", "rows/s", "MB/s"]
    assert [line.split()[:4] for line in lines_of(text)[4:6]] == [
        ["0", "1,000", "1,000", "0.04"],
        ["1,000", "500", "500", "0.02"],
    ]
    assert ": 1,000 (level 0, 1 worker), 500 (level 1,000, 1 worker)" in text


def times_of(name="q", *, first_s, waits_s, client_s=0.0):
    """The times of one query type by one worker."""
    return QueryTimes(
        name=name,
        first_s=first_s,
        runs=len(waits_s),
        waits=encode_durations([round(each * 1e9) for each in waits_s]),
        wait_s=sum(waits_s),
        client_s=client_s,
        elapsed_s=sum(waits_s) + client_s,
        answers=1,
    )


def queried(*, tuned=False, workers=2, answers=(), **changes):
    verified = Verdict(status=Status.VERIFIED)
    refused = Verdict(status=Status.UNKNOWN, reason="not supported: no window functions")
    queries = (
        QueryVerdict(name="q", statement="SELECT 1", tuned=tuned, verdict=verified, shown=answers),
        QueryVerdict(name="u", statement="", tuned=False, verdict=refused),
    )
    reports = (
        WorkerReport(index=0, queries=(times_of(first_s=3.0, waits_s=(0.25, 0.75), client_s=1.0),)),
        WorkerReport(index=1, queries=(times_of(first_s=5.0, waits_s=(1.0, 2.0)),)),
    )
    asked = run(outcome(*reports, queries=queries, **changes))
    asked = asked.model_copy(update={"workers": workers})
    return result([asked], kind="query")


def test_a_plan_has_the_shortest_longest_and_all_answers_of_a_query():
    found, near = measures_of([queried()]), pytest.approx

    assert {name: value for name, value in found.items() if name.endswith(" q")} == {
        "timed_s q": near(3), "queries_per_s q": 4 / 3, "first_ms q": 4000.0, "avg_ms q": 1000.0,
        "min_ms q": near(250, rel=0.001), "p50_ms q": near(750, rel=0.001),
        **dict.fromkeys(
            [f"{name}_ms q" for name in ("p95", "max")], near(2000, rel=0.001)
        ),
        "client_share q": 0.2,
    }  # fmt: skip
    assert all(map(is_measure, found))
    assert not is_measure("queries_per_s")
    assert not is_measure("step_rows_per_s_reference")


def test_a_row_of_query_sums_up_all_workers():
    asked, refused = records_of(queried())

    near = pytest.approx
    assert asked == {
        "query": "q",
        "workers": 2,
        "runs": 1,
        "timed_s": 3.0,
        "queries_per_s": 4 / 3,
        "first_ms": 4000.0,
        "min_ms": near(250, rel=0.001),
        "avg_ms": 1000.0,
        "p50_ms": near(750, rel=0.001),
        **dict.fromkeys(("p95_ms", "max_ms"), near(2000, rel=0.001)),
        **dict.fromkeys(("p99_ms", "p999_ms")),
        "client_share": 0.2,
        "timed": 4,
        "verdict": "verified",
    }
    assert refused == {
        "query": "u",
        "workers": 2,
        "runs": 0,
        "verdict": "not supported: no window functions",
    }


def several():
    """A result of two types, each asked by two workers."""
    asked = queried()
    (done,) = asked.runs
    more = (
        times_of("u", first_s=1.0, waits_s=(0.5, 0.5)),
        times_of("u", first_s=1.0, waits_s=(2.0,)),
    )
    workers = [
        worker.model_copy(update={"queries": (*worker.queries, of_u)})
        for worker, of_u in zip(done.outcome.workers, more, strict=True)
    ]
    asked.runs = [run(outcome(*workers, queries=done.outcome.queries))]
    return asked


def test_all_queries_together_stand_below_each_of_them(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    (total,) = json.loads(format_record(several(), None, "json"))["all_queries"]
    lines = lines_of(format_record(several(), None, "table"))

    near = pytest.approx
    assert total == records_of(queried())[0] | {
        "query": "all queries",
        "timed_s": 5.0,
        "queries_per_s": 7 / (3 + 2),
        "first_ms": 2500.0,
        "min_ms": near(250, rel=0.001),
        "p50_ms": near(750, rel=0.001),
        "client_share": 1 / 8,
        "timed": 7,
    }
    assert lines[5].split()[:3] == ["all", "queries", "1.40"]
    names = [
        line["query"] for line in csv.DictReader(io.StringIO(format_record(several(), None, "csv")))
    ]
    assert names == ["q", "u", "all queries"]
    assert json.loads(format_record(queried(), None, "json"))["all_queries"] == []


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("limit", "answers passed 1,500 ms with 3 workers: 1,602 ms on average"),
        ("abort", "answers passed three times 1,500 ms with 3 workers: 1,602 ms on average"),
        ("all", "answers stayed within 1,500 ms with all 3 workers: 1,602 ms on average"),
    ],
)
def test_a_ramp_is_a_line_below_the_table_with_its_number_of_workers(end, words):
    steps = ({"workers": 3, "runs": 5, "wait_ms_avg": None, "queries_per_s": 0.5},)
    found = QueryRamp(query="q", workers=3, end=end, wait_ms_avg=1602.4, steps=steps)
    asked = queried(workers=8, ramps=(found,))
    asked.configuration["ramp_limit_s"] = 1.5
    shown = json.loads(format_record(asked, None, "json"))

    assert f"ramp q: {words}\n" in format_record(asked, None, "table")
    assert shown["ramps"] == [{"workers_at_most": 8, **found.model_dump(mode="json")}]
    assert [row["workers"] for row in shown["rows"]] == [3, 8]


def test_the_table_of_queries_reads_as_it_should(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    lines = lines_of(format_record(queried(tuned=True), None, "table"))

    assert lines[0].split() == ["Queries", "First", "Min", "Avg", "p50", "p95", "p99", "Max"]
    assert lines[1].split() == ["Query", "/s", *["ms"] * 7, "Client", "Verdict"]
    assert [" ".join(line.split()) for line in lines[3:5]] == [
        "q 1.33 4,000 250 1,000 750 2,001 - 2,001 20.0% verified, tuned",
        "u - - - - - - - - - not supported: no window functions",
    ]


def test_the_table_names_the_workers_if_their_counts_differ(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    both = queried()
    both.runs += queried(workers=4).runs
    lines = lines_of(format_record(both, None, "table"))

    assert lines[1].split()[:2] == ["Query", "Workers"]
    assert [line.split()[:2] for line in lines[3:7]] == [
        ["q", "2"], ["u", "2"], ["q", "4"], ["u", "4"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.02, "0.0200"), (1.2345, "1.23"), (12.345, "12.3"), (123.45, "123"), (12_345, "12,345")],
)
def test_a_number_has_three_significant_digits_or_its_integer_part(value, text):
    assert significant(value) == text


def test_the_shown_answers_have_statement_rows_and_verdict():
    shown = ShownAnswer(
        instance=7,
        statement="SELECT a",
        columns=("host", "max"),
        rows=(("h1", 1.5), (None, 2.0)),
        all_rows=9,
        ok=False,
    )
    asked = queried(answers=(shown,))
    text = format_record(asked, None, "table")

    assert "q, answer 7: 9 rows, not equal to the truth\n    SELECT a\n" in text
    assert "  host | max\n  h1 | 1.5\n  NULL | 2.0\n  and 7 more rows\n" in text
    (answer,) = json.loads(format_record(asked, None, "json"))["answers"]
    assert (answer["query"], answer["workers"], answer["rows"][0]) == ("q", 2, ["h1", 1.5])


def test_a_verification_shows_its_checks():
    checks = [
        Check(name="t: count", expected="2", found="1", ok=False),
        Check(name="t: sum of x", expected="7", found="-", ok=None),
    ]
    found = run(outcome(verdict=Verdict.of(checks))).model_copy(update={"workers": 0})
    shown = result([found], kind="verify")

    assert records_of(shown) == [
        {"check": "t: count", "expected": "2", "found": "1", "verdict": "mismatch"},
        {"check": "t: sum of x", "expected": "7", "found": "-", "verdict": "unknown"},
    ]
    lines = lines_of(format_record(shown, None, "table"))
    assert [line.split("  ")[0] for line in lines[:4:2]] == ["Check", "t: count"]
    assert mismatches_of(shown) == ["t: count: expected 2, found 1"]


def test_a_failure_is_shown_with_what_was_done_before():
    failed = run(outcome(worker(0, prefill_rows=1000), status="failed"))
    shown = result([run(), failed], status="failed", cause="disk is full")

    assert lines_of(format_record(shown, None, "table"))[5:7] == [
        "failed: disk is full",
        (
            "before that: 1 run done; in the last one 100 rows acknowledged (0 uncertain,"
            " 1,000 prefilled)"
        ),
    ]


@pytest.mark.parametrize(
    ("reports", "shown"),
    [
        ([worker(0, rows=0)], ""),
        ([], ""),
        ([worker(0)], "before that: 100 rows acknowledged (0 uncertain, 0 prefilled)"),
    ],
)
def test_a_failure_of_the_first_run_is_shown_without_what_was_not_done(reports, shown):
    failed = run(outcome(status="failed").model_copy(update={"workers": tuple(reports)}))
    lines = lines_of(format_record(result([failed], status="failed", cause="gone"), None, "table"))

    assert [line for line in lines if line.startswith("before that")] == [shown] * bool(shown)


def test_rows_of_a_lost_worker_are_not_called_certain():
    failed = run(outcome(worker(0, is_lost=True), status="failed"))
    shown = result([failed], status="failed", cause="worker 0 has been silent for 15 s")

    assert "(0 uncertain and what 1 lost worker sent after the last heartbeat, 0 prefilled)" in (
        format_record(shown, None, "table")
    )


def test_rows_of_a_lost_worker_that_were_counted_are_not_called_uncertain():
    accounts = Accounts(kept=10, lost=0, announced=False, present=4, absent=0, doubled=0, torn=0,
                        foreign=0)  # fmt: skip
    counted = Verdict(status=Status.INCOMPLETE, reason="the insert", accounts=accounts)
    failed = run(outcome(worker(0, is_lost=True), status="failed", verdict=counted))
    shown = format_record(result([failed], status="failed", cause="lost"), None, "table")

    assert "(0 uncertain, 0 prefilled)" in shown
    assert "10 acknowledged, of which 0 lost; 4 of unknown outcome, of which 4 stored" in shown


def test_what_is_wrong_or_unknown_is_reported_run_by_run():
    wrong = Verdict(status=Status.MISMATCH, reason="t: count: expected 2, found 1")
    unknown = Verdict(status=Status.UNKNOWN, reason="no answer")
    runs = [run(), run(outcome(verdict=wrong), number=2), run(outcome(verdict=unknown), number=3)]

    assert mismatches_of(result(runs)) == [
        "1 worker, run 2: t: count: expected 2, found 1",
        "1 worker, run 3: no answer",
    ]


def test_json_has_the_rows_and_what_is_needed_to_judge_them():
    shown = result([timed(1)], warnings=["slow"])
    found = json.loads(format_record(shown, Path("r.json"), "json"))

    assert found.pop("rows") == records_of(shown)
    assert found == {
        "kind": "insert",
        "target": "lite",
        "all_queries": [],
        "ramps": [],
        "status": "done",
        "cause": "",
        "exit_code": 0,
        "mismatches": [],
        "warnings": ["slow"],
        "answers": [],
        "configuration": {"workers": [1], "num_inserts": 100, "batch": 10},
        "target_options": {},
        "on_disk": {
            "size_bytes": 8192,
            "bytes_per_row": 40.96,
            "bits_per_value": 81.92,
            "precision": "grid",
        },
        "file": "r.json",
    }


def test_csv_has_a_line_for_each_row():
    lines = list(csv.DictReader(io.StringIO(format_record(queried(), None, "csv"))))

    assert [line["query"] for line in lines] == ["q", "u"]
    assert lines[0]["avg_ms"] == "1000.0"
    assert lines[1]["avg_ms"] == ""
    shown = result([timed(math.pi)])
    (line,) = csv.DictReader(io.StringIO(format_record(shown, None, "csv")))
    assert float(line["rows_per_s"]) == records_of(shown)[0]["rows_per_s"], "every digit"


@pytest.mark.parametrize(
    ("levels", "words", "not_seen"),
    [
        ([VerifyMode.FULL], "verified, every row", ""),
        ([VerifyMode.COUNTS], "verified, sums", "which row has which value"),
        ([VerifyMode.ROWS], "verified, number", "every value"),
        ([VerifyMode.FULL, VerifyMode.COUNTS], "verified, sums", "which row has which value"),
        ([None], "verified", ""),
    ],
)
def test_a_verdict_says_how_much_was_compared(levels, words, not_seen):
    verdicts = [Verdict(status=Status.VERIFIED, level=level) for level in levels]
    found = result([run(outcome(ONE, verdict=verdict)) for verdict in verdicts])

    text = format_record(found, None, "table")

    assert words in {row.rpartition("  ")[2] for row in lines_of(text)}
    assert ("not seen: " in text) == bool(not_seen)
    assert not_seen in text
    (record,) = records_of(found)
    assert record["verdict"] == "verified"
    assert record.get("verify") == (
        None if None in levels else min(levels, key=[*VerifyMode].index)
    )


@pytest.mark.parametrize(
    ("level", "unseen"),
    [
        (VerifyMode.COUNTS, "events: sum_time: it adds up no times"),
        (VerifyMode.FULL, "0.0 and -0.0: it stores no sign"),
    ],
)
def test_what_a_database_does_not_show_stands_below_the_table(level, unseen):
    verdict = Verdict(status=Status.VERIFIED, level=level, left_out=(unseen,))

    text = format_record(result([run(outcome(ONE, verdict=verdict))] * 2), None, "table")

    assert text.count(unseen) == 1
