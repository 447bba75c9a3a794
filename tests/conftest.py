"""Real servers for every suite, one at a time in each process that runs tests.

A test names its server by `@pytest.mark.server("NAME", ...)` (one run per name) or by its parameter
`target`. Fixtures: `server`; `server_database`, the name of an empty database on it;
`server_options`, the module's options for that database; `own_server`, which starts one with other
settings. `--address` reaches a target's server that runs elsewhere. `--evidence` records what the
contract suite shows (tests/contract/evidence.py).
"""

import os
import shutil
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from hypothesis import settings

from simulator.errors import ConfigError
from tests import ROOT
from tests.fuzzing import CASES
from tests.servers import SERVERS, NotInstalled, Server, elsewhere, named


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "run with these servers only (NAME,..., quick or all), which must be installed; "
    text += "default: the installed ones"
    parser.addoption("--servers", metavar="NAMES", help=text)
    parser.addoption("--all-servers", action="store_const", dest="servers", const="all")
    text = "reach a target's server by its address, such as cratedb=http://crate@host:4200, and run"
    text += " only what needs it; its credentials are environment variables: CRATEDB_PASSWORD"
    parser.addoption("--address", action="append", metavar="TARGET=URL", default=[], help=text)
    text = "the same, with the targets' options in a file, as in config.yaml; --address TARGET then"
    text += " picks one of them"
    parser.addoption("--addresses", metavar="FILE", help=text)
    text = "write what the contract suite shows into simulator/modules/evidence"
    parser.addoption("--evidence", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    # Under nohup SIGHUP is ignored, and so it would be in every process that a test starts.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    settings.register_profile("cases", CASES)
    settings.load_profile("cases")
    config.addinivalue_line("markers", "server(*names): run once on each of these real servers")
    text = "controls(what): the test kills or pauses its server; skipped where it cannot"
    config.addinivalue_line("markers", text)
    if _addressed(config):
        _use_addresses(config)
    _wanted(config)  # a wrong name is one error, also where several processes run the tests
    if config.getoption("evidence"):
        from tests.contract.evidence import Recorder  # noqa: PLC0415  # loads every module

        config.pluginmanager.register(Recorder())


def _addressed(config: pytest.Config) -> bool:
    return bool(config.getoption("address") or config.getoption("addresses"))


def _use_addresses(config: pytest.Config) -> None:
    from tests.contract import targets  # noqa: PLC0415  # loads every module

    file = config.getoption("addresses")
    try:
        found = elsewhere.addresses(
            config.getoption("address"), Path(file) if file else None, targets.modules(), os.environ
        )
    except ConfigError as error:
        raise pytest.UsageError("\n".join(error.problems)) from None
    written = yaml.safe_load((ROOT / "config.yaml").read_text())["targets"]
    targets.use_addresses(found, list(written))


def pytest_report_header(config: pytest.Config) -> str:
    wanted = config.getoption("servers") or _addressed(config)
    return f"servers: {', '.join(_wanted(config)) if wanted else 'the installed ones'}"


def _wanted(config: pytest.Config) -> list[str]:
    """Return the names of the servers that are wanted."""
    given = [name for name, server in SERVERS.items() if issubclass(server, elsewhere.Elsewhere)]
    names = config.getoption("servers")
    if given and not names:
        return given
    try:
        return [*dict.fromkeys([*named(names or "all"), *given])]
    except ValueError as error:
        raise pytest.UsageError(f"--servers: {error}") from error


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker("server")
    if marker and "server_name" in metafunc.fixturenames:
        metafunc.parametrize("server_name", marker.args)


def pytest_itemcollected(item: pytest.Item) -> None:
    """One process runs all tests of a group.

    So a server starts once, and a module's fixture is made once.
    """
    item.add_marker(pytest.mark.xdist_group(_group_of(item)))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests of servers that are not wanted; sort the groups, the longest first.

    Of several processes none is then left with a long group at the end. In a group the tests that
    stop the shared server are last.
    """
    wanted = _wanted(config)
    kept = {*wanted} if _addressed(config) and not config.getoption("servers") else {*wanted, None}
    config.hook.pytest_deselected(items=[item for item in items if _server_of(item) not in kept])
    items[:] = [item for item in items if _server_of(item) in kept]
    long_s: defaultdict[str, float] = defaultdict(float)
    for item in items:
        name = item.path.name if item.path.name in _TYPICAL_S else item.path.parent.name
        long_s[_group_of(item)] += _TYPICAL_S.get(name, 0)
    items.sort(key=lambda item: "own_server" in getattr(item, "fixturenames", ()))
    items.sort(key=lambda item: (not _server_of(item), -long_s[_group_of(item)], _group_of(item)))


_TYPICAL_S = {
    "contract": 1, "fuzz": 8, "test_claims.py": 4, "test_gate_fuzz.py": 1, "test_published.py": 1,
    "integration": 4, "test_compare.py": 15, "test_lost_collector.py": 12, "test_pauses.py": 12,
    "test_refusals.py": 0.3, "test_secrets.py": 0.3, "e2e": 10, "test_resources.py": 60,
    "test_volumes.py": 60, "faults": 8,
}  # fmt: skip
"""How long a test takes, by its suite or file; much less in the others."""


def _group_of(item: pytest.Item) -> str:
    """Return what one process runs: the tests of a server, or of a file without one.

    PostgreSQL has the most tests and starts quickly: those of each suite are a group. On a cluster
    each test or class may run in another process.
    """
    if item.path.parent.name == "e2e":
        cls = item.getparent(pytest.Class)
        return cls.nodeid if cls else item.nodeid
    name = _server_of(item)
    return f"{name}, {item.path.parent.name}" if name == "postgres" else name or str(item.path)


def _server_of(item: pytest.Item) -> str | None:
    params = getattr(item, "callspec", None) and item.callspec.params  # type: ignore[attr-defined]
    if not params:
        return None
    target = params.get("target")
    name = params.get("server_name") or getattr(target, "server", None)
    assert name is None or name in SERVERS, f"{item.nodeid}: no such server: {name}"
    return name


class Pool:
    """Starts a server on demand and stops the previous one."""

    def __init__(self, *, required: bool) -> None:
        self._required = required
        self._server: Server | None = None
        self._failed: dict[str, Exception] = {}

    def get(self, name: str) -> Server:
        """Return a running server; if it is not installed, skip, or fail where it is required."""
        if self._server is None or self._server.name != name:
            self.close()
            if name in self._failed:  # every test would wait for the same failure
                raise self._failed[name]
            try:
                self._server = self._made(name).__enter__()
            except Exception as error:
                self._failed[name] = error
                raise
        self._server.start()  # a test may have stopped it
        return self._server

    def own(self, name: str, **settings: str) -> Server:
        """Stop the running server and return one with other settings, not yet started."""
        if issubclass(SERVERS[name], elsewhere.Elsewhere):
            pytest.skip(f"{name}: tests cannot change the settings of a server that runs elsewhere")
        self.close()
        return self._made(name, **settings)

    def _made(self, name: str, **settings: str) -> Server:
        try:
            server = SERVERS[name](**settings)
        except NotInstalled as error:
            (pytest.fail if self._required else pytest.skip)(str(error))
        server.disk = _memory()
        server.java_options += " -XX:TieredStopAtLevel=1"  # compiled quickly: a test is short
        return server

    def close(self) -> None:
        """Stop the server."""
        if self._server:
            self._server.close()
        self._server = None


def _memory() -> Path | None:
    """Return a folder in memory, if there is much: tests make thousands of tables, all synced."""
    folder = Path("/dev/shm")
    if not folder.is_dir() or os.statvfs(folder).f_flag & os.ST_NOEXEC:
        return None
    free_bytes = min(shutil.disk_usage(folder).free, psutil.virtual_memory().available)
    return folder if free_bytes > _ENOUGH_BYTES else None


_ENOUGH_BYTES = 8 << 30


@pytest.fixture(autouse=True)
def _wrong_answers_are_asked_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of tests make rows wrong that no server would correct meanwhile."""
    monkeypatch.setattr("simulator.verify.stored.statistics._AGAIN_AFTER_S", 0.0)


@pytest.fixture(scope="session")
def server_pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    """The pool of the one running server."""
    pool = Pool(required=bool(request.config.getoption("servers")))
    yield pool
    pool.close()


@pytest.fixture
def server_name(request: pytest.FixtureRequest) -> str:
    """The server that the test needs."""
    name = request.getfixturevalue("target").server
    assert name, "this target has no server"
    return name


@pytest.fixture
def server(request: pytest.FixtureRequest, server_pool: Pool, server_name: str) -> Server:
    """The running server."""
    found = server_pool.get(server_name)
    controls = request.node.get_closest_marker("controls")
    if (
        controls
        and isinstance(found, elsewhere.Elsewhere)
        and (why := found.cannot(*controls.args))
    ):
        pytest.skip(why)
    return found


@pytest.fixture
def own_server(server_pool: Pool, server_name: str) -> Callable[..., Server]:
    """Makes a server with other settings, which the test starts and stops."""
    return partial(server_pool.own, server_name)


@pytest.fixture
def server_database(server: Server) -> Iterator[str]:
    """The name of an empty database on that server."""
    with server.database() as name:
        yield name


@pytest.fixture
def server_options(server: Server, server_database: str) -> dict[str, Any]:
    """The module's options for that database."""
    return server.options(server_database)
