"""Plans: every problem at once, and ranges of rows that continue exactly."""

import pytest
from pydantic import ValidationError

from iotbench.config.targets.config import Target
from iotbench.measurements.insert import checks as insert_options
from iotbench.measurements.insert import plan
from iotbench.measurements.insert.checks import generator_params
from iotbench.measurements.insert.options import DEFAULT_RUNS, InsertOptions, default_workers
from iotbench.measurements.insert.plan import insert_runs
from iotbench.measurements.shared.distribution import YEAR_10000_MS
from iotbench.measurements.shared.plan import Wanted, expect_stored
from iotbench.measurements.verify.kind import VerifyKind, VerifyOptions
from iotbench.results.result import Manifest
from simulator.data.ranges import LANE_ROWS, RowRange, lane_range
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey
from simulator.data.workloads import WORKLOADS
from simulator.data.workloads.iot import Iot
from simulator.errors import ConfigError
from simulator.modules.duckdb.database import DuckDbOptions
from simulator.modules.null import Null, NullOptions
from simulator.modules.sqlite import Sqlite, SqliteOptions
from simulator.protocol.spec import RunSpec, Work
from simulator.protocol.verdict import VerifyMode
from tests.unit.measurements.options import changed

SQLITE = Target("lite", "sqlite", "local", SqliteOptions(path="x.db"), {})
DEFAULTS = InsertOptions(workers=(1,), primary_key=PrimaryKey.DB, num_inserts=100, start_ms=1000)


def problems_of(options):
    """Return everything that is wrong with the options and the workload's parameters."""
    problems = insert_options.option_problems(options)
    try:
        generator_params(options)
    except ConfigError as error:
        problems += error.problems
    return problems


def dataset_of(options):
    return plan.empty_dataset(options, generator_params(options))


def runs_of(options, stored=None, target=SQLITE):
    dataset = stored or dataset_of(options)
    wanted = Wanted("sweep", target, options, Manifest.of(dataset, complete=True))
    return list(insert_runs(wanted, VerifyMode.COUNTS))


def rows_of(spec):
    """Return what each worker writes as (prefill, timed), both as (first, rows) of its lane."""
    written = []
    for lane, worker in enumerate(spec.workers):
        prefill, timed = (
            [(r.start - lane * LANE_ROWS, len(r)) for r in ranges]
            for ranges in (worker.prefill, worker.timed)
        )
        written.append((prefill, timed))
    return written


def test_every_problem_is_reported_at_once():
    wrong = {"runs": 0, "num_inserts": 0, "batch": -1, "prefill": -1, "steps": -1, "connections": 0}
    options = changed(DEFAULTS, workers=(0, -1), rate=float("nan"), **wrong)
    reported = insert_options.option_problems(options)

    assert {problem.partition(":")[0].strip("-").replace("-", "_") for problem in reported} == {
        "workers", "rate", *wrong
    }  # fmt: skip
    assert "--num-inserts: must be at least 1, got 0" in reported


def test_steps_want_one_worker_count_one_run_and_no_prefill():
    options = changed(DEFAULTS, steps=3, workers=(1, 2), runs=2, prefill=5)

    assert insert_options.option_problems(options) == [
        "--steps: needs exactly one worker count, got --workers 1,2",
        "--steps: takes one run, got --runs 2; leave it out",
        "--steps: fills the tables by itself; leave --prefill out",
    ]


@pytest.mark.parametrize("runs", [None, 1])
def test_steps_take_one_run(runs):
    assert insert_options.option_problems(changed(DEFAULTS, steps=3, runs=runs)) == []


def test_more_workers_than_can_open_it_are_named():
    embedded = Target("duck", "duckdb", "local", DuckDbOptions(path="x.db"), {})
    options = changed(DEFAULTS, workers=(1, 4))
    reported = "--workers: duckdb takes at most 1, got 4; use --workers 1"

    assert insert_options.target_problems(options, embedded, force=True) == [reported]
    assert insert_options.target_problems(DEFAULTS, embedded, force=False) == []


@pytest.mark.parametrize(("runs", "expected"), [(None, DEFAULT_RUNS), (1, 1), (4, 4)])
def test_every_worker_count_is_run_so_often(runs, expected):
    found = runs_of(changed(DEFAULTS, workers=(2, 1), runs=runs))

    assert [(len(run.spec.workers), run.run) for run in found] == [
        (workers, run) for workers in (2, 1) for run in range(1, expected + 1)
    ]
    assert len({run.spec.run_id for run in found}) == len(found)


@pytest.mark.parametrize(
    ("batch", "sent"), [(0, ("single", 1)), (1, ("batch", 1)), (1000, ("batch", 1000))]
)
def test_single_rows_and_batches_are_decided_before_anything_is_sent(batch, sent):
    specs = [each.spec for each in runs_of(changed(DEFAULTS, batch=batch))]
    assert {(spec.mode, spec.batch_rows) for spec in specs} == {sent}
    with pytest.raises(ValidationError, match="batch_rows"):
        RunSpec(**specs[0].model_dump() | {"batch_rows": 0})


def test_an_import_is_planned_for_the_workers_of_a_target_that_has_one():
    bars = {"workload": "ohlcv", "params": {"years": 1}, "num_inserts": None, "imports": True}
    options = changed(DEFAULTS, workers=(2,), runs=1, **bars)
    duck = Target("duck", "duckdb", "local", DuckDbOptions(path="x.db"), {})
    (planned,) = runs_of(options, target=duck)
    first, second = planned.spec.inserts
    away = changed(duck, runner="kubernetes")

    assert (planned.spec.mode, planned.spec.batch_rows) == ("import", 1)
    assert (first.timed[0].take, second.timed[0].start) == (10_000, 10_000)
    assert options.describe(has_end=True)["import"] is True
    assert DEFAULTS.describe(has_end=True)["import"] is None
    one = changed(options, workers=(1,))
    assert insert_options.target_problems(one, duck, force=False) == []
    (pods,) = insert_options.target_problems(one, away, force=False)
    assert pods.startswith("--import: writes files, for which pods have no room")
    (lacking,) = insert_options.target_problems(options, SQLITE, force=True)
    assert lacking.startswith("--import: sqlite: the library has none")
    alone = changed(options, batch=5, rate=2.0)
    assert [text.partition(":")[0] for text in insert_options.option_problems(alone)] == [
        "--batch", "--rate"
    ]  # fmt: skip


def test_runs_with_cleaning_write_the_same_rows_into_empty_tables():
    found = runs_of(changed(DEFAULTS, workers=(2,), runs=3))

    assert [rows_of(run.spec) for run in found] == [[([], [(0, 100)]), ([], [(0, 100)])]] * 3
    assert {(run.spec.dataset.rows, run.spec.clean, run.level) for run in found} == {(0, True, 0)}


def test_steps_go_on_where_the_last_one_ended():
    found = runs_of(changed(DEFAULTS, workers=(2,), steps=3))

    assert [rows_of(run.spec) for run in found] == [
        [([], [(start, 100)])] * 2 for start in (0, 100, 200)
    ]
    assert [(run.level, run.spec.clean) for run in found] == [
        (0, True),
        (200, False),
        (400, False),
    ]
    assert found[-1].spec.after.ranges == (lane_range(0, 0, 300), lane_range(1, 0, 300))


def test_without_cleaning_every_run_goes_on_where_the_tables_end():
    stored = dataset_of(DEFAULTS).with_ranges([lane_range(0, 0, 50), lane_range(5, 0, 7)])
    found = runs_of(changed(DEFAULTS, workers=(1, 2), runs=2, clean=False), stored)

    assert [rows_of(run.spec) for run in found] == [
        [([], [(50, 100)])],
        [([], [(150, 100)])],
        [([], [(250, 100)]), ([], [(0, 100)])],
        [([], [(350, 100)]), ([], [(100, 100)])],
    ]
    assert [run.level for run in found] == [57, 157, 257, 457]
    assert not any(run.spec.clean for run in found)
    assert found[-1].spec.after.rows == 657


def test_prefilled_rows_come_before_the_timed_ones():
    (run, *_) = runs_of(changed(DEFAULTS, workers=(3,), prefill=10))

    assert rows_of(run.spec) == [
        ([(0, 4)], [(4, 100)]),
        ([(0, 3)], [(3, 100)]),
        ([(0, 3)], [(3, 100)]),
    ]
    assert (run.level, run.spec.after.rows) == (10, 310)


def test_the_dataset_says_what_was_asked_for():
    options = changed(
        DEFAULTS, seed=7, params={"devices": 3}, tables=4, primary_key=PrimaryKey.CLIENT
    )
    found = dataset_of(options)

    assert (found.seed, found.params, found.parts, found.primary_key, found.start_ms) == (
        7,
        {"devices": 3, "tick_ms": 60, "restart_rows": 0},
        4,
        PrimaryKey.CLIENT,
        1000,
    )
    assert found.rows == 0


@pytest.mark.parametrize(
    ("database", "asked", "level"),
    [
        (Sqlite(SqliteOptions()), None, VerifyMode.COUNTS),
        (Sqlite(SqliteOptions()), VerifyMode.FULL, VerifyMode.FULL),
        (Sqlite(SqliteOptions()), VerifyMode.NONE, VerifyMode.NONE),
        (Null(NullOptions()), None, VerifyMode.NONE),
        (Null(NullOptions()), VerifyMode.NONE, VerifyMode.NONE),
    ],
)
def test_the_level_of_verification_defaults_to_what_is_possible(database, asked, level):
    assert plan.verification(changed(DEFAULTS, verify=asked), database) is level


class Finite(Iot):
    """A workload that has an end."""

    name = "finite"

    def size(self, table):
        return 10


def rows_by_worker(run):
    """Return the rows of each worker."""
    plans = run.spec.workers
    return [[row for r in plan.timed for row in r.numbers().tolist()] for plan in plans]


def test_the_rows_of_a_finite_workload_go_to_the_workers_by_batch(monkeypatch):
    monkeypatch.setitem(WORKLOADS, "finite", Finite)
    options = changed(
        DEFAULTS, num_inserts=None, workload="finite", workers=(3, 12), runs=1, batch=2
    )
    few, many = runs_of(options)

    assert rows_by_worker(few) == [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5]]
    assert rows_by_worker(many) == [*([row] for row in range(10)), [], []]
    assert {run.spec.after.ranges for run in (few, many)} == {(lane_range(0, 0, 10),)}


def test_steps_prefill_and_limit_go_on_where_the_rows_end(monkeypatch):
    monkeypatch.setitem(WORKLOADS, "finite", Finite)
    options = changed(DEFAULTS, num_inserts=None, workload="finite", workers=(2,), runs=1, batch=1)
    steps = runs_of(changed(options, steps=3))
    (part,) = runs_of(changed(options, prefill=3, limit=4))

    expected = [[[0, 2], [1]], [[3, 5], [4]], [[6, 8], [7, 9]]]
    assert [rows_by_worker(run) for run in steps] == expected
    assert [len(r) for plan in part.spec.workers for r in plan.prefill] == [2, 1]
    assert rows_by_worker(part) == [[3, 5], [4, 6]]


STORED = dataset_of(DEFAULTS).with_ranges([lane_range(0, 0, 50)])


def test_a_verification_has_no_workers_and_expects_the_dataset():
    before = Manifest.of(STORED, complete=True)
    wanted = Wanted("s", SQLITE, VerifyOptions(), before, timeout_s=5.0)
    (run,) = VerifyKind().plan(wanted).runs

    assert (run.spec.work, run.spec.workers, run.spec.dataset) == (Work.VERIFY, (), STORED)
    assert (run.spec.verify, run.spec.timeout_s, run.level) == (VerifyMode.FULL, 5.0, STORED.rows)
    expect_stored(SQLITE, "full")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"workers": ()}, "--workers: expected at least one number, got none"),
        ({"num_inserts": 10**20}, "--num-inserts: must be at most 1,099,511,627,776"),
        ({"batch": 10**15}, "--batch: must be at most 10,000,000"),
        ({"runs": 10**8}, "--runs: must be at most 10,000"),
        ({"steps": 10**8}, "--steps: must be at most 10,000"),
        ({"prefill": 10**15}, "--prefill: must be at most"),
        ({"workers": (10**9,)}, "--workers: must be at most 10,000"),
        ({"rate": 1e-300}, "--rate: expected 0 for no limit, or 0.001 to 1,000,000,000 per second"),
        ({"rate": 1e300}, "--rate: expected 0"),
        ({"workers": (1,) * 1000, "runs": 11}, "a sweep has at most 10,000 runs"),
        ({"workers": (10_000,), "runs": 11}, "at most 100,000 workers; got 11 runs with 110,000"),
        ({"params": {"tick_ms": 10**12}, "num_inserts": 10**6}, "would be after the year 9999"),
    ],
)
def test_a_plan_that_is_too_large_is_refused_with_the_limit(changes, problem):
    (found,) = problems_of(changed(DEFAULTS, **changes))

    assert problem in found


@pytest.mark.parametrize("changes", [
    {"duration_s": 30 * 86400.0},
    {"duration_s": 86400.0, "prefill": 10**6},
    {"duration_s": 60.0, "start_ms": YEAR_10000_MS - 86_400_000},
    {"duration_s": 60.0, "workload": "slim"},
])  # fmt: skip
def test_a_run_by_time_has_as_many_rows_as_end_before_the_year_10000(changes):
    options = changed(DEFAULTS, num_inserts=None, **changes)
    assert problems_of(options) == []

    (first, *_) = runs_of(options)
    (timed,) = first.spec.inserts[0].timed
    last = DatasetReader(first.spec.dataset).time_at(
        RowRange(start=timed.stop - 1, stop=timed.stop), 0
    )
    assert len(timed) > 1000
    assert last < YEAR_10000_MS


def test_a_run_by_time_after_what_is_stored_begins_there_and_has_the_rest():
    options = changed(DEFAULTS, num_inserts=None, duration_s=30 * 86400.0, runs=1)
    stored = dataset_of(options).with_ranges([lane_range(0, 0, 10**9)])
    every, rest = (
        runs_of(changed(options, clean=clean), stored)[0].spec.inserts[0].timed[0]
        for clean in (True, False)
    )

    assert (rest.start, rest.stop) == (10**9, every.stop)


def test_a_plan_is_built_run_by_run():
    options = changed(DEFAULTS, runs=10**9)
    before = Manifest.of(dataset_of(options), complete=True)
    runs = insert_runs(Wanted("sweep", SQLITE, options, before), VerifyMode.COUNTS)

    assert [next(runs).run for _ in range(3)] == [1, 2, 3]


def test_no_more_rows_are_inserted_than_have_different_times():
    def planned(rows, stored=None):
        params = {"restart_rows": 2, "tick_ms": 5}
        options = changed(DEFAULTS, num_inserts=rows, params=params, runs=1, clean=stored is None)
        return runs_of(options, stored)

    plan.expect_rows(planned(10))
    with pytest.raises(ConfigError, match=r"10 rows for each worker, .* up to row 11; insert"):
        plan.expect_rows(planned(11))
    with pytest.raises(ConfigError, match="up to row 14"):
        plan.expect_rows(planned(4, planned(10)[0].spec.after))


FLEET = changed(DEFAULTS, workload="devops", num_inserts=None, params={"duration_ms": 61_000})
"""A fleet of one host: nine tables of six rows."""


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"prefill": 54},
            "run 1 of 5 has nothing to insert: of the 54 rows of workload devops, 54 are",
        ),
        ({"clean": False}, "run 2 of 5 has nothing to insert"),
        ({"runs": 1, "steps": 55}, "run 1 of 55 has nothing to insert"),
    ],
)
def test_a_sweep_with_a_run_without_rows_is_refused(changes, problem):
    planned = runs_of(changed(FLEET, **changes))
    with pytest.raises(ConfigError, match=problem):
        plan.expect_rows(planned)


def test_a_fleet_that_is_stored_whole_is_not_continued():
    options = changed(FLEET, clean=False, runs=1)
    stored = runs_of(options)[-1].spec.after

    with pytest.raises(ConfigError, match="--no-clean: the tables already hold all 54 rows"):
        plan.expect_rows(runs_of(options, stored))
    plan.expect_rows(runs_of(changed(options, limit=5)))


@pytest.mark.parametrize(
    ("cores", "expected"),
    [
        (1, (1,)),
        (2, (1, 2)),
        (6, (1, 2, 4)),
        (8, (1, 2, 4, 8)),
        (64, (1, 2, 4, 8, 16)),
        (None, (1, 4, 8, 12, 16)),
    ],
)
def test_worker_counts_follow_the_cores(cores, expected):
    assert default_workers(cores) == expected


@pytest.mark.parametrize(
    ("given", "is_bare"),
    [({}, True), ({"seed": 2}, True), ({"runs": 3}, False), ({"batch": 0}, False)],
)
def test_only_an_insert_without_options_of_the_load_ends_early(given, is_bare):
    assert InsertOptions(**given).is_bare == is_bare
