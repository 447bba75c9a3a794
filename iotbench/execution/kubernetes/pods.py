"""Follows the pods of one run: the collector's events, and failures that the cluster shows."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from iotbench.execution.kubernetes.api import WORKER, Cluster, Object
from iotbench.execution.kubernetes.diagnosis import (
    Symptom,
    has_run,
    image_of,
    index_of,
    is_collector,
    is_noted,
    name_of,
    phase_of,
    symptoms,
    waiting_for,
)
from iotbench.execution.kubernetes.lifetime import explain_unattended_end
from iotbench.execution.kubernetes.nodes import SilentNodes, describe_node, describe_place
from iotbench.execution.kubernetes.release import is_run_of
from iotbench.execution.kubernetes.watcher import (
    Happened,
    Heard,
    LogEnded,
    PodChanged,
    PodGone,
    SourceReached,
    Trouble,
    Watcher,
    WrittenLine,
)
from iotbench.execution.kubernetes.wire import PATIENCE_S
from iotbench.execution.stream import EventStream, reports_in, words_of
from iotbench.machine.interrupts import STOPPED, Interrupts
from simulator.errors import BenchError
from simulator.protocol.events import Event, Outcome, PhaseEvent
from simulator.protocol.messages import (
    NO_COLLECTOR,
    TERMINATED,
    TIMEOUT_GRACE_S,
    WATCH,
    WorkerReport,
)
from simulator.protocol.spec import RunSpec

_POLL_S = 0.1
_REPORT_S = 3.0
"""Grace period for the collector to report a failure that the cluster already shows."""
_HEARD_S = 6.0
"""Maximum silence of a collector, which writes at least every 5 s."""
_TIDY_S = 12.0
_NODE_S = 15.0
"""Time to wait for a node to renew its lease or to miss two renewals."""
_STARTING_S = 5.0
"""Interval of checks, and of reports, of pods that have not started."""
_REASON_S = 8.0
"""Time for the cluster to show why it stopped a pod; a queue reports it after the pod's end."""
_LAST_REPORTS_S = 10.0
"""Time for workers that lost their collector to give up and print their reports."""
_BEFORE_WORK = ("start", "init", WATCH, "barrier")
"""Phases in which the run needs every worker."""
_AT_ONCE = 1_000
"""Maximum number of changes that are processed before all pods are checked."""
_SILENT = "no sign of life from the collector for {:.0f} s"
_LOGS = 4
"""Maximum number of failed pods with log lines in the result."""


class PodRun:
    """The pods of one run."""

    def __init__(
        self,
        spec: RunSpec,
        jobs: Sequence[str],
        cluster: Cluster,
        watcher: Watcher,
        clock: Callable[[], float],
    ) -> None:
        """Prepare to follow the pods of a run.

        `jobs` are the names of the run's Jobs, the collector's Job first; `clock` makes no pauses.
        """
        self._spec = spec
        self._jobs = jobs
        self._cluster = cluster
        self._watcher = watcher
        self._clock = clock
        self._nodes = SilentNodes(cluster, clock)
        self._stream = EventStream()
        self._pods: dict[str, Object] = {}
        self._happened: dict[tuple[str, str], Object] = {}
        """(object, reason) -> event; the latest event is last."""
        self._first_seen: dict[str, float] = {}
        self._phase = "start"
        self._reported = ""
        self._reported_at = 0.0
        self._last_lines: dict[str, str] = {}
        """Symptom -> last log lines of an ended pod."""
        self._began = self._heard_at = clock()
        self._collector_began: float | None = None
        self._read_until = ""
        self._starts_seen_at = self._began
        self._troubles: dict[str, tuple[float, str]] = {}
        """Source that cannot be read -> (time since which it cannot be read, reason)."""
        self.cut_off = False
        """True if the API server does not answer."""
        self._node_lost = False
        """True if the collector's node is lost."""
        self._cause = ""
        self._guessed = False
        """True if the cause is a guess, so that a cause from the collector takes precedence."""
        self._deadline: float | None = None
        """Time at which the run must be over, after a failure or an interruption."""
        self._asked_to_stop = False
        self._log_ended = False
        self._kept_logs: dict[str, str] = {}

    # --- the run -------------------------------------------------------------------------------

    def events(self, interrupts: Interrupts) -> Iterator[Event]:
        """Yield the collector's events, and descriptions of waiting pods, up to the outcome."""
        while True:
            event = self._next() or self._describe_waiting()
            if isinstance(event, Outcome):
                yield self._judge(event, interrupts)
                return
            if isinstance(event, PhaseEvent):
                self._phase = event.phase
                words = filter(None, (event.detail, self._explain_waits()))
                event = event.model_copy(update={"detail": "; ".join(words)})
            if event:
                yield event
            if interrupts.requested:
                self._stop_collector()
            elif not self._cause and (cause := self._diagnose()):
                self._cause = cause  # the collector may soon report it itself, with the progress
                self._deadline = self._clock() + (0 if self.cut_off else _REPORT_S)
            if self._deadline is not None and self._clock() > self._deadline:
                lost = self.cut_off or self._node_lost
                if self._collector_runs() and not (self._asked_to_stop or lost):
                    self._stop_collector()
                    continue
                last = None if lost else self._read_outcome()
                if last:
                    yield self._judge(last, interrupts)
                else:
                    yield self._conclude_alone(interrupts)
                return

    def _describe_waiting(self) -> PhaseEvent | None:
        """Return a phase event if the reason why pods wait has changed, and again after a while."""
        waits, now = self._explain_waits(), self._clock()
        if not waits or (waits == self._reported and now - self._reported_at < _STARTING_S):
            return None
        self._reported, self._reported_at = waits, now
        return PhaseEvent(phase=self._phase)

    def _explain_waits(self) -> str:
        happened = self._happened.values()
        return waiting_for(list(self._pods.values()), happened, len(self._spec.workers))

    def _next(self) -> Event | None:
        """Process changes up to the next event of the collector; return the event, if any."""
        heard = self._watcher.next(_POLL_S)
        for _ in range(_AT_ONCE):
            event = self._take(heard)
            if event or heard is None:
                return event
            heard = self._watcher.next(0)
        return self._take(heard)

    def _take(self, heard: Heard | None) -> Event | None:
        match heard:
            case PodChanged(pod=pod) if self._is_ours(pod):
                self._pods[pod["metadata"]["name"]] = pod
                if is_collector(pod) and has_run(pod):
                    self._watcher.follow_log(pod["metadata"]["name"])
            case PodGone(pod=pod) if self._is_ours(pod):
                pod["metadata"].setdefault("deletionTimestamp", "gone")
                self._pods[pod["metadata"]["name"]] = pod
            case Happened(event=event) if is_noted(event):
                key = event["involvedObject"]["name"], event["reason"]
                self._happened.pop(key, None)
                self._happened[key] = event
            case WrittenLine(pod=name, text=text, stamp=stamp) if name in self._pods:
                self._heard_at = self._clock()
                self._collector_began = self._collector_began or self._heard_at
                self._log_ended = False
                self._read_until = stamp
                self._troubles.pop("log", None)
                return self._stream.take(text)
            case LogEnded(pod=name) if name in self._pods:
                self._log_ended = True
            case Trouble(source=source, cause=cause):
                self._troubles.setdefault(source, (self._clock(), cause))
            case SourceReached(source=source):
                if self._troubles.pop(source, None) and source == "server":
                    self._heard_at = self._clock()  # the collector could not be heard
        return None

    def _watch_for(self, limit_s: float, interrupts: Interrupts) -> Iterator[float]:
        """Yield the time after each change of the cluster, up to `limit_s` or an interruption."""
        until = self._clock() + limit_s
        while (now := self._clock()) < until and not interrupts.requested:
            yield now
            self._next()

    def _is_ours(self, pod: Object) -> bool:
        return is_run_of(pod["metadata"].get("labels", {}), self._spec.run_id)

    # --- what is wrong -------------------------------------------------------------------------

    def _diagnose(self) -> str:
        """Return why the run has failed; empty if it has not."""
        now = self._clock()
        if symptom := next(self._find_symptoms(now), None):
            return self._explain_symptom(symptom, now)
        return (
            self._explain_unreachable(now)
            or self._explain_silence(now)
            or self._explain_lost_node(now)
        )

    def _find_symptoms(self, now: float) -> Iterator[Symptom]:
        """Yield the symptoms that have persisted for too long, the gravest first."""
        due = self._phase in _BEFORE_WORK
        indices = ((index_of(pod), pod) for pod in self._pods.values())
        # The run no longer needs the pod of a worker that has reported.
        pods = [pod for i, pod in indices if i is None or not self._stream.has_report_of(i)]
        found = list(symptoms(pods, self._happened.values(), workers_are_due=due))
        present = {symptom.key for symptom in found}
        self._first_seen = {k: t for k, t in self._first_seen.items() if k in present}
        for symptom in found:
            since = self._first_seen.setdefault(symptom.key, now)
            if now - since >= symptom.patience_s:
                yield symptom

    def _explain_symptom(self, symptom: Symptom, now: float) -> str:
        if symptom.deleted:
            return explain_unattended_end(self._cluster, self._jobs[0]) or symptom.cause
        if not symptom.pod:
            return symptom.cause
        if symptom.key not in self._last_lines:
            lines = words_of(self._cluster.log_tail(symptom.pod, symptom.container))
            self._last_lines[symptom.key] = f": {lines[-1]}" if lines else ""
        cause = symptom.cause + self._last_lines[symptom.key]
        if is_collector(self._pods[symptom.pod]):
            self._guessed = True
        elif NO_COLLECTOR in cause and now - self._heard_at > _HEARD_S:
            return self._explain_lost_collector(cause, now)
        return cause

    def _explain_lost_collector(self, cause: str, now: float) -> str:
        """Explain why a worker does not reach a silent collector; empty while that is unknown."""
        collector = self._collector()
        trouble = self._nodes.trouble(collector["spec"].get("nodeName", "")) if collector else ""
        if collector is None or trouble is None:
            return ""
        self._guessed, self._node_lost = True, bool(trouble)
        if trouble:
            return _SILENT.format(now - self._heard_at) + describe_node(collector, trouble)
        return cause + describe_place(collector)

    def _explain_unreachable(self, now: float) -> str:
        """Describe a source that has not been readable for too long; empty if none."""
        away = "server" in self._troubles  # nothing else can be read either
        for source, (since, cause) in self._troubles.items():
            if now - since <= PATIENCE_S or (away and source != "server"):
                continue
            if source == "server":
                self.cut_off = True
                return f"no answer from the cluster for {PATIENCE_S:.0f} s: {cause}"
            return f"{source} cannot be read for {PATIENCE_S:.0f} s: {cause}"
        return ""

    def _explain_silence(self, now: float) -> str:
        """Describe the failure of a silent, late or ended collector; empty if it has not failed."""
        collector = self._collector()
        if collector is None or phase_of(collector) == "Pending":
            self._heard_at = now
            if now - self._began > self._spec.appear_s:
                waits = self._explain_waits()
                return f"collector did not start within {self._spec.appear_s:.0f} s: {waits}"
            return ""
        if "server" in self._troubles:
            return ""
        silent_s = now - self._heard_at
        if self._log_ended and phase_of(collector) in ("Succeeded", "Failed") and silent_s > 2:
            return "the collector ended before the run was over"
        if silent_s > self._spec.silence_s:
            trouble = self._nodes.trouble(collector["spec"].get("nodeName", ""))
            # While its node lives, its log may only be late on its way through the API server.
            if trouble or silent_s > 2 * self._spec.silence_s:
                self._guessed, self._node_lost = True, bool(trouble)
                return _SILENT.format(silent_s) + describe_node(collector, trouble)
        limit_s = self._spec.timeout_s
        if limit_s and now - (self._collector_began or now) > limit_s + TIMEOUT_GRACE_S:
            return (
                f"--timeout: the run was not done after {limit_s:g} s, and the collector did not"
                " end it"
            )
        return ""

    def _explain_lost_node(self, now: float) -> str:
        """Describe a pod on a node that is lost before the work begins; empty if there is none.

        The collector counts a worker as silent only once it has registered.
        """
        if now - self._starts_seen_at < _STARTING_S or "server" in self._troubles:
            return ""
        self._starts_seen_at = now
        for pod in self._pods.values():
            starts = phase_of(pod) == "Pending" and not has_run(pod)
            if starts or (self._phase in _BEFORE_WORK and not is_collector(pod)):
                trouble = self._nodes.trouble(pod["spec"].get("nodeName", ""))
                if trouble:
                    self._node_lost, self._guessed = is_collector(pod), not starts
                    what = "did not start" if starts else "is lost"
                    return f"{name_of(pod)} {what}{describe_node(pod, trouble)}"
        return ""

    # --- the end -------------------------------------------------------------------------------

    def _collector(self) -> Object | None:
        return next((pod for pod in self._pods.values() if is_collector(pod)), None)

    def image(self) -> str:
        """Return the requested name of the collector's image, and the image ID on its node."""
        pod = self._collector()
        return image_of(pod) if pod else ""

    def _collector_runs(self) -> bool:
        pod = self._collector()
        return pod is not None and phase_of(pod) == "Running" and not self._log_ended

    def _stop_collector(self) -> None:
        """Delete the pod of the collector, which then reports the progress and ends."""
        if self._asked_to_stop:
            return
        self._asked_to_stop = True
        self._deadline = self._clock() + _TIDY_S
        pod = self._collector()
        if pod:
            with suppress(BenchError):  # without an answer, the deadline ends the run
                self._cluster.delete("pods", pod["metadata"]["name"])
        if not self._collector_runs():
            self._deadline = self._clock()

    def _read_outcome(self) -> Outcome | None:
        """Return the outcome in the rest of the collector's log; None if the log contains none."""
        pod = self._collector()
        if pod is None or not has_run(pod):
            return None
        name = pod["metadata"]["name"]
        with suppress(BenchError):
            for _, text in self._cluster.log(name, self._read_until, follow=False):
                event = self._stream.take(text)
                if isinstance(event, Outcome):
                    return event
        return None

    def _judge(self, outcome: Outcome, interrupts: Interrupts) -> Outcome:
        """Add facts that only the cluster shows, such as why the collector was stopped."""
        if outcome.status == "interrupted" and not interrupts.requested:
            stopped = {"status": "failed", "cause": f"collector: {TERMINATED}", "exit_code": 1}
            outcome = outcome.model_copy(update=stopped)
        if outcome.status == "failed":
            outcome = outcome.model_copy(update={"cause": self._explain(outcome.cause, interrupts)})
            self._keep_logs()
        return self._add_nodes(outcome)

    def _add_nodes(self, outcome: Outcome) -> Outcome:
        """Add the nodes of workers that have not reported theirs."""
        nodes = {index_of(pod): pod["spec"].get("nodeName", "") for pod in self._pods.values()}
        workers = [
            each.model_copy(update={"node": each.node or nodes.get(each.index, "")})
            for each in outcome.workers
        ]
        return outcome.model_copy(update={"workers": tuple(workers)})

    def _explain(self, cause: str, interrupts: Interrupts) -> str:
        """Return the collector's cause, with facts about the affected pod from the cluster."""
        if TERMINATED in cause:
            return self._cause or self._await_reason(interrupts) or cause
        if self._cause and self._cause not in cause and not self._guessed:
            return f"{self._cause} (the collector: {cause})"
        for pod in self._pods.values():
            if not is_collector(pod) and cause.startswith(f"{name_of(pod)} has been silent"):
                return cause + self._locate(pod, interrupts)
        return cause

    def _locate(self, pod: Object, interrupts: Interrupts) -> str:
        """Wait for the state of a pod's node; return the problem, or else the name of the node."""
        for _ in self._watch_for(_NODE_S, interrupts):
            trouble = self._nodes.trouble(pod["spec"].get("nodeName", ""))
            if trouble is not None:
                return describe_node(pod, trouble) or describe_place(pod)
        return describe_place(pod)

    def _await_reason(self, interrupts: Interrupts) -> str:
        """Wait until the cluster shows why it stopped a pod; empty if it does not."""
        for now in self._watch_for(_REASON_S, interrupts):
            # A symptom with a log is the pod's own end, after it was stopped.
            found = (each for each in self._find_symptoms(now) if not each.pod)
            if symptom := next(found, None):
                return self._explain_symptom(symptom, now)
        return explain_unattended_end(self._cluster, self._jobs[0])

    def _conclude_alone(self, interrupts: Interrupts) -> Outcome:
        """Return the outcome of a run without a collector that could report the outcome."""
        self._keep_logs()
        if interrupts.requested:
            return Outcome(status="interrupted", cause=STOPPED, exit_code=130, touched=True)
        pod = self._collector()
        out_of_sight = self.cut_off or self._node_lost
        touched = self._phase != "start" or out_of_sight or (pod is not None and has_run(pod))
        reports = self._read_last_reports() if touched and not self.cut_off else ()
        return Outcome(
            status="failed",
            cause=self._cause,
            exit_code=1,
            touched=touched,
            reports=len(reports),
            workers=reports,
        )

    def _read_last_reports(self) -> tuple[WorkerReport, ...]:
        """Return the reports that workers write to their logs after the collector is lost."""
        found = {report.index: report for report in self._stream.reports}
        left = {n for n, pod in self._pods.items() if not is_collector(pod) and has_run(pod)}
        until = self._clock() + _LAST_REPORTS_S
        while left and self._clock() < until:
            for name in sorted(left):
                reports = reports_in(self._cluster.log_tail(name, WORKER))
                found |= {report.index: report for report in reports}
                if reports or phase_of(self._pods[name]) != "Running":
                    left.remove(name)
            self._next()  # a pod may have ended
        return tuple(found[index] for index in sorted(found))

    def _keep_logs(self) -> None:
        """Read the logs before the pods are deleted."""
        failed = [pod for pod in self._pods.values() if phase_of(pod) == "Failed"]
        for pod in failed[:_LOGS]:
            if is_collector(pod):
                continue
            lines = words_of(self._cluster.log_tail(pod["metadata"]["name"], WORKER))
            if lines:
                self._kept_logs[name_of(pod).replace(" ", "-")] = "\n".join(lines)
        if self._stream.log:
            self._kept_logs["collector"] = "\n".join(self._stream.log)

    def logs(self) -> dict[str, str]:
        """Return the last lines of the collector and of pods that failed."""
        return self._kept_logs
