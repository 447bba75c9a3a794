"""A database to put the wide dataset in."""

from collections.abc import Iterator

import pytest

from simulator import workloads
from simulator.modules.base import Database
from tests.contract.targets import STORING, Target
from tests.contract.wide import Wide
from tests.synthetic_crate import SETUP, SyntheticCrate
from tests.web import Web


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


@pytest.fixture
def synthetic_crate(postgres_server, postgres_database) -> Iterator[Web]:
    """An HTTP endpoint as CrateDB documents it, in front of PostgreSQL."""
    postgres_server.execute(
        f"DROP DATABASE {postgres_database}",
        f"CREATE DATABASE {postgres_database} TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'",
    )
    postgres_server.execute(SETUP, database=postgres_database)
    reach = f"{postgres_server.connection_string(postgres_database)} password="
    crate = SyntheticCrate(reach + postgres_server.password)
    with Web(crate) as web:
        yield web
    crate.close()
