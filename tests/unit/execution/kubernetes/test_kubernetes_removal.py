"""A sweep's removal that the user stops."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from iotbench.execution.kubernetes import runner as kubernetes
from iotbench.execution.kubernetes.runner import KubernetesRunner
from iotbench.execution.kubernetes.wire import Unreachable
from simulator.errors import Interrupted


@pytest.mark.parametrize("error", [Interrupted("by SIGINT"), Unreachable("no answer")])
def test_a_removal_that_ends_early_names_what_ends_the_run_and_how_to_remove_the_rest(
    monkeypatch, capsys, error
):
    def fail(*_):
        raise error

    monkeypatch.setattr(kubernetes, "remove", fail)
    version = fail if isinstance(error, Unreachable) else lambda: "v1"
    release = SimpleNamespace(sweep="20261122-021754-6dfe", selector="", name="")
    cluster = SimpleNamespace(
        namespace="bench",
        flags=["--kubeconfig=my kube", "--context=lab"],
        version=version,
        with_patience=lambda _: cluster,
    )
    options = SimpleNamespace(keep=False, kubeconfig=None, context=None)
    runner = KubernetesRunner(release, cluster, options, None, nullcontext(), pods=())
    with pytest.raises(type(error)):
        runner.__exit__()

    reported = capsys.readouterr().err
    where = "'--kubeconfig=my kube' --context=lab -n bench"
    assert f"python run.py cleanup {where} --run 20261122-021754-6dfe\n" in reported
    assert "Kubernetes itself ends the run within 30 min" in reported
