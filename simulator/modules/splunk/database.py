"""Splunk Enterprise: rows go to the HTTP Event Collector, queries to the search API.

https://help.splunk.com/en/splunk-enterprise/get-data-in/collect-http-event-data. Written from the
vendor's documentation and not run against the server.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar, Literal

from pydantic import Field, SecretStr, field_validator

from simulator.data.features import Feature
from simulator.data.query import Query, Statement
from simulator.data.schema import PrimaryKey, Table, names_of
from simulator.modules.contract import (
    BATCH,
    MISSING,
    SINGLE,
    Capabilities,
    Columns,
    Contents,
    Existing,
    Server,
    all_or_none,
)
from simulator.modules.shared.http.client import Http, HttpOptions, Refused, basic, check_url
from simulator.modules.shared.http.database import HttpDatabase
from simulator.modules.shared.waits import wait_until_stable
from simulator.modules.splunk import query as searches
from simulator.modules.splunk import wire
from simulator.modules.splunk.session import SplunkSession, code_of
from simulator.modules.splunk.wire import RAW
from simulator.protocol.records import RecordFormat

_INDICES = "/services/data/indexes"
_PROPERTIES = "/servicesNS/nobody/search/configs/conf-props"
_NEVER_S = 4_000_000_000
"""Age at which an index drops rows."""
_DAYS_AGO = 10_951
"""Age of the oldest instant that Splunk reads from a line; its largest setting."""
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
        "event", description="how batches are sent: as events, or as lines that the server splits"
    )
    acknowledge: bool = Field(
        default=False,
        description="true: acknowledge a batch once its rows are indexed; the token must have "
        "indexer acknowledgement enabled",
    )
    quiet_s: float = Field(
        5, gt=0, description="rows are visible once their count is stable for so long"
    )

    @field_validator("search_url")
    @classmethod
    def _search_url(cls, url: str) -> str:
        return check_url(url)


class Splunk(HttpDatabase[SplunkSession]):
    """A Splunk Enterprise server."""

    name = "splunk"
    urls = ("splunk+https://USERNAME@HOST:8088?search_url=https://HOST:8089",)
    declares_columns: ClassVar[bool] = False
    capabilities = Capabilities(
        formats=frozenset({RecordFormat.SPLUNK}),
        modes={
            SINGLE: "a request with one event",
            BATCH: "a request with many events",
            RAW: "a request with many lines, which the server splits (`endpoint: raw`)",
        },
        primary_keys={
            PrimaryKey.NONE: "no key and no id field",
            PrimaryKey.CLIENT: "a field like any other, sent by the client: nothing is unique",
        },
        acknowledged="in the memory of the receiving process, lost if it crashes; with "
        "`acknowledge` indexed",
        unsupported={
            Feature.QUOTIENTS: "a search could, but the module compares stored numbers only",
            Feature.SUBQUERIES: "a search could, but the module groups once in a search",
        },
        no_time_sums="the client would have to fetch the count of each different time",
        in_client="decodes JSON; calculates aggregates from counts of each value, because the "
        "digits of the server's own aggregates are not documented",
        late="a search sees events once they are indexed",
        no_plans="a search names its parts in a job of its own, which this draft does not ask for",
        limits=(
            "a row has at most 5,000 bytes of JSON, no empty text, and an instant from 2000 on",
            "a column's name is letters, digits and _",
            "integers from 2**53 on cannot be compared",
            "no time buckets, ranges of time or newest rows of a table in nanoseconds",
            "Splunk does not report when all rows are searchable: their count must be stable",
        ),
    )
    options_model = SplunkOptions
    options: SplunkOptions
    remedies: ClassVar[Mapping[str, str]] = {"does not exist": MISSING}

    def insert_mode(self, mode: str) -> str:
        return RAW if mode == BATCH and self.options.endpoint == RAW else mode

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        found = super().problems(key, parts, mode, batch_rows)
        options = self.options
        if bool(options.username) != bool(options.password):
            found.append("username and password go together; give both or none")
        if bool(options.search_token) == bool(options.username):
            found.append("the management API needs username and password, or search_token")
        return found

    def open(self) -> SplunkSession:
        options, secrets = self.options, self.options.secrets()
        if "search_token" in secrets:
            authorization = f"Bearer {secrets['search_token']}"
        else:
            authorization = basic(options.username or "admin", secrets.get("password", ""))
        management = options.model_copy(update={"url": options.search_url})
        return SplunkSession(
            Http(options, {"Authorization": f"Splunk {secrets['token']}"}),
            Http(management, {"Authorization": authorization}),
            options.timeout_s if options.acknowledge else None,
        )

    # --- tables -----------------------------------------------------------------------------------

    def objects(self, table: Table) -> list[str]:
        return [*map(wire.index, table.names)]

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        found = {}
        with self.administration() as session:
            for name in names:
                with _ignore(_NOT_FOUND):
                    session.call("GET", f"{_INDICES}/{name}")
                    found[name] = Existing("index")
        return found

    def columns_in(self, name: str) -> Columns:
        with self.administration() as session:
            events = [*session.search(searches.some(name))]
        return dict.fromkeys((f for event in events for f in wire.fields_of(event["_raw"])), "")

    def layouts(self, name: str, tables: Sequence[Table]) -> Iterable[Columns]:
        for table in tables:
            yield dict.fromkeys((wire.row_field(c.name) for c in table.columns), "")

    def contents(self, name: str, found: Existing) -> Contents:
        """Return the number of events, and the index's size on all indexers."""
        with self.administration() as session:
            rows = [*session.search(searches.count([name]))]
            size_bytes = self._size_bytes(session, [name])
        return Contents(int(rows[0]["count"]) if rows else 0, size_bytes)

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        with self.administration() as session, all_or_none() as undo:
            for table in tables:
                wire.check_names(table)
                with _ignore(_EXISTS):
                    session.call("POST", _PROPERTIES, _define_sourcetype(table))
                for name in self.objects(table):
                    form = {"name": name, "frozenTimePeriodInSecs": _NEVER_S}
                    session.call("POST", _INDICES, form)
                    undo(session.call, "DELETE", f"{_INDICES}/{name}")

    def drop(self, names: Collection[str]) -> None:
        with self.administration() as session:
            for name in names:
                with _ignore(_NOT_FOUND):
                    session.call("DELETE", f"{_INDICES}/{name}")

    def visible(self, tables: Sequence[Table]) -> None:
        """Return once the number of searchable rows has not changed for `quiet_s`."""
        text = searches.count(names_of(tables))
        with self.administration() as session:
            wait_until_stable(lambda: [*session.search(text)], self.options.quiet_s, _LOOK_S)

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of the indices' buckets on all indexers."""
        with self.administration() as session:
            return self._size_bytes(session, names_of(tables))

    def _size_bytes(self, session: SplunkSession, names: Sequence[str]) -> int:
        found = [b for name in names for b in session.search(searches.buckets(name))]
        return int(sum(float(bucket.get("sizeOnDiskMB", 0)) for bucket in found) * 2**20)

    # --- the server -------------------------------------------------------------------------------

    def describe(self) -> Server:
        with self.administration() as session:
            information = session.call("GET", "/services/server/info")["entry"][0]["content"]
            peers = session.call("GET", "/services/search/distributed/peers")["entry"]
        if self.options.acknowledge:
            state, durable = "is indexed; whether it is synced to disk is not documented", None
        else:
            state, durable = "is in the memory of the process that took it", False
        return Server(
            version=f"Splunk {information['version']}",
            nodes=max(len(peers), 1),
            durability=f"an acknowledged row {state}",
            durable=durable,
            settings={"indexer acknowledgement": str(self.options.acknowledge).lower()},
        )

    def translate(self, query: Query) -> Statement:
        return searches.render(query)

    def remedy(self, error: Exception) -> str | None:
        return _OF_CODE.get(code_of(error)) or super().remedy(error)


def _define_sourcetype(table: Table) -> dict[str, str]:
    """Return the settings for reading a row, with instant and fields, from a line."""
    digits = len(str(table.time_unit.per_second)) - 1
    return {
        "name": wire.sourcetype(table),
        "SHOULD_LINEMERGE": "false",
        "LINE_BREAKER": r"([\r\n]+)",
        "TIME_PREFIX": wire.BEFORE_TIME,
        "TIME_FORMAT": f"%s%{digits}N" if digits else "%s",
        "MAX_TIMESTAMP_LOOKAHEAD": "20",
        "MAX_DAYS_AGO": str(_DAYS_AGO),
        "TRUNCATE": "0",
        "KV_MODE": "json",
    }


@contextmanager
def _ignore(status: int) -> Iterator[None]:
    try:
        yield
    except Refused as error:
        if error.status != status:
            raise


_OF_CODE: dict[int | None, str] = {
    1: "enable the token",
    4: "check the token",
    7: "let the token write to every index: leave its list of indices empty",
    9: "use fewer workers, or more parallel ingestion pipelines",
    10: "the token requires acknowledgement: run with acknowledge=true",
    14: "enable indexer acknowledgement for the token, or leave acknowledge out",
}
"""The collector's code -> what to try."""
