"""Plans of `query`: every problem at once, and how the runs are divided among the workers."""

from dataclasses import replace

import pytest

from iotbench.config.targets.config import Target
from iotbench.measurements.query.options import QueryOptions
from iotbench.measurements.query.plan import left_out, load_problems, query_runs
from iotbench.measurements.shared.options import MOST_WORKERS
from simulator.data.ranges import lane_range
from simulator.data.workloads import workload_class
from simulator.errors import ConfigError
from simulator.modules.duckdb.database import DuckDbOptions
from simulator.modules.graphite.database import GraphiteOptions
from simulator.modules.null import NullOptions
from simulator.modules.sqlite import SqliteOptions
from simulator.protocol.messages import AnswerKey
from simulator.protocol.spec import FIRST_INSTANCE, MOST_WARMUP, Ask, Ramp, Work
from tests.unit.measurements.options import changed, wanted
from tests.unit.specs import dataset

SQLITE = Target("lite", "sqlite", "local", SqliteOptions(path="x.db"), {})
NULL = Target("nil", "null", "local", NullOptions(), {})
STORED = dataset().with_ranges([lane_range(0, 0, 50)])
HOUR_MS = 3_600_000
OPTIONS = QueryOptions(workers=(2,))


def fleet(**params):
    """A dataset of a fleet, without rows."""
    cls = workload_class("devops")
    given = cls.params_model(**params).model_dump(mode="json")
    return dataset(workload="devops", workload_version=cls.version, params=given)


def asked(target=SQLITE, stored=STORED, **options):
    chosen = changed(OPTIONS, **options)
    if problems := load_problems(chosen):
        raise ConfigError(problems)
    return query_runs(wanted(stored, target, chosen))


def problems_of(target=SQLITE, stored=STORED, **options):
    with pytest.raises(ConfigError) as error:
        asked(target, stored, **options)
    return error.value.problems


def runs_of(planned):
    """How often each worker of each run asks."""
    return [[task.runs for task in each.spec.asks] for each in planned]


def test_a_query_run_asks_all_queries_and_cleans_nothing():
    (run,) = asked()

    assert list(run.spec.load.queries) == [
        "count-events",
        "temperature-min-max",
        "temperature-stats",
        "temperature-stats-per-device",
        "newest-per-device",
    ]
    assert (run.spec.work, run.spec.clean, run.level) == (Work.QUERY, False, 50)
    assert run.spec.after == STORED


def test_each_worker_count_is_a_run():
    planned = asked(workers=(1, 2, 4))

    assert runs_of(planned) == [[100], [100] * 2, [100] * 4]
    assert len({each.spec.run_id for each in planned}) == 3


def test_plans_are_asked_for_once_at_the_end():
    assert [each.spec.load.plans for each in asked(workers=(2, 1), plans=True)] == [False, True]
    assert not any(each.spec.load.plans for each in asked(workers=(2, 1)))


def test_plans_of_a_database_that_has_none_are_refused_with_the_reason():
    ring = Target("ring", "graphite", "local", GraphiteOptions(url="http://localhost"), {})
    (problem,) = problems_of(ring, plans=True)

    assert problem == "--plans: ring has no query plans: Graphite has nothing like EXPLAIN"


def test_a_count_is_divided_among_the_workers():
    assert runs_of(asked(workers=(1, 4), count=10)) == [[10], [3, 3, 2, 2]]


@pytest.mark.parametrize("workers", [1, 2, 4, 7])
def test_the_same_instances_are_asked_by_any_number_of_workers(workers):
    (run,) = asked(workers=(workers,), count=50)
    instances = sorted(i for task in run.spec.asks for i in task.instances(task.runs))

    assert instances == list(range(50))
    assert len({task.first for task in run.spec.asks} | {*instances}) == 50 + workers


def test_runs_by_time_have_a_limited_number_of_instances():
    (run,) = asked(workers=(3,), duration_s=10.0)
    shares = [task.instances(1_000_000) for task in run.spec.asks]

    assert run.spec.clocking.duration_s == 10.0
    assert sorted(i for share in shares for i in share) == list(range(10_000))


def test_only_the_named_queries_are_asked_with_the_targets_own_text():
    tuned = replace(SQLITE, tuned={"count-events": "SELECT 50"})
    (run,) = asked(tuned, types=("temperature-stats", "count-events"))

    assert run.spec.load.queries == {"temperature-stats": "", "count-events": "SELECT 50"}


def test_a_pattern_names_every_type_that_matches_and_can_be_asked():
    stored = fleet(scale=4)
    words = ("groupb?", "*-host-1-hr", "2-host-1-hr", "count-c*")
    (problem,) = problems_of(stored=stored, types=words)
    (run,) = asked(stored=stored, types=words[1:])

    assert problem == "--types: none of groupby can be asked of this data"
    assert [*run.spec.load.queries] == ["1-host-1-hr", "2-host-1-hr", "4-host-1-hr", "count-cpu"]
    assert [*left_out(stored, changed(OPTIONS, types=words[1:]))] == [
        "8-host-1-hr", "16-host-1-hr", "32-host-1-hr",
    ]  # fmt: skip


def test_a_pattern_without_a_match_is_an_unknown_type():
    (problem,) = problems_of(types=("oldest-*", "temperature-*"))

    assert problem.startswith("--types: 'oldest-*' is no query of workload iot")


def test_a_burn_in_has_instances_of_its_own_for_every_worker():
    (run,) = asked(workers=(3,), count=30, burn_in=4)
    apart = [instance for task in run.spec.asks for instance in (task.first, *task.warmup(4))]

    assert len(set(apart)) == len(apart) == 3 * 5
    assert min(apart) >= FIRST_INSTANCE
    assert problems_of(burn_in=301) == ("--burn-in: must be at most 300, got 301",)


def test_a_ramp_is_asked_until_it_is_over():
    (run,) = asked(workers=(3,), ramp=True, response_limit_s=0.1, moving_average_s=5.0)

    assert runs_of([run]) == [[0, 0, 0]]
    assert run.spec.load.ramp == Ramp(step=1, interval_s=30.0, window_s=5.0, limit_s=0.1)


def test_the_options_of_a_ramp_are_only_for_one_and_within_their_limits():
    assert problems_of(ramp_step=2, response_limit_s=1.0) == (
        "--response-limit: is only for --ramp",
        "--ramp-step: is only for --ramp",
    )
    assert problems_of(ramp=True, duration_s=5.0, ramp_step=0, ramp_interval_s=0.5) == (
        "--ramp-step: must be at least 1, got 0",
        "--ramp-interval: must be at least 1.0, got 0.5",
        "--ramp, --duration: each sets how much is asked; use one of them",
        "--response-limit: is required with --ramp, such as 100ms",
    )


def test_even_the_last_instance_of_the_longest_burn_in_fits_its_message():
    last = Ask(place=MOST_WORKERS - 1, every=MOST_WORKERS, runs=1, burn_in=MOST_WARMUP)

    AnswerKey(instance=last.warmup(MOST_WARMUP)[-1], digest="0" * 64)


def test_every_problem_is_reported_at_once():
    options = {"workers": (0,), "runs": -1, "count": 0, "print_answers": -1}

    assert problems_of(**options) == (
        "--workers: must be at least 1, got 0",
        "--runs: must be at least 1, got -1",
        "--print-answers: must be at least 0, got -1",
        "--runs, --count: each sets how much is asked; use one of them",
    )


def test_every_problem_with_the_rows_is_reported_at_once():
    target = replace(NULL, tuned={"newest": "SELECT 1"})

    assert problems_of(target, types=("count-event",)) == (
        "--types: 'count-event' is no query of workload iot (did you mean 'count-events'?)",
        (
            "targets.nil.queries: 'newest' is no query of workload iot (did you mean"
            " 'newest-per-device'?)"
        ),
        "--target: nil stores nothing that can be queried",
    )


def test_fewer_queries_than_workers_are_refused():
    assert problems_of(workers=(1, 8), count=5) == ("--count: must be at least 8, got 5",)


def test_eight_hosts_of_a_fleet_of_four_are_refused():
    (found,) = problems_of(stored=fleet(scale=4), types=("1-host-1-hr", "8-host-1-hr"))

    assert found == (
        "--types: 8-host-1-hr cannot be asked of this data: it asks about 8 hosts, and the fleet"
        " has 4"
    )


@pytest.mark.parametrize(
    ("query", "aligned", "reason"),
    [
        ("groupby", False, "it asks about 24 h, and the data has 23 h"),
        ("1-host-12-hr", False, ""),
        ("groupby", True, "it asks about 24 h, aligned to its buckets, and the data has 23 h"),
    ],
)
def test_a_window_longer_than_the_data_is_refused(query, aligned, reason):
    stored = fleet(scale=1, duration_ms=23 * HOUR_MS)
    if not reason:
        assert asked(stored=stored, types=(query,), aligned=aligned)
        return
    (problem,) = problems_of(stored=stored, types=(query,), aligned=aligned)
    assert problem.endswith(reason)


def test_what_the_data_cannot_answer_is_left_out_of_all_queries():
    stored = fleet(scale=4)
    (run,) = asked(stored=stored)

    assert "4-host-1-hr" in run.spec.load.queries
    assert not {"8-host-1-hr", "groupby"} & {*run.spec.load.queries}
    assert [*left_out(stored, OPTIONS)] == [
        "8-host-1-hr", "16-host-1-hr", "32-host-1-hr", "1-host-12-hr", "groupby",
        "single-groupby-1-1-12", "single-groupby-1-8-1", "single-groupby-5-1-12",
        "single-groupby-5-8-1", "cpu-max-all-1", "cpu-max-all-8", "cpu-max-all-32-24",
        "double-groupby-1", "double-groupby-5", "double-groupby-all", "high-cpu-all", "high-cpu-1",
    ]  # fmt: skip
    assert left_out(stored, changed(OPTIONS, types=("count-cpu",))) == {}


def test_a_query_with_random_parameters_has_no_text_of_the_target():
    target = replace(SQLITE, tuned={"1-host-1-hr": "SELECT 1"})
    (problem,) = problems_of(target, fleet(scale=1))

    assert problem.startswith("targets.lite.queries: 1-host-1-hr has random parameters")


def test_more_workers_than_can_open_it_are_named():
    embedded = Target("duck", "duckdb", "local", DuckDbOptions(path="x.db"), {})
    problems = problems_of(embedded, workers=(1, 2))

    assert problems == ("--workers: duckdb takes at most 1, got 2; use --workers 1",)


def test_a_weight_is_that_of_a_name_or_of_the_last_pattern_that_matches_it():
    types = ("temperature-*:5", "count-events:2", "temperature-stats:3", "newest-per-device:1")
    (run,) = asked(types=types, count=7)

    assert run.spec.load.weights == {
        "temperature-min-max": 5,
        "temperature-stats-per-device": 5,
        "count-events": 2,
        "temperature-stats": 3,
    }
    assert list(run.spec.load.queries) == [
        "temperature-min-max", "temperature-stats", "temperature-stats-per-device",
        "count-events", "newest-per-device",
    ]  # fmt: skip
    assert asked()[0].spec.load.weights == {}
    assert [task.multiply(3).runs for task in run.spec.asks] == [12, 9]


@pytest.mark.parametrize("weight", ["0", "-1", "1001", "x", "1.5", "", "9" * 5000])
def test_what_is_no_weight_is_named_with_its_type(weight):
    assert [*problems_of(types=(f"count-events:{weight}",))] == [
        "--types: expected a weight from 1 to 1,000 after count-events, such as count-events:3"
    ]


@pytest.mark.parametrize(
    "how", [{"duration_s": 1.0}, {"ramp": True, "response_limit_s": 1.0}], ids=str
)
def test_weights_are_of_a_number_or_a_rate_of_queries(how):
    (problem,) = problems_of(types=("count-events:2",), **how)

    assert "a weight multiplies --runs, --count and --rate" in problem
    assert asked(types=("count-events:2",), duration_s=1.0, rate=5.0)
