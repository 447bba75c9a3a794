"""MongoDB, through pymongo; this program encodes documents as BSON before the driver gets them.

The module also supports FerretDB, which speaks MongoDB's protocol and stores documents in
PostgreSQL.
"""

import os
import re
import socket
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, SecretStr, field_validator

from simulator.data.features import Feature
from simulator.data.query import Query, Statement
from simulator.data.schema import PrimaryKey, Table, names_of
from simulator.errors import SetupError
from simulator.modules.contract import (
    BATCH,
    MOST_COUNTED,
    SINGLE,
    Capabilities,
    Changes,
    Contents,
    Existing,
    Options,
    Server,
    all_or_none,
)
from simulator.modules.mongodb import driver
from simulator.modules.mongodb import query as pipelines
from simulator.modules.mongodb.query import DocumentFormat, Pipelines, TableDocuments
from simulator.modules.mongodb.signatures import Signatures
from simulator.modules.shared.client.driver import DriverOptions
from simulator.modules.shared.conninfo import redact_address
from simulator.modules.shared.http.tls import CERTIFICATES, UNTRUSTED
from simulator.modules.shared.sql.database import IndexOptions
from simulator.protocol.records import RecordFormat

if TYPE_CHECKING:
    from simulator.modules.mongodb.session import MongodbSession

_DATABASE = "benchmark"
_MAJORITY = "majority"
_UNREACHABLE = "(?i)refused|reset|timed out|Name or service|resolution|No servers|No route|closed"
_JOURNAL_FLAG = "writeConcernMajorityJournalDefault"


class MongodbOptions(IndexOptions, DriverOptions):
    """Options of the module `mongodb`."""

    connection_string: SecretStr = Field(
        description="address of the server: mongodb://user@host:port/?replicaSet=... or "
        "mongodb+srv://..., with the driver's options after the question mark"
    )
    password: SecretStr | None = Field(
        None, description="the user's password, unless connection_string contains it"
    )
    database: str = Field(
        "",
        description="name of the database; default: the one in connection_string, or benchmark",
    )
    document_format: DocumentFormat = Field(
        DocumentFormat.FLAT,
        description="flat: every column is a field; key-pair: tags and fields are arrays of "
        "{key, val}; timeseries: a time-series collection with the tags as its metaField",
    )
    granularity: str = Field(
        "seconds",
        pattern="^(seconds|minutes|hours)$",
        description="granularity of a time-series collection: seconds, minutes or hours",
    )
    w: int | str | None = Field(
        None,
        description="write concern: how many members acknowledge a write, or majority; default: "
        "that of connection_string, or majority, the default of MongoDB 5 and later",
    )
    j: bool | None = Field(
        None,
        description="acknowledge a write only when it is in the journal on disk; default: what w "
        "implies",
    )
    ordered: bool = Field(
        default=False,
        description="insert the documents of a batch in order and stop at the first error",
    )
    ca_file: str | None = Field(
        None,
        description="file with the CA certificate (PEM) that signed the server's certificate; "
        "enables TLS",
    )
    ca: SecretStr | None = Field(
        None,
        description="the CA certificate itself, for pods that take it from a Secret: "
        "ca_from: {secret: NAME, key: ca.crt}; enables TLS",
    )
    insecure: bool = Field(
        default=False, description="enable TLS and do not verify the server's certificate"
    )
    connect_timeout_s: int = Field(10, ge=1, description="timeout for a connection")
    timeout_s: float = Field(
        30, ge=1, description="timeout for an acknowledgement by the members that w demands"
    )
    query_timeout_s: float = Field(3600, ge=1, description="timeout for the answer to a query")

    @field_validator("w")
    @classmethod
    def _count_acknowledged(cls, w: int | str | None) -> int | str | None:
        if isinstance(w, str) and w.isdigit():
            w = int(w)
        if w is not None and (w in (0, "") or (isinstance(w, int) and w < 0)):
            raise ValueError(
                f"w={w} acknowledges nothing, so no row could be counted; use 1 or more"
            )
        return w

    def public(self) -> dict[str, Any]:
        """Return the options with the address and the user, without credentials."""
        address, _ = redact_address(self.connection_string.get_secret_value())
        return {**super().public(), "connection_string": address}

    def list_hidden(self) -> set[str]:
        """Return the credentials, including the passwords in connection_string."""
        _, passwords = redact_address(self.connection_string.get_secret_value())
        return super().list_hidden() | passwords


class Mongodb(Signatures):
    """A database of a MongoDB server, replica set or sharded cluster."""

    name = "mongodb"
    urls = ("mongodb://USER@HOST:27017/DATABASE", "mongodb+srv://USER@HOST/DATABASE")
    capabilities = Capabilities(
        formats=frozenset({RecordFormat.BSON}),
        modes={
            SINGLE: "one insert command with one document",
            BATCH: "one unordered insert command, which is not a transaction",
            **driver.MODES,
        },
        primary_keys={
            PrimaryKey.DB: "_id, an ObjectId that the server generates; a time-series collection "
            "has no key",
            PrimaryKey.CLIENT: "_id, a text that the client sends; a time-series collection does "
            "not enforce it",
        },
        acknowledged="stored by as many members as the write concern says; with j, or if "
        "w=majority implies it, also in their journals on disk",
        oldest={"MongoDB": (5, 2)},
        by_version={"MongoDB": "the accumulator $top"},
        indices=True,
        unsupported={
            Feature.QUOTIENTS: "a pipeline could, but the module compares stored numbers only",
            Feature.SUBQUERIES: "a pipeline could, but the module groups once in a pipeline",
        },
        changes=Changes(
            corrects="update commands that replace documents by _id, by the driver's bulk_write",
            retags="an update command, of flat documents",
            deletes="a delete command",
        ),
        plans="explain with executionStats",
        in_client="turns documents into rows",
        limits=(
            "The name of a column has no dot, does not begin with a dollar sign, and is not `_id`.",
            "A row is a document of at most 16 MiB.",
            "Collections are not sharded.",
            "A sum of integers that overflows 64 bits is an error.",
            "FerretDB stores a time series in a plain collection and reports no durability.",
        ),
    )
    options_model: ClassVar[type[Options]] = MongodbOptions
    options: MongodbOptions
    remedies: ClassVar[Mapping[str, str]] = {
        "(?i)duplicate key": "rows with these keys are already stored; run with --clean, or use "
        "another --primary-key",
        "(?i)authentication failed|password is required": "check user and password, and authSource",
        "(?i)not authorized|requires authentication": "grant the user readWrite on the database, "
        "and clusterMonitor to read what an acknowledgement means",
        **CERTIFICATES,
        "(?i)CERTIFICATE_VERIFY_FAILED|certificate verify failed": UNTRUSTED,
        "Write batch size": "use a smaller --batch, or --client own",
        _UNREACHABLE: "check that the server runs, and host and port",
        "(?i)Invalid URI|must be escaped|quote_plus": "write the address as "
        "mongodb://user@host:port/, with %-escapes, and the password in its own option",
    }

    @property
    def changes(self) -> Changes:
        """Return how documents are changed; a time series has the server's limits."""
        known, layout = super().changes, self.options.document_format
        if layout is DocumentFormat.FLAT:
            return known
        if layout is DocumentFormat.KEY_PAIR:
            return replace(known, retags="", no_retags="tags are pairs of key and value")
        why_not = "a time-series collection replaces nothing, and deletes by its metaField only"
        return Changes(no_retags=why_not, no_corrections=why_not, no_deletion=why_not)

    # --- connecting

    def connect(self) -> "MongodbSession":
        from pymongo import MongoClient
        from pymongo.errors import PyMongoError

        from simulator.modules.mongodb.session import MongodbSession

        options, client = self.options, None
        try:
            with self._tls() as tls:
                address = options.connection_string.get_secret_value()
                client = MongoClient(address, **self._driver_options(), **tls)
            concern = self._write_concern(client)
            name = options.database or client.get_default_database(_DATABASE).name
            # Unlike a ping, this command needs a login; every user may run it.
            client[name].command("listCollections", nameOnly=True, authorizedCollections=True)
        except (PyMongoError, OSError, ValueError) as error:
            if client is not None:
                client.close()
            raise self.setup_error(error) from None
        write = {"ordered": options.ordered, "writeConcern": concern}
        timeout_s = options.query_timeout_s
        return MongodbSession(client, name, write, options.document_format, timeout_s)

    def _driver_options(self) -> dict[str, Any]:
        wait_ms = self.options.connect_timeout_s * 1000
        driver_options: dict[str, Any] = {
            "serverSelectionTimeoutMS": wait_ms,
            "connectTimeoutMS": wait_ms,
            "socketTimeoutMS": self.options.timeout_s * 1000,
            "maxPoolSize": 1,
            "retryWrites": False,  # the benchmark decides about retries and counts them
            "retryReads": False,
            "appname": f"benchmark {socket.gethostname()}:{os.getpid()}",
        }
        if self.options.password is not None:
            driver_options["password"] = self.options.password.get_secret_value()
        return driver_options

    @contextmanager
    def _tls(self) -> Iterator[dict[str, Any]]:
        """Yield the driver's options for TLS; constructing the driver reads the files."""
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
        """Return the write concern of the options, or of the connection string."""
        options = {"w": self.options.w, "j": self.options.j}
        chosen = {name: value for name, value in options.items() if value is not None}
        concern = {
            "w": _MAJORITY,
            "wtimeout": int(self.options.timeout_s * 900),  # the server times out before we do
            **client.write_concern.document,
            **chosen,
        }
        if concern["w"] == 0:
            raise ValueError("w=0 acknowledges nothing; use 1 or more")
        return concern

    @contextmanager
    def administration(self) -> Iterator["MongodbSession"]:
        """Open a client; its commands may take as long as a query."""
        import pymongo

        with super().administration() as session, pymongo.timeout(self.options.query_timeout_s):
            yield session

    # --- tables

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        found = [problem for table in tables for problem in pipelines.problems(table)]
        if found:
            raise SetupError(f"{self.name}: {'; '.join(found)}")
        with self.administration() as session, all_or_none() as undo:
            for table in tables:
                for name in table.names:
                    session.database.create_collection(name, **self._collection(table))
                    undo(session.database.drop_collection, name)
            if self.options.create_indices:
                self.create_indices(tables)

    def _collection(self, table: Table) -> dict[str, Any]:
        layout = self.options.document_format
        if layout is not DocumentFormat.TIMESERIES:
            return {}
        documents = TableDocuments(table, layout)
        fields = {"timeField": documents.time_field, "metaField": documents.tags_field}
        return {"timeseries": {**fields, "granularity": self.options.granularity}}

    def contents(self, name: str, found: Existing) -> Contents:
        """Return the number of documents, and the size of a collection."""
        with self.administration() as session:
            rows = session.database[name].count_documents({}, limit=MOST_COUNTED + 1)
        return Contents(rows, self.size_bytes([Table(name, (), ())]) if found.alike else None)

    def drop(self, names: Collection[str]) -> None:
        with self.administration() as session:
            for name in names:
                session.database.drop_collection(name)

    def create_indices(self, tables: Sequence[Table]) -> None:
        with self.administration() as session:
            for table in tables:
                indices = TableDocuments(table, self.options.document_format).indices()
                for name in table.names:
                    for index, keys in indices.items():
                        session.database[name].create_index(keys, name=index)

    def compact(self, tables: Sequence[Table]) -> None:
        """Write a checkpoint, which updates the storage sizes; on FerretDB, compact.

        WiredTiger has nothing to compact after inserts; `compact` of FerretDB is a VACUUM of
        PostgreSQL.
        """
        with self.administration() as session:
            if "ferretdb" in session.database.command("buildInfo"):
                for name in names_of(tables):
                    session.vacuum(name)
            else:
                _if_permitted(session, "fsync")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the storage size of the collections and their indices."""
        with self.administration() as session:
            stats = [session.database.command("collStats", name) for name in names_of(tables)]
        return sum(int(found["totalSize"]) for found in stats)

    # --- the server

    def describe(self) -> Server:
        """Return version, members, and the guarantee of the effective write concern."""
        with self.administration() as session:
            admin = session.client.admin
            build, hello = admin.command("buildInfo"), admin.command("hello")
            concern = self._write_concern(session.client)
            settings = {name: str(value).lower() for name, value in concern.items()}
            settings["document_format"] = self.options.document_format.value
            if ferretdb := build.get("ferretdb"):
                return self._describe_ferretdb(ferretdb["version"].lstrip("v"), settings)
            config = _if_permitted(session, "replSetGetConfig").get("config", {})
            durable, sentence = durability(concern, hello, config)
            nodes = members(session, hello)
            return Server(f"MongoDB {build['version']}", nodes, sentence, durable, settings)

    def _describe_ferretdb(self, version: str, settings: Mapping[str, str]) -> Server:
        version = f"FerretDB {version}"
        if self.options.document_format is DocumentFormat.TIMESERIES:
            version += ", which stores a time series in a plain collection"
        sentence = (
            "an acknowledged row is committed by PostgreSQL, whose synchronous_commit and fsync "
            "FerretDB does not report; FerretDB ignores the write concern"
        )
        return Server(version, 1, sentence, None, settings)

    def translate(self, query: Query) -> Statement:
        return pipelines.render(query, self.options.document_format)

    def texts(self, table: Table) -> Pipelines:
        return Pipelines(table, self.options.document_format, [self.name])

    def words(self, error: Exception) -> str:
        """Return the server's message: the first of several write errors, with their number."""
        details = getattr(error, "details", None) or {}
        found = [*details.get("writeErrors", []), *details.get("writeConcernErrors", [])]
        words = str(found[0].get("errmsg")) if found else str(error)
        if len(found) > 1:
            words += f" ({details['nInserted']} rows were stored and {len(found)} errors reported,"
            words += " the first of which is shown)"
        # Behind these words, the driver lists the servers or repeats the whole reply.
        words = re.split(r", (?:Timeout: \S+, Topology|full error:)", words)[0]
        return re.sub(r" \(configured timeouts: [^)]*\)", "", " ".join(words.split()))


def _if_permitted(session: "MongodbSession", command: str) -> Mapping[str, Any]:
    """Return the reply to an administrator's command; empty if it is refused or unknown."""
    from pymongo.errors import OperationFailure

    try:
        reply: Mapping[str, Any] = session.client.admin.command(command)
    except OperationFailure:
        return {}
    return reply


def members(session: "MongodbSession", hello: Mapping[str, Any]) -> int:
    """Return the number of members of the replica set, or of all shards, that store data."""
    if hello.get("msg") == "isdbgrid":
        shards = _if_permitted(session, "listShards").get("shards", [])
        return sum(len(shard["host"].split(",")) for shard in shards) or 1
    return len([*hello.get("hosts", []), *hello.get("passives", [])]) or 1


def durability(
    concern: Mapping[str, Any], hello: Mapping[str, Any], config: Mapping[str, Any]
) -> tuple[bool | None, str]:
    """Return whether an acknowledged row survives a power cut, and the reason in a sentence.

    `concern` is the client's write concern. `hello` and `config` (of replSetGetConfig) are replies
    of the server; `config` is empty if the user may not read it.
    https://www.mongodb.com/docs/manual/reference/write-concern/#acknowledgment-behavior
    """
    w, j = concern["w"], concern.get("j")
    is_set = "setName" in hello or hello.get("msg") == "isdbgrid"
    where = _describe_members(w) if is_set else "the only server"
    shown = f"w={w}" if j is None else f"w={w}, j={str(j).lower()}"
    if j is None and w == _MAJORITY:
        # The flag belongs to a replica set; a standalone server journals such a write.
        j = config.get(_JOURNAL_FLAG) if is_set else True
        if j is None:
            return None, (
                f"an acknowledged row is in the memory of {where}, and in their journals on disk "
                f"unless {_JOURNAL_FLAG} is off, which this user cannot read or this server does "
                f"not report; set j=true to be sure ({shown})"
            )
        shown += f", {_JOURNAL_FLAG}={str(j).lower()}" if is_set else ""
    if j:
        return True, f"an acknowledged row is in the journal on disk of {where} ({shown})"
    return False, (
        f"an acknowledged row is in the memory of {where}; the journal is synced up to 100 ms "
        f"later ({shown})"
    )


def _describe_members(w: int | str) -> str:
    if w == _MAJORITY:
        return "a majority of the members"
    if w == 1:
        return "the primary"
    return f"{w} members" if isinstance(w, int) else f"the members with the write concern {w!r}"
