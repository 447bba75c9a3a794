"""A sweep's removal that the user stops."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from cli.runners import kubernetes
from cli.runners.kubernetes import KubernetesRunner
from simulator.errors import Interrupted


def test_who_stops_the_removal_is_reported_how_to_remove_the_rest(monkeypatch, capsys):
    def stopped(*_):
        raise Interrupted("stopped at once by SIGINT")

    monkeypatch.setattr(kubernetes, "remove", stopped)
    release = SimpleNamespace(sweep="20261122-021754-6dfe", selector="", name="")
    cluster = SimpleNamespace(namespace="bench")
    options = SimpleNamespace(keep=False, kubeconfig=None, context=None)
    runner = KubernetesRunner(release, cluster, options, None, nullcontext())
    with pytest.raises(Interrupted):
        runner.__exit__()

    assert "cleanup -n bench --run 20261122-021754-6dfe" in capsys.readouterr().err
