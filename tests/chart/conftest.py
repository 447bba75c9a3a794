"""helm, and each scenario as it renders it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from iotbench.execution.kubernetes.helm import _OLDEST
from tests.chart.harness import SCENARIOS, Helm, Object

CLUSTER = Path(__file__).resolve().parents[1] / "cluster" / "cluster.sh"


def _is_new_enough(program: str) -> bool:
    done = subprocess.run([program, "version"], capture_output=True, text=True, check=False)
    found = re.search(r"v(\d+)\.(\d+)", done.stdout)
    return found is not None and (int(found[1]), int(found[2])) >= _OLDEST


def _program() -> str:
    installed = shutil.which("helm")
    if installed and _is_new_enough(installed):
        return installed
    done = subprocess.run(
        ["bash", str(CLUSTER), "helm"], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        oldest = ".".join(map(str, _OLDEST))
        pytest.fail(
            f"the tests of the chart need helm {oldest} or newer on the PATH (https://helm.sh);"
            f" {CLUSTER} could not build one either: see above",
            pytrace=False,
        )
    return done.stdout.strip()


@pytest.fixture(scope="session")
def helm() -> Helm:
    """The helm of this machine; one is built where it is missing or too old."""
    return Helm(_program())


@pytest.fixture(scope="session")
def rendered(helm: Helm) -> dict[str, list[Object]]:
    """The objects of every scenario."""
    return {path.name: helm.render(path) for path in SCENARIOS}


@pytest.fixture(params=[path.name for path in SCENARIOS])
def objects(request: pytest.FixtureRequest, rendered: dict[str, list[Object]]) -> list[Object]:
    """The objects of each scenario in turn."""
    return rendered[request.param]
