"""The order in which a run's objects are made: a killed command line leaves no credential."""

import threading
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from iotbench.execution.kubernetes import runner as kubernetes
from iotbench.execution.kubernetes.release import Release
from iotbench.execution.kubernetes.runner import KubernetesRunner
from iotbench.execution.kubernetes.wire import Exists, NotFound, Unreachable
from simulator.errors import SetupError
from simulator.protocol.events import Outcome
from simulator.protocol.spec import InsertTask
from tests.unit.execution.kubernetes.test_release import target
from tests.unit.specs import run_spec

DONE = Outcome(status="done", exit_code=0, touched=True)


class Recorded:
    """A cluster and a helm that record what is asked of them, and fail when they should.

    Helm ends only after the Secret is there, unless it has no Jobs to create.
    """

    namespace = "bench"

    def __init__(self, *, jobs=True, **failures):
        self.failures = failures
        self.calls = []
        self._jobs = jobs
        self._job_exists, self._secret_asked = threading.Event(), threading.Event()

    def _note(self, call, *about):
        self.calls.append((call, *about))
        if call in self.failures:
            raise self.failures[call]

    def with_patience(self, _):
        return self

    def version(self):
        return "v1"

    def apply(self, release, _labels, _values, _proposed):
        if self._jobs:
            self._job_exists.set()
            assert self._secret_asked.wait(10)
        self._note("helm", release)

    def create_secret(self, name, _labels, content, job):
        assert content["option.password"] == "correct horse"
        if not self._job_exists.is_set():
            raise NotFound(f"jobs {job} not found")
        try:
            self._note("secret", name, job)
        finally:
            self._secret_asked.set()

    def delete(self, resource, name):
        self._note("delete", resource, name)


def ran(monkeypatch, recorded, *, keep=False, is_cut_off=False):
    class Run:
        cut_off = is_cut_off

        def __init__(self, *_):
            pass

        def events(self, _):
            recorded.calls.append(("run",))
            yield DONE

    monkeypatch.setattr(kubernetes, "PodRun", Run)
    monkeypatch.setattr(kubernetes, "Helm", lambda *_: recorded)
    options = SimpleNamespace(keep=keep, kubeconfig=None, context=None)
    runner = KubernetesRunner(
        Release("s", target()), recorded, options, None, nullcontext(), pods=()
    )
    return list(runner.run(run_spec(run_id="s-1-1", workers=(InsertTask(),))))[-1]


def test_credentials_follow_the_job_that_owns_them_at_once_and_go_with_the_run(monkeypatch):
    recorded = Recorded()

    assert ran(monkeypatch, recorded) == DONE
    assert recorded.calls == [
        ("secret", "bench-s-1-1", "bench-s-1-1-collector"),
        ("helm", "bench-s"),
        ("run",),
        ("delete", "secrets", "bench-s-1-1"),
    ]


def test_credentials_of_pods_that_are_kept_stay(monkeypatch):
    recorded = Recorded()
    ran(monkeypatch, recorded, keep=True)

    assert "delete" not in {call[0] for call in recorded.calls}


def test_a_server_that_is_away_is_not_waited_for_to_delete_credentials(monkeypatch):
    """The removal at the end of the sweep asks it once more, for everything."""
    recorded = Recorded()
    ran(monkeypatch, recorded, is_cut_off=True)

    assert "delete" not in {call[0] for call in recorded.calls}


def test_a_secret_that_exists_was_created_by_a_request_whose_answer_was_lost(monkeypatch):
    recorded = Recorded(secret=Exists("bench-s-1-1"))

    assert ran(monkeypatch, recorded) == DONE


def test_without_jobs_there_are_no_credentials(monkeypatch):
    recorded = Recorded(jobs=False, helm=SetupError("no"))
    with pytest.raises(SetupError):
        ran(monkeypatch, recorded)

    assert [call[0] for call in recorded.calls] == ["helm"]


def test_a_secret_that_may_exist_may_have_started_the_run(monkeypatch):
    """The pods wait for it; if the answer is lost, they may have touched the tables."""
    away = Unreachable("the cluster cannot be reached")

    found = ran(monkeypatch, Recorded(secret=away, delete=away))

    assert (found.status, found.touched) == ("failed", True)
    assert found.cause == "the cluster cannot be reached"


def test_a_helm_that_fails_after_the_jobs_exist_may_have_started_the_run(monkeypatch):
    found = ran(monkeypatch, Recorded(helm=SetupError("helm upgrade: the connection was lost")))

    assert (found.status, found.touched) == ("failed", True)
    assert found.cause == "helm upgrade: the connection was lost"


def test_a_secret_that_is_refused_ends_the_run_before_it_starts(monkeypatch):
    with pytest.raises(SetupError, match="permission denied"):
        ran(monkeypatch, Recorded(secret=SetupError("permission denied")))
