"""Stages in what a result says: a row for each, with its own workers, seconds and latencies."""

import json
from pathlib import Path

import pytest

from iotbench.comparison.comparison import compare_sides
from iotbench.comparison.sides import Side, expect_comparable
from iotbench.comparison.thresholds import Scope, checks_of, parse
from iotbench.figures.rows import Place
from iotbench.measurements import summary_of
from iotbench.measurements.insert.figures import STAGE
from iotbench.measurements.warnings import warnings_of
from iotbench.output.terminal.plots import plot_of
from iotbench.output.terminal.tables import format_record, records_of
from iotbench.results.metrics import compute_measured_s
from simulator.errors import ConfigError
from simulator.load.durations import encode_durations
from simulator.protocol.events import QueryVerdict
from simulator.protocol.messages import QueryTimes, StageTimes
from simulator.protocol.pace import LoadStage
from simulator.protocol.verdict import Status, Verdict
from tests.unit.output.terminal.made import MS, outcome, result, run, worker

STAGES = (LoadStage(workers=1, duration_s=10.0), LoadStage(workers=2, duration_s=20.0))
CONFIGURATION = {"workers": [2], "batch": 10, "stages": "1:10s,2:20s"}
EXACT = 0.01


def stage(number, started_s, ended_s, rows, *latencies_ms):
    return StageTimes(
        stage=number, started_s=started_s, ended_s=ended_s, rows=rows, count=len(latencies_ms),
        latency=encode_durations(each * MS for each in latencies_ms),
    )  # fmt: skip


def staged(**changes):
    first = worker(
        0, rows=500, ended=40.0,
        stages=(stage(0, 10.0, 20.0, 100, 1, 1, 1), stage(1, 20.0, 40.0, 400, 2, 2)),
    )  # fmt: skip
    second = worker(1, rows=600, started=20.0, ended=41.0,
                    stages=(stage(1, 20.1, 41.0, 650, 4, 4),))  # fmt: skip
    made = run(outcome(first, second))
    return made.model_copy(update={"stages": STAGES, **changes})


def inserted(*runs):
    return result([*runs] or [staged()], configuration=CONFIGURATION)


def test_a_stage_has_the_rows_and_latencies_that_began_in_it():
    summary = summary_of(inserted())
    first, second = summary.rows

    assert (summary.subject.name, first.place, second.place) == (
        "stage", Place(stage=1, workers=1), Place(stage=2, workers=2)
    )  # fmt: skip
    assert {name: each.value for name, each in first.figures.items()} == {
        "timed_s": 10.0, "rows": 100, "rows_per_s": 10.0,
        **dict.fromkeys(
            ("min_ms", "avg_ms", "p50_ms", "p95_ms", "max_ms"),
            pytest.approx(1, rel=EXACT),
        ),
    }  # fmt: skip
    assert second.figures["timed_s"].value == 21.0
    assert second.figures["rows_per_s"].value == 50.0
    assert second.figures["max_ms"].value == pytest.approx(4, rel=EXACT)
    assert second.figures["p50_ms"].n == 4
    assert (second.verdict, second.runs) == ("verified", 1)
    assert summary.headline is second


def test_runs_are_averaged_and_a_stage_without_rows_says_so():
    empty = staged()
    workers = tuple(
        each.model_copy(update={"stages": tuple(s for s in each.stages if s.stage == 0)})
        for each in empty.outcome.workers
    )
    empty = empty.model_copy(
        update={"outcome": empty.outcome.model_copy(update={"workers": workers})}
    )
    first, second = summary_of(inserted(staged(), staged(run=2), empty)).rows

    assert (first.runs, second.runs) == (3, 2)
    assert second.figures["rows_per_s"].spread == 0.0
    (_, nothing) = summary_of(inserted(empty)).rows
    assert (nothing.figures, nothing.verdict) == ({}, "no row was inserted")


def test_neither_overlap_nor_a_warm_up_is_found_in_stages():
    made = inserted()
    assert made.runs[0].metrics
    assert made.runs[0].metrics.overlap is None
    assert made.runs[0].metrics.evenness is None
    assert not [text for text in warnings_of(made) if "sending for only" in text]


def test_a_stage_that_does_not_reach_its_rate_is_named_with_it():
    rates = tuple(
        each.model_copy(update={"rate_per_s": rate})
        for each, rate in zip(STAGES, (10.0, 60.0), strict=True)
    )
    found = [text for text in warnings_of(inserted(staged(stages=rates))) if "reached" in text]

    assert [text.partition(", so")[0] for text in found] == [
        "stage 2, 2 workers: reached only 50 of the requested 60 rows/s"
    ]
    assert "lower --stages" in found[0]
    made = asked()
    (only,) = made.runs
    rates = tuple(
        each.model_copy(update={"rate_per_s": 0.2 * n}) for n, each in enumerate(rates, 1)
    )
    made.runs[:] = [only.model_copy(update={"stages": rates})]
    found = [text for text in warnings_of(made) if "reached" in text]
    assert [text.partition(", so")[0] for text in found] == [
        "query q, stage 2: reached only 0.2 of the requested 0.4 queries/s"
    ]


def test_a_run_in_stages_lasts_until_the_next_batch_of_its_last_stage_is_due():
    first = stage(0, 10.0, 20.0, 100, 1).model_copy(update={"due_until_s": 20.5})
    last = stage(1, 20.0, 38.0, 400, 1).model_copy(update={"due_until_s": 40.0})
    made = outcome(
        worker(0, rows=500, ended=38.0, due_until_s=40.0, stages=(first, last)),
        worker(1, rows=100, ended=19.0, due_until_s=20.5, stages=(first,)),
    )

    assert compute_measured_s(made) == 30.0


def test_stages_are_shown_in_every_form():
    made = inserted()
    table = format_record(made, None, "table", plotted=True)
    assert table.splitlines()[1].split()[:5] == ["Stage", "Workers", "Seconds", "Rows", "Rows/s"]
    assert "stage 2, 2 workers" in table
    (first, second) = json.loads(format_record(made, None, "json"))["rows"]
    assert (first["stage"], first["workers"], first["timed_s"], first["rows"]) == (1, 1, 10.0, 100)
    assert second["rows_per_s"] == 50.0
    assert records_of(made) == [first, second]
    assert format_record(made, None, "csv").startswith(
        "stage,workers,runs,timed_s,rows,rows_per_s,min_ms"
    )
    assert [*plot_of(summary_of(made), 80)]


def test_a_threshold_is_held_against_each_stage_or_that_with_so_many_workers():
    problems = []
    scope = Scope((STAGE,), workers=(1, 2), queries=())
    texts = ("rows_per_s < 20", "p99_ms > 3ms at workers=2", "client_share > 1")
    found = parse(texts, scope, problems)
    assert len(problems) == 1
    assert "unknown figure 'client_share'" in problems[0]

    checks = [*checks_of(found, summary_of(inserted()))]
    assert [(each.ok, each.place) for each in checks] == [
        (False, "stage 1, 1 worker"),
        (True, "stage 2, 2 workers"),
        (False, "stage 2, 2 workers"),
    ]


def test_a_stage_is_compared_with_the_same_stage():
    places = [Place(stage=1, workers=1), Place(stage=2, workers=2)]
    assert [*Side(((Path("a"), inserted()),)).samples()] == places
    found = inserted(staged(run=2))
    base, other = (
        Side(((Path(name), found.model_copy(update={"sweep_id": name})),)) for name in ("a", "b")
    )
    expect_comparable([base, other])
    comparison = compare_sides(base, other)
    assert comparison.subject.name == "stage"
    assert [row.place for row in comparison.rows] == places

    without = result([run()], configuration={"workers": [1], "batch": 10})
    with pytest.raises(ConfigError, match="a row is a worker count, and a stage in a"):
        expect_comparable([base, Side(((Path("c"), without),))])


def asked():
    times = [
        QueryTimes(
            name="q", first_s=0.1, runs=4, waits=encode_durations([MS] * 4), wait_s=0.004,
            client_s=0.0, elapsed_s=30.0, answers=1, stages=stages,
        )
        for stages in (
            (stage(0, 10.0, 20.0, 0, 1, 1), stage(1, 20.0, 40.0, 0, 2, 2)),
            (stage(1, 20.0, 40.0, 0, 4, 4),),
        )
    ]  # fmt: skip
    verdict = QueryVerdict(
        name="q", statement="", tuned=False, verdict=Verdict(status=Status.VERIFIED)
    )
    made = run(outcome(*(worker(i, queries=(t,)) for i, t in enumerate(times)), queries=(verdict,)))
    made = made.model_copy(update={"stages": STAGES, "metrics": None})
    return result([made], kind="query", configuration={**CONFIGURATION, "queries": ["q"]})


def test_a_query_has_a_row_for_all_stages_and_one_for_each():
    rows = summary_of(asked()).rows

    names = ["q, 2 workers", "q, stage 1, 1 worker", "q, stage 2, 2 workers"]
    assert [str(row.place) for row in rows] == names
    assert rows[1].figures["queries_per_s"].value == 0.2
    assert rows[2].figures["queries_per_s"].value == 0.2
    assert rows[2].figures["max_ms"].value == pytest.approx(4, rel=EXACT)
    assert rows[2].figures["p50_ms"].n == 4
    assert warnings_of(asked()) is not None
    assert [*map(str, Side(((Path("a"), asked()),)).samples())] == names
