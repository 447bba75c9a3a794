"""MongoDB, through pymongo and documents that are BSON before the driver sees them.

FerretDB, which speaks MongoDB's protocol and keeps the documents in PostgreSQL, is told apart.
"""

import os
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, SecretStr, field_validator

from simulator.data.query import Query, Statement
from simulator.data.schema import PrimaryKey, Table, former_names
from simulator.errors import SetupError
from simulator.modules.base import (
    BATCH,
    SINGLE,
    Capabilities,
    Database,
    Options,
    Server,
    with_remedy,
)
from simulator.modules.mongodb import documents
from simulator.modules.mongodb import query as pipelines
from simulator.modules.mongodb.concern import MAJORITY, durability
from simulator.modules.mongodb.documents import Documents, Format
from simulator.modules.shared.conninfo import redacted, scrubbed

if TYPE_CHECKING:
    from simulator.modules.mongodb.session import MongodbSession

_DATABASE = "benchmark"


class MongodbOptions(Options):
    """Options of the module `mongodb`."""

    connection_string: SecretStr = Field(
        description="how to reach the server: mongodb://user@host:port/?replicaSet=..., or "
        "mongodb+srv://..., with the driver's options behind the question mark"
    )
    password: SecretStr | None = Field(
        None, description="the user's password, if it does not stand in connection_string"
    )
    database: str = Field(
        "", description="name of the database; empty: that of connection_string, or benchmark"
    )
    document_format: Format = Field(
        Format.FLAT,
        description="flat: every column is a field; key-pair: tags and fields are arrays of "
        "{key, val}; timeseries: a time-series collection, the tags its metaField",
    )
    granularity: str = Field(
        "seconds",
        pattern="^(seconds|minutes|hours)$",
        description="of a time-series collection: seconds, minutes or hours",
    )
    w: int | str | None = Field(
        None,
        description="write concern: how many members acknowledge, or majority; none: that of "
        "connection_string, or majority, the default of MongoDB 5 and later",
    )
    j: bool | None = Field(
        None, description="acknowledge only what is in the journal on disk; none: as w implies"
    )
    ordered: bool = Field(
        default=False,
        description="let the server insert a batch's documents one after the other, up to the "
        "first that fails",
    )
    create_indices: bool = Field(
        default=False, description="make indices on (tags, time, first field) and (first field)"
    )
    ca_file: str | None = Field(
        None,
        description="file with the certificate (PEM) of the authority that signed the server's; "
        "uses TLS",
    )
    ca: SecretStr | None = Field(
        None,
        description="that certificate itself, which pods can take from a Secret: "
        "ca_from: {secret: NAME, key: ca.crt}; uses TLS",
    )
    insecure: bool = Field(
        default=False, description="use TLS and take any certificate: nobody checks the server"
    )
    connect_timeout_s: int = Field(10, ge=1, description="how long to wait for a server")
    timeout_s: float = Field(
        30, ge=1, description="how long to wait for an acknowledgement, and for the members of w"
    )
    query_timeout_s: float = Field(
        3600, ge=1, description="how long to wait for an answer to a query"
    )

    @field_validator("w")
    @classmethod
    def _acknowledged(cls, w: int | str | None) -> int | str | None:
        if isinstance(w, str) and w.isdigit():
            w = int(w)
        if w is not None and (w in (0, "") or (isinstance(w, int) and w < 0)):
            raise ValueError(
                "w=0 acknowledges nothing, so nothing could be counted; take 1 or more"
            )
        return w

    def public(self) -> dict[str, Any]:
        """Return the options as they may be shown: where to, and as whom, but no password."""
        reach, _ = redacted(self.connection_string.get_secret_value())
        return {**super().public(), "connection_string": reach}


class Mongodb(Database):
    """A database of a MongoDB server, replica set or sharded cluster."""

    name = "mongodb"
    capabilities = Capabilities(
        modes={
            SINGLE: "one insert command with one document",
            BATCH: "one insert command, unordered; it is no transaction",
        },
        primary_keys={
            PrimaryKey.DB: "_id, an ObjectId that the server makes; a time-series collection has "
            "no key",
            PrimaryKey.CLIENT: "_id, a text, sent by the client; a time-series collection does not "
            "check it",
        },
        acknowledged="stored by as many members as the write concern says; with j, or as "
        "w=majority implies, also in their journals on disk",
        oldest={"MongoDB": (5, 2)},  # $top
        indices=True,
        limits=(
            "A column's name has no dot and no dollar in front, and is not `_id`.",
            "A row takes at most 16 MiB as a document.",
            "Collections are not sharded.",
            "A sum of integers that 64 bits cannot hold is an error.",
            "FerretDB keeps a time-series in a plain collection, and tells no durability.",
        ),
    )
    options_model: ClassVar[type[Options]] = MongodbOptions
    options: MongodbOptions

    def connect(self) -> "MongodbSession":
        """Open a client and see that the server answers."""
        return self._connect(self.options.timeout_s)

    def _connect(self, timeout_s: float) -> "MongodbSession":
        from pymongo import MongoClient  # noqa: PLC0415
        from pymongo.errors import PyMongoError  # noqa: PLC0415

        from simulator.modules.mongodb.session import MongodbSession  # noqa: PLC0415

        secrets, client = self.options.secrets(), None
        try:
            with self._tls() as tls:
                reach = {**self._reach(timeout_s), **tls}
                client = MongoClient(secrets["connection_string"], **reach)
            concern = self._write_concern(client)
            name = self.options.database or client.get_default_database(_DATABASE).name
            # Every user may do this, and nobody who is none, unlike a ping.
            client[name].command("listCollections", nameOnly=True, authorizedCollections=True)
        except (PyMongoError, OSError, ValueError) as error:
            if client is not None:
                client.close()
            _, passwords = redacted(secrets["connection_string"])
            told = scrubbed(self.explain(error), [*passwords, secrets.get("password", "")])
            raise SetupError(f"{self.name}: {told}") from None
        write = {"ordered": self.options.ordered, "writeConcern": concern}
        layout, query_timeout_s = self.options.document_format, self.options.query_timeout_s
        return MongodbSession(client, name, write, layout, query_timeout_s)

    def _reach(self, timeout_s: float) -> dict[str, Any]:
        """Return what the driver is to be told."""
        wait_ms = self.options.connect_timeout_s * 1000
        secrets = self.options.secrets()
        reach: dict[str, Any] = {
            "serverSelectionTimeoutMS": wait_ms,
            "connectTimeoutMS": wait_ms,
            "socketTimeoutMS": timeout_s * 1000,
            "maxPoolSize": 1,
            "retryWrites": False,  # the benchmark decides, and counts
            "retryReads": False,
            "appname": f"benchmark {socket.gethostname()}:{os.getpid()}",
        }
        if "password" in secrets:
            reach["password"] = secrets["password"]
        return reach

    @contextmanager
    def _tls(self) -> Iterator[dict[str, Any]]:
        """Give what the driver is to be told of TLS; it reads its files at once."""
        options = self.options
        if options.insecure:
            yield {"tls": True, "tlsAllowInvalidCertificates": True}
        elif options.ca is not None:
            with NamedTemporaryFile("w", suffix=".pem") as file:
                file.write(options.ca.get_secret_value())
                file.flush()
                yield {"tls": True, "tlsCAFile": file.name}
        else:
            yield {"tls": True, "tlsCAFile": options.ca_file} if options.ca_file else {}

    def _write_concern(self, client: Any) -> dict[str, Any]:
        """Return the write concern: of the options, else of the connection string."""
        options = {"w": self.options.w, "j": self.options.j}
        chosen = {name: value for name, value in options.items() if value is not None}
        concern = {
            "w": MAJORITY,
            "wtimeout": int(self.options.timeout_s * 900),  # the server is to say it, before us
            **client.write_concern.document,
            **chosen,
        }
        if concern["w"] == 0:
            raise ValueError("w=0 in connection_string acknowledges nothing; take 1 or more")
        return concern

    @contextmanager
    def _opened(self) -> Iterator["MongodbSession"]:
        """Open a client for something other than a run."""
        from pymongo.errors import PyMongoError  # noqa: PLC0415

        with self._connect(self.options.query_timeout_s) as session:
            try:
                yield session
            except PyMongoError as error:
                raise SetupError(f"{self.name}: {self.explain(error)}") from error

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the collections, all or none."""
        found = [problem for table in tables for problem in documents.problems(table)]
        if found:
            raise SetupError(f"{self.name}: {'; '.join(found)}")
        created: list[str] = []
        with self._opened() as session:
            try:
                for table in tables:
                    for name in table.names:
                        session.database.create_collection(name, **self._collection(table))
                        created.append(name)
            except BaseException:
                for name in created:
                    with suppress(Exception):  # what went wrong first is what counts
                        session.database.drop_collection(name)
                raise
            if self.options.create_indices:
                self._index(session, tables)

    def _collection(self, table: Table) -> dict[str, Any]:
        """Return the options of a collection."""
        layout = self.options.document_format
        if layout is not Format.TIMESERIES:
            return {}
        documents = Documents(table, layout)
        fields = {"timeField": documents.time_field, "metaField": documents.meta_field}
        return {"timeseries": {**fields, "granularity": self.options.granularity}}

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the collections."""
        with self._opened() as session:
            for name in former_names(tables):
                session.database.drop_collection(name)

    def create_indices(self, tables: Sequence[Table]) -> None:
        """Create the secondary indices that are not there yet."""
        with self._opened() as session:
            self._index(session, tables)

    def _index(self, session: "MongodbSession", tables: Sequence[Table]) -> None:
        for table in tables:
            indices = Documents(table, self.options.document_format).indices()
            for name in table.names:
                for index, keys in indices.items():
                    session.database[name].create_index(keys, name=index)

    def settle(self, tables: Sequence[Table]) -> None:
        """Have a checkpoint written, which storage sizes are counted at; FerretDB: compact.

        Rows are queryable once they are acknowledged. WiredTiger has nothing to compact after
        inserts alone; FerretDB's `compact` is PostgreSQL's VACUUM.
        """
        with self._opened() as session:
            if "ferretdb" in session.database.command("buildInfo"):
                for table in tables:
                    for name in table.names:
                        session.database.command("compact", name, force=True)
            else:
                _allowed(session, "fsync")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the storage of the collections and their indices."""
        names = [name for table in tables for name in table.names]
        with self._opened() as session:
            return sum(int(session.database.command("collStats", n)["totalSize"]) for n in names)

    def describe(self) -> Server:
        """Return version, members, and what the write concern in force makes sure of."""
        with self._opened() as session:
            admin = session.client.admin
            build, hello = admin.command("buildInfo"), admin.command("hello")
            concern = self._write_concern(session.client)
            settings = {name: str(value).lower() for name, value in concern.items()}
            settings["document_format"] = self.options.document_format.value
            if ferretdb := build.get("ferretdb"):
                version = f"FerretDB {ferretdb['version'].lstrip('v')}"
                if self.options.document_format is Format.TIMESERIES:
                    version += ", which keeps a time-series in a plain collection"
                told = (
                    "an acknowledged row is committed by PostgreSQL, whose synchronous_commit and "
                    "fsync FerretDB does not tell; it pays no heed to a write concern"
                )
                return Server(version, 1, told, None, settings)
            config = _allowed(session, "replSetGetConfig").get("config", {})
            durable, told = durability(concern, hello, config)
            nodes = _nodes(session, hello)
            return Server(f"MongoDB {build['version']}", nodes, told, durable, settings)

    def render(self, query: Query) -> Statement:
        """Return the query as an aggregation pipeline."""
        return pipelines.render(query, self.options.document_format)

    def explain(self, error: Exception) -> str:
        """Return an error in the server's words, with a remedy where one is known."""
        # Behind these stands all that the driver knows of the servers, or the whole reply.
        words = re.split(r", (?:Timeout: \S+, Topology|full error:)", _told(error))[0]
        words = re.sub(r" \(configured timeouts: [^)]*\)", "", " ".join(words.split()))
        return with_remedy(words, _REMEDIES)


def _told(error: Exception) -> str:
    """Return an error's words; of a bulk reply those of its first error, and how many there are."""
    details = getattr(error, "details", None) or {}
    found = [*details.get("writeErrors", []), *details.get("writeConcernErrors", [])]
    if not found:
        return str(error)
    stored = f"{details['nInserted']} rows were stored and {len(found)} errors reported, the first"
    return f"{found[0].get('errmsg')} ({stored})" if len(found) > 1 else str(found[0].get("errmsg"))


def _allowed(session: "MongodbSession", command: str) -> Mapping[str, Any]:
    """Return the reply of an administrator's command; nothing where it is refused or not known."""
    from pymongo.errors import OperationFailure  # noqa: PLC0415

    try:
        reply: Mapping[str, Any] = session.client.admin.command(command)
    except OperationFailure:
        return {}
    return reply


def _nodes(session: "MongodbSession", hello: Mapping[str, Any]) -> int:
    """Return how many members hold data: of the replica set, or of all shards."""
    if hello.get("msg") == "isdbgrid":
        shards = _allowed(session, "listShards").get("shards", [])
        return sum(len(shard["host"].split(",")) for shard in shards) or 1
    return len([*hello.get("hosts", []), *hello.get("passives", [])]) or 1


_REMEDIES = {
    "(?i)duplicate key": "rows like these are stored already; run with --clean, or use another "
    "--primary-key",
    "already exists": "drop it, or run with --clean",
    "(?i)authentication failed|password is required": "check user and password: "
    "--extra-option password=..., or the target's options; and authSource in connection_string",
    "(?i)not authorized|requires authentication": "give the user readWrite on the database, and "
    "clusterMonitor to read what an acknowledgement means",
    "(?i)CERTIFICATE_VERIFY_FAILED|certificate verify failed": "name the authority's file in "
    "ca_file, or say insecure: true",
    "(?i)refused|reset|timed out|Name or service|resolution|No servers|No route|closed": "check "
    "that the server runs, and host and port in connection_string",
    "(?i)Invalid URI|must be escaped|quote_plus": "write connection_string as "
    "mongodb://user@host:port/, with %-escapes, and the password apart",
}
"""A pattern of the server's or the driver's words -> what to try."""
