"""A database to put the wide dataset in."""

import pytest

from simulator import workloads
from simulator.modules.base import Database
from tests.contract.targets import STORING
from tests.contract.wide import Wide


@pytest.fixture(autouse=True)
def _wide_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(workloads.WORKLOADS, Wide.name, Wide)


@pytest.fixture(params=STORING)
def database(request: pytest.FixtureRequest) -> Database:
    """Every database that stores rows, each in turn."""
    return STORING[request.param].open(request)
