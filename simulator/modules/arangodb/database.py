"""ArangoDB by HTTP: arrays of documents, which are made of columns beforehand, and AQL.

https://docs.arango.ai/arangodb/3.12/develop/http-api/. Not through python-arango: it takes rows as
Python objects and writes the JSON itself, which is the client's time that a benchmark must not
measure. Written by the vendor's documentation and not yet run against the real server.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar
from urllib.parse import quote

from pydantic import Field, SecretStr

from simulator.data.query import Query, Statement
from simulator.data.schema import PrimaryKey, Table, former_names
from simulator.errors import SetupError
from simulator.modules.arangodb import query as queries
from simulator.modules.arangodb.session import ArangodbSession, number_of
from simulator.modules.base import BATCH, SINGLE, Capabilities, Database, Options, Server
from simulator.modules.shared.http import Http, HttpError, HttpOptions, basic

_NOT_FOUND = 1203
_SYSTEM_ATTRIBUTES = frozenset({"_id", "_key", "_rev", "_from", "_to"})
_KEYS = {PrimaryKey.UUID: "uuid"}


class ArangodbOptions(HttpOptions):
    """Options of the module `arangodb`."""

    database: str = Field("_system", description="the database, which must be there")
    user: str | None = Field(None, description="user, if the server asks for one; default: root")
    password: SecretStr | None = Field(None, description="the user's password")
    replication_factor: int | None = Field(
        None, ge=1, description="copies of each shard, in a cluster; default: the server's choice"
    )
    shard_count: int | None = Field(
        None, ge=1, description="shards of a collection, in a cluster; default: the server's choice"
    )
    wait_for_sync: bool = Field(
        default=False,
        description="true: rows are synced to disk before they are acknowledged (waitForSync)",
    )
    compact: bool = Field(default=True, description="compact the collections when settling")


class Arangodb(Database):
    """An ArangoDB server or cluster."""

    name = "arangodb"
    capabilities = Capabilities(
        modes={
            SINGLE: "a request with one document",
            BATCH: "a request with an array of documents, each on its own: it is no transaction",
        },
        primary_keys={
            PrimaryKey.DB: "_key, counted by the server (traditional)",
            PrimaryKey.CLIENT: "_key, sent by the client; what a _key cannot hold as %XX",
            PrimaryKey.UUID: "_key, drawn by the server (uuid)",
        },
        acknowledged="in the log of the leader of each shard and of its followers in sync; with "
        "wait_for_sync synced to disk, else within a tenth of a second",
        limits=(
            "floats must be finite; client keys have at most 254 bytes (%XX for what is no letter)",
            "a sum or mean of integers beyond 2**53 is an error: AQL calculates in doubles",
            "time buckets of a table that counts nanoseconds",
            "the least and the greatest client key cannot be asked for",
        ),
    )
    options_model: ClassVar[type[Options]] = ArangodbOptions
    options: ArangodbOptions

    def connect(self) -> ArangodbSession:
        """Open a connection and see that the server lets us in."""
        session = self._open()
        try:
            session.call("GET", "/_api/database/current")
        except HttpError as error:
            session.close()
            raise self._setup_error(error) from error
        return session

    def _open(self) -> ArangodbSession:
        options, password = self.options, self.options.secrets().get("password", "")
        headers = {"Content-Type": "application/json"}
        if options.user or password:
            headers["Authorization"] = basic(options.user or "root", password)
        database = f"/_db/{quote(options.database, safe='')}"
        return ArangodbSession(Http(options, headers), database, options.query_timeout_s)

    def _setup_error(self, error: Exception) -> SetupError:
        return SetupError(f"{self.name}: {self.options.redact(self.explain(error))}")

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        """Make one request for something other than a run."""
        with self._open() as session:
            try:
                return session.call(method, path, body)
            except HttpError as error:
                raise self._setup_error(error) from error

    # --- tables -----------------------------------------------------------------------------------

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the collections, all or none."""
        for table in tables:
            if wrong := _SYSTEM_ATTRIBUTES & {column.name for column in table.columns}:
                raise SetupError(f"{self.name}: {min(wrong)} is an attribute of the server's own; "
                                 f"give the column of {table.name} another name")  # fmt: skip
        made: list[str] = []
        try:
            for table in tables:
                for name in table.names:
                    self._call("POST", "/_api/collection", self._collection(table, name))
                    made.append(name)
        except SetupError:
            for name in made:
                self._call("DELETE", _path(name))
            raise

    def _collection(self, table: Table, name: str) -> dict[str, Any]:
        """Return what a physical table's collection is made with."""
        options = self.options
        given: dict[str, Any] = {
            "name": queries.collection(name),
            "waitForSync": options.wait_for_sync,
            "keyOptions": {"type": _KEYS.get(table.primary_key, "traditional")},
            "numberOfShards": options.shard_count,
            "replicationFactor": options.replication_factor,
        }
        return {name: value for name, value in given.items() if value is not None}

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the collections that are there."""
        with self._open() as session:
            for name in former_names(tables):
                try:
                    session.call("DELETE", _path(name))
                except HttpError as error:
                    if number_of(error) != _NOT_FOUND:
                        raise self._setup_error(error) from error

    def settle(self, tables: Sequence[Table]) -> None:
        """Compact the collections; an acknowledged row is queryable at once."""
        if self.options.compact:
            for table in tables:
                for name in table.names:
                    self._call("PUT", f"{_path(name)}/compact", {})

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of documents and indices, as the server estimates it."""
        total = 0
        for table in tables:
            for name in table.names:
                figures = self._call("GET", f"{_path(name)}/figures")["figures"]
                total += int(figures["documentsSize"]) + int(figures["indexes"]["size"])
        return total

    # --- the server -------------------------------------------------------------------------------

    def describe(self) -> Server:
        """Return version and nodes, and what an acknowledgement means with these options.

        waitForSync is a property of each collection, which `create` gives it.
        """
        version = self._call("GET", "/_api/version")
        nodes = 1
        if self._call("GET", "/_admin/server/role")["role"] == "COORDINATOR":
            health = self._call("GET", "/_admin/cluster/health")["Health"]
            nodes = sum(member["Role"] == "DBServer" for member in health.values())
        durable = self.options.wait_for_sync
        when = "synced to disk" if durable else "which is synced to disk a tenth of a second later,"
        setting = str(durable).lower()
        return Server(
            version=f"ArangoDB {version['version']}",
            nodes=nodes,
            durability=f"an acknowledged row is in the server's log, {when} on the leader of its "
            f"shard and its followers in sync (waitForSync={setting})",
            durable=durable,
            settings={"waitForSync": setting, "license": str(version.get("license", "unknown"))},
        )

    def render(self, query: Query) -> Statement:
        """Return the query as AQL."""
        return queries.render(query)

    def explain(self, error: Exception) -> str:
        """Return an error in the server's words, with a remedy where one is known."""
        if not isinstance(error, HttpError):
            return super().explain(error)
        told = str(error)
        with suppress(KeyError):
            return f"{told}; {_REMEDIES[number_of(error)]}"
        return told


def _path(name: str) -> str:
    return f"/_api/collection/{quote(queries.collection(name))}"


_REMEDIES = {
    11: "let the user read and write the database",
    1004: "the server only reads: see its licence's limit of size, and that all copies are in sync",
    1203: "run an insert first",
    1207: "the collection already exists: drop it, or run with --clean",
    1210: "rows like these are stored already; run with --clean, or use another --primary-key",
    1228: "make it, or name another in the option database",
    1429: "bring the followers back, or use a lower replication_factor",
}
"""The server's number of an error (errorNum) -> what to try."""
