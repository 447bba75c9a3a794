"""A collector that seemed silent, and then shows what it knows."""

from types import SimpleNamespace

from cli.cluster import diagnosis
from cli.cluster.release import RUN
from cli.cluster.watcher import Line, PodChanged
from cli.runners import kubernetes
from cli.runners.kubernetes import _Run
from simulator.protocol.messages import Outcome, event_line
from simulator.protocol.spec import WorkerPlan
from tests.unit.specs import run_spec

SPEC = run_spec(workers=(WorkerPlan(),))
INTERRUPTS = SimpleNamespace(requested=False)


def pod(name, node, **labels):
    return {
        "metadata": {"name": name, "labels": {RUN: SPEC.run_id, **labels}},
        "spec": {"nodeName": node, "containers": [{"image": "x"}]},
        "status": {"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]},
    }


COLLECTOR = pod("c", "node2", **{diagnosis._COMPONENT: diagnosis.COLLECTOR})
WORKER = pod("w", "node1", **{diagnosis._COMPONENT: "worker", diagnosis._INDEX: "0"})


def reported(monkeypatch, *heard):
    monkeypatch.setattr(kubernetes, "SILENCE_S", -1.0)
    cluster = SimpleNamespace(
        node_trouble=lambda _: "is not heard of", log_tail=lambda *_: "", delete=lambda *_: None
    )
    follows = iter((PodChanged(COLLECTOR), PodChanged(WORKER), *heard))
    watcher = SimpleNamespace(next=lambda _: next(follows, None), follow_log=lambda _: None)
    *_, outcome = _Run(SPEC, cluster, watcher).events(INTERRUPTS)
    return outcome.cause


def test_a_collector_that_speaks_after_all_is_believed(monkeypatch):
    """It was the worker's node; the collector's line came late."""
    cause = "worker 0 has been silent for 15 s"
    line = event_line(1, Outcome(status="failed", cause=cause, exit_code=1, touched=True))

    assert (
        reported(monkeypatch, None, Line("c", line)) == f"{cause}: its node node1 is not heard of"
    )


def test_a_collector_that_says_no_more_is_lost(monkeypatch):
    monkeypatch.setattr(kubernetes, "_ITS_OWN_WORDS_S", 0.05)
    monkeypatch.setattr(kubernetes, "_TIDY_S", 0.05)

    assert "no sign of life from the collector" in reported(monkeypatch)
