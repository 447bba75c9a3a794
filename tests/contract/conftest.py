"""Fixtures of the contract suite: a target, its empty database, the HTTP stand-ins."""

from collections.abc import Callable, Iterator

import pytest

from simulator.data import workloads
from tests.contract.targets import TARGETS, Target
from tests.contract.trial import database, pytest_generate_tests  # noqa: F401
from tests.contract.wide import Wide
from tests.standins.arango import SyntheticArango
from tests.standins.crate import SETUP, SyntheticCrate
from tests.standins.relatives import sorts_by_bytes
from tests.standins.splunk import SyntheticSplunk
from tests.standins.web import Web

OF_POSTGRESQL = (
    "test_connections.py", "test_counts.py", "test_fresh.py", "test_groups.py",
    "test_own_faults.py", "test_uncertain.py", "test_windows.py",
)  # fmt: skip
"""Suites in which a stand-in for a relative of PostgreSQL shows what PostgreSQL does."""
OF_ITS_CLASS = (*OF_POSTGRESQL, "test_changes.py", "test_foreign.py")
"""The same for a module that derives from that of PostgreSQL."""
OF_THE_SERVER = (
    "test_changes.py", "test_connections.py", "test_counts.py", "test_foreign.py", "test_fresh.py",
    "test_groups.py", "test_smallest_step.py", "test_windows.py",
)  # fmt: skip
"""Suites in which another engine of the same MySQL shows what InnoDB does."""
REPEATED = {
    "cockroachdb": OF_ITS_CLASS,
    "yugabyte_sql": OF_ITS_CLASS,
    "cratedb": OF_POSTGRESQL,
    "cratedb_pg": OF_POSTGRESQL,
    "mysql_myisam": OF_THE_SERVER,
    "mariadb": ("test_altered_columns.py", "test_updated.py"),
    "timescaledb": ("test_updated.py",),
}
"""Target -> suites in which it shows what MySQL or PostgreSQL does."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Make the tests rare that repeat what other targets show."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    target = params.get("target")
    is_again = isinstance(target, Target) and _is_repeated(target, item.path.name)
    if is_again or (params.get("server_name"), params.get("engine")) == ("mariadb", "MyISAM"):
        item.add_marker(pytest.mark.rare)


def _is_repeated(target: Target, file: str) -> bool:
    """MySQL shows what MyISAM does, and MariaDB's other engine what that server does."""
    if target.by_address:
        return False
    if target is TARGETS["mariadb_myisam"]:
        return True
    return any(target is TARGETS[name] and file in files for name, files in REPEATED.items())


@pytest.fixture(autouse=True)
def _wide_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(workloads.WORKLOADS, Wide.name, Wide)


@pytest.fixture
def synthetic_crate(server, server_database, monkeypatch) -> Iterator[Web]:
    """An HTTP endpoint as CrateDB documents it, in front of PostgreSQL."""
    monkeypatch.setattr("simulator.modules.cratedb.database.SIZE_STANDS_S", 0.01)
    sorts_by_bytes(server, server_database)
    server.execute(SETUP, database=server_database)
    reach = f"{server.connection_string(server_database)} password={server.password}"
    crate = SyntheticCrate(reach)
    with Web(crate) as web:
        web.crate = crate
        yield web
    crate.close()


@pytest.fixture
def synthetic_arango() -> Iterator[Web]:
    """ArangoDB's documented HTTP endpoint."""
    with Web(SyntheticArango()) as web:
        yield web


@pytest.fixture
def synthetic_splunk() -> Iterator[Web]:
    """Splunk's two documented HTTP endpoints on one port."""
    with Web(SyntheticSplunk()) as web:
        yield web


@pytest.fixture
def execute(server, server_database) -> Callable[..., None]:
    """Run statements in the database of the test as the administrator."""
    return lambda *statements: server.execute(*statements, database=server_database)
