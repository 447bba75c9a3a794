"""Which targets can be measured: those that answer, and why the others do not."""

import json
from pathlib import Path

import pytest

from iotbench.config.options.choice import ClusterOptions, Reach
from iotbench.config.targets.config import Config, Target
from iotbench.execution import collector
from iotbench.execution.measure import refusal_of
from iotbench.execution.roster import candidates_of, roster_of
from iotbench.plans.options import PlanRun
from simulator.errors import ConfigError, SetupError
from simulator.modules.duckdb.database import DuckDbOptions
from tests.unit.plans.made import plan_of, target

PLAN = plan_of("bulk", {"name": "values", "options": {"use_values_lists": 1}})
LITE = {"module": "sqlite", "runner": "local", "path": "x.db", "node_size": 4}
LOADED = Config(Path("config.yaml"), "default", {"lite": LITE, "none": {"module": "null"}})


@pytest.fixture
def found(tmp_path):
    def roster(**changes):
        config = tmp_path / "config.yaml"
        config.write_text(json.dumps({"targets": {"lite": LITE, "none": {"module": "null"}}}))
        run = PlanRun(output=tmp_path / "results", quiet=True, **changes)
        return roster_of(PLAN, None, Reach(config, None, ClusterOptions()), run)

    return roster


@pytest.fixture
def asked(monkeypatch):
    targets = []

    def facts(target, *_):
        targets.append(target.name)
        raise SetupError("--timeout: the run was not done after 60 s")

    monkeypatch.setattr(collector, "database_facts", facts)
    return targets


def test_a_target_that_stores_nothing_is_no_candidate():
    assert [(each.name, each.node_size) for each in candidates_of(LOADED, None)] == [("lite", "4")]


@pytest.mark.parametrize(
    ("limit_s", "reason"),
    [
        (0.0, "does not answer within 0 s"),
        (60.0, "--timeout: the run was not done after 60 s"),
    ],
)
def test_a_target_that_is_silent_is_not_measured(found, asked, monkeypatch, limit_s, reason):
    monkeypatch.setattr(collector, "_CHECK_S", limit_s)
    none = found()

    assert [each.not_had for each in none.candidates] == [reason]
    assert (none.pairs, none.refused, asked) == ((), {}, ["lite"])


def test_without_asking_it_is_known_what_a_target_refuses(found, asked):
    some = found(dry_run=True)

    assert [(pair.setting.name, pair.target.name) for pair in some.pairs] == [("bulk", "lite")]
    assert some.refused == {("values", "lite"): "module sqlite has no option use_values_lists"}
    assert asked == []


def test_a_file_of_targets_that_is_wrong_leaves_no_folder(tmp_path):
    reach = Reach(tmp_path / "absent.yaml", None, ClusterOptions())
    with pytest.raises(ConfigError, match=r"absent\.yaml"):
        roster_of(PLAN, None, reach, PlanRun(output=tmp_path / "results"))

    assert not (tmp_path / "results").exists()


DUCK = Target("duck", "duckdb", "local", DuckDbOptions(path="x"), {})
KILLED = {"duration": "9s", "fault": "kill-database", "for": "1s"}
BY_RETENTION = {"delete_oldest": "50%", "delete_by": "retention"}
TIMED, STAGED = {"duration": "9s"}, {"workload": "cpu", "stages": "1:9s"}


@pytest.mark.parametrize(
    ("own", "insert", "after", "reason"),
    [
        (DUCK, TIMED, {"mixed": {"duration": "1s"}}, "duckdb takes at most 1, got 2"),
        (target(), TIMED, {"mixed": KILLED}, "sqlite is part of the workers"),
        (target(), STAGED, {"mixed": KILLED}, "sqlite is part of the workers"),
        (target(), STAGED, {"mixed": {"duration": "1s"}}, ""),
        (target(), TIMED, {"change": BY_RETENTION}, "--delete-by retention: sqlite: "),
        (DUCK, TIMED, {"change": {"delete_oldest": "50%"}}, ""),
    ],
)  # fmt: skip
def test_what_follows_a_timed_insert_is_refused_before_the_insert(
    tmp_path, own, insert, after, reason
):
    (setting,) = plan_of({"name": "both", "insert": insert, **after}).settings
    refused = refusal_of(setting, own, PlanRun(output=tmp_path))

    assert reason in refused
    assert bool(reason) == bool(refused)
