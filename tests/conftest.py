"""Fixtures that several suites share."""

from collections.abc import Iterator

import pytest

from tests.servers import Postgres


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """A PostgreSQL server of the tests' own."""
    with Postgres() as server:
        yield server


@pytest.fixture
def postgres_database(postgres_server: Postgres) -> Iterator[str]:
    """The name of an empty database on that server."""
    with postgres_server.database() as name:
        yield name
