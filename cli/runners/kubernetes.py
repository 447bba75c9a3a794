"""The Kubernetes runner: a Helm release for a sweep, one collector and N worker pods for a run."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from secrets import token_urlsafe
from typing import Self

from cli.cluster.api import Cluster, Object
from cli.cluster.diagnosis import (
    Symptom,
    has_run,
    is_collector,
    name_of,
    phase_of,
    symptoms,
    waiting_for,
)
from cli.cluster.helm import Helm
from cli.cluster.options import ClusterOptions
from cli.cluster.release import Release, is_run_of
from cli.cluster.removal import remove
from cli.cluster.watcher import Happened, Line, LogEnded, PodChanged, PodGone, Trouble, Watcher
from cli.host.interrupts import Interrupts
from cli.host.program import program
from cli.host.streams import say
from cli.runners.stream import TAIL_LINES, EventStream
from simulator.errors import Interrupted
from simulator.protocol.messages import SILENCE_S, Event, Outcome, PhaseEvent
from simulator.protocol.spec import RunSpec

_POLL_S = 0.1
_ITS_OWN_WORDS_S = 3.0
"""Grace period for the collector to report a failure that the cluster already shows."""
_TIDY_S = 12.0
_UNREACHABLE_S = 60.0
_LOGS = 4
"""Number of failed pods whose last log lines are kept."""
APPEAR_S = 900.0
"""Nodes may have to pull the image first."""


class KubernetesRunner:
    """A context; the release exists from the first run to the end of the sweep."""

    def __init__(
        self,
        release: Release,
        cluster: Cluster,
        options: ClusterOptions,
        interrupts: Interrupts,
        lock: AbstractContextManager[object],
    ) -> None:
        self._release = release
        self._lock = lock
        self._cluster = cluster
        self._helm = Helm(options, cluster.namespace)
        self._keep = options.keep
        self._interrupts = interrupts
        self._watcher = Watcher(cluster, release.selector, release.name)
        self._run: _Run | None = None
        self._version = ""

    def __enter__(self) -> Self:
        self._version = self._cluster.version()
        self._helm.version()
        self._lock.__enter__()
        try:
            self._watcher.start()
        except BaseException:
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
            remove(self._cluster, self._helm, self._release.sweep)  # and the lock
        except Interrupted:
            say(f"not everything was removed; remove the rest with: {self._cleanup()}", err=True)
            raise

    def _cleanup(self) -> str:
        namespace, sweep = self._cluster.namespace, self._release.sweep
        return f"{program()} cleanup -n {namespace} --run {sweep}"

    def _print_kept(self) -> None:
        kubectl = " ".join(["kubectl", *self._cluster.flags, "-n", self._cluster.namespace])
        selector = self._release.selector
        say(
            f"kept: release {self._release.name} in namespace {self._cluster.namespace}\n"
            f"  look:   {kubectl} get all,cm,secret -l {selector}\n"
            f"          {kubectl} logs -l {selector} --prefix --tail=-1\n"
            f"  remove: {self._cleanup()}",
            err=True,
        )

    def run(self, spec: RunSpec) -> Iterator[Event]:
        """Start the run and yield its events; the last is always an Outcome."""
        spec = spec.model_copy(update={"appear_s": APPEAR_S})
        self._run = run = _Run(spec, self._cluster, self._watcher)
        yield PhaseEvent(phase="start", detail="installing the release")
        name = self._release.credentials_name(spec.run_id)
        labels = self._release.labels(spec.run_id)
        secret = self._release.credentials(token_urlsafe(32))
        self._cluster.create_secret(name, labels, secret)
        try:
            self._helm.apply(self._release.name, labels, self._release.values(spec))
            yield from run.events(self._interrupts)
        finally:
            self._watcher.forget_logs()
            if not self._keep:
                self._cluster.delete("secrets", name)

    def facts(self) -> dict[str, str]:
        """Return the cluster's version, the namespace and the image."""
        facts = {"kubernetes": self._version, "namespace": self._cluster.namespace}
        return {**facts, "image": self._run.image()} if self._run else facts

    def logs(self) -> dict[str, str]:
        """Return the last lines of the collector and of pods that failed."""
        return self._run.logs() if self._run else {}


class _Run:
    """One run: its pods, the collector's events, and failures that the cluster shows."""

    def __init__(self, spec: RunSpec, cluster: Cluster, watcher: Watcher) -> None:
        self._spec = spec
        self._cluster = cluster
        self._watcher = watcher
        self._stream = EventStream()
        self._pods: dict[str, Object] = {}
        self._happened: list[Object] = []
        self._first_seen: dict[str, float] = {}
        self._phase = "start"
        self._reported = ""
        self._heard_at = time.monotonic()
        self._reached_at = time.monotonic()
        self._trouble = ""
        self._cause = ""
        self._seemed_silent = False
        """The cause is silence of the collector; an outcome that it still writes refutes it."""
        self._deadline: float | None = None
        """When the run must be over, after a failure or an interruption."""
        self._asked_to_stop = False
        self._log_ended = False
        self._kept_logs: dict[str, str] = {}

    # --- the run -------------------------------------------------------------------------------

    def events(self, interrupts: Interrupts) -> Iterator[Event]:
        """Yield the collector's events, and what pods wait for, up to the outcome."""
        while True:
            event = self._next() or self._wait()
            if isinstance(event, Outcome):
                yield self._judged(event, interrupts)
                return
            if isinstance(event, PhaseEvent):
                self._phase = event.phase
                event = self._with_waits(event)
            if event:
                yield event
            if interrupts.requested:
                self._stop_collector()
            elif not self._cause:
                self._fail_of(self._diagnosis())
            if self._deadline and time.monotonic() > self._deadline:
                if not self._asked_to_stop and self._collector_runs():
                    self._stop_collector()
                    continue
                yield self._without_collector(interrupts)
                return

    def _wait(self) -> PhaseEvent | None:
        """Return what pods wait for, if that has changed."""
        waits = self._waiting()
        if not waits or waits == self._reported:
            return None
        self._reported = waits
        return PhaseEvent(phase=self._phase)

    def _waiting(self) -> str:
        return waiting_for(list(self._pods.values()), len(self._spec.workers))

    def _with_waits(self, event: PhaseEvent) -> PhaseEvent:
        """Return the phase event with what pods wait for."""
        words = filter(None, (event.detail, self._waiting()))
        return event.model_copy(update={"detail": "; ".join(words)})

    def _fail_of(self, cause: str) -> None:
        """Give the collector a moment to report the failure and the progress itself."""
        if cause:
            self._cause = cause
            self._deadline = time.monotonic() + _ITS_OWN_WORDS_S

    def _next(self) -> Event | None:
        heard = self._watcher.next(_POLL_S)
        if heard is not None and not isinstance(heard, Trouble):
            self._reached_at, self._trouble = time.monotonic(), ""
        match heard:
            case PodChanged(pod=pod) if self._is_ours(pod):
                self._pods[pod["metadata"]["name"]] = pod
                if is_collector(pod) and has_run(pod):
                    self._watcher.follow_log(pod["metadata"]["name"])
            case PodGone(pod=pod) if self._is_ours(pod):
                pod["metadata"].setdefault("deletionTimestamp", "gone")
                self._pods[pod["metadata"]["name"]] = pod
            case Happened(event=event):
                self._happened.append(event)
            case Line(pod=name, text=text) if name in self._pods:
                self._heard_at = time.monotonic()
                self._log_ended = False
                return self._stream.take(text)
            case LogEnded(pod=name) if name in self._pods:
                self._log_ended = True
            case Trouble(cause=cause):
                self._trouble = cause
        return None

    def _is_ours(self, pod: Object) -> bool:
        return is_run_of(pod["metadata"].get("labels", {}), self._spec.run_id)

    # --- what is wrong -------------------------------------------------------------------------

    def _diagnosis(self) -> str:
        now = time.monotonic()
        due = self._phase in ("start", "init", "barrier")
        found = list(symptoms(self._pods.values(), self._happened, workers_are_due=due))
        present = {symptom.key for symptom in found}
        self._first_seen = {k: t for k, t in self._first_seen.items() if k in present}
        for symptom in found:
            since = self._first_seen.setdefault(symptom.key, now)
            if now - since >= symptom.patience_s:
                return self._with_log(symptom)
        return self._silence(now)

    def _with_log(self, symptom: Symptom) -> str:
        if not symptom.pod:
            return symptom.cause
        tail = self._cluster.log_tail(symptom.pod, TAIL_LINES)
        last = tail.splitlines()[-1:]
        return f"{symptom.cause}: {last[0]}" if last else symptom.cause

    def _silence(self, now: float) -> str:
        """Return the failure of a silent collector or cluster, if there is one."""
        if self._trouble and now - self._reached_at > _UNREACHABLE_S:
            return f"no answer from the cluster for {_UNREACHABLE_S:.0f} s: {self._trouble}"
        collector = self._collector()
        if collector is None or phase_of(collector) == "Pending":
            self._heard_at = now
            return ""
        silent_s = now - self._heard_at
        if silent_s > SILENCE_S:
            lost = self._lost_node(collector)
            if lost or silent_s > _UNREACHABLE_S:
                self._seemed_silent = True
                return f"no sign of life from the collector for {silent_s:.0f} s{lost}"
        if self._log_ended and phase_of(collector) in ("Succeeded", "Failed") and silent_s > 2:
            return "the collector ended before the run was over"
        return ""

    def _lost_node(self, pod: Object) -> str:
        node = pod["spec"].get("nodeName", "")
        trouble = self._cluster.node_trouble(node) if node else ""
        return f": its node {node} {trouble}" if trouble else ""

    # --- the end -------------------------------------------------------------------------------

    def _collector(self) -> Object | None:
        return next((pod for pod in self._pods.values() if is_collector(pod)), None)

    def image(self) -> str:
        """Return the collector's image: the requested name, and what the node runs."""
        pod = self._collector()
        if pod is None:
            return ""
        name = str(pod["spec"]["containers"][0]["image"])
        statuses = pod.get("status", {}).get("containerStatuses", ())
        found = next((str(status.get("imageID", "")) for status in statuses), "")
        return f"{name} ({found})" if found and found != name else name

    def _collector_runs(self) -> bool:
        pod = self._collector()
        return pod is not None and phase_of(pod) == "Running" and not self._log_ended

    def _stop_collector(self) -> None:
        """Delete the collector's pod; it then reports the progress and ends."""
        if self._asked_to_stop:
            return
        self._asked_to_stop = True
        self._deadline = time.monotonic() + _TIDY_S
        pod = self._collector()
        if pod:
            self._cluster.delete("pods", pod["metadata"]["name"])
        if not self._collector_runs():
            self._deadline = time.monotonic()

    def _judged(self, outcome: Outcome, interrupts: Interrupts) -> Outcome:
        """Add what only the cluster knows: why the collector was stopped, a worker's node."""
        if outcome.status == "interrupted" and not interrupts.requested:
            cause = self._cause or (
                "the collector was stopped from outside: its pod was deleted or evicted"
            )
            outcome = outcome.model_copy(
                update={"status": "failed", "cause": cause, "exit_code": 1}
            )
        elif outcome.status == "failed":
            outcome = outcome.model_copy(update={"cause": self._explained(outcome.cause)})
        if outcome.status == "failed":
            self._keep_logs()
        return outcome

    def _explained(self, cause: str) -> str:
        """Return the collector's cause with what the cluster shows about the worker."""
        if self._cause and self._cause not in cause and not self._seemed_silent:
            return f"{self._cause} (the collector: {cause})"
        for pod in self._pods.values():
            if not is_collector(pod) and cause.startswith(f"{name_of(pod)} has been silent"):
                return cause + (self._lost_node(pod) or self._where(pod))
        return cause

    def _where(self, pod: Object) -> str:
        return f" (pod {pod['metadata']['name']} on {pod['spec'].get('nodeName', 'no node')})"

    def _without_collector(self, interrupts: Interrupts) -> Outcome:
        self._keep_logs()
        if interrupts.requested:
            cause = "stopped by the user"
            return Outcome(status="interrupted", cause=cause, exit_code=130, touched=True)
        touched = self._phase != "start"
        return Outcome(status="failed", cause=self._cause, exit_code=1, touched=touched)

    def _keep_logs(self) -> None:
        """Read the logs now, before the pods are gone."""
        failed = [pod for pod in self._pods.values() if phase_of(pod) == "Failed"]
        for pod in failed[:_LOGS]:
            tail = self._cluster.log_tail(pod["metadata"]["name"], TAIL_LINES)
            if tail and not is_collector(pod):
                self._kept_logs[name_of(pod).replace(" ", "-")] = tail
        if self._stream.log:
            self._kept_logs["collector"] = "\n".join(self._stream.log)

    def logs(self) -> dict[str, str]:
        return self._kept_logs
