"""A sweep's removal that the user stops."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from iotbench.execution.kubernetes import runner as kubernetes
from iotbench.execution.kubernetes.runner import KubernetesRunner
from iotbench.execution.kubernetes.wire import Unreachable
from simulator.errors import Interrupted


def test_who_stops_the_removal_is_reported_how_to_remove_the_rest(monkeypatch, capsys):
    def stopped(*_):
        raise Interrupted("stopped at once by SIGINT")

    monkeypatch.setattr(kubernetes, "remove", stopped)
    release = SimpleNamespace(sweep="20261122-021754-6dfe", selector="", name="")
    cluster = SimpleNamespace(namespace="bench", version=lambda: "v1")
    options = SimpleNamespace(keep=False, kubeconfig=None, context=None)
    runner = KubernetesRunner(release, cluster, options, None, nullcontext())
    with pytest.raises(Interrupted):
        runner.__exit__()

    assert "cleanup -n bench --run 20261122-021754-6dfe" in capsys.readouterr().err


def test_a_cluster_that_is_away_is_reported_with_what_ends_the_run_and_how_to_remove_it(capsys):
    def away():
        raise Unreachable("the cluster at https://c cannot be reached")

    release = SimpleNamespace(sweep="20261122-021754-6dfe", selector="", name="")
    cluster = SimpleNamespace(namespace="bench", version=away)
    options = SimpleNamespace(keep=False, kubeconfig=None, context=None)
    runner = KubernetesRunner(release, cluster, options, None, nullcontext())
    with pytest.raises(Unreachable):
        runner.__exit__()

    reported = capsys.readouterr().err
    assert "cleanup -n bench --run 20261122-021754-6dfe" in reported
    assert "Kubernetes itself ends the run within 30 min" in reported
