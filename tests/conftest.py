"""Real servers for every suite, one at a time, and only the requested ones.

A test requests a server with `@pytest.mark.server("NAME", ...)` (several names: each in turn), or
by its parameter `target`. Fixtures give it the server (`server`), the name of an empty database
(`server_database`) and the module's options for it (`server_options`), or a function that starts a
server with settings of the test (`own_server`).
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from tests.servers import SERVERS, NotInstalled, Server, named


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "run with these servers only (NAME,..., quick or all), which must be installed; "
    words += "without it: with those that are installed"
    parser.addoption("--servers", metavar="NAMES", help=words)
    parser.addoption("--all-servers", action="store_const", dest="servers", const="all")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "server(*names): the test needs a real server, each in turn")


def pytest_report_header(config: pytest.Config) -> str:
    wanted = config.getoption("servers")
    return f"servers: {', '.join(_wanted(config)) if wanted else 'those that are installed'}"


def _wanted(config: pytest.Config) -> list[str]:
    try:
        return named(config.getoption("servers") or "all")
    except ValueError as error:
        raise pytest.UsageError(f"--servers: {error}") from error


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker("server")
    if marker and "server_name" in metafunc.fixturenames:
        metafunc.parametrize("server_name", marker.args)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put tests of one server together, and leave out those of servers that are not wanted."""
    wanted = _wanted(config)
    unwanted = [item for item in items if _server_of(item) not in (None, *wanted)]
    config.hook.pytest_deselected(items=unwanted)
    order = [None, *SERVERS]
    items[:] = [item for item in items if item not in unwanted]
    items.sort(key=lambda item: order.index(_server_of(item)))


def _server_of(item: pytest.Item) -> str | None:
    params = getattr(item, "callspec", None) and item.callspec.params  # type: ignore[attr-defined]
    if not params:
        return None
    target = params.get("target")
    name = params.get("server_name") or getattr(target, "server", None)
    assert name is None or name in SERVERS, f"{item.nodeid}: no such server: {name}"
    return name


class Pool:
    """Starts servers when they are asked for, and stops the one before."""

    def __init__(self, *, required: bool) -> None:
        self._required = required
        self._server: Server | None = None
        self._failed: dict[str, Exception] = {}

    def get(self, name: str) -> Server:
        """Return a server that runs; skip, or fail where it is required, if it is not installed."""
        if self._server is None or self._server.name != name:
            self.close()
            if name in self._failed:  # trying again would take as long, for every test
                raise self._failed[name]
            try:
                self._server = self._made(name).__enter__()
            except Exception as error:
                self._failed[name] = error
                raise
        self._server.start()  # what a test has stopped or killed and left so
        return self._server

    def own(self, name: str, **settings: str) -> Server:
        """Return a server with other settings, to be started; the one that runs is stopped."""
        self.close()
        return self._made(name, **settings)

    def _made(self, name: str, **settings: str) -> Server:
        try:
            return SERVERS[name](**settings)
        except NotInstalled as error:
            (pytest.fail if self._required else pytest.skip)(str(error))

    def close(self) -> None:
        """Stop the server."""
        if self._server:
            self._server.close()
        self._server = None


@pytest.fixture(scope="session")
def server_pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    """The one server that runs."""
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
def server(server_pool: Pool, server_name: str) -> Server:
    """A server of the tests' own."""
    return server_pool.get(server_name)


@pytest.fixture
def own_server(server_pool: Pool, server_name: str) -> Callable[..., Server]:
    """Makes a server with settings of the test's own, which the test starts and stops."""
    return partial(server_pool.own, server_name)


@pytest.fixture
def server_database(server: Server) -> Iterator[str]:
    """The name of an empty database on that server."""
    with server.database() as name:
        yield name


@pytest.fixture
def server_options(server: Server, server_database: str) -> dict[str, Any]:
    """The module's options that reach that database."""
    return server.options(server_database)
