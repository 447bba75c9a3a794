"""Plans: everything that is wrong with one is named at once."""

import pytest

from iotbench.plans.plan import read_plan
from simulator.data.schema import PrimaryKey
from simulator.errors import ConfigError

PLAN = """
name: tiny
repeats: 2
settings:
  - name: bulk
    insert: {workload: iot, workers: 2, num_inserts: 10k, batch: 1000, duration: 1m}
  - name: asked
    insert:
      workload: devops
      parameters: {scale: 2e0, interval: 60s, end: 2026-01-01T12:00}
      start: 2026-01-01
    query: {types: [1-host-1-hr], count: 10}
    mixed: {duration: 30s, warmup: 5s, batch: 1k, rate: 50, mix: "insert=80,query=20", align: true}
    modules: {sqlite: {create_indices: true}}
    options: {transaction: true}
    only: [sqlite, postgres]
"""


@pytest.fixture
def write(tmp_path):
    def written(text):
        path = tmp_path / "plan.yaml"
        path.write_text(text)
        return path

    return written


def problems_of(path):
    with pytest.raises(ConfigError) as error:
        read_plan(path)
    assert all(problem.startswith(f"{path}: ") for problem in error.value.problems)
    return [problem.removeprefix(f"{path}: ") for problem in error.value.problems]


def test_values_are_written_as_on_the_command_line(write):
    bulk, asked = read_plan(write(PLAN)).settings

    options = bulk.insert.options(None, 5)
    assert (options.workers, options.num_inserts, options.duration_s) == ((2,), 10_000, 60.0)
    assert (options.start_ms, options.primary_key) == (5, PrimaryKey.DB)
    options = asked.insert.options(None, 5)
    assert options.start_ms == 1_767_225_600_000
    assert options.params == {
        "scale": 2, "interval_ms": 60_000, "duration_ms": options.start_ms + 12 * 3_600_000
    }  # fmt: skip
    assert asked.query
    assert (asked.query.options().count, asked.query.options().runs) == (10, None)
    mixed = asked.mixed.options()
    assert (mixed.duration_s, mixed.warmup_s, mixed.batch, mixed.runs) == (30, 5, 1000, 1)
    assert (mixed.rows_per_s, mixed.queries_per_s) == pytest.approx((40_000, 10))
    assert ([*bulk.sweeps], [*asked.sweeps]) == (["insert"], ["insert", "query", "mixed"])


def test_an_import_is_a_key_like_the_option(write):
    text = "name: x\nsettings: [{name: a, insert: {workload: ohlcv, import: true}}]\n"
    (setting,) = read_plan(write(text)).settings

    assert setting.insert.options(None, 5).imports
    assert problems_of(write(text.replace("import", "imprt"))) == [
        "settings.0.insert.imprt: unknown key (did you mean 'import'?)"
    ]
    assert problems_of(write(text.replace("true", "true, batch: 5"))) == [
        "settings.a.insert: --batch: with --import a worker's rows are one statement; leave it out"
    ]


def test_a_module_may_have_options_of_its_own_or_be_left_out(write):
    bulk, asked = read_plan(write(PLAN)).settings

    assert asked.options_of("sqlite") == {"create_indices": True}
    assert asked.options_of("postgres") == {"transaction": True}
    assert [asked.concerns("mysql"), bulk.concerns("mysql")] == [False, True]


def test_all_wrong_keys_and_values_are_named_at_once(write):
    text = PLAN.replace("workers: 2", "wokers: 2").replace("repeats: 2", "repeats: 0")
    text = text.replace("count: 10", "cuont: 10").replace("batch: 1000", "batch: many")
    found = problems_of(write(text + "more: 1\n"))

    assert found == [
        "repeats: must be at least 1",
        "settings.0.insert.batch: expected a whole number such as 1000, 10k or 1e6, got 'many'",
        "settings.0.insert.wokers: unknown key (did you mean 'workers'?)",
        "settings.1.query.cuont: unknown key (did you mean 'count'?)",
        f"more: unknown key (known: {', '.join(KEYS)})",
    ]


KEYS = (
    "most_repeats", "name", "repeats", "settings", "targets", "thresholds", "until_settled",
    "until_within",
)  # fmt: skip
SEARCHED = """
name: best
until_within: 10%
settings:
  - name: find
    repeats: 2
    batches: 30k
    insert: {workload: iot, num_inserts: 10k}
  - name: taken
    batch_of: find
    insert: {workload: iot, duration: 30s, warmup_until_steady: 1m}
"""


def test_a_setting_may_search_for_a_batch_and_another_take_it(write):
    plan = read_plan(write(SEARCHED))
    find, taken = plan.settings

    assert (plan.until_within, plan.most_repeats) == (0.1, 10)
    assert (find.repeats, find.search.numbers()) == (2, [1000, 3000, 10_000, 30_000])
    assert taken.insert.options(None, 5).warmup_until_steady_s == 60.0
    assert taken.with_number(3000).insert.batch == 3000


def test_a_search_that_nobody_can_take_is_named(write):
    wrong = SEARCHED.replace("batch_of: find", "batch_of: fnd").replace(
        "name: best", "name: best\nrepeats: 12"
    )
    assert problems_of(write(wrong)) == [
        "most_repeats: must be at least the 12 repeats, got 10",
        "settings.taken.batch_of: expected a setting with `batches` (find), got 'fnd'",
    ]
    wrong = SEARCHED.replace("30k", "30k\n    shards: 4").replace("num_inserts", "batch: 5, limit")
    wrong = wrong.replace("duration: 30s", "batch: 7, duration: 30s")
    assert problems_of(write(wrong)) == [
        "settings.taken.batch_of: the search finds the batch; leave `insert.batch` out",
        "settings.find.batches: `shards` is searched for as well; give each its own setting",
        "settings.find.batches: the search has its own batches; leave `insert.batch` out",
    ]


def test_each_wrong_parameter_is_named_with_its_place(write):
    text = PLAN.replace("interval: 60s", "interval: soon").replace("end: 2026", "ends: 2026")
    found = problems_of(write(text))

    assert [each.partition(": ")[0] for each in found] == [
        "settings.1.insert.parameters.interval", "settings.1.insert.parameters.ends"
    ]  # fmt: skip


def test_what_the_values_mean_together_is_checked_too(write):
    text = PLAN.replace("name: asked", "name: bulk").replace("only: [sqlite,", "only: [sqlit,")
    text = text.replace("scale: 2e0", "scale: 0")
    found = problems_of(write(text))

    assert found[0] == "settings.bulk: is set 2 times; give each its own name"
    assert found[1].startswith("settings.bulk.only: unknown module 'sqlit' (did you mean 'sqlite'")
    assert found[2].startswith("settings.bulk.insert: --scale: must be at least 1")
    assert len(found) == 3


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("workload: iot", "workload: oit", "settings.0.insert.workload: expected one of iot, "),
        ("[1-host-1-hr]", "[1-host-2-hr]", "settings.asked.query.types: '1-host-2-hr' is no"),
        ("scale: 2e0", "scale: 0", "settings.asked.insert: --scale: must be at least 1"),
        ("scale: 2e0", "scales: 2", "settings.1.insert.parameters.scales: unknown key"),
        ("scale: 2e0", "tick_ms: 2", "settings.asked.insert: --tick-ms: is an option of workload"),
        ("batch: 1000", "batch: 1000, steps: 2", "settings.bulk.insert: --steps: counts rows"),
        ("start: 2026-01-01\n", "start: soon\n", "settings.1.insert.start: expected an instant"),
        ("name: tiny", "name: Tiny plan", "name: "),
    ],
)
def test_a_wrong_value_is_named_with_its_place(write, old, new, problem):
    found = problems_of(write(PLAN.replace(old, new)))

    assert [text[: len(problem)] for text in found] == [problem]


def test_thresholds_are_held_against_the_rows_that_the_plan_will_have(write):
    limits = ["p99_ms > 2s at query=1-host-1-hr", "rows_per_s < 5k at workers=2"]
    plan = read_plan(write(f"{PLAN}thresholds: {limits}\n"))
    wrong = ["p98ms > 2", "p99_ms > 2 at workers=7", "p99_ms > 1 at query=1-host-2-hr"]
    found = problems_of(write(f"{PLAN}thresholds: {wrong}\n"))

    assert list(plan.thresholds) == limits
    assert [text.split(": ")[1] for text in found] == [repr(text) for text in wrong]
    assert "unknown figure 'p98ms'" in found[0]
    assert found[1].endswith("workers=7 is not measured (known: 1, 2)")


@pytest.mark.parametrize(
    "text", ["", "- a\n", "name: tiny\n", "name: tiny\nsettings: []\n", "a: [\n"]
)
def test_a_file_that_is_no_plan_is_refused(write, text):
    assert problems_of(write(text))


STAGED = """
name: staged
settings:
  - name: up
    insert: {workload: iot, stages: "1:1m,8:5m"}
    query: {stages: "1:10s,4:20s"}
thresholds: [rows_per_s < 1 at workers=8, p99_ms > 9 at workers=4]
"""


def test_stages_are_written_as_on_the_command_line(write):
    (setting,) = read_plan(write(STAGED)).settings

    options = setting.insert.options(None, 5)
    assert (options.workers, options.timed_s, options.active) == ((8,), 360.0, (1, 8))
    assert setting.query
    assert setting.query.options().active == (1, 4)


def test_a_setting_has_one_number_of_workers(write):
    several = PLAN.replace("workers: 2", "workers: 2-4")
    assert problems_of(write(several)) == [
        "settings.bulk.insert.workers: expected one number; give each its own setting"
    ]


def test_stages_exclude_other_numbers_of_workers_and_other_ends(write):
    wrong = STAGED.replace('8:5m"', '8:5m", workers: 2, duration: 1m')
    wrong = wrong.replace('4:20s"', '4:20s", workers: 3, count: 5').replace(
        "up\n", "up\n    shards: 4\n"
    )
    excluded = "--stages sets the number of active workers and the time; use one of them"
    assert problems_of(write(wrong)) == [
        f"settings.up.insert: --duration: {excluded}",
        "settings.up.shards: need a worker for each table; leave `insert.stages` out",
        f"settings.up.insert: --workers: {excluded}",
        f"settings.up.query: --count: {excluded}",
        f"settings.up.query: --workers: {excluded}",
    ]
    assert "expected up to 100 stages" in problems_of(write(STAGED.replace("1:1m,", "1m,")))[0]
    missing = STAGED.replace("workers=8", "workers=5")
    assert "workers=5 is not measured" in problems_of(write(missing))[0]


def test_what_is_wrong_with_a_mixed_load_is_named_with_the_rest(write):
    mixed = "mixed: {batch: -1, query_workers: 0, rate: 5, types: [count-everything]}"
    text = f"name: x\nsettings: [{{name: a, insert: {{workload: iot}}, {mixed}}}]\n"
    found = problems_of(write(text))

    assert [each.partition(": expected")[0][:40] for each in found] == [
        "settings.a.mixed: --query-workers: must ",
        "settings.a.mixed: --batch: must be at le",
        "settings.a.mixed: --rate: is of inserts ",
        "settings.a.mixed.types: 'count-everythin",
    ]
    (wrong,) = problems_of(write(text.replace("rate: 5", "mix: half")))
    assert wrong.startswith("settings.0.mixed.mix: expected two shares above 0, such as insert=80")


def test_what_is_wrong_with_a_change_is_named_and_thresholds_name_its_rows(write):
    wrong = "name: x\nsettings: [{name: a, insert: {workload: iot}, change: {insert_workers: 1}}]\n"
    first, second = problems_of(write(wrong))
    assert "settings.a.change: nothing is changed: give --correct" in first
    assert "settings.a.change: --insert-workers: for how long?" in second
    right = wrong.replace("insert_workers: 1", "delete_oldest: 5%")
    limit = "thresholds: [rows_per_s < 5 at change=deletion]\n"
    assert len(read_plan(write(right + limit)).thresholds) == 1


def test_thresholds_name_the_rows_of_a_mixed_load(write):
    limits = (
        "thresholds: ['rows_per_s < 5 at query=inserts', 'p99_ms > 1s at query=count-events']\n"
    )
    mixed = "name: x\nsettings: [{name: a, insert: {workload: iot}, mixed: {}}]\n"
    assert len(read_plan(write(mixed + limits)).thresholds) == 2

    found = problems_of(write(mixed.replace(", mixed: {}", "") + limits))
    assert len(found) == 2
    assert "query=inserts is not measured" in found[0]


def test_wrong_types_of_queries_and_of_a_mixed_load_are_named_together(write):
    first, second = problems_of(write(
        "{name: a, settings: [{name: b, insert: {workload: iot}, query: {types: [oldest]},"
        " mixed: {fresh: 1m, types: [count-events]}}]}"
    ))  # fmt: skip
    assert "settings.b.query.types: 'oldest' is not a query" in first
    assert "settings.b.mixed.types: 'count-events' is not a query" in second
