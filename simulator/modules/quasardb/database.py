"""QuasarDB, through the batch writer of its client.

https://doc.quasar.ai/master/: a table has a column `$timestamp` and is split into shards by time.
Written from the vendor's documentation and the client library; not tested on a server.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, Literal

from pydantic import Field, SecretStr

from simulator.data.features import Feature
from simulator.data.query import AggregateQuery, Query, Statement
from simulator.data.schema import FLOATS, PrimaryKey, Table, Type, names_of
from simulator.modules.contract import (
    BATCH,
    MISSING,
    SINGLE,
    Capabilities,
    Columns,
    Contents,
    Database,
    Existing,
    Options,
    Server,
)
from simulator.modules.quasardb.query import check_names, render
from simulator.modules.quasardb.session import ASYNC, FAST, QuasarSession, list_columns
from simulator.modules.shared.http.tls import CONNECT_S
from simulator.modules.shared.metrics.rollups import COUNT_ROWS
from simulator.modules.shared.waits import wait_until_stable

_POLL_S = 0.2


class QuasarOptions(Options):
    """Options of the module `quasardb`."""

    uri: str = Field(pattern=r"^qdb://.+:\d+$", description="the cluster: qdb://host:2836")
    user: str | None = Field(None, description="user, if the cluster is secured")
    user_private_key: SecretStr | None = Field(None, description="the user's secret key")
    cluster_public_key: str | None = Field(
        None, description="the cluster's public key, if it is secured"
    )
    encryption: bool = Field(default=False, description="encrypt the connection")
    push: Literal["transactional", "fast", "async"] = Field(
        "transactional",
        description="how batches are pushed; async: acknowledged in the server's memory, before "
        "they are written",
    )
    write_through: bool = Field(
        default=True, description="do not keep rows in the server's cache after they are written"
    )
    shard_size_s: int = Field(86_400, ge=1, description="the span of time of a shard, in seconds")
    timeout_s: float = Field(60, gt=0, description="how long to wait for an answer")
    quiet_s: float = Field(
        5,
        gt=0,
        description="with push=async, how long the count of rows must be stable",
    )
    trim: bool = Field(
        default=False,
        description="trim old versions and compact files after an insert, of everything that the "
        "cluster stores",
    )
    trim_s: float = Field(3600, gt=0, description="how long trimming may take")


class QuasarDb(Database[QuasarSession]):
    """A QuasarDB cluster."""

    name = "quasardb"
    urls = ("quasardb://USER@HOST:2836",)
    capabilities = Capabilities(
        modes={
            SINGLE: "a transactional push of one row",
            BATCH: "a transactional push of columns",
            FAST: "the same without copies of shards (`push: fast`)",
            ASYNC: "the same into the server's pipelines, which write later (`push: async`)",
        },
        primary_keys={
            PrimaryKey.NONE: "no key: a row that is sent twice is stored twice",
            PrimaryKey.CLIENT: "an ordinary column from the client: it is not unique",
        },
        acknowledged="written to the shards, and synced to disk if the server's sync_every_write "
        "is set; with push=async in the memory of the server",
        unsupported={
            Feature.ENDS: "first() and last() give no time to merge tables by, and how they treat "
            "NULL is not documented",
            Feature.NEWEST_BUCKETS: "where the intervals of GROUP BY begin is not documented",
            Feature.QUOTIENTS: "the result of a division by 0 is not documented",
            Feature.SUBQUERIES: "the client computes means, so the server never has the answer",
        },
        in_client="turns columns into rows; computes means, and aggregates of several tables, from "
        "sums and counts",
        by_version={"QuasarDB": "engine_version in its status; without it the client's version"},
        no_plans="this draft could not be tried on a server that explains queries",
        limits=(
            "Names are letters, digits and _.",
            "An empty text and the least 64-bit integer mean NULL, and are refused.",
            "It has no time buckets, no distinct keys, and no extremes of times and texts.",
            "An acknowledgement has no count of rows; the size on disk of a table is unknown.",
        ),
    )
    options_model: ClassVar[type[Options]] = QuasarOptions
    options: QuasarOptions
    remedies: ClassVar[Mapping[str, str]] = {
        "Connection refused|timed out": "check that the server runs, and host and port",
        "cannot be resolved": "check the host",
        "cryptographic key": "check user_private_key and cluster_public_key",
        "qdb_connect: The argument is invalid": "write the address as qdb://host:port",
        "uthenticat": "check the credentials: user, user_private_key and cluster_public_key",
        "could not be found": MISSING,
    }

    def insert_mode(self, mode: str) -> str:
        pushes = {"fast": FAST, "async": ASYNC}
        return pushes.get(self.options.push, mode) if mode == BATCH else mode

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        found = super().problems(key, parts, mode, batch_rows)
        options = self.options
        keys = (options.user, options.user_private_key, options.cluster_public_key)
        if any(keys) and not all(keys):
            found.append(
                "user, user_private_key and cluster_public_key go together; set all of them"
            )
        return found

    def connect(self) -> QuasarSession:
        driver = _driver()
        options, secrets = self.options, self.options.secrets()
        try:
            cluster = driver.Cluster(
                options.uri,
                user_name=options.user or "",
                user_private_key=secrets.get("user_private_key", ""),
                cluster_public_key=options.cluster_public_key or "",
                timeout=timedelta(seconds=min(CONNECT_S, options.timeout_s)),
                enable_encryption=options.encryption,
            )
            cluster.options().set_timeout(timedelta(seconds=options.timeout_s))
            return QuasarSession(driver, cluster, write_through=options.write_through)
        except driver.Error as error:
            raise self.setup_error(error) from error

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        with self.administration() as session:
            return {n: Existing("entry") for n in names if session.cluster.table(n).exists()}

    def columns_in(self, name: str) -> Columns:
        """Return the columns of a table; none of an entry of another type."""
        driver = _driver()
        with self.administration() as session:
            try:
                found = session.cluster.table(name).list_columns()
            except driver.Error:  # the entry is not a table
                return {}
        return {c.name: str(c.type) for c in found if not c.name.startswith("$")}

    def layouts(self, name: str, tables: Sequence[Table]) -> Iterable[Columns]:
        types = _driver().ColumnType
        for table in tables:
            yield {c.name: str(_choose_type(types, c.type)) for c in list_columns(table)}

    def contents(self, name: str, found: Existing) -> Contents:
        with self.administration() as session:
            ((rows,),) = session.run(self.render(AggregateQuery(Table(name, (), ()), COUNT_ROWS)))
        return Contents(int(rows))

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        check_names(tables)
        driver = _driver()
        types = driver.ColumnType
        size = timedelta(seconds=self.options.shard_size_s)
        with self.administration() as session:
            for name in names_of(tables):
                if session.cluster.table(name).exists():
                    raise self.already_exists(f"table {name}")
            for table in tables:
                columns = [
                    driver.ColumnInfo(_choose_type(types, c.type), c.name)
                    for c in list_columns(table)
                ]
                for name in table.names:
                    session.cluster.table(name).create(columns, size)

    def drop(self, names: Collection[str]) -> None:
        with self.administration() as session:
            for name in names:
                table = session.cluster.table(name)
                if table.exists():
                    table.remove()

    @property
    def late(self) -> str:
        """The reason, with push=async, that queries miss rows in pipelines."""
        is_async = self.options.push == ASYNC
        return "push=async: the server writes its pipelines later" if is_async else ""

    def visible(self, tables: Sequence[Table]) -> None:
        """Wait until the server has written the pipelines of asynchronous pushes."""
        if self.options.push != ASYNC:
            return
        queries = [self.render(AggregateQuery(table, COUNT_ROWS)) for table in tables]
        with self.administration() as session:
            wait_until_stable(
                lambda: [session.run(query) for query in queries], self.options.quiet_s, _POLL_S
            )

    def compact(self, tables: Sequence[Table]) -> None:
        """Trim old versions and compact files of the whole cluster, if the options ask for it."""
        if not self.options.trim:
            return
        with self.administration() as session:
            wait = timedelta(seconds=self.options.trim_s)
            session.cluster.trim_all(timedelta(0), wait)
            session.cluster.compact_full()
            session.cluster.wait_for_compaction()

    def describe(self) -> Server:
        with self.administration() as session:
            nodes = session.cluster.endpoints()
            status = session.cluster.node_status(self.options.uri)
            config = session.cluster.node_config(self.options.uri)
        version = _find(status, "engine_version") or f"of a client {_driver().version()}"
        synced = _find(config, "sync_every_write")
        settings: dict[str, str] = {"push": self.options.push}
        if synced is not None:
            settings["sync_every_write"] = str(synced).lower()
        durable: bool | None
        if self.options.push == ASYNC:
            durable, meaning = False, "is in the memory of the server, before it is written"
        elif isinstance(synced, bool):
            durable = synced
            meaning = "is written" + (", and synced to disk" if synced else ", but not synced")
        else:
            durable, meaning = None, "is written; the server does not report whether it is synced"
        return Server(
            f"QuasarDB {version}", len(nodes), f"an acknowledged row {meaning}", durable, settings
        )

    def translate(self, query: Query) -> Statement:
        return render(query)

    def words(self, error: Exception) -> str:
        return f"{self.options.uri}: {str(error).rstrip('.')}"


def _driver() -> Any:
    import quasardb

    return quasardb


def _choose_type(types: Any, kind: Type) -> Any:
    """Return the type that holds all values; instants are numbers in the table's unit."""
    if kind is Type.TEXT:
        return types.String
    return types.Double if kind in FLOATS else types.Int64


def _find(tree: Any, key: str) -> Any:
    """Return the first value of a key at any depth of a tree; None if there is none."""
    if not isinstance(tree, Mapping):
        return None
    if key in tree:
        return tree[key]
    found = (_find(branch, key) for branch in tree.values())
    return next((value for value in found if value is not None), None)
