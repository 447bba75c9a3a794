"""Plans: everything that is wrong with one is named at once."""

import pytest

from cli.experiment.plan import read_plan
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
      parameters: {scale: 2, interval: 60s, end: 2026-01-01T12:00}
      start: 2026-01-01
    query: {queries: [1-host-1-hr], count: 10}
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

    options = bulk.insert.options(None, 5, 9.0)
    assert (options.workers, options.num_inserts, options.duration_s) == ((2,), 10_000, 60.0)
    assert (options.start_ms, options.timeout_s, options.primary_key) == (5, 9.0, PrimaryKey.DB)
    options = asked.insert.options(None, 5, 0.0)
    assert options.start_ms == 1_767_225_600_000
    assert options.params == {
        "scale": 2, "interval_ms": 60_000, "duration_ms": options.start_ms + 12 * 3_600_000
    }  # fmt: skip
    assert asked.query
    assert (asked.query.options(0.0).count, asked.query.options(0.0).runs) == (10, None)


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
        "more: unknown key (known: name, repeats, settings)",
    ]


def test_what_the_values_mean_together_is_checked_too(write):
    text = PLAN.replace("name: asked", "name: bulk").replace("only: [sqlite,", "only: [sqlit,")
    text = text.replace("[1-host-1-hr]", "[1-host-2-hr]").replace("60s", "soon")
    found = problems_of(write(text))

    assert found[0] == "settings.bulk: is set 2 times; give each a name of its own"
    assert found[1].startswith("settings.bulk.only: unknown module 'sqlit' (did you mean 'sqlite'")
    assert found[2].startswith("settings.bulk.insert: parameters.interval: expected a duration")
    assert len(found) == 3


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("workload: iot", "workload: oit", "settings.bulk.insert.workload: 'oit' is not known"),
        ("[1-host-1-hr]", "[1-host-2-hr]", "settings.asked.query.queries: '1-host-2-hr' is no"),
        ("scale: 2", "scale: 0", "settings.asked.insert: --scale: must be at least 1"),
        ("scale: 2", "scales: 2", "settings.asked.insert: parameters.scales: unknown key"),
        ("scale: 2", "tick_ms: 2", "settings.asked.insert: --tick-ms: is an option of workload"),
        ("batch: 1000", "batch: 1000, steps: 2", "settings.bulk.insert: --steps: counts rows"),
        ("start: 2026-01-01\n", "start: soon\n", "settings.1.insert.start: expected an instant"),
        ("name: tiny", "name: Tiny plan", "name: "),
    ],
)
def test_a_wrong_value_is_named_with_its_place(write, old, new, problem):
    found = problems_of(write(PLAN.replace(old, new)))

    assert [text[: len(problem)] for text in found] == [problem]


@pytest.mark.parametrize(
    "text", ["", "- a\n", "name: tiny\n", "name: tiny\nsettings: []\n", "a: [\n"]
)
def test_a_file_that_is_no_plan_is_refused(write, text):
    assert problems_of(write(text))
