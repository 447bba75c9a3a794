"""Failures on a cluster: named within seconds, recorded in the result, and nothing is left."""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from iotbench.execution.kubernetes.diagnosis import index_of
from tests.e2e.harness import (
    LONG,
    NULL,
    SMALL,
    ClusterLine,
    Namespace,
    interrupted,
    kill_container,
    kill_process,
    waited,
)
from tests.integration.conftest import Finished

POSTGRES = "--target=postgresql"
ROWS = ("--batch=1000", "--num-inserts=2000")
QUICK = ("--workers=1", "--runs=1", *ROWS)
SOON_S = 90
"""On a loaded machine; on an idle one it takes 1 to 17 s. An unnoticed failure takes longer."""
A_LOST_NODE_S = 120
REPORT = re.compile(r'"event":"report","report":\{"index":(\d+)')


def failed(line: ClusterLine, done: Finished, *words: str) -> Any:
    """Check exit code, cause and result file of a failed run; return the result."""
    assert done.code == 1, (done.code, done.err)
    result = line.result()
    assert result["status"] == "failed"
    for word in words:
        assert word in result["cause"]
        assert word in done.err
    return result


def timed(act: Callable[[], Finished], within_s: float) -> Finished:
    began = time.monotonic()
    done = act()
    took_s = time.monotonic() - began
    assert took_s < within_s, f"{took_s:.1f} s: {done.err}"
    return done


# --- pods that do not start -----------------------------------------------------------------------

_DSN = "host=postgres-rw dbname=app user=app"


@dataclass(frozen=True)
class Cause:
    """A reason why a pod does not start, and the words of its message."""

    arguments: tuple[str, ...]
    words: tuple[str, ...]
    password: Mapping[str, str] | None = None
    """A Secret that differs from config.yaml."""


CAUSES = {
    "an image that is nowhere": Cause(
        ("--image=127.0.0.1:1/nosuch/image:1",),
        (
            "cannot pull image 127.0.0.1:1/nosuch/image:1",
            "connection refused",
            "make image",
            "--image",
        ),
    ),
    "a worker larger than any node": Cause(
        ("--set=worker.resources.requests.cpu=100", "--set=worker.resources.limits.cpu=100"),
        ("no node can take worker 0", "Insufficient cpu", "worker.resources.requests"),
    ),
    "a node selector that nothing meets": Cause(
        ("--set=collector.nodeSelector.moon=dark",),
        ("no node can take collector", "collector.nodeSelector"),
    ),
    "only the database's node is left": Cause(
        ("--set=worker.nodeSelector.workload=db",),
        ("no node can take worker 0", "database.nodeLabels"),
    ),
    "too little memory to start": Cause(
        (
            "--set=worker.resources.limits.memory=16Mi",
            "--set=worker.resources.requests.memory=16Mi",
        ),
        # The runtime says OOMKilled, or only signal 9 if the end overtakes the notice.
        ("worker 0", "out of memory", "16Mi", "worker.resources.limits.memory"),
    ),
    "a secret that is missing": Cause(
        (),
        ("cannot start", "nosuch", "not found", "_from` in config.yaml"),
        password={"secret": "nosuch", "key": "password"},
    ),
    "an init container that fails": Cause(
        (
            "--set=initContainers[0].name=vault",
            "--set=initContainers[0].image=docker.io/library/iot-database-benchmark:0.1.0",
            "--set=initContainers[0].command={python,-c,exit('no vault')}",
            "--set=initContainers[0].securityContext.allowPrivilegeEscalation=false",
            "--set=initContainers[0].securityContext.capabilities.drop={ALL}",
        ),
        ("container vault of", "ended with exit code 1", "no vault"),
    ),
    "a secret without the key": Cause(
        (),
        ("cannot start", "passwort", "`key` of `..._from` in config.yaml"),
        password={"secret": "postgres-app", "key": "passwort"},
    ),
}
AT_ONCE = 3
"""They mostly wait; more of them would compete for the machine's two cores."""


@pytest.fixture(scope="class")
def not_started(
    bench: Namespace, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[tuple[ClusterLine, Finished, float]]]]:
    """Parallel runs that cannot start; each must report its own cause."""

    def run(cause: Cause, folder: Path, database: str) -> tuple[ClusterLine, Finished, float]:
        line = ClusterLine(folder, namespace=bench)
        if cause.password:
            target = {
                "module": "postgres",
                "connection_string": _DSN,
                "password_from": dict(cause.password),
            }
            line.write_config({"postgresql": target})
        began = time.monotonic()
        # One run at a time can use a database; two that create a table there stop each other.
        own = _DSN.replace("dbname=app", f"dbname={database}")
        address = f"--extra-option=connection_string={own}"
        done = line.insert(POSTGRES, *QUICK, *cause.arguments, address)
        return line, done, time.monotonic() - began

    folders = [tmp_path_factory.mktemp("line") for _ in CAUSES]  # the factory is not thread-safe
    databases = [f"not_started_{number}" for number in range(len(CAUSES))]
    for database in databases:
        bench.sql(f"CREATE DATABASE {database}")
    with ThreadPoolExecutor(AT_ONCE) as threads:
        started = zip(CAUSES.items(), folders, databases, strict=True)
        yield {
            name: threads.submit(run, cause, folder, database)
            for (name, cause), folder, database in started
        }
    left = bench.leftovers()
    bench.remove_leftovers()
    assert not left


class TestNotStarted:
    @pytest.mark.parametrize("name", CAUSES)
    def test_its_cause_is_named_soon(
        self, not_started: dict[str, Future[tuple[ClusterLine, Finished, float]]], name: str
    ) -> None:
        line, done, took_s = not_started[name].result()
        failed(line, done, *CAUSES[name].words)
        assert took_s < SOON_S
        assert not line.leftovers()


@pytest.mark.rare
def test_too_little_memory_for_its_batches(cli: ClusterLine) -> None:
    little = ("limits.memory=40Mi", "requests.memory=40Mi")
    done = timed(
        lambda: cli.insert(
            POSTGRES,
            *("--workers=1", "--runs=1", "--batch=500000", "--num-inserts=1000000"),
            *(f"--set=worker.resources.{word}" for word in little),
        ),
        SOON_S,
    )
    words = ("worker 0", "out of memory", "40Mi", "worker.resources.limits.memory")
    failed(cli, done, *words)


def test_all_that_a_namespace_lacks_is_one_list_before_anything_runs(
    empty: ClusterLine, tmp_path: Path
) -> None:
    empty.namespace.kubectl("create", "quota", "few", "--hard=pods=0")
    token = empty.namespace.account("somebody", permissions=True)
    rules = empty.namespace.json("role", "iot-bench")["rules"]
    patch = json.dumps({"rules": [rule for rule in rules if rule["resources"] != ["jobs"]]})
    empty.namespace.kubectl("patch", "role", "iot-bench", "--type=merge", f"--patch={patch}")
    words = (
        f"--kubeconfig={empty.namespace.kube.kubeconfig(tmp_path / 'somebody', token)}",
        "--set=database.nodeLabels.workload=moon",
        "--set=worker.resources.requests.cpu=100",
        "--set=worker.resources.limits.cpu=100",
    )
    for command, own in (
        ("check", ("0 of 1 worker fit", "of 100 CPU")),
        ("insert", ("0 of 4 workers fit", "of 100 CPU")),
        ("query", ("too little for the collector",)),
    ):
        workers = ["--workers=1,4"] * (command == "insert")
        done = timed(lambda: empty.run(command, POSTGRES, *workers, *words), SOON_S)  # noqa: B023
        assert done.code == 1
        for word in (
            "permissions are missing in namespace",
            "jobs.batch",
            "quota few of the namespace has pods=0",
            "no node has the label workload=moon",
            *own,
        ):
            assert word in done.err, command
        assert "secrets" not in done.err
        assert not empty.namespace.pods()


@pytest.mark.rare
def test_a_secret_with_another_password(empty: ClusterLine, bench: Namespace) -> None:
    empty.namespace.secret("postgres-app", password="quite another")
    dsn = f"connection_string=host=postgres-rw.{bench.name} dbname=app user=app"
    done = timed(lambda: empty.insert(POSTGRES, *QUICK, f"--extra-option={dsn}"), SOON_S)
    failed(empty, done, "password authentication failed")
    checked = timed(lambda: empty.run("check", POSTGRES, f"--extra-option={dsn}"), SOON_S)
    assert checked.code == 1
    assert "password authentication failed" in checked.err


# --- pods lost during a run ----------------------------------------------------------------


@pytest.mark.rare
def test_a_worker_is_deleted(cli: ClusterLine) -> None:
    process = cli.inserting(workers=2)
    name = cli.namespace.pods("worker")[0]["metadata"]["name"]
    cli.namespace.kubectl("delete", "pod", name, "--wait=false")
    done = timed(lambda: cli.finish(process), SOON_S)
    result = failed(cli, done, "worker", "deleted")
    assert len(result["runs"]) == 1


@pytest.mark.usefixtures("powers")
def test_a_second_writer_is_refused_and_rows_of_a_killed_worker_are_counted(
    cli: ClusterLine, empty: ClusterLine, line_on: Callable[[Namespace], ClusterLine]
) -> None:
    process = cli.inserting("--verify=full", workers=2)
    done = timed(lambda: line_on(cli.namespace).insert(POSTGRES, *QUICK), SOON_S)
    assert done.code == 2
    assert "another run is in progress on this database: `insert --target" in done.err
    assert "cleanup -n" in done.err
    done = empty.insert(POSTGRES, *QUICK, beside(cli, empty), within_s=200)
    assert done.code == 2
    assert "another insert writes the same tables now" in done.err
    assert sweep_of(cli) in done.err

    assert kill_container(cli.namespace.pods("worker")[0])
    done = timed(lambda: cli.finish(process), SOON_S)
    result = failed(cli, done, "worker", "137")
    outcome = result["runs"][0]["outcome"]
    accounts = outcome["verdict"]["accounts"]
    assert accounts["kept"] == sum(worker["rows"] for worker in outcome["workers"])
    assert (accounts["lost"], accounts["doubled"], accounts["foreign"]) == (0, 0, 0)
    stored = int(cli.namespace.sql("SELECT count(*) FROM events"))
    assert stored == accounts["kept"] + accounts["present"]


def beside(first: ClusterLine, other: ClusterLine) -> str:
    """Return the option by which a line in another namespace uses the database of the first."""
    other.namespace.secret("postgres-app", password=first.namespace.password)
    return f"--extra-option=connection_string={_DSN.replace('rw', f'rw.{first.namespace.name}')}"


def test_an_insert_that_began_between_two_runs_ends_the_sweep_and_is_named(
    cli: ClusterLine, empty: ClusterLine
) -> None:
    process = cli.start("insert", POSTGRES, "--workers=1", "--runs=2", *ROWS, *PAUSED)
    next_run(cli)()
    go_on = next_run(cli)
    other = empty.inserting(beside(cli, empty))
    go_on()
    done = timed(lambda: cli.finish(process), SOON_S)
    named = sweep_of(empty)
    interrupted(other)
    empty.finish(other)

    assert done.code == 2
    assert "another insert writes the same tables now" in done.err
    assert named in done.err
    assert [run["outcome"]["status"] for run in cli.result()["runs"]] == ["done", "failed"]


PAUSED = ("--before-run=touch waits; until [ -e go ]; do sleep 0.1; done; rm waits go",)
"""Options that make a sweep wait before each run."""


def next_run(line: ClusterLine) -> Callable[[], None]:
    """Wait until a sweep with PAUSED waits before its next run; return what lets it go on."""
    waited("the sweep waits before a run", (line.folder / "waits").exists, 60)

    def go_on() -> None:
        (line.folder / "go").touch()
        waited("the sweep goes on", lambda: not (line.folder / "go").exists(), 10)

    return go_on


@pytest.mark.rare
@pytest.mark.timeout(500, func_only=True)
@pytest.mark.usefixtures("powers")
def test_a_worker_that_is_killed_after_its_report_ends_nothing(cli: ClusterLine) -> None:
    """Of three hosts, worker 0 has two: worker 1 is done half-way, and stays to help verify."""
    rows = ("--workload=cpu", "--scale=3", "--interval=1s", "--split=series", "--rate=20k",
            "--start=2026-06-01", "--end=2026-06-05T04:00:00Z", "--batch=5000")  # fmt: skip
    process = cli.start("insert", "--target=postgresql", "--workers=2", "--runs=1", *rows)

    def reported() -> list[str]:
        assert process.poll() is None, process.communicate()
        logs = [cli.namespace.log(p["metadata"]["name"]) for p in cli.namespace.pods("collector")]
        return [index for log in logs for index in REPORT.findall(log)]

    assert waited("a worker has reported", reported, 180) == ["1"]
    (pod,) = [pod for pod in cli.namespace.pods("worker") if index_of(pod) == 1]
    assert kill_container(pod)
    done = cli.finish(process, 240)
    assert done.code == 0, done.err
    (run,) = cli.result()["runs"]
    reports = run["outcome"]["workers"]
    assert [report["rows"] for report in reports] == [720_000, 360_000]
    assert reports[0]["ended_s"] - reports[1]["ended_s"] > 10
    assert run["outcome"]["verdict"]["status"] == "verified"


@pytest.mark.rare
@pytest.mark.usefixtures("powers")
def test_the_collector_is_killed(cli: ClusterLine) -> None:
    process = cli.inserting()
    assert kill_container(cli.namespace.pod("collector"))
    done = timed(lambda: cli.finish(process), SOON_S)
    failed(cli, done, "collector", "137")


@pytest.mark.usefixtures("powers")
def test_the_process_of_the_collector_is_killed_and_another_one_goes_on(cli: ClusterLine) -> None:
    process = cli.start("insert", "--target=postgresql", "--workers=2", "--runs=1", "--batch=100",
                        "--rate=2k", "--num-inserts=10000", "--verify=full")  # fmt: skip
    (pod,) = waited(
        "rows are inserted",
        lambda: [
            pod for pod in cli.namespace.pods("collector")
            if '"phase":"insert"' in cli.namespace.log(pod["metadata"]["name"])
        ],
        90,
    )  # fmt: skip
    assert kill_process(pod) == 1
    done = cli.finish(process, 120)

    assert done.code == 0, done.err
    (run,) = cli.result()["runs"]
    assert run["metrics"]["rows"] == 20_000
    assert run["outcome"]["verdict"]["status"] == "verified"
    assert "collector replaced" in [each["what"] for each in run["outcome"]["occurrences"]]


def test_the_collector_is_deleted(cli: ClusterLine) -> None:
    process = cli.inserting()
    name = cli.namespace.pod("collector")["metadata"]["name"]
    cli.namespace.kubectl("delete", "pod", name, "--wait=false")
    done = timed(lambda: cli.finish(process), SOON_S)
    failed(cli, done, "collector", "deleted")


@pytest.mark.rare
@pytest.mark.parametrize("victim", ["worker", "collector"])
def test_a_node_is_lost(cli: ClusterLine, crash: Callable[[str], None], victim: str) -> None:
    nodes = cli.namespace.kube.client_nodes()
    cli.values = {
        part: {**SMALL[part], "nodeSelector": {"kubernetes.io/hostname": node}}
        for part, node in zip(("worker", "collector"), nodes, strict=False)
    }
    process = cli.inserting()
    node = cli.namespace.pod(victim)["spec"]["nodeName"]
    crash(node)
    done = timed(lambda: cli.finish(process, 120), A_LOST_NODE_S)
    result = failed(cli, done, victim, f"its node {node}")
    if victim == "worker":
        (report,) = result["runs"][0]["outcome"]["workers"]
        assert (report["is_lost"], report["node"]) == (True, node)


# --- missing permissions and programs ----------------------------------------------------


def test_no_permissions_at_all(empty: ClusterLine, tmp_path: Path) -> None:
    empty.write_config(NULL)
    token = empty.namespace.account("nobody", permissions=False)
    path = empty.namespace.kube.kubeconfig(tmp_path / "nobody", token)
    for command, words in (("insert", QUICK), ("check", ())):
        run = (command, "--target=null", *words, f"--kubeconfig={path}")
        done = timed(lambda: empty.run(*run), SOON_S)  # noqa: B023
        assert done.code == 1
        for word in ("secrets", "jobs.batch", "pods/log", "events", "create", "rbac.yaml"):
            assert word in done.err
    refused = timed(lambda: empty.run("cleanup", f"--kubeconfig={path}"), SOON_S)
    assert refused.code == 1
    for word in ("nobody", "cannot list resource", "run.py check", "rbac.yaml"):
        assert word in refused.err


def test_a_missing_helm_is_named(cli: ClusterLine, tmp_path: Path) -> None:
    cli.environment = {"PATH": str(tmp_path)}
    for done in (
        timed(lambda: cli.insert(POSTGRES, *QUICK), SOON_S),
        timed(lambda: cli.run("check", POSTGRES), SOON_S),
    ):
        assert done.code == 2
        assert "helm is not on the PATH" in done.err
        assert "https://helm.sh" in done.err


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("127.0.0.1:1", id="closed"),
        pytest.param("192.0.2.1:6443", id="silent", marks=pytest.mark.rare),
    ],
)
@pytest.mark.parametrize("command", ["insert", "check", "cleanup"])
def test_a_cluster_that_is_not_there(
    cli: ClusterLine, tmp_path: Path, address: str, command: str
) -> None:
    path = cli.namespace.kube.kubeconfig(tmp_path / "gone", "none")
    content = yaml.safe_load(path.read_text())
    content["clusters"][0]["cluster"] = {"server": f"https://{address}"}
    path.write_text(yaml.safe_dump(content))
    words = {"insert": (POSTGRES, *QUICK), "check": (POSTGRES,), "cleanup": ()}[command]
    done = timed(lambda: cli.run(command, *words, f"--kubeconfig={path}"), 15)
    assert done.code == 1
    assert f"https://{address}" in done.err
    assert "cannot be reached" in done.err


@pytest.mark.parametrize("command", ["insert", "query", "check", "cleanup"])
def test_a_namespace_that_does_not_exist(cli: ClusterLine, command: str) -> None:
    words = {"insert": (POSTGRES, *QUICK), "cleanup": ()}.get(command, (POSTGRES,))
    done = timed(lambda: cli.run(command, *words, "--namespace=nosuch"), SOON_S)
    assert done.code == 1
    assert "namespace nosuch does not exist" in done.err
    assert "permissions" not in done.out


# --- being stopped --------------------------------------------------------------------------------


def test_ctrl_c_in_mid_run(cli: ClusterLine) -> None:
    process = cli.inserting(workers=2)
    interrupted(process)
    done = timed(lambda: cli.finish(process), SOON_S)
    assert done.code == 130
    result = cli.result()
    assert result["status"] == "interrupted"
    (run,) = result["runs"]
    assert sum(report["rows"] for report in run["outcome"]["workers"]) > 0


def test_ctrl_c_while_pods_start(cli: ClusterLine) -> None:
    process = cli.start("insert", POSTGRES, "--runs=1", "--workers=2", *LONG)
    waited("there is a pod", cli.namespace.pods)
    interrupted(process)
    done = timed(lambda: cli.finish(process), SOON_S)
    assert done.code == 130
    assert cli.result()["status"] == "interrupted"


@pytest.mark.rare
def test_a_second_ctrl_c_ends_the_command_at_once(cli: ClusterLine) -> None:
    process = cli.inserting()
    interrupted(process)
    time.sleep(0.3)
    interrupted(process)
    done = timed(lambda: cli.finish(process), SOON_S)
    assert done.code == 130
    if cli.namespace.leftovers():  # then the message has the command that removes them
        assert "cleanup" in done.err
        assert cli.run("cleanup").code == 0


# --- leftovers and their removal ---------------------------------------------------


def somebody_elses(namespace: Namespace, sweep: str) -> None:
    """Create an object of another user's sweep."""
    labels = {
        "app.kubernetes.io/name": "iot-bench",
        "iot-bench/sweep": sweep,
        "iot-bench/run": f"{sweep}-1-1",
        "iot-bench/owner": "somebody-0123456789.4711.1790000000",
    }
    manifest = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"bench-{sweep}-1-1", "labels": labels},
    }
    namespace.kubectl("apply", "--filename=-", given=json.dumps(manifest))


def sweep_of(line: ClusterLine) -> str:
    labels: dict[str, str] = line.namespace.pod("collector")["metadata"]["labels"]
    return labels["iot-bench/sweep"]


def test_a_killed_command_line_is_cleaned_up_after(cli: ClusterLine) -> None:
    somebody_elses(cli.namespace, "20260101-000000-abcd")
    process = cli.inserting()
    alive = sweep_of(cli)
    left = cli.run("cleanup")
    assert left.code == 0, left.err
    assert f"left {alive}" in left.out, "it runs: only --run or --all may remove it"
    process.kill()
    process.wait()
    done = timed(lambda: cli.run("cleanup"), SOON_S)
    assert done.code == 0, done.err
    assert f"removed {alive}" in done.out
    assert "left 20260101-000000-abcd" in done.out
    assert "somebody-0123456789" in done.out
    assert cli.namespace.leftovers() == ["secret/bench-20260101-000000-abcd-1-1"]
    done = cli.run("cleanup", "--run=20260101-000000-abcd")
    assert done.code == 0, done.err
    assert not cli.namespace.leftovers()
    again = cli.run("cleanup")
    assert again.code == 0
    assert "nothing to remove in namespace" in again.out


def test_cleanup_removes_every_sweep_on_request(empty: ClusterLine) -> None:
    for number in range(3):
        somebody_elses(empty.namespace, f"20260101-00000{number}-abcd")
    wrong = empty.run("cleanup", "--run=20260101-000009-abcd")
    assert wrong.code == 1
    assert "has no objects of 20260101-000009-abcd" in wrong.err
    assert len(empty.namespace.leftovers()) == 3
    done = empty.run("cleanup", "--all")
    assert done.code == 0, done.err
    assert done.out.count("removed 20260101") == 3


def test_a_release_is_kept(empty: ClusterLine) -> None:
    empty.write_config(NULL)
    done = empty.insert("--target=null", *QUICK, "--keep")
    assert done.code == 0, done.err
    assert empty.namespace.pods("collector")
    assert empty.namespace.pods("worker")
    lines = {line.split(":")[0].strip(): line for line in done.err.splitlines()}
    look = lines["look"].partition("look:")[2].split()
    found = empty.namespace.kube.run(*look)
    for kind in ("pod/", "job.batch/", "service/", "configmap/", "secret/"):
        assert kind in found.stdout
    remove = lines["remove"].partition("python run.py cleanup")[2].split()
    assert empty.namespace.name in remove
    cleaned = empty.run("cleanup", *remove[remove.index("--run") :])
    assert cleaned.code == 0, cleaned.err
    assert not empty.namespace.leftovers()
