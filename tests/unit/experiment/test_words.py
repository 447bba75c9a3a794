"""The items of a plan as commands: their words mean what the plan says."""

import pytest

from cli.experiment.plan import Plan, read_plan
from cli.experiment.words import asked_words, insert_words
from cli.main import commands
from cli.targets.config import Target
from simulator.modules.sqlite import SqliteOptions

TARGET = Target("lite", "sqlite", "local", SqliteOptions(path="x.db", synchronous="full"), {})
PLAN = Plan.model_validate(
    {
        "name": "tiny",
        "settings": [
            {
                "name": "bulk",
                "insert": {
                    "workload": "iot", "num_inserts": "2k", "batch": 500, "workers": 2,
                    "start": "2026-11-01", "seed": 7, "rate": "1.5k", "import": False,
                    "retry_for": "30m", "before_run": "restart db; sleep 1",
                    "parameters": {"devices": 5}, "tables": 4, "tables_by": "row",
                },
                "options": {"synchronous": "full"},
                "resources": True,
            },
            {
                "name": "timed",
                "insert": {
                    "workload": "devops", "duration": "90s", "split": "series",
                    "drop_caches": True, "verify": "full", "primary_key": "none",
                    "parameters": {"scale": 10, "interval": "10s"},
                },
                "query": {"queries": ["lastpoint", "cpu-*"], "count": 20, "workers": 4,
                          "align": True, "warmup": "500ms"},
                "mixed": {"duration": "30s", "warmup": "5s", "batch": 100, "rate": 50,
                          "mix": "insert=80,query=20", "queries": ["lastpoint"],
                          "insert_workers": 2, "verify": "full", "retry_for": "90s"},
            },
        ],
    }
)  # fmt: skip
BULK, TIMED = PLAN.settings


def parsed(words):
    name, *arguments = words
    return commands.commands[name].make_context(name, arguments).params


@pytest.mark.parametrize("setting", PLAN.settings, ids=lambda each: each.name)
def test_an_insert_has_the_options_of_its_setting(setting):
    given = {"config": "my.yaml", "set": ("a=b", "c=d")}
    found = parsed(insert_words(setting, TARGET, given, 90.0))
    planned = setting.insert.options(None, 0, 90.0)

    assert found["target"] == "lite"
    assert found["runner"] == "local"
    assert (str(found["config"]), found["sets"]) == ("my.yaml", ("a=b", "c=d"))
    assert found["timeout"] == 90.0
    assert found["resources"] == setting.resources
    assert found["drop_caches"] == setting.insert.drop_caches
    assert (found["workers"], found["runs"]) == (planned.workers, 1)
    same = ("num_inserts", "batch", "prefill", "steps", "workload", "seed", "rate", "limit",
            "tables", "clean", "imports")  # fmt: skip
    assert {name: found[name] for name in same} == {name: getattr(planned, name) for name in same}
    assert found["duration"] == planned.duration_s
    assert found["retry_for"] == planned.retry_for_s
    assert found["before_run"] == setting.insert.before_run
    assert found["split"] == planned.split.value
    assert found["tables_by"] == planned.tables_by.value
    assert found["verify"] == (planned.verify and planned.verify.value)
    drawn = {key: value for key, value in found.items() if key in planned.params}
    assert drawn == dict(planned.params)


def test_what_a_setting_does_not_say_is_not_given():
    found = parsed(insert_words(TIMED, TARGET, {}, 0.0))

    assert found["start_time"] is None
    assert found["config"] is None
    assert found["primary_key"] == "none"
    bulk = parsed(insert_words(BULK, TARGET, {}, 0.0))
    assert bulk["extra_option"] == ("synchronous=full",)
    assert bulk["start_time"].isoformat() == "2026-11-01T00:00:00+00:00"
    assert bulk["primary_key"] is None


def test_own_queries_are_a_file_relative_to_the_plan(tmp_path):
    (tmp_path / "q.yaml").write_text("queries: {a: {columns: {n: int64}, text: {sql: SELECT 1}}}")
    path = tmp_path / "plan.yaml"
    path.write_text(
        "{name: a, settings: [{name: b, insert: {workload: iot},"
        " query: {queries_file: q.yaml, runs: 2}}]}"
    )
    (setting,) = read_plan(path).settings
    found = parsed(asked_words(setting, setting.query, TARGET, {}, 0.0))

    assert found["queries_file"] == tmp_path / "q.yaml"
    assert (found["queries"], found["runs"]) == (None, 2)
    assert setting.query.options(0.0).own["a"].texts == {"sql": "SELECT 1"}


def test_queries_have_the_options_of_their_setting():
    found = parsed(asked_words(TIMED, TIMED.query, TARGET, {}, 0.0))

    assert found["queries"] == ("lastpoint", "cpu-*")
    assert (found["workers"], found["count"], found["align"]) == ((4,), 20, True)
    assert (found["runs"], found["duration"], found["drop_caches"]) == (None, 0.0, False)


def test_stages_stand_in_place_of_workers():
    text = {"name": "s", "insert": {"workload": "iot", "stages": "1:1m,8:5m"},
            "query": {"stages": "2:1s"}}  # fmt: skip
    (setting,) = Plan.model_validate({"name": "p", "settings": [text]}).settings
    inserted = insert_words(setting, TARGET, {}, 0.0)
    asked = asked_words(setting, setting.query, TARGET, {}, 0.0)

    assert "--workers" not in (*inserted, *asked)
    assert parsed(inserted)["stages"] == setting.insert.stages
    assert parsed(asked)["stages"] == setting.query.stages


def test_a_mixed_load_has_the_options_of_its_setting():
    words = asked_words(TIMED, TIMED.mixed, TARGET, {}, 90.0)
    found = parsed(words)
    mixed = TIMED.mixed.options(90.0)

    assert words[0] == "mixed"
    assert (found["duration"], found["warmup"], found["timeout"]) == (30, 5, 90)
    assert found["retry_for"] == mixed.retry_for_s == 90
    assert (found["rate"], found["mix"], found["batch"]) == (mixed.rate, mixed.mix, mixed.batch)
    assert (found["queries"], found["insert_workers"], found["verify"]) == (
        mixed.queries, mixed.insert_workers, mixed.verify
    )  # fmt: skip
    assert (found["runs"], found["query_workers"], found["align"]) == (1, 1, False)


def test_the_warmup_of_queries_is_a_duration():
    assert parsed(asked_words(TIMED, TIMED.query, TARGET, {}, 0.0))["warmup"] == 0.5
