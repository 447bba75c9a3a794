"""The Kubernetes runner: a Helm release per sweep; a collector pod and worker pods per run."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from secrets import token_urlsafe
from typing import Self

from iotbench.config.options.choice import ClusterOptions
from iotbench.execution.kubernetes.api import Cluster
from iotbench.execution.kubernetes.helm import Helm
from iotbench.execution.kubernetes.kubelet import may_be_inside
from iotbench.execution.kubernetes.lifetime import KEPT_S, UNATTENDED_S, extend_lifetime
from iotbench.execution.kubernetes.pods import PodRun
from iotbench.execution.kubernetes.preflight import PodGroup, expect, look
from iotbench.execution.kubernetes.release import Release, remove, suggest_cleanup
from iotbench.execution.kubernetes.watcher import Watcher
from iotbench.execution.kubernetes.wire import PATIENCE_S, Exists, NotFound, Unreachable
from iotbench.machine.interrupts import Interrupts
from iotbench.machine.streams import say
from simulator.clock import OwnClock
from simulator.errors import BenchError, Interrupted
from simulator.protocol.events import Event, Outcome, PhaseEvent
from simulator.protocol.spec import RunSpec

APPEAR_S = 900.0
"""Time for pods to start, during which nodes may have to pull the image."""
_JOB_S = 0.03
"""Polling interval for a Job that helm is creating."""


class KubernetesRunner:
    """Runs a sweep in pods; the release exists from the first run to the end of the context."""

    def __init__(  # noqa: PLR0913
        self,
        release: Release,
        cluster: Cluster,
        options: ClusterOptions,
        interrupts: Interrupts,
        lock: AbstractContextManager[object],
        *,
        pods: Sequence[PodGroup],
    ) -> None:
        """`pods`: the pods of the largest run."""
        self._release = release
        self._lock = lock
        self._pods = pods
        self.cluster_warnings: list[str] = []
        """Warnings about the cluster, found before the first run."""
        self._cluster = cluster
        self._patient = cluster.with_patience(PATIENCE_S)
        """Cluster for requests that must succeed; repeats requests while the server does not
        answer."""
        self._helm = Helm(options, cluster.namespace)
        self._keep = options.keep
        self._interrupts = interrupts
        self._watcher = Watcher(cluster, release.selector, release.name)
        self._run: PodRun | None = None
        self._version = ""

    def __enter__(self) -> Self:
        self._version = self._cluster.version()
        namespace = self._cluster.namespace
        inside = may_be_inside(self._release.target, namespace)
        self.cluster_warnings = expect(namespace, look(self._cluster), self._pods, inside=inside)
        self._lock.__enter__()
        try:
            self._watcher.start()
        except BaseException:  # also Ctrl-C: the lock is given back
            self._lock.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._watcher.close()
        if self._keep:
            self._lock.__exit__(None, None, None)
            self._print_kept()
            return
        try:
            cut_off = self._run is not None and self._run.cut_off
            cluster = self._cluster if cut_off else self._patient
            cluster.version()  # helm would wait for minutes
            remove(cluster, self._helm, self._release.sweep)  # and the lock
        except (Interrupted, BenchError):
            command = suggest_cleanup(self._cluster, self._release.sweep)
            say(
                f"not everything was removed; remove the rest with: {command}\n"
                f"Kubernetes itself ends the run within {UNATTENDED_S // 60} min, and deletes its"
                f" pods and credentials {UNATTENDED_S // 60} min later",
                err=True,
            )
            raise

    def _print_kept(self) -> None:
        kubectl = " ".join(["kubectl", *self._cluster.flags, "-n", self._cluster.namespace])
        selector = self._release.selector
        say(
            f"kept: release {self._release.name} in namespace {self._cluster.namespace};"
            f" Kubernetes deletes its pods and credentials after {KEPT_S // 3600} h\n"
            f"  look:   {kubectl} get all,cm,secret -l {selector}\n"
            f"          {kubectl} logs -l {selector} --prefix --tail=-1\n"
            f"  remove: {suggest_cleanup(self._cluster, self._release.sweep)}",
            err=True,
        )

    def run(self, spec: RunSpec) -> Iterator[Event]:
        """Start a run and yield its events; the last event is always an Outcome."""
        spec = spec.model_copy(update={"appear_s": APPEAR_S})
        jobs = self._release.jobs(spec)
        yield PhaseEvent(phase="start", detail="installing the release")
        failed = self._install(spec, jobs[0])
        with extend_lifetime(self._cluster, jobs), OwnClock() as clock:
            self._run = run = PodRun(spec, jobs, self._cluster, self._watcher, clock)
            try:
                yield from (failed,) if failed else run.events(self._interrupts)
            finally:
                self._watcher.forget_logs()
                if not (self._keep or run.cut_off):
                    with suppress(BenchError):  # the end of the sweep reports what it cannot remove
                        name = self._release.credentials_name(spec.run_id)
                        self._cluster.delete("secrets", name)

    def _install(self, spec: RunSpec, job: str) -> Outcome | None:
        """Apply the chart, and create the Secret of the run while helm is still busy.

        If this fails after pods may have started, return an outcome.
        """
        self._patient.version()
        labels, values = self._release.labels(spec.run_id), self._release.values(spec)
        applied = threading.Event()
        failure: BaseException | None = None
        with ThreadPoolExecutor(1) as threads:
            secret = threads.submit(self._create_secret, spec.run_id, labels, job, applied)
            try:
                self._helm.apply(self._release.name, labels, values, self._release.propose(spec))
            except Interrupted:
                raise
            except BenchError as error:
                failure = error
            finally:
                applied.set()
        refusal = secret.exception()
        failure = failure or refusal
        if failure is None:
            return None
        if refusal is None or isinstance(refusal, Unreachable):  # it exists, or may exist
            return Outcome(status="failed", cause=str(failure), exit_code=1, touched=True)
        raise failure

    def _create_secret(
        self, run_id: str, labels: Mapping[str, str], job: str, applied: threading.Event
    ) -> None:
        """Create the Secret as soon as the Job that owns it exists.

        The pods retry with growing pauses until the Secret exists, so a late Secret delays them
        further.
        """
        name = self._release.credentials_name(run_id)
        content = self._release.credentials(token_urlsafe(32))
        while True:
            last_try = applied.is_set()
            try:
                return self._patient.create_secret(name, labels, content, job)
            except Exists:  # the answer to an earlier request was lost
                return None
            except NotFound:
                if last_try:
                    raise
            applied.wait(_JOB_S)

    def facts(self) -> dict[str, str]:
        """Return the cluster's version, the namespace and the image."""
        facts = {"kubernetes": self._version, "namespace": self._cluster.namespace}
        return {**facts, "image": self._run.image()} if self._run else facts

    def logs(self) -> dict[str, str]:
        """Return the last lines of the collector and of pods that failed."""
        return self._run.logs() if self._run else {}
