"""The items of a plan as commands: their words mean what the plan says."""

from pathlib import Path

import pytest

from iotbench.commands.main import commands
from iotbench.config.input.records import FOLDER
from iotbench.config.options.declared import instance
from iotbench.config.targets.config import Target
from iotbench.measurements.change.options import ChangeOptions
from iotbench.measurements.insert.options import InsertOptions
from iotbench.measurements.query.options import MixedOptions, QueryOptions
from iotbench.plans.measures import is_measure, unit_of
from iotbench.plans.plan import Plan, read_plan
from iotbench.plans.settings import build_command
from simulator.data.schema import PrimaryKey
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
                "query": {"types": ["lastpoint", "cpu-*"], "count": 20, "workers": 4,
                          "align": True, "warmup": "500ms"},
                "mixed": {"duration": "30s", "warmup": "5s", "batch": 100, "rate": 50,
                          "mix": "insert=80,query=20", "types": ["lastpoint"],
                          "insert_workers": 2, "verify": "full", "retry_for": "90s"},
            },
        ],
    },
    context={FOLDER: Path()},
)  # fmt: skip
BULK, TIMED = PLAN.settings


def parsed(command):
    name, *arguments = command.words
    return commands.commands[name].make_context(name, arguments)


def meant(words, model):
    """The options of a command, as it gets them."""
    with parsed(words) as context:
        return instance(model, context.params)


@pytest.mark.parametrize("setting", PLAN.settings, ids=lambda each: each.name)
def test_an_insert_has_the_options_of_its_setting(setting):
    given = {"config": "my.yaml", "set": ("a=b", "c=d")}
    words = build_command(setting, "insert", TARGET, {**given, "timeout": "90s"})
    found = parsed(words).params
    same = {"resources": setting.resources}

    assert found["target"] == "lite"
    assert found["runner"] == "local"
    assert (str(found["config"]), found["sets"]) == ("my.yaml", ("a=b", "c=d"))
    assert found["timeout_s"] == 90.0
    inserted = meant(words, InsertOptions)
    planned = setting.insert.options(None, 7)
    assert inserted.decide(None, 7) == planned.model_copy(update=same)


def test_what_a_setting_does_not_say_is_not_given():
    timed = meant(build_command(TIMED, "insert", TARGET, {}), InsertOptions)
    words = build_command(BULK, "insert", TARGET, {})
    bulk = meant(words, InsertOptions)

    assert timed.start_ms is None
    assert timed.primary_key is PrimaryKey.NONE
    assert parsed(words).params["extra_option"] == ("synchronous=full",)
    assert bulk.start_ms == 1_793_491_200_000
    assert bulk.primary_key is None


def test_own_queries_are_a_file_relative_to_the_plan(tmp_path):
    (tmp_path / "q.yaml").write_text("queries: {a: {columns: {n: int64}, text: {sql: SELECT 1}}}")
    path = tmp_path / "plan.yaml"
    path.write_text(
        "{name: a, settings: [{name: b, insert: {workload: iot},"
        " query: {queries: q.yaml, runs: 2}}]}"
    )
    (setting,) = read_plan(path).settings
    found = meant(build_command(setting, "query", TARGET, {}), QueryOptions)

    assert found == setting.query.options()
    assert found.queries.path == str(tmp_path / "q.yaml")
    assert found.own["a"].texts == {"sql": "SELECT 1"}


def test_queries_have_the_options_of_their_setting():
    found = meant(build_command(TIMED, "query", TARGET, {}), QueryOptions)

    assert found == TIMED.query.options()
    assert (found.types, found.warmup_s) == (("lastpoint", "cpu-*"), 0.5)


def test_stages_stand_in_place_of_workers():
    text = {"name": "s", "insert": {"workload": "iot", "stages": "1:1m,8:5m"},
            "query": {"stages": "2:1s"}}  # fmt: skip
    (setting,) = Plan.model_validate({"name": "p", "settings": [text]}).settings
    inserted = build_command(setting, "insert", TARGET, {})
    asked = build_command(setting, "query", TARGET, {})

    assert not {"workers"} & {*inserted.options, *asked.options}
    assert meant(inserted, InsertOptions).stages == setting.insert.stages
    assert meant(asked, QueryOptions).stages == setting.query.stages


def test_a_mixed_load_has_the_options_of_its_setting():
    words = build_command(TIMED, "mixed", TARGET, {"timeout": "90s"})

    assert words.name == "mixed"
    assert parsed(words).params["timeout_s"] == 90
    assert meant(words, MixedOptions) == TIMED.mixed.options()


def test_a_change_has_the_options_of_its_setting_and_measures_of_its_own():
    given = {"delete_oldest": "50%", "correct": "10%", "delete_steps": 4, "insert_workers": 2,
             "duration": "5s", "insert_rate": "1k", "at": "1s"}  # fmt: skip
    text = {"name": "s", "insert": {"primary_key": "client"}, "change": given}
    (setting,) = Plan.model_validate({"name": "p", "settings": [text]}).settings
    words = build_command(setting, "change", TARGET, {})

    assert (words.name, [*setting.sweeps]) == ("change", ["insert", "change"])
    assert meant(words, ChangeOptions) == setting.change.options()
    assert is_measure("change_rows_per_s deletion")
    assert unit_of("change_p99_ms tag updates") == "ms"
    assert not is_measure("change_rows_per_s")
    assert not is_measure("change_bytes_per_s_of_nothing deletion")
