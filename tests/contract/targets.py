"""The databases under test. Adding one adds a row here."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from simulator.modules import database_class
from simulator.modules.base import Database


@dataclass(frozen=True)
class Target:
    """How to reach a database, and what a comparison has to know about it."""

    module: str
    options: Callable[[pytest.FixtureRequest], dict[str, Any]]
    """Options that reach an empty database of the test's own."""
    sums_beyond_64_bits: bool = False
    """A sum of integers is exact also where 64 bits cannot hold it."""

    @property
    def database(self) -> type[Database]:
        return database_class(self.module)

    def open(self, request: pytest.FixtureRequest, **options: Any) -> Database:
        model = self.database.options_model
        return self.database(model(**{**self.options(request), **options}))


def _sqlite(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"path": str(request.getfixturevalue("tmp_path") / "sqlite.db"), "busy_timeout_s": 5}


def _postgres(request: pytest.FixtureRequest) -> dict[str, Any]:
    server = request.getfixturevalue("postgres_server")
    name = request.getfixturevalue("postgres_database")
    return {"connection_string": server.connection_string(name), "password": server.password}


TARGETS = {
    "null": Target("null", lambda _: {}),
    "sqlite": Target("sqlite", _sqlite),
    "postgres": Target("postgres", _postgres, sums_beyond_64_bits=True),
}
STORING = {name: t for name, t in TARGETS.items() if t.database.capabilities.stores}
