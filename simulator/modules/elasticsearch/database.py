"""Elasticsearch 8 and 9 and OpenSearch 2 and 3, by HTTP.

Not through a client package: that of Elasticsearch refuses OpenSearch, and a server of another
major version than its own (media types); the other way round it is the same. The requests that a
benchmark makes are the same for all of them, and bulk bodies are made of columns beforehand, which
leaves a client nothing to do.
"""

import json
import time
from collections.abc import Sequence
from typing import Any, ClassVar, Literal
from urllib.parse import quote

from pydantic import Field, SecretStr

from simulator.data.query import Query, Statement
from simulator.data.schema import Column, PrimaryKey, Role, Table, TimeUnit, Type, former_names
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
from simulator.modules.elasticsearch import query as queries
from simulator.modules.elasticsearch.session import BulkError, ElasticsearchSession, words
from simulator.modules.shared.http import Http, HttpError, HttpOptions, Refused, basic

_TYPES = {
    Type.INT16: "short",
    Type.INT32: "integer",
    Type.INT64: "long",
    Type.FLOAT32: "float",
    Type.FLOAT64: "double",
    Type.BOOL: "boolean",
    Type.TEXT: "keyword",
    Type.TIMESTAMP: "long",  # but for milliseconds, see is_date
}
_DOC_VALUES_OF_A_SEARCH = 100
_POLL_S = 0.2


class ElasticsearchOptions(HttpOptions):
    """Options of the module `elasticsearch`."""

    username: str | None = Field(None, description="user, if the server asks for one")
    password: SecretStr | None = Field(None, description="the user's password")
    api_key: SecretStr | None = Field(
        None, description="an API key as Elasticsearch gives it out (encoded), instead of a user"
    )
    template: Literal["default", "aggregation"] = Field(
        "default",
        description="default: everything indexed, the document kept; aggregation: no document kept "
        "(_source) and fields not indexed, which saves space and leaves aggregations as they are",
    )
    shards: int | None = Field(None, ge=1, description="primary shards of an index")
    replicas: int | None = Field(None, ge=0, description="copies of each shard beside the primary")
    refresh_interval: str | None = Field(
        None, description="how often new rows become visible, such as 30s; -1: not until settled"
    )
    refresh: Literal["false", "true", "wait_for"] = Field(
        "false", description="true, wait_for: a send returns once its rows are visible"
    )
    translog_durability: Literal["request", "async"] = Field(
        "request",
        description="request: synced to disk before it is acknowledged; async: later "
        "(index.translog.durability)",
    )
    force_merge: bool = Field(
        default=True, description="merge each shard into one segment when settling"
    )
    gzip: bool = Field(default=False, description="send bulk requests compressed")


class Elasticsearch(Database):
    """A cluster of Elasticsearch or OpenSearch."""

    name = "elasticsearch"
    capabilities = Capabilities(
        modes={
            SINGLE: "a bulk request of one document",
            BATCH: "one bulk request, each document on its own: it is no transaction",
        },
        primary_keys={
            PrimaryKey.DB: "_id, drawn by the server",
            PrimaryKey.CLIENT: "_id, sent by the client; a document that is there is not replaced",
        },
        acknowledged="in the translog of the primary and of every copy in sync; "
        "index.translog.durability says whether that was synced to disk; visible after a refresh",
        oldest={"Elasticsearch": (8, 0), "OpenSearch": (2, 0)},
        limits=(
            "floats must be finite, texts no longer than 32,766 bytes, client keys than 512",
            "the least and the greatest client key cannot be asked for: it is the _id",
            "time buckets of a table that counts nanoseconds: histograms count in doubles",
        ),
    )
    options_model: ClassVar[type[Options]] = ElasticsearchOptions
    options: ElasticsearchOptions

    def problems(self, primary_key: PrimaryKey, parts: int, batch_rows: int) -> list[str]:
        """Return what cannot work."""
        found = super().problems(primary_key, parts, batch_rows)
        options = self.options
        if options.api_key and (options.username or options.password):
            found.append("api_key and username exclude each other; choose one")
        elif bool(options.username) != bool(options.password):
            found.append("username and password go together; give both or none")
        return found

    def connect(self) -> ElasticsearchSession:
        """Open a connection and see that the server lets us in."""
        session = self._open()
        try:
            session.call("GET", "/")
        except HttpError as error:
            session.close()
            raise self._setup_error(error) from error
        return session

    def _open(self) -> ElasticsearchSession:
        options, secrets, headers = self.options, self.options.secrets(), {}
        if "api_key" in secrets:
            headers["Authorization"] = f"ApiKey {secrets['api_key']}"
        elif options.username:
            headers["Authorization"] = basic(options.username, secrets.get("password", ""))
        return ElasticsearchSession(
            Http(options, headers), options.refresh, options.query_timeout_s, zipped=options.gzip
        )

    def _setup_error(self, error: Exception) -> SetupError:
        return SetupError(f"{self.name}: {self.options.redact(self.explain(error))}")

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        """Make one request for something other than a run."""
        with self._open() as session:
            try:
                return session.call(method, path, body)
            except HttpError as error:
                raise self._setup_error(error) from error

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the indices, all or none."""
        made: list[str] = []
        try:
            for table in tables:
                for name in table.names:
                    path = queries.indices([name])
                    self._call("PUT", f"/{path}", self._index(table))
                    made.append(path)
        except SetupError:
            for path in made:
                self._call("DELETE", f"/{path}")
            raise

    def _index(self, table: Table) -> dict[str, Any]:
        """Return what the index of a table is made with."""
        options = self.options
        columns = [column for column in table.columns if not queries.is_key(column)]
        settings = {
            "translog.durability": options.translog_durability,
            "mapping.coerce": False,  # a value of another type is refused, not changed
            "number_of_shards": options.shards,
            "number_of_replicas": options.replicas,
            "refresh_interval": options.refresh_interval,
        }
        if len(columns) > _DOC_VALUES_OF_A_SEARCH:
            settings["max_docvalue_fields_search"] = len(columns)
        mappings: dict[str, Any] = {
            "dynamic": "strict",
            "properties": {c.name: self._field(c, table.time_unit) for c in columns},
        }
        if options.template == "aggregation":
            mappings["_source"] = {"enabled": False}
        given = {name: value for name, value in settings.items() if value is not None}
        return {"settings": {"index": given}, "mappings": mappings}

    def _field(self, column: Column, unit: TimeUnit) -> dict[str, Any]:
        field: dict[str, Any] = {"type": _TYPES[column.type]}
        if queries.is_date(column, unit):
            field = {"type": "date", "format": "epoch_millis"}
        if self.options.template == "aggregation" and column.role is Role.FIELD:
            field["index"] = False
        return field

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the indices."""
        names = queries.indices(former_names(tables))
        self._call("DELETE", f"/{names}?ignore_unavailable=true")

    def settle(self, tables: Sequence[Table]) -> None:
        """Make every row visible, then merge each shard's segments into one."""
        names = queries.indices(name for table in tables for name in table.names)
        self._call("POST", f"/{names}/_refresh")
        if self.options.force_merge:
            merge = "_forcemerge?max_num_segments=1&wait_for_completion=false"
            task = quote(self._call("POST", f"/{names}/{merge}")["task"])
            while not (found := self._call("GET", f"/_tasks/{task}"))["completed"]:
                time.sleep(_POLL_S)
            if "error" in found:
                raise SetupError(f"{self.name}: the merge failed: {json.dumps(found['error'])}")
        # What has been merged is let go of when the files are committed and opened anew.
        self._call("POST", f"/{names}/_flush?wait_if_ongoing=true")
        self._call("POST", f"/{names}/_refresh")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of the indices on all nodes, copies included."""
        names = queries.indices(name for table in tables for name in table.names)
        found = self._call("GET", f"/{names}/_stats/store?filter_path=error,_all.total.store")
        return int(found["_all"]["total"]["store"]["size_in_bytes"])

    def describe(self) -> Server:
        """Return version and nodes, and what an acknowledgement means with these options.

        Durability is a setting of each index, which `create` gives it: the server has no default
        that could be another.
        """
        version = self._call("GET", "/")["version"]
        nodes = self._call("GET", "/_nodes/_all?filter_path=error,_nodes")["_nodes"]["total"]
        product = "OpenSearch" if version.get("distribution") == "opensearch" else "Elasticsearch"
        durable = self.options.translog_durability == "request"
        when = "synced to disk" if durable else "written, and synced to disk seconds later,"
        return Server(
            version=f"{product} {version['number']}",
            nodes=nodes,
            durability=f"an acknowledged row is in the translog, {when} on the primary and every "
            f"copy in sync (index.translog.durability={self.options.translog_durability})",
            durable=durable,
            settings={"index.translog.durability": self.options.translog_durability},
        )

    def render(self, query: Query) -> Statement:
        """Return the query as a search."""
        return queries.render(query)

    def explain(self, error: Exception) -> str:
        """Return an error in the server's words, with a remedy where one is known."""
        if not isinstance(error, HttpError):
            return super().explain(error)
        status = error.status if isinstance(error, BulkError | Refused) else None
        return with_remedy(words(error), _REMEDIES, _OF_STATUS.get(status))


_REMEDIES = {
    "version_conflict": "rows like these are stored already; run with --clean",
    "resource_already_exists": "drop it, or run with --clean",
    "index_not_found": "run an insert first",
    "maximum shards open": "drop indices, or raise cluster.max_shards_per_node",
}
"""A pattern of the words -> what to try."""
_OF_STATUS: dict[int | None, str] = {
    401: "check username and password, or api_key, among the target's options",
    403: "let the user create, write, read, monitor and delete the index",
    404: "check that url is that of Elasticsearch or OpenSearch",
    413: "use a smaller --batch, or raise http.max_content_length on the server",
    429: "use fewer workers, or give the server more memory",
}
"""A status -> what to try, where the words say nothing of it."""
