"""CrateDB by HTTP: bulk_args, a JSON array for each row, in several requests at once if wanted.

https://cratedb.com/docs/crate/reference/en/latest/interfaces/http.html. Written by the vendor's
documentation and not yet run against the real server; `cratedb_pg` is the way by PostgreSQL's
protocol.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field, SecretStr

from simulator.data.query import Query, RowsQuery, Statement
from simulator.data.schema import PrimaryKey
from simulator.errors import SetupError
from simulator.modules.base import BATCH, SINGLE, Capabilities, Options, with_remedy
from simulator.modules.cratedb.query import (
    ACKNOWLEDGED,
    LIMITS,
    PRIMARY_KEYS,
    CrateOptions,
    CrateTables,
)
from simulator.modules.cratedb.session import CratedbSession
from simulator.modules.shared.http import Http, HttpError, HttpOptions, basic


class CratedbOptions(HttpOptions, CrateOptions):
    """Options of the module `cratedb`."""

    username: str | None = Field(None, description="user; default: crate, the superuser")
    password: SecretStr | None = Field(None, description="the user's password")
    schema_name: str = Field("doc", description="the schema in which the tables are")
    concurrent_requests: int = Field(
        1,
        ge=1,
        le=100,
        description="cut each batch into so many requests, which are in flight at once; with 10 "
        "and --batch 100000 they have 10,000 rows each",
    )


class Cratedb(CrateTables):
    """A CrateDB cluster, by HTTP."""

    name = "cratedb"
    capabilities = Capabilities(
        modes={
            SINGLE: "an INSERT of one row",
            BATCH: "an INSERT with bulk_args, each row on its own: it is no transaction",
        },
        primary_keys=PRIMARY_KEYS,
        acknowledged=ACKNOWLEDGED,
        limits=LIMITS,
    )
    options_model: ClassVar[type[Options]] = CratedbOptions
    options: CratedbOptions

    def problems(self, primary_key: PrimaryKey, parts: int, batch_rows: int) -> list[str]:
        """Return, a sentence each, what cannot work."""
        found = super().problems(primary_key, parts, batch_rows)
        requests = self.options.concurrent_requests
        if requests > max(batch_rows, 1):
            found.append(f"concurrent_requests={requests} are more than a batch of {batch_rows} "
                         "rows can be cut into; use a larger --batch")  # fmt: skip
        return found

    def connect(self) -> CratedbSession:
        """Open the connections and see that the server lets us in."""
        session = self._open()
        try:
            session.ask("SELECT 1")
        except HttpError as error:
            session.close()
            raise SetupError(f"{self.name}: {self.explain(error)}") from error
        return session

    def _open(self) -> CratedbSession:
        options, password = self.options, self.options.secrets().get("password", "")
        headers = {"Content-Type": "application/json", "Default-Schema": options.schema_name}
        if options.username or password:
            headers["Authorization"] = basic(options.username or "crate", password)
        connections = [Http(options, headers) for _ in range(options.concurrent_requests)]
        return CratedbSession(connections, self.dialect_of, options.query_timeout_s)

    def _ask(self, statements: Sequence[str]) -> list[Sequence[Sequence[Any]]]:
        with self._open() as session:
            try:
                return [session.ask(statement) for statement in statements]
            except HttpError as error:
                raise SetupError(f"{self.name}: {self.explain(error)}") from error

    def render(self, query: Query) -> Statement:
        """Return the query as SQL; all rows are read in the order of time, portion by portion."""
        statement = super().render(query)
        if isinstance(query, RowsQuery):
            return Statement(statement.text, statement.outputs, (query.table.time.name,))
        return statement

    def explain(self, error: Exception) -> str:
        """Return an error in the server's words, with a remedy where one is known."""
        return with_remedy(str(error), _REMEDIES)


_REMEDIES = {
    "already exists": "drop it, or run with --clean",
    "DuplicateKeyException": "run with --clean, or use another --primary-key",
    "RelationUnknown": "run an insert first",
    "SchemaUnknown": "run an insert first, or name another in schema_name",
    "MissingPrivilege": "let the user do this: GRANT DDL, DML, DQL ON SCHEMA ... TO ...",
}
"""A pattern of the server's words -> what to try."""
