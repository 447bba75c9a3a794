"""A cluster, a namespace, and the command line that runs against them."""

import contextlib
import dataclasses
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from tests.e2e.databases import POSTGRESQL
from tests.e2e.images import SCRIPT, app_image, script
from tests.e2e.permissions import manifests, outside
from tests.integration.conftest import CommandLine, Finished

STATE = Path("/var/tmp/bench-cluster")
"""Where cluster.sh keeps a running cluster."""
LOADED = "E2E_LOADED"
"""The variable that says that the nodes of the test cluster have the images."""
OURS = "app.kubernetes.io/name=iot-bench"
DATABASE_NODES = "workload=db"
RESTRICTED = "pod-security.kubernetes.io/enforce"
"""The label that makes the API server refuse pods; its value is the standard."""

SMALL = {
    # A node of the test cluster has the two cores of its machine, and all nodes share them.
    "worker": {"resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}},
    "collector": {"resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}},
}
LONG = ("--batch=100", "--num-inserts=200000", "--rate=2000", "--verify=none")
"""A run of more than a minute that leaves the machine mostly idle."""


def waited(what: str, condition: Callable[[], Any], within_s: float = 30) -> Any:
    """Wait until a condition returns something true; return that."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    return pytest.fail(f"not true within {within_s:.0f} s: {what}")


def report(text: str) -> None:
    """Print a step or a result while pytest captures the output."""
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Kubernetes:
    """A cluster, with the images loaded into it."""

    environment: Mapping[str, str]
    own: bool
    """True if it is the test cluster, whose nodes can be crashed and whose processes are ours."""
    image: str = ""
    """Of collector and workers; empty for the one that the chart names."""
    postgres_image: str = ""
    """Empty for the one that the manifest names."""

    def run(
        self, *words: str, given: str | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            words,
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
            env={**os.environ, **self.environment},
        )
        assert not check or done.returncode == 0, f"{' '.join(words)}: {done.stderr or done.stdout}"
        return done

    def kubectl(self, *words: str, given: str | None = None, check: bool = True) -> str:
        return self.run("kubectl", *words, given=given, check=check).stdout

    def json(self, *words: str) -> Any:
        return json.loads(self.kubectl("get", *words, "--output=json"))

    def script(self, *words: str) -> str:
        """Run cluster.sh on the test cluster."""
        return self.run(str(SCRIPT), *words).stdout

    def database_nodes(self) -> set[str]:
        items = self.json("nodes", f"--selector={DATABASE_NODES}")["items"]
        return {node["metadata"]["name"] for node in items}

    def client_nodes(self) -> list[str]:
        items = self.json("nodes", f"--selector={DATABASE_NODES.replace('=', '!=')},type!=kwok")
        return sorted(node["metadata"]["name"] for node in items["items"])

    def renewed(self, node: str) -> str:
        """Return the time when a node last renewed its lease."""
        words = ("get", "lease", node, "--namespace=kube-node-lease")
        return self.kubectl(*words, "--output=jsonpath={.spec.renewTime}")

    def renewed_since(self, node: str, before: str) -> bool:
        return self.renewed(node) != before

    def server(self) -> dict[str, Any]:
        """Return the API server's address and its certificate authority."""
        view = json.loads(
            self.kubectl("config", "view", "--raw", "--minify", "--flatten", "--output=json")
        )
        found: dict[str, Any] = view["clusters"][0]["cluster"]
        return found

    def kubeconfig(self, path: Path, token: str, *, context: str = "here") -> Path:
        """Write a kubeconfig with that token."""
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": context, "cluster": self.server()}],
            "users": [{"name": context, "user": {"token": token}}],
            "contexts": [{"name": context, "context": {"cluster": context, "user": context}}],
            "current-context": context,
        }
        path.write_text(yaml.safe_dump(content))
        path.chmod(0o600)
        return path


@dataclass(frozen=True)
class Namespace:
    """A namespace, and the benchmark's objects in it."""

    kube: Kubernetes
    name: str
    password: str = ""
    """Of its PostgreSQL, if it has one."""
    kubeconfig: Path | None = None
    """Of the account with the documented permissions, which the command line uses."""

    def kubectl(self, *words: str, given: str | None = None, check: bool = True) -> str:
        return self.kube.kubectl(f"--namespace={self.name}", *words, given=given, check=check)

    def json(self, *words: str) -> Any:
        return json.loads(self.kubectl("get", *words, "--output=json"))

    def pods(self, component: str = "") -> list[Any]:
        selector = OURS + (f",app.kubernetes.io/component={component}" if component else "")
        found: list[Any] = self.json("pods", f"--selector={selector}")["items"]
        return found

    def pod(self, component: str) -> Any:
        (found,) = self.pods(component)
        return found

    def log(self, pod: str) -> str:
        return self.kubectl("logs", pod, check=False)

    def leftovers(self) -> list[str]:
        """Return the names of all objects that the benchmark or helm left."""
        ours = self.kubectl("get", "all,cm,secret,jobs", f"--selector={OURS}", "--output=name")
        helms = self.kubectl("get", "secret", "--selector=owner=helm", "--output=name")
        return sorted({*ours.split(), *helms.split()})

    def remove_leftovers(self) -> None:
        kinds = "jobs,pods,services,configmaps,secrets"
        for selector in (OURS, "owner=helm"):
            force = ("--now", "--ignore-not-found")
            self.kubectl("delete", kinds, f"--selector={selector}", *force, check=False)

    def sql(self, statement: str, database: str = "app") -> str:
        command = ("psql", "-U", "app", "-d", database, "-Atc", statement)
        return self.kubectl("exec", "postgres-0", "--", *command).strip()

    def secret(self, name: str, **content: str) -> None:
        manifest = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name},
            "stringData": content,
        }
        self.kubectl("apply", "--filename=-", given=json.dumps(manifest))

    def account(self, name: str, *, permissions: bool) -> str:
        """Create a ServiceAccount, with the documented permissions or none; return its token."""
        self.kubectl("create", "serviceaccount", name)
        if permissions:
            self.kube.kubectl("apply", "--filename=-", given=manifests(self.name, name))
        return self.kubectl("create", "token", name, "--duration=12h").strip()

    def install_postgres(self) -> None:
        """Install PostgreSQL from its manifest, with the image of this cluster."""
        self.secret("postgres-app", username="app", dbname="app", password=self.password)
        image = self.kube.postgres_image
        manifest = POSTGRESQL.manifest_with(image) if image else POSTGRESQL.manifest_text()
        self.kubectl("apply", "--filename=-", given=manifest)
        self.kubectl("rollout", "status", "statefulset/postgres", "--timeout=120s")


@contextlib.contextmanager
def new_namespace(kube: Kubernetes, *, postgres: bool = False) -> Iterator[Namespace]:
    """Create a namespace that refuses privileged pods; remove it with its content at the end."""
    password = secrets.token_hex(12) if postgres else ""
    name = f"bench-e2e-{secrets.token_hex(3)}"
    metadata = {"name": name, "labels": {RESTRICTED: "restricted"}}
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    kube.kubectl("create", "--filename=-", given=json.dumps(manifest))
    folder = tempfile.TemporaryDirectory()
    kubeconfig = Path(folder.name) / "kubeconfig"
    made = Namespace(kube, name, password, kubeconfig)
    try:
        waited(
            "the namespace has its ServiceAccount",
            lambda: made.kubectl("get", "serviceaccount", "default", check=False),
        )
        kube.kubeconfig(kubeconfig, made.account("bench", permissions=True))
        if postgres:
            made.install_postgres()
        yield made
    finally:
        folder.cleanup()
        for words in outside(name):
            kube.kubectl("delete", *words, "--ignore-not-found")
        # Only a volume, which outlives a stopped cluster, makes waiting necessary.
        kube.kubectl("delete", "namespace", name, f"--wait={str(postgres).lower()}")


@dataclass
class ClusterLine(CommandLine):
    """The command line on a namespace."""

    namespace: Namespace = field(kw_only=True)
    values: Mapping[str, Any] = field(default_factory=lambda: SMALL)
    words_before: Sequence[str] = ()
    """A command that starts the command line."""
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(
        self,
        command: str,
        *arguments: str,
        stdin: Any = subprocess.DEVNULL,
        stdout: Any = subprocess.PIPE,
        stderr: Any = subprocess.PIPE,
    ) -> subprocess.Popen[str]:
        own = [f"--config={self.config}", f"--namespace={self.namespace.name}"]
        if command in ("insert", "query", "verify", "check"):
            file = self.folder / "values.yaml"
            file.write_text(yaml.safe_dump(dict(self.values)))
            own.append(f"--values={file}")
            image = self.namespace.kube.image
            own += [f"--image={image}"] if image else []
        if command in ("insert", "query", "verify"):
            own.append(f"--output={self.output}")
        given = {word.partition("=")[0] for word in arguments}
        given |= {"--namespace"} if "-n" in given else set()
        own = [word for word in own if word.partition("=")[0] not in given]
        self.temporary.mkdir(exist_ok=True)
        environment = {
            **os.environ,
            **self.namespace.kube.environment,
            "KUBECONFIG": str(self.namespace.kubeconfig),
            "TMPDIR": str(self.temporary),
            **self.environment,
        }
        run = [*self.words_before, sys.executable, str(self.program)]
        process = subprocess.Popen(
            [*run, command, *own, *arguments],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            text=True,
            cwd=self.folder,
            env={name: value for name, value in environment.items() if value},
        )
        self.started.append(process)
        return process

    def run(self, command: str, *arguments: str, within_s: float = 90) -> Finished:
        return self.finish(self.start(command, *arguments), within_s)

    def insert(self, *arguments: str, within_s: float = 90) -> Finished:
        return self.run("insert", *arguments, within_s=within_s)

    def inserting(self, *arguments: str, workers: int = 1) -> subprocess.Popen[str]:
        """Start a long insert and return when its workers write."""
        given = {word.partition("=")[0] for word in arguments}
        long = [word for word in LONG if word.partition("=")[0] not in given]
        process = self.start(
            "insert", "--target=postgresql", f"--workers={workers}", "--runs=1", *long, *arguments
        )

        def writes() -> bool:
            assert process.poll() is None, process.communicate()
            pods = self.namespace.pods("collector")
            return any(
                '"phase":"insert"' in self.namespace.log(p["metadata"]["name"]) for p in pods
            )

        waited("the workers write", writes, 60)
        return process

    def result(self) -> Any:
        """Return the only result file's content."""
        (found,) = self.results()
        return found

    def write_config(self, targets: Mapping[str, Any]) -> None:
        self.config = self.folder / "config.yaml"
        self.config.write_text(yaml.safe_dump({"targets": dict(targets)}))

    def other(self, name: str, namespace: Namespace | None = None) -> "ClusterLine":
        """Return a second command line, with a folder of its own."""
        folder = self.folder / name
        folder.mkdir()
        return dataclasses.replace(
            self, folder=folder, namespace=namespace or self.namespace, environment={}
        )

    def end(self) -> None:
        """Kill processes that a failed test left."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def leftovers(self) -> list[str]:
        files = [str(path) for path in self.temporary.rglob("*")]
        return files + [str(path) for path in self.output.glob(".*")]


NULL = {"null": {"module": "null", "runner": "kubernetes"}}
"""A target that needs no database."""


def interrupted(process: subprocess.Popen[str]) -> None:
    """Send the signal of Ctrl-C."""
    process.send_signal(signal.SIGINT)


def kill_container(pod: Any) -> int:
    """Kill a container's program from the machine; return how many processes it had."""
    processes = _pythons_of(pod)
    for process in processes:
        process.kill()
    return len(processes)


def kill_process(pod: Any) -> int:
    """Kill the process of a collector, and not the one that watches over it; return how many."""
    processes = sorted(_pythons_of(pod), key=lambda process: process.create_time())
    for process in processes[1:]:
        process.kill()
    return len(processes[1:])


def _pythons_of(pod: Any) -> list[psutil.Process]:
    groups = Path("/sys/fs/cgroup/pids/bench-cluster")
    # The kubelet writes a pod's uid with dashes; some drivers of control groups, with underscores.
    uid = pod["metadata"]["uid"]
    found = []
    for file in groups.rglob("cgroup.procs"):
        if uid not in str(file) and uid.replace("-", "_") not in str(file):
            continue
        for pid in map(int, file.read_text().split()):
            process = psutil.Process(pid)
            if process.name().startswith(("python", "iotbench")):
                found.append(process)
    return found


# --- which cluster ------------------------------------------------------------------------------


def uses_test_cluster() -> bool:
    """Return whether KUBECONFIG names no other cluster than the test cluster."""
    given = os.environ.get("KUBECONFIG", "")
    return not given or Path(given).is_relative_to(STATE)


@contextlib.contextmanager
def cluster() -> Iterator[Kubernetes]:
    """The cluster that KUBECONFIG names, or else the test cluster."""
    if not uses_test_cluster():
        yield _foreign(os.environ["KUBECONFIG"])
        return
    was_up = STATE.is_dir()
    if not was_up:
        report("e2e: starting the test cluster; the first build takes some minutes")
        script("build")
    try:
        script("up")
        report(f"e2e: the test cluster is up{', and was before' if was_up else ''}")
        environment = _environment()
        yield _loaded(Kubernetes(environment, own=True))
    finally:
        if not was_up:
            report("e2e: stopping the test cluster")
            script("down")


def _foreign(kubeconfig: str) -> Kubernetes:
    image = os.environ.get("E2E_IMAGE")
    if not image:
        pytest.fail(
            f"KUBECONFIG names a cluster of your own ({kubeconfig}): set E2E_IMAGE to the image of"
            " this checkout (`make image`), where its nodes find it; or unset KUBECONFIG, for the"
            " test cluster"
        )
    missing = [program for program in ("kubectl", "helm") if shutil.which(program) is None]
    if missing:
        pytest.fail(f"these tests need {' and '.join(missing)} on the PATH")
    report(f"e2e: using the cluster of {kubeconfig}")
    postgres = os.environ.get("E2E_POSTGRES_IMAGE", "")
    return Kubernetes({}, own=False, image=image, postgres_image=postgres)


def _environment() -> dict[str, str]:
    """Return what `cluster.sh env` sets."""
    line = f'eval "$({SCRIPT} env)"; printf "%s\\n" "$PATH" "$KUBECONFIG" "$KUBECACHEDIR"'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    return dict(zip(("PATH", "KUBECONFIG", "KUBECACHEDIR"), done.stdout.splitlines(), strict=True))


def _loaded(kube: Kubernetes) -> Kubernetes:
    """Build the images and load them, unless the environment names others."""
    image, postgres = os.environ.get("E2E_IMAGE"), os.environ.get("E2E_POSTGRES_IMAGE")
    archives = [] if image else [str(app_image())]
    archives += [] if postgres else [str(POSTGRESQL.build())]
    if LOADED not in os.environ:
        report(f"e2e: loading {len(archives)} images")
        script("load", *archives)
    return dataclasses.replace(kube, image=image or "", postgres_image=postgres or POSTGRESQL.image)
