"""A database to put the wide dataset in."""

import pytest

from simulator import workloads
from simulator.modules.base import Database
from tests.contract.targets import STORING, Target
from tests.contract.wide import Wide


@pytest.fixture(autouse=True)
def _wide_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(workloads.WORKLOADS, Wide.name, Wide)


@pytest.fixture(params=STORING.values(), ids=list(STORING))
def target(request: pytest.FixtureRequest) -> Target:
    """Every target that stores rows, each in turn."""
    return request.param


@pytest.fixture
def database(request: pytest.FixtureRequest, target: Target) -> Database:
    """The target's database, empty."""
    return target.open(request)
