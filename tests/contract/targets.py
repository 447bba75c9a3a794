"""The databases under test. Adding one adds a row here."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pytest

from simulator.modules import database_class
from simulator.modules.base import Database
from simulator.schema import PrimaryKey
from tests.contract.harness import Wideset
from tests.contract.wide import Awkward


class Duplicate(StrEnum):
    """What becomes of a row whose key is there already."""

    REFUSED = "refused"
    REPLACED = "replaced"
    KEPT = "kept beside the other"


@dataclass(frozen=True)
class Target:
    """How to reach a database, and what a comparison has to know about it."""

    module: str
    options: Callable[[pytest.FixtureRequest], dict[str, Any]] = lambda _: {}
    """Options that reach an empty database of the test's own, besides those that the server has."""
    server: str | None = None
    """The server in tests/servers that the tests run on."""
    sums_beyond_64_bits: bool = False
    """A sum of integers is exact also where 64 bits cannot hold it."""
    duplicate: Duplicate = Duplicate.REFUSED
    lacks: Collection[Awkward] = ()
    """What it cannot hold, and refuses to encode."""
    unsupported: Collection[str] = ()
    """The wide workload's queries that it cannot answer, and says so."""
    stand_in: bool = False
    """The server under test is a relative's; the real one has not been had."""
    size_unknown: bool = False
    durability_unknown: bool = False

    @property
    def database(self) -> type[Database]:
        return database_class(self.module)

    def wide(self, primary_key: PrimaryKey = PrimaryKey.NONE, parts: int = 1) -> Wideset:
        """The wide dataset as far as it can hold it, with another key or one part if need be."""
        can = self.database.capabilities
        key = primary_key if primary_key in can.primary_keys else next(iter(can.primary_keys))
        return Wideset(key, parts if can.multiple_tables else 1, self.lacks)

    def open(self, request: pytest.FixtureRequest, **options: Any) -> Database:
        model = self.database.options_model
        reach = request.getfixturevalue("server_options") if self.server else {}
        return self.database(model(**{**reach, **self.options(request), **options}))


def _sqlite(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"path": str(request.getfixturevalue("tmp_path") / "sqlite.db"), "busy_timeout_s": 5}


TARGETS = {
    "null": Target("null"),
    "sqlite": Target("sqlite", _sqlite),
    "postgres": Target("postgres", server="postgres", sums_beyond_64_bits=True),
    "cassandra": Target(
        "cassandra", server="cassandra", sums_beyond_64_bits=True, duplicate=Duplicate.REPLACED
    ),
}
STORING = {name: t for name, t in TARGETS.items() if t.database.capabilities.stores}
