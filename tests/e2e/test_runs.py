"""Inserts, queries and checks on a cluster, with every way to reach it."""

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.harness import NULL, ClusterLine, Kubernetes, Namespace, waited
from tests.integration.conftest import ROOT
from tests.integration.test_capacity import OWN
from tests.integration.test_postgres import ONE_AT_A_TIME

POSTGRES = "--target=postgresql"
QUICK = ("--workers=1", "--runs=1", "--batch=1000", "--num-inserts=2000")


def verdicts(result: Any) -> list[str]:
    return [run["outcome"]["verdict"]["status"] for run in result["runs"]]


def test_a_sweep_is_verified_and_no_worker_runs_on_the_databases_node(
    cli: ClusterLine, kube: Kubernetes
) -> None:
    done = cli.insert(
        POSTGRES, "--workers=1,4", "--runs=1", "--batch=1000", "--num-inserts=5000", within_s=120
    )
    assert done.code == 0, done.err
    result = cli.result()
    assert result["status"] == "done"
    assert result["runner"] == "kubernetes"
    assert [run["workers"] for run in result["runs"]] == [1, 4]
    assert verdicts(result) == ["verified"] * 2
    reports = [report for run in result["runs"] for report in run["outcome"]["workers"]]
    assert len(reports) == 5
    assert all(report["rows"] == 5000 for report in reports)
    used = {report["node"] for report in reports}
    assert used <= set(kube.client_nodes())
    assert not used & kube.database_nodes()
    assert result["ran_on"]["namespace"] == cli.namespace.name
    assert result["ran_on"]["kubernetes"].startswith("v1.")
    assert re.search(r"iot-database-benchmark|sha256:[0-9a-f]{64}", result["ran_on"]["image"])


def test_a_table_that_others_made_is_refused_and_stays_as_it_was(cli: ClusterLine) -> None:
    cli.namespace.sql("CREATE TABLE bench_events AS SELECT 7 AS mine")
    done = cli.insert(POSTGRES, *QUICK, "--table-prefix=bench_")

    assert done.code == 2, done.err
    assert "did not make table bench_events (1 row, " in done.out + done.err
    assert cli.namespace.sql("SELECT mine FROM bench_events") == "7"
    cli.namespace.sql("DROP TABLE bench_events")
    assert cli.leftovers() == []


PLAN = """
name: taken
targets:
  - name: postgresql
    install: [kubectl create secret generic mine]
    remove: [kubectl delete secret mine]
repeats: 1
settings:
  - {name: bulk, insert: {workload: iot, workers: 1, num_inserts: 500, batch: 500}}
"""


def test_what_others_installed_is_neither_installed_over_nor_removed(cli: ClusterLine) -> None:
    cli.namespace.secret("mine", word="theirs")
    plan = cli.folder / "taken.yaml"
    plan.write_text(PLAN)
    done = cli.run("run", str(plan), "--trust", "--format=json")

    assert done.code == 1, done.err
    (install,) = json.loads(done.out)["installs"]
    assert "already present, and not from this program: secret/mine" in install["cause"]
    assert cli.namespace.kubectl("get", "secret", "mine", "--output=name").strip() == "secret/mine"


def test_steps_fill_the_table_up(cli: ClusterLine) -> None:
    words = ("--workers=2", "--steps=2", "--batch=1000", "--num-inserts=2000")
    done = cli.insert(POSTGRES, *words)
    assert done.code == 0, done.err
    result = cli.result()
    assert verdicts(result) == ["verified"] * 2
    assert [run["level"] for run in result["runs"]] == [0, 4000]
    assert cli.namespace.sql("SELECT count(*) FROM events") == "8000"


def test_prefill_comes_before_the_clock(cli: ClusterLine) -> None:
    done = cli.insert(POSTGRES, *QUICK, "--prefill=3000")
    assert done.code == 0, done.err
    (run,) = cli.result()["runs"]
    assert run["level"] == 3000
    assert run["outcome"]["workers"][0]["rows"] == 2000
    assert run["outcome"]["workers"][0]["prefill_rows"] == 3000
    assert cli.namespace.sql("SELECT count(*) FROM events") == "5000"


@pytest.mark.rare
def test_pods_send_in_stages_and_then_beside_queries(cli: ClusterLine) -> None:
    done = cli.insert(POSTGRES, "--stages=1:2s,2:2s", "--batch=100")
    assert done.code == 0, done.err
    (run,) = cli.result()["runs"]
    reports = run["outcome"]["workers"]
    assert [[each["stage"] for each in report["stages"]] for report in reports] == [[0, 1], [1]]
    stored = sum(each["rows"] for report in reports for each in report["stages"])
    assert cli.namespace.sql("SELECT count(*) FROM events") == str(stored)

    mixed = cli.run("mixed", POSTGRES, "--duration=3s", "--batch=100", "--types=count-events")
    assert mixed.code == 0, mixed.err
    assert verdicts(cli.results()[-1]) == ["verified"]
    assert int(cli.namespace.sql("SELECT count(*) FROM events")) > stored
    fresh = cli.run(
        "mixed", POSTGRES, "--fresh=1m", "--duration=3s", "--batch=100", "--insert-rate=2000",
        "--format=json",
    )  # fmt: skip
    assert fresh.code == 0, fresh.err
    rows = {row.get("load") or row["query"]: row for row in fresh.json["rows"]}
    assert rows["fresh-count"]["freshness_p99_ms"] < 3000
    assert {row["verdict"] for row in rows.values()} == {"verified"}


@pytest.mark.rare
def test_multiple_tables_are_queried(cli: ClusterLine) -> None:
    (cli.folder / "setup.sql").write_text("CREATE INDEX warm ON events0 (temperature);\n")
    setup = f"--setup={cli.folder / 'setup.sql'}"
    of_rows = ("--tables=multiple", "--devices=4", "--primary-key=client")
    done = cli.insert(POSTGRES, *QUICK, *of_rows, setup)
    assert done.code == 0, done.err
    assert (
        cli.namespace.sql("SELECT tablename FROM pg_indexes WHERE indexname = 'warm'") == "events0"
    )
    assert verdicts(cli.result()) == ["verified"]
    asked = cli.run("query", POSTGRES, "--workers=2", "--runs=1", "--plans", "--format=json")
    assert asked.code == 0, asked.err
    result = cli.results()[-1]
    assert result["kind"] == "query"
    assert verdicts(result) == ["verified"]
    plans = result["runs"][0]["outcome"]["plans"]
    assert all("actual time" in each["text"] for plan in plans for each in plan["statements"])
    assert "count-events" in {plan["query"] for plan in plans}
    changes = ("--delete-oldest=50%", "--correct=10%", "--correct-workers=2", "--batch=100")
    changed = cli.run("change", POSTGRES, *changes, "--format=json")
    assert changed.code == 0, changed.err
    assert {row["change"] for row in changed.json["rows"]} == {"deletion", "corrections"}
    assert verdicts(cli.results()[-1]) == ["verified"]


@pytest.mark.rare
def test_a_ramp_lets_pods_in_until_answers_take_too_long(cli: ClusterLine) -> None:
    """Answers come one at a time, each 0.2 s after the one before."""
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    tuned = {**config["targets"]["postgresql"], "queries": {"count-events": ONE_AT_A_TIME}}
    cli.write_config({"postgresql": tuned})
    done = cli.insert(POSTGRES, "--workers=1", "--runs=1", "--batch=1000", "--num-inserts=2000")
    assert done.code == 0, done.err
    ramp = ("--ramp", "--response-limit=500ms", "--ramp-interval=5s", "--moving-average=3s")
    words = ("--types=count-events", "--workers=6", "--format=json", *ramp)
    asked = cli.run("query", POSTGRES, *words, within_s=150)
    assert asked.code == 0, asked.err

    (found,) = asked.json["ramps"]
    assert (found["end"], found["workers"], found["workers_at_most"]) == ("limit", 3, 6), found
    assert [step["workers"] for step in found["steps"]] == [1, 2, 3]
    (row,) = asked.json["rows"]
    assert (row["verdict"], row["workers"]) == ("verified, tuned", 3)
    (run,) = cli.results()[-1]["runs"]
    assert len(run["outcome"]["workers"]) == 6


def test_the_dataset_is_known_without_the_results_folder(
    cli: ClusterLine, line_on: Callable[[Namespace], ClusterLine]
) -> None:
    """As on another machine: the mark in the database names the rows, no option does."""
    words = ("--tables=multiple", "--devices=5", "--seed=4711")
    done = cli.insert(POSTGRES, *QUICK, *words)
    assert done.code == 0, done.err
    elsewhere = line_on(cli.namespace)
    little = [f"--set=worker.resources.{kind}.cpu=60m" for kind in ("limits", "requests")]
    many = ("--types=count-events", "--count=3000", "--connections=8")
    asked = elsewhere.run("query", POSTGRES, "--workers=1", *many, *little)
    assert asked.code == 0, asked.err
    assert "from the mark in the database" in asked.err
    result = elsewhere.result()
    assert "1 worker with queries: " in " ".join(result["warnings"])
    assert "the CPU limit of the pods stopped the workers" in " ".join(result["warnings"])
    assert verdicts(result) == ["verified"]
    assert result["configuration"]["seed"] == 4711
    assert result["configuration"]["rows"] == 2000


def test_check_reports_everything_that_a_run_needs(cli: ClusterLine, kube: Kubernetes) -> None:
    done = cli.run("check", POSTGRES)
    assert done.code == 0, done.err
    names = [line.split("  ")[0].strip() for line in done.out.splitlines()]
    assert {"target", "cluster", "helm", "permissions", "insert modes"} <= set(names)
    assert f"namespace {cli.namespace.name}" in done.out
    for node in kube.database_nodes():
        assert node in done.out
    assert "PostgreSQL" in done.out


def test_another_namespace_with_a_secret_of_another_name(
    empty: ClusterLine, bench: Namespace
) -> None:
    host = f"postgres-rw.{bench.name}"
    empty.namespace.secret(
        "what-they-call-it",
        dsn=f"host={host} dbname=app user=app",
        **{"the.word": bench.password},
    )
    empty.write_config(
        {
            "elsewhere": {
                "module": "postgres",
                "connection_string_from": {"secret": "what-they-call-it", "key": "dsn"},
                "password_from": {"secret": "what-they-call-it", "key": "the.word"},
            }
        }
    )
    done = empty.insert("--target=elsewhere", *QUICK)
    assert done.code == 0, done.err
    assert verdicts(empty.result()) == ["verified"]


@pytest.mark.rare
def test_a_secret_is_rotated_while_pods_insert(empty: ClusterLine, bench: Namespace) -> None:
    """The kubelet writes it into the pods within two minutes; verification logs in with it."""
    bench.sql("CREATE ROLE rotated LOGIN PASSWORD 'first'")
    bench.sql("CREATE DATABASE rotated OWNER rotated")
    empty.namespace.secret("rotating", password="first")
    target = {
        "module": "postgres",
        "connection_string": f"host=postgres-rw.{bench.name} dbname=rotated user=rotated",
        "password_from": {"secret": "rotating", "key": "password"},
    }
    empty.write_config({"t": target})
    load = ("--workers=1", "--runs=1", "--batch=20", "--rate=100", "--duration=150s")
    process = empty.start("insert", "--target=t", *load)
    own = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'rotated' AND query ~ 'events'"
    waited("a worker inserts", lambda: bench.sql(own) != "0", 60)
    bench.sql("ALTER ROLE rotated PASSWORD 'second'")
    empty.namespace.secret("rotating", password="second")

    def noticed() -> bool:
        assert process.poll() is None, process.communicate()
        logs = [empty.namespace.log(p["metadata"]["name"]) for p in empty.namespace.pods()]
        return len(logs) == sum("credentials were rotated: password" in log for log in logs) == 2

    waited("both pods have it", noticed, 140)
    done = empty.finish(process, 180)
    assert done.code == 0, done.err
    assert verdicts(empty.result()) == ["verified"]


def test_two_command_lines_at_once(
    cli: ClusterLine, line_on: Callable[[Namespace], ClusterLine]
) -> None:
    if not cli.namespace.sql("SELECT 1 FROM pg_database WHERE datname = 'other'"):
        cli.namespace.sql("CREATE DATABASE other")
    other = line_on(cli.namespace)
    mine = ("--workers=1", "--runs=2", "--batch=1000", "--num-inserts=5000")
    dsn = "connection_string=host=postgres-rw dbname=other user=app"
    first = cli.start("insert", POSTGRES, *mine)
    second = other.start("insert", POSTGRES, *mine, "--seed=2", f"--extra-option={dsn}")
    for line, process in ((cli, first), (other, second)):
        done = line.finish(process, 120)
        assert done.code == 0, done.err
        assert verdicts(line.result()) == ["verified"] * 2


def test_the_server_accepts_what_a_dry_run_prints(cli: ClusterLine) -> None:
    done = cli.insert(POSTGRES, "--workers=3", "--dry-run")
    assert done.code == 0, done.err
    assert not cli.results()
    applied = cli.namespace.kubectl("apply", "--dry-run=server", "--filename=-", given=done.out)
    assert len(applied.splitlines()) == 4
    assert all("created (server dry run)" in line for line in applied.splitlines())
    assert cli.namespace.password not in done.out


# --- how the cluster is found ---------------------------------------------------------------------


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A kubeconfig of another cluster, which is down, without a current context."""
    path = tmp_path / "elsewhere"
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "down", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "nobody", "user": {"token": "none"}}],
        "contexts": [{"name": "down", "context": {"cluster": "down", "user": "nobody"}}],
    }
    path.write_text(yaml.safe_dump(content))
    path.chmod(0o600)
    return path


@pytest.fixture
def real(namespace: Namespace, tmp_path: Path) -> Path:
    """A kubeconfig of the cluster, whose context is named `real`."""
    assert namespace.kubeconfig
    path = tmp_path / "real"
    content = yaml.safe_load(namespace.kubeconfig.read_text())
    content["contexts"][0]["name"] = content["current-context"] = "real"
    path.write_text(json.dumps(content))
    path.chmod(0o600)
    return path


def test_kubeconfig_of_two_files(empty: ClusterLine, elsewhere: Path, real: Path) -> None:
    empty.write_config(NULL)
    empty.environment = {"KUBECONFIG": f"{elsewhere}:{real}"}
    done = empty.insert("--target=null", *QUICK)
    assert done.code == 0, done.err
    assert empty.result()["status"] == "done"


def test_kubeconfig_and_context_are_options(
    empty: ClusterLine, elsewhere: Path, real: Path, tmp_path: Path
) -> None:
    empty.write_config(NULL)
    both = yaml.safe_load(elsewhere.read_text())
    ours = json.loads(real.read_text())
    for part in ("clusters", "users", "contexts"):
        both[part] += ours[part]
    both["current-context"] = "down"
    path = tmp_path / "both"
    path.write_text(yaml.safe_dump(both))
    path.chmod(0o600)
    empty.environment = {"KUBECONFIG": str(elsewhere)}
    done = empty.insert("--target=null", *QUICK, f"--kubeconfig={path}", "--context=real")
    assert done.code == 0, done.err
    assert empty.result()["status"] == "done"
    wrong = empty.insert("--target=null", *QUICK, f"--kubeconfig={path}")
    assert wrong.code == 1
    assert "https://127.0.0.1:1" in wrong.err


def test_in_a_pod_with_only_the_documented_permissions(
    empty: ClusterLine, powers: Kubernetes, tmp_path: Path
) -> None:
    """In a mount namespace with the files of a pod, without kubeconfig and home folder."""
    empty.write_config(NULL)
    account = tmp_path / "account"
    account.mkdir()
    (account / "token").write_text(empty.namespace.kubectl("create", "token", "bench").strip())
    ca = empty.namespace.kubectl(
        "get", "configmap", "kube-root-ca.crt", "--output=jsonpath={.data.ca\\.crt}"
    )
    (account / "ca.crt").write_text(ca)
    (account / "namespace").write_text(empty.namespace.name)
    host, _, port = powers.server()["server"].removeprefix("https://").partition(":")
    home = tmp_path / "home"
    home.mkdir()
    empty.environment = {
        "KUBECONFIG": "",
        "HOME": str(home),
        "KUBERNETES_SERVICE_HOST": host,
        "KUBERNETES_SERVICE_PORT": port or "443",
    }
    place = "/run/secrets/kubernetes.io/serviceaccount"
    prepare = f'mount -t tmpfs none /run && mkdir -p {place} && mount --bind "$0" {place}'
    empty.words_before = ("unshare", "--mount", "sh", "-c", f'{prepare} && exec "$@"', str(account))
    checked = empty.run("check", "--target=null")
    assert checked.code == 0, checked.err
    assert "permissions" in checked.out
    done = empty.insert("--target=null", *QUICK)
    assert done.code == 0, done.err
    assert empty.result()["status"] == "done"


# --- how long it takes ----------------------------------------------------------------------------


@pytest.mark.rare
def test_the_next_run_follows_soon(cli: ClusterLine, capsys: pytest.CaptureFixture[str]) -> None:
    """From the last acknowledgement of a run to the first insert of the next.

    In between the database is compacted and verified, which is not the runner's; the rest is: the
    old pods go, the new ones come, their tables are made, and they find each other.
    """
    process = cli.start(
        "insert", POSTGRES, "--workers=2", "--runs=4", "--batch=1000", "--num-inserts=2000"
    )
    starts: dict[str, float] = {}
    while process.poll() is None:
        for pod in cli.namespace.pods():
            start = start_s(pod)
            if start is not None:
                starts[pod["metadata"]["name"]] = start
    done = cli.finish(process)
    assert done.code == 0, done.err
    outcomes = [run["outcome"] for run in cli.result()["runs"]]
    gaps, idle = [], []
    for before, after in itertools.pairwise(outcomes):
        ended_s = max(report["ended_s"] for report in before["workers"])
        after_insert = ("visible", "compact", "verify")
        work_s = sum(before["phases_s"].get(phase, 0.0) for phase in after_insert)
        gaps.append(after["released_s"] - ended_s)
        idle.append(gaps[-1] - work_s)
    with capsys.disabled():
        print(
            f"\nfrom run to run: {', '.join(f'{gap:.2f}' for gap in gaps)} s; without compacting"
            f" and verifying: {', '.join(f'{gap:.2f}' for gap in idle)} s; a pod was created and"
            f" started within {max(starts.values(), default=0):.0f} s (of {len(starts)} pods, in"
            f" whole seconds); phases of a run: {outcomes[-1]['phases_s']}"
        )
    assert min(idle) < 20  # on an idle machine 2 to 3.3 s


def start_s(pod: Any) -> float | None:
    """Return how long a pod took from its creation to its container's start."""
    from datetime import datetime  # noqa: PLC0415

    for container in pod["status"].get("containerStatuses", ()):
        for state in container["state"].values():
            if state.get("startedAt"):
                started = datetime.fromisoformat(state["startedAt"])
                created = datetime.fromisoformat(pod["metadata"]["creationTimestamp"])
                return (started - created).total_seconds()
    return None


DECLARED = """
duration: 10m
tables:
  meters:
    series: 20
    interval: 1s
    tags:
      meter:
      site: {values: [north, south], weights: [3, 1]}
    fields:
      watts: {type: float64, normal: [230, 15]}
      note: {type: text, length: [0, 9], nulls: 20%}
"""


@pytest.mark.rare
@pytest.mark.timeout(900, func_only=True)
def test_the_capacity_of_pods_with_several_connections(cli: ClusterLine) -> None:
    """The vendor's driver inserts; then the user's own queries are asked at rising rates."""
    of_pods = (POSTGRES, "--workers=2", "--connections=8")
    done = cli.insert(*of_pods, "--runs=1", "--client=driver", "--batch=100", "--num-inserts=2000")
    assert done.code == 0, done.err
    (run,) = cli.result()["runs"]
    assert all(worker["connects"] for worker in run["outcome"]["workers"])
    assert verdicts(cli.result()) == ["verified"]
    (cli.folder / "own.yaml").write_text(OWN)
    found = cli.run(
        "capacity", *of_pods, "--of=queries", f"--queries={cli.folder / 'own.yaml'}",
        "--slo=p99_ms < 500", "--duration=2s", "--repeats=1", "--tolerance=0.5", "--format=json",
        within_s=800,
    )  # fmt: skip
    assert found.code == 4, found.err
    assert found.json["holds_per_s"] > 10
    assert found.json["verdict"] == "not checked"


def test_a_declared_workload_reaches_the_pods(cli: ClusterLine) -> None:
    path = cli.folder / "meters.yaml"
    path.write_text(DECLARED)
    done = cli.insert(
        POSTGRES, f"--workload={path}", "--workers=2", "--runs=1", "--batch=500", "--limit=6000",
        "--verify=full",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert verdicts(cli.result()) == ["verified"]
    assert cli.namespace.sql("SELECT count(DISTINCT meter) FROM meters") == "20"
    asked = cli.run("query", POSTGRES, "--workers=1", "--runs=1", "--format=json")
    assert asked.code == 0, asked.err
    assert {row["verdict"] for row in asked.json["rows"]} == {"verified"}
