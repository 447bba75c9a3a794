"""Listening to the cluster: every pod, event and line is heard, through whatever breaks."""

import threading
import time
from contextlib import contextmanager

import pytest

from iotbench.execution.kubernetes import watcher
from iotbench.execution.kubernetes.watcher import (
    Happened,
    LogEnded,
    PodChanged,
    PodGone,
    SourceReached,
    Trouble,
    Watcher,
    WrittenLine,
)
from iotbench.execution.kubernetes.wire import Expired, NotFound, NotYet, Unreachable
from simulator.errors import SetupError


class Cluster:
    """Plays what is on the tape; then nothing more happens."""

    def __init__(self, **tapes):
        self._tapes = {name: list(tape) for name, tape in tapes.items()}
        self.asked = []
        self.over = threading.Event()

    def _next(self, name, *asked):
        self.asked.append((name, *asked))
        tape = self._tapes.get(name)
        if not tape:
            self.over.wait(20)
            raise NotFound("the test is over")
        found = tape.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    def objects(self, resource, selector):
        return self._next("list", resource, selector)

    def present(self, resource):
        return self._next("present", resource)

    def watch(self, resource, selector, version):
        yield from self._played(self._next(resource, selector, version))

    def log(self, pod, since):
        for item in self._played(self._next("log", pod, since)):
            yield f"at {item}", item

    def version(self):
        return self._next("version")

    @staticmethod
    def _played(portion):
        for item in portion:
            if isinstance(item, Exception):
                raise item
            yield item


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(watcher, "_AGAIN_S", 0.01)


@contextmanager
def listening(cluster):
    made = Watcher(cluster, "a=b", "bench-s")
    try:
        yield made
    finally:
        made.close()
        cluster.over.set()


def heard(made, count):
    """The next things that are heard, and none after them."""
    found = [made.next(2.5) for _ in range(count)]
    assert made.next(0.05) is None
    return found


def line(text):
    return WrittenLine("p", text, f"at {text}")


PODS, EVENTS = SourceReached("pods"), SourceReached("events")


def pod(name, version="1"):
    """As the API returns it, with much that nobody reads."""
    return {
        "metadata": {"name": name, "resourceVersion": version, "managedFields": [{"manager": "x"}]},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i", "env": []}]},
        "status": {"phase": "Running", "message": version, "qosClass": "Burstable"},
    }


def kept(name, version="1"):
    """The fields that a diagnosis needs."""
    return {
        "metadata": {"name": name},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": "Running", "message": version},
    }


def changed(name, version="1"):
    return PodChanged(kept(name, version))


def gone(name, version="1"):
    return PodGone(kept(name, version))


def event(name, version):
    about = {"involvedObject": {"name": name, "uid": "1"}, "reason": "Killing"}
    return "ADDED", {"metadata": {"resourceVersion": version}, "count": 1, **about}


def happened(name):
    return Happened({"involvedObject": {"name": name}, "reason": "Killing"})


# --- pods ---------------------------------------------------------------------------------------


def listening_to_pods(cluster, count):
    with listening(cluster) as made:
        threading.Thread(target=made._watch_pods, daemon=True).start()
        return heard(made, count)


def test_pods_are_heard_that_are_there_and_that_come_change_and_go():
    changes = [("ADDED", pod("b")), ("MODIFIED", pod("a", "2")), ("DELETED", pod("a", "3"))]
    cluster = Cluster(list=[([pod("a")], "1")], pods=[changes])

    assert listening_to_pods(cluster, 5) == [
        PODS,
        changed("a"),
        changed("b"),
        changed("a", "2"),
        gone("a", "3"),
    ]


def test_a_bookmark_is_no_pod_and_the_watch_goes_on_from_it():
    bookmark = {"kind": "Pod", "metadata": {"resourceVersion": "9"}}
    cluster = Cluster(
        list=[([], "1")], pods=[[("BOOKMARK", bookmark)], [("ADDED", pod("a", "10"))]]
    )

    assert listening_to_pods(cluster, 2) == [PODS, changed("a", "10")]
    assert cluster.asked[1:4] == [("pods", "a=b", "1"), ("pods", "a=b", "9"), ("pods", "a=b", "10")]


def test_a_pod_that_went_while_nobody_listened_is_gone():
    cluster = Cluster(
        list=[([pod("a"), pod("b")], "1"), ([pod("b")], "5")], pods=[[Expired("too old")]]
    )

    assert listening_to_pods(cluster, 6) == [
        PODS,
        changed("a"),
        changed("b"),
        PODS,
        gone("a"),
        changed("b"),
    ]


# --- events -------------------------------------------------------------------------------------


def listening_to_events(cluster, count):
    with listening(cluster) as made:
        threading.Thread(target=made._watch_events, args=("1",), daemon=True).start()
        return heard(made, count)


def test_only_the_events_of_the_release_are_heard():
    ours, theirs = event("bench-s-worker-0", "2"), event("bench-t-worker-0", "3")

    cluster = Cluster(events=[[ours, theirs]], present=["1"])

    assert listening_to_events(cluster, 2) == [EVENTS, happened("bench-s-worker-0")]


def test_a_connection_that_breaks_is_reported_and_the_events_go_on_where_they_were():
    first, second = event("bench-s", "2"), event("bench-s", "3")
    cluster = Cluster(events=[[first, Unreachable("gone")], [second]], present=["1", "7"])

    assert listening_to_events(cluster, 5) == [
        EVENTS,
        happened("bench-s"),
        Trouble("events", "gone"),
        EVENTS,
        happened("bench-s"),
    ]
    assert cluster.asked[3] == ("events", "", "2")


def test_events_that_expire_while_the_cluster_cannot_be_reached_are_heard_later():
    last = event("bench-s", "9")
    cluster = Cluster(
        events=[[Expired("too old")], [last]], present=["7", Unreachable("gone"), "8"]
    )

    assert listening_to_events(cluster, 4)[-1] == happened("bench-s")
    assert ("events", "", "8") in cluster.asked


# --- the server ---------------------------------------------------------------------------------


def test_a_server_that_goes_and_comes_back_is_reported(monkeypatch):
    monkeypatch.setattr(watcher, "_PING_S", 0.01)
    with listening(Cluster(version=["v1", Unreachable("gone"), "v1"])) as made:
        threading.Thread(target=made._ping, daemon=True).start()

        assert heard(made, 3) == [
            SourceReached("server"),
            Trouble("server", "gone"),
            SourceReached("server"),
        ]


# --- logs ---------------------------------------------------------------------------------------


def listening_to_a_log(count, *portions):
    cluster = Cluster(log=portions)
    with listening(cluster) as made:
        made.follow_log("p")
        made.follow_log("p")
        return heard(made, count), cluster


def test_a_log_that_is_not_there_yet_is_asked_for_again():
    found, cluster = listening_to_a_log(2, NotYet("creating"), NotYet("creating"), ["one"])

    assert found == [line("one"), LogEnded("p")]
    assert cluster.asked[2] == ("log", "p", "")


def test_a_log_that_breaks_is_read_again_from_its_last_line():
    found, cluster = listening_to_a_log(4, ["one", Unreachable("gone")], ["one", "two"])

    assert found == [line("one"), line("one"), line("two"), LogEnded("p")]
    assert cluster.asked[1] == ("log", "p", "at one")


def test_a_log_that_is_refused_is_reported_and_read_later():
    found, _ = listening_to_a_log(3, SetupError("permission denied"), ["one"])

    assert found == [Trouble("log", "permission denied"), line("one"), LogEnded("p")]


def test_the_log_of_a_pod_that_is_gone_has_ended():
    found, cluster = listening_to_a_log(1, NotFound("gone"))

    assert found == [LogEnded("p")]
    assert len(cluster.asked) == 1


def test_a_log_that_is_forgotten_is_not_read_again():
    cluster = Cluster(log=[["one"]])
    with listening(cluster) as made:
        made.follow_log("p")
        assert made.next(5.0) == line("one")
        made.forget_logs()
        time.sleep(0.05)
        asked = len(cluster.asked)
        time.sleep(0.05)

    assert len(cluster.asked) == asked
