"""Names, labels and values of a release, and whose release it is."""

import dataclasses
import getpass
import json
import os
import platform
import re
import subprocess
import sys

import psutil
import pytest
from pydantic import SecretStr

from iotbench.config.targets.config import Target
from iotbench.config.targets.given import SecretRef
from iotbench.execution.kubernetes.lifetime import UNATTENDED_S
from iotbench.execution.kubernetes.release import (
    OWNER,
    SWEEP,
    Release,
    is_abandoned,
    is_run_of,
    this_owner,
)
from iotbench.machine import owner as owner_module
from simulator.data.ranges import lane_range
from simulator.modules.contract import Options
from simulator.protocol.records import RecordsFile
from simulator.protocol.spec import Ask, InsertTask, RunSpec, Several
from tests import ROOT
from tests.unit.control.run import mixed_spec
from tests.unit.specs import run_spec

LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,51}[a-z0-9])?")
SWEEP_ID = "20261121-093023-5a28"
PASSWORD = "correct horse"


class Secretive(Options):
    host: str
    password: SecretStr
    key: SecretStr = SecretStr("")


def target(**more):
    return Target(
        **{
            "name": "mine",
            "module": "null",
            "runner": "kubernetes",
            "options": Secretive(host="db", password=PASSWORD),
            "tuned": {},
            **more,
        }
    )


def spec(workers=2, **more):
    plans = tuple(InsertTask(timed=(lane_range(i, 0, 10),)) for i in range(workers))
    return run_spec(
        run_id=f"{SWEEP_ID}-16-5",
        target="mine",
        options=target().options.public(),
        workers=plans,
        **more,
    )


RELEASE = Release(SWEEP_ID, target())


# --- names and labels ---------------------------------------------------------------------------


def test_labels_are_such_as_kubernetes_takes():
    labels = RELEASE.labels(spec().run_id)

    assert [value for value in labels.values() if not LABEL.fullmatch(value)] == []


@pytest.mark.parametrize("user", ["Jörg Müller", "名前", "a.b-c_d@example.com", "x" * 200, "-"])
def test_an_owner_is_a_label_whatever_the_user_is_called(user, monkeypatch):
    monkeypatch.setattr(getpass, "getuser", lambda: user)
    monkeypatch.setattr(platform, "node", lambda: "n" * 200)

    assert LABEL.fullmatch(this_owner())


def test_names_are_such_as_kubernetes_and_helm_take():
    names = [RELEASE.name, RELEASE.credentials_name(spec().run_id)]

    assert [name for name in names if not NAME.fullmatch(name)] == []


def test_labels_mark_the_sweep_that_the_selector_finds_and_the_run():
    labels = RELEASE.labels(f"{SWEEP_ID}-1-1")
    key, value = RELEASE.selector.split("=")

    assert labels[key] == value == SWEEP_ID
    assert is_run_of(labels, f"{SWEEP_ID}-1-1")
    assert not is_run_of(labels, f"{SWEEP_ID}-1-10")
    assert not is_run_of({SWEEP: SWEEP_ID}, f"{SWEEP_ID}-1-1")


# --- values -------------------------------------------------------------------------------------


def test_no_credential_is_among_the_values():
    values = RELEASE.values(spec())

    assert PASSWORD not in json.dumps(values)
    assert json.loads(values["run"]["spec"])["options"]["password"] == "***"


def test_credentials_go_into_the_secret_with_the_runs_token():
    assert RELEASE.credentials("token") == {
        "run-token": "token",
        "option.password": PASSWORD,
        "option.key": "",
    }


def test_pods_of_a_mixed_run_are_one_job_that_reads_what_each_of_them_does():
    mixed = mixed_spec()
    values = RELEASE.values(mixed)

    assert values["workers"] == len(mixed.inserts) + len(mixed.asks) == 2
    assert RunSpec.model_validate_json(values["run"]["spec"]) == mixed


@pytest.mark.parametrize(
    ("batch_rows", "connections", "memory"),
    [(1000, 1, "1024Mi"), (100_000, 1, "1024Mi"), (1_000_000, 1, "1792Mi"), (1, 10_000, "1536Mi")],
)
def test_workers_that_write_are_given_what_they_need(batch_rows, connections, memory):
    several = Several(connections=connections)
    proposed = RELEASE.propose(spec(batch_rows=batch_rows, several=several))

    resources = proposed["worker"]["resources"]
    assert resources["requests"] == resources["limits"] == {"memory": memory}


def test_workers_that_ask_have_the_memory_of_the_chart():
    assert RELEASE.propose(mixed_spec()) == {}
    assert RELEASE.propose(run_spec(workers=(Ask(place=0, every=1, runs=3),))) == {}


def test_an_option_from_a_secret_of_the_cluster_is_only_referred_to():
    release = Release(SWEEP_ID, target(secret_refs={"password": SecretRef("theirs", "pass")}))

    run = release.values(spec())["run"]
    assert run["secretOptions"] == [{"option": "password", "secret": "theirs", "key": "pass"}]
    assert run["options"] == ["key"]
    assert "option.password" not in release.credentials("token")


def test_values_are_plain_json_and_say_whose_run_it_is():
    values = json.loads(json.dumps(RELEASE.values(spec(workers=3))))

    assert values["workers"] == 3
    assert values["run"]["owner"] == RELEASE.labels("r")[OWNER]
    assert values["run"]["credentials"] == RELEASE.credentials_name(values["run"]["id"])
    assert RunSpec.model_validate_json(values["run"]["spec"]) == spec(workers=3)
    assert "database" not in values


def test_the_volume_claim_of_a_file_of_records_is_a_value():
    file = RecordsFile(path="/records/a.lp", format="influx", volume_claim="fleet")
    plain, reading = run_spec(workers=()), run_spec(workers=(), records=file)
    claims = [
        Release(SWEEP_ID, target()).values(spec)["run"]["volumeClaim"] for spec in (plain, reading)
    ]

    assert claims == ["", "fleet"]


def test_the_databases_pods_are_named_by_their_labels():
    release = Release(SWEEP_ID, target(database_pods={"app": "db"}))

    assert release.values(spec())["database"] == {"podLabels": {"app": "db"}}


def test_a_run_ends_soon_without_its_command_line_whatever_its_timeout():
    for limits in ({}, {"timeout_s": 100_000.5}):
        run = RELEASE.values(spec(**limits))["run"]
        assert run["deadlineSeconds"] == run["ttlSeconds"] == UNATTENDED_S <= 3600


def test_pods_that_are_kept_stay_for_a_day():
    run = dataclasses.replace(RELEASE, keep=True).values(spec())["run"]

    assert run["deadlineSeconds"] == UNATTENDED_S
    assert run["ttlSeconds"] == 24 * 3600


def test_the_collectors_job_comes_first_and_is_not_missing_without_workers():
    name = f"bench-{SWEEP_ID}-16-5"

    assert RELEASE.jobs(spec()) == [f"{name}-collector", f"{name}-worker"]
    assert RELEASE.jobs(spec(workers=0)) == [f"{name}-collector"]


# --- whose it is --------------------------------------------------------------------------------


def owner_of_a_process():
    """The owner that a process says it is, and the process, which still runs."""
    module = "iotbench.execution.kubernetes.release"
    code = f"from {module} import this_owner; print(this_owner(), flush=True); input()"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    return process.stdout.readline().strip(), process


def test_a_process_that_lives_has_abandoned_nothing_until_it_is_dead():
    owner, process = owner_of_a_process()
    with process:
        while_it_lived = is_abandoned(owner)
        process.stdin.close()
        process.wait(30)

    assert not while_it_lived
    assert is_abandoned(owner)


ELSEWHERE = [
    (getpass, "getuser", "somebody"),
    (platform, "node", "elsewhere"),
    (owner_module, "boot_id", "another boot"),
    (owner_module, "pid_namespace", "pid:[1]"),
]
"""Where the command line asks who and where it is -> answers elsewhere."""


@pytest.mark.parametrize(("module", "name", "answer"), ELSEWHERE)
def test_the_dead_of_another_user_machine_boot_or_namespace_are_left_to_them(
    module, name, answer, monkeypatch
):
    machine, _, process = this_owner().partition(".")
    dead = f"{machine}.4194305.1.{process.split('.', 2)[2]}"
    assert is_abandoned(dead)

    monkeypatch.setattr(module, name, lambda: answer)

    assert not is_abandoned(dead)


@pytest.mark.parametrize("owner", ["", "somebody-0123456789", ".."])
def test_an_owner_that_is_not_understood_is_somebody_else(owner):
    assert not is_abandoned(owner)


@pytest.mark.parametrize("process", ["", "a.b", "4194305.1"])
def test_an_owner_of_this_machine_that_names_no_process_is_not_known_to_be_dead(process):
    machine, _, _ = this_owner().partition(".")

    assert not is_abandoned(f"{machine}.{process}")


def test_a_command_line_in_another_process_namespace_does_not_take_the_living_for_dead():
    if subprocess.run(["unshare", "--pid", "--fork", "true"], check=False).returncode:
        pytest.skip("unshare may not make a PID namespace here")
    module = "iotbench.execution.kubernetes.release"
    code = f"import sys; from {module} import is_abandoned; print(is_abandoned(sys.argv[1]))"
    apart = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", code]

    seen = subprocess.run([*apart, this_owner()], stdout=subprocess.PIPE, text=True, check=True)

    assert seen.stdout == "False\n"


@pytest.mark.parametrize("shift_s", [-1, 1])
def test_a_clock_that_is_set_right_does_not_make_the_living_dead(shift_s, monkeypatch):
    owner = this_owner()
    real = psutil.Process(os.getpid()).create_time()
    monkeypatch.setattr(psutil.Process, "create_time", lambda _: real + shift_s)

    assert not is_abandoned(owner)
