"""helm: how it is called, what it is given, and what is reported of it when it fails."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time

import psutil
import pytest

from iotbench.config.options.choice import ClusterOptions
from iotbench.execution.kubernetes import helm as cli_helm
from iotbench.execution.kubernetes.helm import CHART, Helm
from simulator.errors import ConfigError, SetupError
from tests import ROOT
from tests.processes import alive

VALUES = {"workers": 3, "run": {"id": "r", "spec": "{}"}}
RECORDER = f"""#!{sys.executable}
import json, os, stat, sys
here = os.path.dirname(__file__)
if sys.argv[1:2] == ["version"]:
    print(open(os.path.join(here, "version")).read())
    sys.exit()
call = dict(argv=sys.argv[1:], files=[], session=os.getsid(0) == os.getpid())
for word in sys.argv:
    if word.startswith("--values="):
        path = word.partition("=")[2]
        folder = stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode)
        call["files"].append(dict(path=path, content=open(path).read(), folder=folder))
with open(os.path.join(here, "calls"), "a") as out:
    out.write(json.dumps(call) + "\\n")
code, _, words = open(os.path.join(here, "answer")).read().partition(" ")
print(words, file=sys.stderr if int(code) else sys.stdout)
sys.exit(int(code))
"""


class Program:
    """A helm that notes how it is called, and answers as it is reported to."""

    def __init__(self, folder):
        self.folder = folder
        program = folder / "helm"
        program.write_text(RECORDER)
        program.chmod(0o755)
        self.is_version("v3.18.4+gd80839c")
        self.answers(0, "done")

    def is_version(self, text):
        (self.folder / "version").write_text(text)

    def answers(self, code, words):
        (self.folder / "answer").write_text(f"{code} {words}")

    @property
    def calls(self):
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]

    @property
    def call(self):
        (only,) = self.calls
        return only


@pytest.fixture
def program(tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return Program(folder)


def helm(**options):
    return Helm(ClusterOptions(**options), "ns")


# --- the program --------------------------------------------------------------------------------


def test_a_missing_helm_is_reported_with_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ConfigError, match=r"helm is not on the PATH: install helm 3\.13 or newer"):
        helm().version()


@pytest.mark.parametrize("version", ["v3.12.3+g3a31588", "v2.17.0", "garbage"])
def test_an_old_helm_is_reported_with_what_is_needed(program, version):
    program.is_version(version)

    with pytest.raises(ConfigError, match=r"is too old: 3\.13 or newer is needed"):
        helm().version()


@pytest.mark.parametrize("version", ["v3.13.0", "v4.0.0", "3.100.1"])
def test_a_newer_helm_is_taken(program, version):
    program.is_version(version)

    assert helm().version() == version


def test_a_helm_that_fails_is_reported_in_its_own_words(program):
    program.answers(1, 'Error: UPGRADE FAILED: namespaces "ns" not found')

    with pytest.raises(SetupError) as error:
        helm().apply("bench-s", {}, VALUES, {})

    assert str(error.value) == 'helm upgrade: UPGRADE FAILED: namespaces "ns" not found'


def test_a_helm_that_is_killed_is_reported_with_the_signal(program):
    (program.folder / "helm").write_text("#!/bin/sh\nkill -9 $$\n")

    with pytest.raises(SetupError, match=r"^helm uninstall was killed by SIGKILL$"):
        helm().uninstall("bench-s")


def test_wrong_values_are_reported_as_the_users_input(program):
    program.answers(1, "Error: values don't meet the specifications of the schema(s)")

    with pytest.raises(ConfigError, match=r"^--values, --set: helm template: values don't meet"):
        helm().template("bench-s", VALUES, {})


def test_a_cluster_that_is_away_is_waited_for_before_helm_does_anything(program, monkeypatch):
    away = 'Error: Kubernetes cluster unreachable: Get "https://x/version": connection refused'
    program.answers(1, away)
    monkeypatch.setattr(cli_helm.time, "sleep", lambda _: program.answers(0, "done"))

    helm().uninstall("bench-s")

    assert len(program.calls) == 2


def test_a_cluster_that_stays_away_is_reported(program, monkeypatch):
    program.answers(1, "Error: Kubernetes cluster unreachable: connection refused")
    monkeypatch.setattr(cli_helm, "PATIENCE_S", 0.0)

    with pytest.raises(SetupError, match="helm uninstall: Kubernetes cluster unreachable"):
        helm().uninstall("bench-s")


def test_a_helm_that_hangs_is_ended(program, monkeypatch):
    (program.folder / "helm").write_text(
        f"#!/bin/sh\nexec {shutil.which('sleep', path=os.defpath)} 60\n"
    )
    monkeypatch.setattr(cli_helm, "_TIMEOUT_S", -9.5)

    with pytest.raises(SetupError, match="helm uninstall did not end within"):
        helm().uninstall("bench-s")


@pytest.mark.skipif(sys.platform != "linux", reason="other kernels have no PR_SET_PDEATHSIG")
def test_helm_ends_with_a_command_line_that_is_killed(program):
    pid = program.folder / "pid"
    (program.folder / "helm").write_text(
        f"#!/bin/sh\necho $$ >{pid}\nexec {shutil.which('sleep', path=os.defpath)} 60\n"
    )
    code = (
        f"from {Helm.__module__} import ClusterOptions, Helm\n"
        "Helm(ClusterOptions(), 'ns').uninstall('bench-s')"
    )
    command_line = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    until(lambda: pid.exists() and pid.read_text())
    helm_process = psutil.Process(int(pid.read_text()))
    assert alive(helm_process)

    command_line.kill()
    command_line.wait()

    until(lambda: not alive(helm_process))


def until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_helm_that_cannot_be_executed_is_reported(program):
    (program.folder / "helm").write_text("#!/nowhere/sh\n")

    with pytest.raises(SetupError):
        helm().version()


# --- what it is given ---------------------------------------------------------------------------


def test_a_release_is_installed_with_its_labels_and_one_revision(program):
    helm().apply("bench-s", {"a/b": "1", "c": "2"}, VALUES, {})

    argv = program.call["argv"]
    assert argv[:4] == ["upgrade", "--install", "bench-s", str(CHART)]
    assert {"--labels=a/b=1,c=2", "--history-max=1", "--namespace=ns"} < set(argv)


def test_the_users_values_are_checked_by_the_schema_once_in_a_sweep(program):
    runner = helm()
    program.answers(1, "Error: unknown field")
    with pytest.raises(SetupError):
        runner.apply("bench-s", {}, VALUES, {})
    program.answers(0, "done")
    for _ in range(3):
        runner.apply("bench-s", {}, VALUES, {})

    unchecked = ["--disable-openapi-validation" in call["argv"] for call in program.calls]
    assert unchecked == [False, False, True, True]


def test_values_go_only_by_a_file_that_others_cannot_read_and_that_is_gone_afterwards(program):
    values = {"run": {"spec": "hidden"}, "workers": 123456}
    program.answers(1, "Error: no")
    with pytest.raises(SetupError):
        helm().apply("bench-s", {}, values, {})

    (file,) = program.call["files"]
    assert json.loads(file["content"]) == values
    assert file["folder"] == stat.S_IRWXU
    assert not os.path.exists(file["path"])  # noqa: PTH110
    assert not re.search("hidden|123456", " ".join(program.call["argv"]))


def test_the_users_values_come_before_ours_which_have_the_last_word(program, tmp_path):
    theirs = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
    for path in theirs:
        path.write_text("workers: 99")

    helm(values=tuple(theirs), sets=("a=1", "b=2")).apply("bench-s", {}, VALUES, {})

    argv = program.call["argv"]
    files = [word.partition("=")[2] for word in argv if word.startswith("--values=")]
    assert files[:2] == [str(path) for path in theirs]
    assert json.loads(program.call["files"][2]["content"])["workers"] == 3
    assert [word for word in argv if word.startswith("--set=")] == ["--set=a=1", "--set=b=2"]


def test_what_is_proposed_comes_before_the_users_values(program, tmp_path):
    theirs = tmp_path / "a.yaml"
    theirs.write_text("worker: {}")

    helm(values=(theirs,)).apply("bench-s", {}, VALUES, {"worker": {"resources": {}}})
    helm(values=(theirs,)).template("bench-s", VALUES, {"worker": {"resources": {}}})

    for call in program.calls:
        contents = [file["content"] for file in call["files"]]
        assert contents == ['{"worker": {"resources": {}}}', "worker: {}", json.dumps(VALUES)]


def test_the_image_is_one_of_our_values(program):
    helm(image="localhost:5000/bench:1").apply("bench-s", {}, VALUES, {})

    content = json.loads(program.call["files"][0]["content"])
    assert content["image"] == {"name": "localhost:5000/bench", "tag": "1", "digest": ""}


def test_helm_is_led_to_the_cluster_that_the_user_chose(program, tmp_path):
    helm(kubeconfig=tmp_path / "config", context="c").uninstall("bench-s")

    argv = program.call["argv"]
    assert argv[:3] == ["uninstall", "bench-s", "--ignore-not-found"]
    assert argv[-3:] == [
        "--namespace=ns",
        f"--kubeconfig={tmp_path / 'config'}",
        "--kube-context=c",
    ]


def test_ctrl_c_does_not_reach_helm(program):
    helm().uninstall("bench-s")

    assert program.call["session"]


def test_manifests_are_returned_as_helm_made_them(program):
    program.answers(0, "kind: Job")

    assert helm().template("bench-s", VALUES, {}) == "kind: Job\n"
    assert "--install" not in program.call["argv"]
