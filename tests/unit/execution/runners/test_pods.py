"""One run's pods: what is believed of a collector, a node and a cluster that fall silent."""

import json
from types import SimpleNamespace

import pytest

from iotbench.execution.kubernetes import diagnosis, pods
from iotbench.execution.kubernetes.lifetime import UNATTENDED_S
from iotbench.execution.kubernetes.pods import PodRun
from iotbench.execution.kubernetes.release import RUN
from iotbench.execution.kubernetes.watcher import (
    Happened,
    LogEnded,
    PodChanged,
    PodGone,
    SourceReached,
    Trouble,
    WrittenLine,
)
from iotbench.execution.kubernetes.wire import NotFound, Unreachable
from simulator.protocol.events import Outcome, PhaseEvent, ReportEvent, event_line
from simulator.protocol.messages import NO_COLLECTOR, TERMINATED, WorkerReport
from simulator.protocol.spec import InsertTask
from tests.unit.execution.kubernetes.test_diagnosis import recorded
from tests.unit.specs import run_spec

INTERRUPTS = SimpleNamespace(requested=False)
STEP_S = 0.5
"""What the clock shows more after each look at the queue."""


def pod(name, node, phase="Running", **labels):
    component = labels.get(diagnosis._COMPONENT, "worker")
    state = {"running": {}} if phase == "Running" else {"terminated": {"exitCode": 1}}
    return {
        "metadata": {"name": name, "labels": {RUN: "r", **labels}},
        "spec": {"nodeName": node, "containers": [{"name": component, "image": "x"}]},
        "status": {"phase": phase, "containerStatuses": [{"name": component, "state": state}]},
    }


def collector(phase="Running"):
    return pod("c", "node2", phase, **{diagnosis._COMPONENT: diagnosis.COLLECTOR})


def worker(phase="Running"):
    return pod("w", "node1", phase, **{diagnosis._COMPONENT: "worker", diagnosis._INDEX: "0"})


def starting(waits):
    for status in waits["status"]["containerStatuses"]:
        status |= {"image": "x", "state": {"waiting": {}}}
    return waits


def outcome(cause="", status="failed"):
    return Outcome(status=status, cause=cause, exit_code=1 if cause else 0, touched=True)


def line(number, event):
    return WrittenLine("c", event_line(number, event), f"2026-11-22T10:00:{number:02}.000000000Z")


SILENT = "worker 0 has been silent for 15 s"


class Cluster:
    """A cluster whose nodes, logs and Jobs are as the test says; `lost` nodes renew no lease."""

    def __init__(self, *, lost=(), log=(), job=None, away=False, tails=None):
        self.lost, self.rest, self.job, self.away = lost, log, job, away
        self.tails = tails or {}
        self.deleted = []
        self.read_from = None

    def log(self, name, since, *, follow):
        assert not follow
        self.read_from = since
        return iter([("t", each.text) for each in self.rest])

    def log_tail(self, name, _container):
        return self.tails.get(name, "")

    def delete(self, resource, name):
        self.deleted.append(f"{resource}/{name}")
        if self.away:
            raise Unreachable("away")

    def object(self, resource, name):
        assert (resource, name) == ("jobs", "j-collector")
        if self.job is None:
            raise NotFound(name)
        return {"status": {"conditions": self.job}}


class Played:
    """A watcher that plays what is heard, and when; the clock runs on with every look."""

    def __init__(self, *heard):
        self.heard = list(heard)
        self.now_s = 0.0

    def next(self, _):
        self.now_s += STEP_S
        if self.heard and isinstance(self.heard[0], float):
            if self.now_s < self.heard[0]:
                return None
            self.heard.pop(0)
        return self.heard.pop(0) if self.heard else None

    def follow_log(self, _):
        pass


@pytest.fixture(autouse=True)
def _nodes(monkeypatch):
    """A node's lease is judged in tests of its own."""

    def trouble(self, name):
        return "has been silent for 26 s" if name in self._cluster.lost else ""

    monkeypatch.setattr(pods.SilentNodes, "trouble", trouble)


def played(cluster, *heard, **spec):
    """Play a run; return its outcome and the time at which it ended."""
    watcher = Played(PodChanged(collector()), PodChanged(worker()), *heard)
    given = run_spec(workers=(InsertTask(),), **spec)
    jobs = ["j-collector", "j-worker"]
    run = PodRun(given, jobs, cluster, watcher, clock=lambda: watcher.now_s)
    *_, last = run.events(INTERRUPTS)
    assert isinstance(last, Outcome)
    return last, watcher.now_s


# --- a collector that is silent -------------------------------------------------------------------


def test_a_collector_that_speaks_after_all_is_believed():
    cluster = Cluster(lost=("node1", "node2"))

    found, _ = played(cluster, 16.5, line(1, outcome(SILENT)))

    assert found.cause == f"{SILENT}: its node node1 has been silent for 26 s"


def test_a_collector_is_lost_with_its_node():
    found, ended_s = played(Cluster(lost=("node2",)))

    assert found.cause.startswith("no sign of life from the collector for 16 s")
    assert "its node node2 has been silent" in found.cause
    assert (found.status, found.exit_code, found.touched) == ("failed", 1, True)
    assert ended_s < 40


def test_a_silent_collector_on_a_living_node_gets_more_time():
    beats = [item for at in range(1, 9) for item in (at * 25.0, line(at, PhaseEvent(phase="init")))]
    beats += [210.0, line(9, outcome("its own"))]

    found, _ = played(Cluster(), *beats)

    assert found.cause == "its own"


def test_a_silent_collector_on_a_living_node_is_stopped_in_the_end():
    cluster = Cluster()

    found, ended_s = played(cluster)

    assert found.cause.startswith("no sign of life from the collector for 3")
    assert "node" not in found.cause
    assert cluster.deleted == ["pods/c"]
    assert ended_s < 60


def test_the_outcome_in_the_log_of_a_collector_that_ended_wins_over_a_guess():
    """The stream broke; the rest of the log is read before anything is guessed."""
    first, last = (
        line(1, PhaseEvent(phase="insert")),
        line(2, outcome("worker 0: the disk is full")),
    )
    cluster = Cluster(log=(first, last))

    found, _ = played(cluster, first, 3.0, PodChanged(collector("Failed")))

    assert found.cause == "worker 0: the disk is full"
    assert cluster.read_from == first.stamp


def deleted(pod):
    return {**pod, "metadata": {**pod["metadata"], "deletionTimestamp": "now"}}


@pytest.mark.parametrize("gone", [PodGone(worker()), PodChanged(deleted(worker()))])
@pytest.mark.parametrize("phase", ["insert", "verify"])
def test_a_worker_that_has_reported_is_not_needed_any_more(gone, phase):
    heard = line(1, PhaseEvent(phase=phase)), line(2, ReportEvent(report=WorkerReport(index=0)))
    done = line(3, Outcome(status="done", reports=1))

    cluster = Cluster()
    found, _ = played(cluster, *heard, gone, 10.0, done)

    assert found.status == "done"
    assert cluster.deleted == [], "the collector is not stopped"


@pytest.mark.parametrize("report", [None, WorkerReport(index=0, error="the disk is full")])
def test_a_worker_that_goes_without_a_whole_report_ends_the_run(report):
    written = [line(2, ReportEvent(report=report))] if report else []
    heard = line(1, PhaseEvent(phase="insert")), *written, PodGone(worker())

    found, _ = played(Cluster(), *heard)

    assert found.status == "failed"
    assert found.cause == "worker 0 was deleted while it ran (w on node1)"


def test_a_log_that_ends_without_an_outcome_is_reported():
    found, _ = played(Cluster(), LogEnded("c"), 4.0, PodChanged(collector("Succeeded")))

    assert found.cause


def test_workers_that_lost_their_collector_report_what_they_wrote_to_their_own_logs():
    report = WorkerReport(index=0, error="the collector cannot be reached", rows=4711)
    log = "the database was slow\n" + event_line(1, ReportEvent(report=report))

    found, _ = played(
        Cluster(lost=("node2",), tails={"w": log}), line(1, PhaseEvent(phase="insert"))
    )

    assert found.workers == (report,)
    assert found.reports == 1


def test_a_report_in_a_workers_log_is_not_its_last_words():
    report = WorkerReport(index=0, error="the collector cannot be reached", rows=4711)
    log = "the collector cannot be reached\n" + event_line(1, ReportEvent(report=report))
    cluster = Cluster(tails={"w": log})

    found, _ = played(cluster, 5.0, PodChanged(worker("Failed")))

    reported = "worker 0 ended with exit code 1: the collector cannot be reached"
    assert found.cause == f"{reported} (pod c on node2)"


@pytest.mark.parametrize("phase", ["visible", "compact", "verify"])
def test_the_pod_of_a_worker_that_has_reported_may_fail(phase):
    done = Outcome(status="done", exit_code=0, touched=True)
    heard = (line(1, PhaseEvent(phase=phase)), 5.0, PodChanged(worker("Failed")), 10.0)

    found, _ = played(Cluster(), *heard, line(2, done))

    assert found.status == "done"


# --- nodes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lost", "where"),
    [("node1", ": its node node1 has been silent for 26 s"), ("node2", " (pod w on node1)")],
)
def test_of_a_silent_worker_the_lost_node_is_named_or_else_the_pod(lost, where):
    found, _ = played(Cluster(lost=(lost,)), line(1, outcome(SILENT)))

    assert found.cause == SILENT + where


def test_a_lost_workers_node_is_in_the_result():
    last = WorkerReport(index=0, rows=70, is_lost=True)
    heard = line(1, ReportEvent(report=last)), line(2, outcome(SILENT))

    found, _ = played(Cluster(lost=("node1",)), *heard)

    assert found.workers == (last.model_copy(update={"node": "node1"}),)


@pytest.mark.parametrize(
    ("lost", "runs", "cause", "deleted"),
    [
        ("node1", False, "worker 0 did not start: its node node1", ["pods/c"]),
        ("node1", True, "worker 0 is lost: its node node1", ["pods/c"]),
        ("node2", False, "collector did not start: its node node2", []),
    ],
    ids=["worker that starts", "worker that has not registered", "collector"],
)
def test_a_node_that_is_lost_before_the_work_ends_the_run(lost, runs, cause, deleted):
    waits = [starting(collector("Pending")), worker() if runs else starting(worker("Pending"))]
    if lost == "node1":
        waits[0] = collector()
    beats = [x for at in range(1, 9) for x in (at * 4.0, line(at, PhaseEvent(phase="barrier")))]
    heard = beats if lost == "node1" else []
    cluster = Cluster(lost=(lost,))

    found, ended_s = played(cluster, *map(PodChanged, waits), *heard, appear_s=900.0)

    assert found.cause == f"{cause} has been silent for 26 s"
    assert cluster.deleted == deleted
    assert ended_s < 40


def test_a_node_is_waited_for_until_its_lease_shows_whether_it_lives(monkeypatch):
    looks = iter([None] * 10 + ["has been silent for 25 s"])
    monkeypatch.setattr(pods.SilentNodes, "trouble", lambda *_: next(looks))

    found, _ = played(Cluster(), line(1, outcome(SILENT)))

    assert found.cause == f"{SILENT}: its node node1 has been silent for 25 s"


def test_a_collector_that_no_worker_reaches_is_lost_with_its_node(monkeypatch):
    """The worker gives up first; the lease of the collector's node shows the loss later."""
    monkeypatch.setattr(pods.SilentNodes, "trouble", lambda nodes, _: node(nodes._clock()))

    def node(now_s):
        return "has been silent for 25 s" if now_s > 25 else None

    cluster = Cluster(tails={"w": f"{NO_COLLECTOR}: timed out"})
    found, ended_s = played(cluster, 16.0, PodChanged(worker("Failed")))

    assert found.cause.startswith("no sign of life from the collector for 2")
    assert found.cause.endswith("its node node2 has been silent for 25 s")
    assert ended_s < 45


def test_a_worker_that_does_not_reach_a_living_collector_is_named():
    beats = [x for at in range(1, 9) for x in (at * 4.0, line(at, PhaseEvent(phase="insert")))]
    beats[8:8] = [PodChanged(worker("Failed"))]
    cluster = Cluster(tails={"w": f"{NO_COLLECTOR}: timed out"})

    found, _ = played(cluster, *beats)

    assert found.cause == f"worker 0 ended with exit code 1: {NO_COLLECTOR}: timed out"


# --- a cluster that does not answer ---------------------------------------------------------------

AWAY = Trouble("server", "connection refused")


def test_a_server_that_is_away_for_less_than_a_minute_costs_nothing():
    done = Outcome(status="done", exit_code=0, touched=True)
    heard = (line(1, PhaseEvent(phase="insert")), 5.0, AWAY, 63.0, SourceReached("server"))

    found, _ = played(Cluster(lost=("node1", "node2")), *heard, 75.0, line(2, done))

    assert found.status == "done"


def test_a_server_that_stays_away_ends_the_run_and_is_named():
    cluster = Cluster(away=True)
    began = line(1, PhaseEvent(phase="insert"))

    found, ended_s = played(cluster, began, 5.0, AWAY, 20.0, AWAY)

    assert found.cause == "no answer from the cluster for 60 s: connection refused"
    assert (found.exit_code, found.touched) == (1, True)
    assert cluster.deleted == [], "nobody would answer"
    assert ended_s < 75


def test_a_server_that_is_away_is_named_and_not_what_was_read_from_it_first():
    heard = (5.0, Trouble("pods", "ended prematurely"), 9.0, AWAY)

    found, _ = played(Cluster(away=True), line(1, PhaseEvent(phase="insert")), *heard)

    assert found.cause == "no answer from the cluster for 60 s: connection refused"


@pytest.mark.parametrize("source", ["pods", "events", "log"])
def test_what_cannot_be_read_is_named(source):
    beats = [x for at in range(1, 20) for x in (at * 5.0, line(at, PhaseEvent(phase="insert")))]
    beats = beats if source != "log" else []
    refused = Trouble(source, "permission denied")

    found, _ = played(Cluster(), refused, SourceReached("server"), *beats)

    if source == "log":
        assert "no sign of life" in found.cause
    else:
        assert found.cause == f"{source} cannot be read for 60 s: permission denied"


# --- limits ---------------------------------------------------------------------------------------


def test_a_timeout_that_the_collector_does_not_enforce_is_enforced():
    beats = [x for at in range(1, 40) for x in (at * 5.0, line(at, PhaseEvent(phase="insert")))]

    found, ended_s = played(Cluster(), *beats, timeout_s=60.0)

    assert found.cause.startswith("--timeout: the run was not done after 60 s")
    assert found.exit_code == 1
    assert 65 < ended_s < 100


def test_a_collector_that_never_starts_ends_the_run():
    waits = starting(collector("Pending"))

    found, ended_s = played(Cluster(), PodChanged(waits), appear_s=100.0)

    assert found.cause.startswith("collector did not start within 100 s: collector: starting")
    assert 100 < ended_s < 130


def test_what_a_pod_waits_for_is_reported_again_every_five_seconds():
    watcher = Played(PodChanged(starting(collector("Pending"))))
    spec = run_spec(workers=(), appear_s=60.0)
    run = PodRun(spec, ["j"], Cluster(), watcher, lambda: watcher.now_s)

    *waits, _ = run.events(INTERRUPTS)

    assert 10 <= len(waits) <= 14
    assert {each.detail for each in waits} == {"collector: starting (image, volumes)"}


# --- pods that others end -------------------------------------------------------------------------

EXCEEDED = [{"type": "Failed", "reason": "DeadlineExceeded", "status": "True"}]


def test_a_run_that_kubernetes_ended_unattended_is_not_blamed_on_a_pod():
    found, _ = played(Cluster(job=EXCEEDED), 5.0, PodGone(collector()), PodGone(worker()))

    assert "did not extend its deadline" in found.cause
    assert f"{UNATTENDED_S // 60} min" in found.cause


@pytest.mark.parametrize(
    ("job", "cause"),
    [(EXCEEDED, "did not extend its deadline"), ([], "its pod was deleted or evicted")],
)
def test_a_collector_that_was_stopped_from_outside_is_reported_with_the_reason(job, cause):
    found, _ = played(Cluster(job=job), line(1, STOPPED_COLLECTOR))

    assert cause in found.cause
    assert (found.status, found.exit_code) == ("failed", 1)


STOPPED_COLLECTOR = outcome("stopped by the user", "interrupted")
STOPPED_WORKER = outcome(f"worker 0: {TERMINATED}")


STOPPED_JOB = {"involvedObject": {"name": "bench-r-collector"}, "reason": "Stopped"}


def changed(name):
    """The pod of a recording as a worker of this run."""
    ((pod,), _) = recorded(name)
    pod["metadata"]["labels"][RUN] = "r"
    return PodChanged(pod)


@pytest.mark.parametrize(
    ("heard", "later", "cause"),
    [
        (
            [changed("queue-preempted"), line(1, STOPPED_WORKER)],
            [4.0, *map(Happened, recorded("queue-preempted")[1])],
            "the queue stopped the worker Job: Preempted to accommodate a workload",
        ),
        (
            [PodChanged(deleted(collector())), line(1, STOPPED_COLLECTOR)],
            [4.0, Happened({**STOPPED_JOB, "message": "The ClusterQueue is stopped"})],
            "the queue stopped the collector Job: The ClusterQueue is stopped",
        ),
        (
            [line(1, STOPPED_WORKER)],
            [3.0, changed("evicted")],
            "worker 0 (bench-evicted-worker-0-6z4fx) failed: Evicted: Usage of EmptyDir volume",
        ),
        (
            [line(1, STOPPED_WORKER)],
            [3.0, changed("drained")],
            "worker 0 was deleted while it ran (bench-drained-worker-0-vsfhr on node1): its node",
        ),
        (
            [line(1, STOPPED_WORKER)],
            [1.0, PodChanged(deleted(worker())), 2.0, PodGone(worker())],
            "worker 0 was deleted while it ran (w on node1)",
        ),
        (
            [line(1, STOPPED_WORKER), PodChanged(worker("Failed"))],
            [PodChanged(collector("Failed"))],
            f"worker 0: {TERMINATED}",
        ),
    ],
    ids=["queue", "queue stops the collector", "node", "drained", "deleted", "unknown"],
)
def test_a_pod_that_others_stop_reports_it_before_the_cluster_says_why(heard, later, cause):
    found, ended_s = played(Cluster(), *heard, *later)

    assert found.cause.startswith(cause)
    assert (found.status, found.exit_code) == ("failed", 1)
    assert ended_s < 11


def test_pods_of_another_run_are_none_of_ours():
    other = json.loads(json.dumps(worker()).replace('"r"', '"r-other"'))
    other["metadata"]["name"] = "o"

    found, _ = played(Cluster(), PodGone(other), line(1, outcome("its own")))

    assert found.cause == "its own"
