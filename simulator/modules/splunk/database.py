"""Splunk Enterprise: rows go to the HTTP Event Collector, questions to the search API.

https://help.splunk.com/en/splunk-enterprise/get-data-in/collect-http-event-data. Written by the
vendor's documentation and not yet run against the real server.
"""

import time
from collections.abc import Sequence
from typing import Any, ClassVar, Literal
from urllib.parse import quote

from pydantic import Field, SecretStr

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
from simulator.modules.shared.http import Http, HttpError, HttpOptions, Refused, basic
from simulator.modules.splunk import query as searches
from simulator.modules.splunk.session import RAW, Collector, SplunkSession, code_of

_INDICES = "/services/data/indexes"
_PROPERTIES = "/servicesNS/nobody/search/configs/conf-props"
_NEVER_S = 4_000_000_000
"""How old a row may become before its index drops it."""
_DAYS_AGO = 10_951
"""How old an instant may be that is read from a line; the largest there is."""
_LOOK_S = 1.0
_EXISTS, _NOT_FOUND = 409, 404


class SplunkOptions(HttpOptions):
    """Options of the module `splunk`."""

    url: str = Field(description="where the HTTP Event Collector listens: https://host:8088")
    token: SecretStr = Field(description="the collector's token, which may write to any index")
    search_url: str = Field(description="where the management API listens: https://host:8089")
    username: str | None = Field(None, description="user of the management API")
    password: SecretStr | None = Field(None, description="the user's password")
    search_token: SecretStr | None = Field(
        None, description="an authentication token of the management API, instead of a user"
    )
    endpoint: Literal["event", "raw"] = Field(
        "event", description="how batches go: as events, or as lines that the server takes apart"
    )
    acknowledge: bool = Field(
        default=False,
        description="true: a send returns once its rows are indexed; the token must have indexer "
        "acknowledgement enabled",
    )
    quiet_s: float = Field(
        5, gt=0, description="settled is what has not become more for so long"
    )  # fmt: skip


class Splunk(Database):
    """A Splunk Enterprise server."""

    name = "splunk"
    capabilities = Capabilities(
        modes={
            SINGLE: "a request with one event",
            BATCH: "a request with many events",
            RAW: "a request with many lines, which the server takes apart (`endpoint: raw`)",
        },
        primary_keys={
            PrimaryKey.NONE: "no key and no id field",
            PrimaryKey.CLIENT: "a field like any other, sent by the client: nothing is unique",
        },
        acknowledged="in the memory of the receiving process, where a crash may lose it; with "
        "`acknowledge` indexed",
        limits=(
            "a row has at most 5,000 bytes of JSON, no empty text, and an instant from 2000 on",
            "a column's name is letters, digits and _",
            "aggregates are merged by the client, out of counts of each value",
            "time buckets, ranges of time and the newest rows of a table in nanoseconds",
            "nothing says that all rows can be found: they have settled once their count rests",
        ),
    )
    options_model: ClassVar[type[Options]] = SplunkOptions
    options: SplunkOptions

    def insert_mode(self, batch_rows: int) -> str:
        """Return the insert mode that the options and the batch size choose."""
        if not batch_rows:
            return SINGLE
        return RAW if self.options.endpoint == RAW else BATCH

    def problems(self, primary_key: PrimaryKey, parts: int, batch_rows: int) -> list[str]:
        """Return, a sentence each, what cannot work."""
        found = super().problems(primary_key, parts, batch_rows)
        options = self.options
        if bool(options.username) != bool(options.password):
            found.append("username and password go together; give both or none")
        if bool(options.search_token) == bool(options.username):
            found.append("the management API wants username and password, or search_token")
        return found

    def connect(self) -> SplunkSession:
        """Open both connections and see that the server lets us in."""
        session = self._open()
        try:
            session.healthy()
            session.call("GET", "/services/server/info")
        except HttpError as error:
            session.close()
            raise self._setup_error(error) from error
        return session

    def _open(self) -> SplunkSession:
        options, secrets = self.options, self.options.secrets()
        if "search_token" in secrets:
            authorization = f"Bearer {secrets['search_token']}"
        else:
            authorization = basic(options.username or "admin", secrets.get("password", ""))
        collector = Http(options, {"Authorization": f"Splunk {secrets['token']}"})
        search = Http(
            options.model_copy(update={"url": options.search_url.rstrip("/")}),
            {"Authorization": authorization},
        )
        return SplunkSession(
            Collector(collector, options.timeout_s, acknowledge=options.acknowledge),
            search,
            options.query_timeout_s,
        )

    def _setup_error(self, error: Exception) -> SetupError:
        return SetupError(f"{self.name}: {self.options.redact(self.explain(error))}")

    def _call(self, method: str, path: str, form: dict[str, Any] | None = None) -> Any:
        """Make one request for something other than a run."""
        with self._open() as session:
            try:
                return session.call(method, path, form)
            except HttpError as error:
                raise self._setup_error(error) from error

    def _search(self, text: str) -> list[searches.Found]:
        with self._open() as session:
            try:
                return [*session.search(text)]
            except HttpError as error:
                raise self._setup_error(error) from error

    # --- tables -----------------------------------------------------------------------------------

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the indices, all or none, and the sourcetypes that say how lines are read."""
        made: list[str] = []
        try:
            for table in tables:
                searches.check(table)
                self._sourcetype(table)
                for name in table.names:
                    form = {"name": searches.index(name), "frozenTimePeriodInSecs": _NEVER_S}
                    self._call("POST", _INDICES, form)
                    made.append(name)
        except SetupError:
            for name in made:
                self._call("DELETE", f"{_INDICES}/{quote(searches.index(name))}")
            raise

    def _sourcetype(self, table: Table) -> None:
        """Say how a row is found in a line, its instant in the row, and its fields in JSON."""
        digits = len(str(table.time_unit.per_second)) - 1
        properties = {
            "SHOULD_LINEMERGE": "false",
            "LINE_BREAKER": r"([\r\n]+)",
            "TIME_PREFIX": searches.BEFORE_TIME,
            "TIME_FORMAT": f"%s%{digits}N" if digits else "%s",
            "MAX_TIMESTAMP_LOOKAHEAD": "20",
            "MAX_DAYS_AGO": str(_DAYS_AGO),
            "TRUNCATE": "0",
            "KV_MODE": "json",
        }
        name = searches.sourcetype(table)
        with self._open() as session:
            try:
                session.call("POST", _PROPERTIES, {"name": name, **properties})
            except HttpError as error:
                if not (isinstance(error, Refused) and error.status == _EXISTS):
                    raise self._setup_error(error) from error

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the indices that are there."""
        with self._open() as session:
            for name in former_names(tables):
                try:
                    session.call("DELETE", f"{_INDICES}/{quote(searches.index(name))}")
                except HttpError as error:
                    if not (isinstance(error, Refused) and error.status == _NOT_FOUND):
                        raise self._setup_error(error) from error

    def settle(self, tables: Sequence[Table]) -> None:
        """Return once the number of rows that can be found has rested for `quiet_s`."""
        text = searches.count(name for table in tables for name in table.names)
        rows, since = self._search(text), time.monotonic()
        while (quiet_s := time.monotonic() - since) < self.options.quiet_s:
            time.sleep(min(_LOOK_S, self.options.quiet_s - quiet_s))
            if (found := self._search(text)) != rows:
                rows, since = found, time.monotonic()

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of the indices' buckets on all indexers."""
        names = (name for table in tables for name in table.names)
        found = (bucket for name in names for bucket in self._search(searches.buckets(name)))
        return int(sum(float(bucket.get("sizeOnDiskMB", 0)) for bucket in found) * 2**20)

    # --- the server -------------------------------------------------------------------------------

    def describe(self) -> Server:
        """Return version and nodes, and what an acknowledgement means with these options."""
        information = self._call("GET", "/services/server/info")["entry"][0]["content"]
        peers = self._call("GET", "/services/search/distributed/peers")["entry"]
        if self.options.acknowledge:
            told, durable = "is indexed; whether it is synced to disk is not documented", None
        else:
            told, durable = "is in the memory of the process that has taken it", False
        return Server(
            version=f"Splunk {information['version']}",
            nodes=max(len(peers), 1),
            durability=f"an acknowledged row {told}",
            durable=durable,
            settings={"indexer acknowledgement": str(self.options.acknowledge).lower()},
        )

    def render(self, query: Query) -> Statement:
        """Return the query as searches."""
        return searches.render(query)

    def explain(self, error: Exception) -> str:
        """Return an error in the server's words, with a remedy where one is known."""
        if not isinstance(error, HttpError):
            return super().explain(error)
        return with_remedy(str(error), _REMEDIES, _OF_CODE.get(code_of(error)))


_OF_CODE: dict[int | None, str] = {
    1: "enable the token",
    4: "check token among the target's options",
    7: "let the token write to every index: leave its list of indices empty",
    9: "use fewer workers, or more parallel ingestion pipelines",
    10: "the token asks for acknowledgement: run with acknowledge=true",
    14: "enable indexer acknowledgement for the token, or leave acknowledge out",
}
"""The collector's code -> what to try."""
_REMEDIES = {
    "already exists": "drop it, or run with --clean",
    "does not exist": "run an insert first",
}
"""A pattern of the server's words -> what to try."""
