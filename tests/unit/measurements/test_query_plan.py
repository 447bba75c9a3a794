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
DUCK = Target("duck", "duckdb", "local", DuckDbOptions(path="x.db"), {})
RING = Target("ring", "graphite", "local", GraphiteOptions(url="http://localhost"), {})
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
    assert runs_of(asked(runs=5, connections=3)) == [[15, 15]]
    assert len({each.spec.run_id for each in planned}) == 3


def test_plans_are_asked_for_once_at_the_end():
    assert [each.spec.load.plans for each in asked(workers=(2, 1), plans=True)] == [False, True]
    assert not any(each.spec.load.plans for each in asked(workers=(2, 1)))


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
    (run,) = asked(stored=stored, types=words[1:])

    assert [*run.spec.load.queries] == ["1-host-1-hr", "2-host-1-hr", "4-host-1-hr", "count-cpu"]
    assert [*left_out(stored, changed(OPTIONS, types=words[1:]))] == [
        "8-host-1-hr", "16-host-1-hr", "32-host-1-hr",
    ]  # fmt: skip


def test_a_burn_in_has_instances_of_its_own_for_every_worker():
    (run,) = asked(workers=(3,), count=30, burn_in=4)
    apart = [instance for task in run.spec.asks for instance in (task.first, *task.warmup(4))]

    assert len(set(apart)) == len(apart) == 3 * 5
    assert min(apart) >= FIRST_INSTANCE


def test_a_ramp_is_asked_until_it_is_over():
    (run,) = asked(workers=(3,), ramp=True, response_limit_s=0.1, moving_average_s=5.0)

    assert runs_of([run]) == [[0, 0, 0]]
    assert run.spec.load.ramp == Ramp(step=1, interval_s=30.0, window_s=5.0, limit_s=0.1)


def test_even_the_last_instance_of_the_longest_burn_in_fits_its_message():
    last = Ask(place=MOST_WORKERS - 1, every=MOST_WORKERS, runs=1, burn_in=MOST_WARMUP)

    AnswerKey(instance=last.warmup(MOST_WARMUP)[-1], digest="0" * 64)


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


def test_weights_multiply_a_number_or_a_rate_of_queries():
    assert asked(types=("count-events:2",), duration_s=1.0, rate=5.0)


def test_a_window_as_long_as_the_data_is_asked():
    stored = fleet(scale=1, duration_ms=23 * HOUR_MS)
    assert asked(stored=stored, types=("1-host-12-hr",))


DAY = fleet(scale=1, duration_ms=23 * HOUR_MS)
REFUSED = {
    "all options": (
        {"workers": (0,), "runs": -1, "count": 0, "print_answers": -1},
        [
            "--workers: must be at least 1, got 0",
            "--runs: must be at least 1, got -1",
            "--print-answers: must be at least 0, got -1",
            "--runs, --count: each sets how much is asked; use one of them",
        ],
    ),
    "types, texts and target": (
        {"target": replace(NULL, tuned={"newest": "SELECT 1"}), "types": ("count-event",)},
        [
            "--types: 'count-event' is not a query of workload iot (did you mean 'count-events'?)",
            "targets.nil.queries: 'newest' is not a query of workload iot (did you mean 'newest",
            "--target: nil stores nothing that can be queried",
        ],
    ),
    "fewer queries than workers": (
        {"workers": (1, 8), "count": 5}, ["--count: must be at least 8, got 5"],
    ),
    "more workers than can open it": (
        {"target": DUCK, "workers": (1, 2)},
        ["--workers: duckdb takes at most 1, got 2; use --workers 1"],
    ),
    "plans of a database that has none": (
        {"target": RING, "plans": True},
        ["--plans: ring has no query plans: Graphite has nothing like EXPLAIN"],
    ),
    "a burn-in": ({"burn_in": 301}, ["--burn-in: must be at most 300, got 301"]),
    "options of a ramp without one": (
        {"ramp_step": 2, "response_limit_s": 1.0},
        ["--response-limit: is only for --ramp", "--ramp-step: is only for --ramp"],
    ),
    "options of a ramp": (
        {"ramp": True, "duration_s": 5.0, "ramp_step": 0, "ramp_interval_s": 0.5},
        [
            "--ramp-step: must be at least 1, got 0",
            "--ramp-interval: must be at least 1.0, got 0.5",
            "--ramp, --duration: each sets how much is asked; use one of them",
            "--response-limit: is required with --ramp, such as 100ms",
        ],
    ),
    "a pattern without a match": (
        {"types": ("oldest-*", "temperature-*")},
        ["--types: 'oldest-*' is not a query of workload iot"],
    ),
    "a pattern of which none can be asked": (
        {"stored": fleet(scale=4), "types": ("groupb?", "*-host-1-hr")},
        ["--types: none of groupby can be asked of this data"],
    ),
    "more hosts than the fleet has": (
        {"stored": fleet(scale=4), "types": ("1-host-1-hr", "8-host-1-hr")},
        ["--types: 8-host-1-hr cannot be asked of this data: it asks about 8 hosts, and the fleet"],
    ),
    "a window longer than the data": (
        {"stored": DAY, "types": ("groupby",)},
        ["--types: groupby cannot be asked of this data: it asks about 24 h, and the data has 23"],
    ),
    "an aligned window": (
        {"stored": DAY, "types": ("groupby",), "aligned": True},
        ["--types: groupby cannot be asked of this data: it asks about 24 h, aligned to its bucke"],
    ),
    "a text for random parameters": (
        {"target": replace(SQLITE, tuned={"1-host-1-hr": "SELECT 1"}), "stored": fleet(scale=1)},
        ["targets.lite.queries: 1-host-1-hr has random parameters"],
    ),
    "weights of a time": (
        {"types": ("count-events:2",), "duration_s": 1.0},
        ["--types: a weight multiplies --runs, --count and --rate"],
    ),
    "weights of a ramp": (
        {"types": ("count-events:2",), "ramp": True, "response_limit_s": 1.0},
        ["--types: a weight multiplies --runs, --count and --rate"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_every_problem_is_named_at_once(case):
    given, expected = REFUSED[case]
    found = problems_of(**given)

    assert [text[: len(begin)] for text, begin in zip(found, expected, strict=True)] == expected
