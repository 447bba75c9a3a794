"""One connection to InfluxDB: how lines are sent, and queries in its two languages asked."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from simulator.data.block import Block
from simulator.data.query import RowsQuery, Statement
from simulator.data.schema import Table, TimeUnit
from simulator.encode.lineprotocol import LineProtocol
from simulator.modules.base import Failure, Payload, Session
from simulator.modules.influxdb import influxql
from simulator.modules.influxdb import query as flux
from simulator.modules.influxdb.answers import Chunk, Language, Plan, Subquery, plain_rows, rows_of
from simulator.modules.shared.http import Body, Http, NoAnswer, Refused, classify, gzipped, lines

_CACHE_FULL = "cache-max-memory-size exceeded"
_STORED = 204


PRECISIONS = {unit: unit.value for unit in TimeUnit}


class Reach(NamedTuple):
    """Where a session's requests go, and what they carry."""

    write: str
    """Path and query that write to a database; {database} and {precision} stand for those."""
    influxql: str
    flux: str
    precisions: Mapping[TimeUnit, str]
    gzip: bool
    query_timeout_s: float


class InfluxSession(Session):
    """A connection, over which lines go out as bytes."""

    def __init__(self, http: Http, reach: Reach, prefix: str, language: Language) -> None:
        self.http = http
        self._reach = reach
        self._prefix = prefix
        self._language = language
        self._encoders: dict[str, tuple[str, LineProtocol]] = {}
        self._headers = {"Content-Type": "text/plain; charset=utf-8"}
        if reach.gzip:
            self._headers["Content-Encoding"] = "gzip"

    def close(self) -> None:
        """Close the connection."""
        self.http.close()

    @property
    def alive(self) -> bool:
        """Whether the connection can still be used."""
        return self.http.alive

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as lines beside the path to post them to."""
        if block.name not in self._encoders:
            encoder = LineProtocol(block.table, block.name)
            self._encoders[block.name] = self._path(block.table), encoder
        path, encoder = self._encoders[block.name]
        bodies: Iterable[Body] = encoder.encode(block, rows_per_send)
        if self._reach.gzip:
            bodies = map(gzipped, bodies)
        starts = range(0, len(block), rows_per_send)
        return [
            Payload(min(rows_per_send, len(block) - start), mode, (path, body))
            for start, body in zip(starts, bodies, strict=True)
        ]

    def _path(self, table: Table) -> str:
        database = quote(self._prefix + table.name, safe="")
        precision = self._reach.precisions[table.time_unit]
        return self._reach.write.format(database=database, precision=precision)

    def send(self, payload: Payload) -> None:
        """Post the lines and return once they are acknowledged, all of them."""
        path, body = payload.data
        reply = self.http.request("POST", path, body, self._headers)
        if reply.status != _STORED:  # a server that stores lines has nothing to say about it
            raise NoAnswer(f"expected 204, got {reply.status}: {reply.body[:200]!r}")

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows.

        A partial write (field type conflict, beyond the retention period) is fatal: the refused
        rows never will be stored, and the rest of the batch does not count as acknowledged.
        """
        if isinstance(error, Refused) and _CACHE_FULL in error.words:
            # Rows of other shards may be stored; sent again, they are replaced by the same.
            return Failure.NOT_APPLIED
        return classify(error)

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement's parts and put their answers together."""
        if not statement.parameters:
            return self._tuned(statement)
        (plan,) = statement.parameters
        return rows_of(plan, self._answers(plan))

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions; whole rows come in chunks."""
        plan = statement.parameters[0] if statement.parameters else None
        if not isinstance(plan, Plan) or not isinstance(plan.query, RowsQuery):
            yield from super().stream(statement, rows)
            return
        for _, chunk in self.ask_influxql(plan.text, rows):
            yield list(plain_rows(plan.query.table, chunk))

    def _tuned(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a text of config.yaml; its answer has columns named as those of the query."""
        is_flux = self._language is Language.FLUX
        answers = self._ask_flux(statement.text) if is_flux else self.ask_influxql(statement.text)
        names = [output.name for output in statement.outputs]
        rows: list[Sequence[Any]] = []
        for _, chunk in answers:
            known = {*chunk.columns, *chunk.shared}
            if missing := [name for name in names if name not in known]:
                raise ValueError(f"expected columns {', '.join(names)}; {missing[0]} is missing")
            rows += zip(*(chunk[name] for name in names), strict=True)
        return rows

    def _answers(self, plan: Plan) -> Iterator[tuple[Subquery, Chunk]]:
        """Run all subqueries of a language in one request."""
        by_language = {
            language: [each for each in plan.subqueries if each.language is language]
            for language in Language
        }
        if asked := by_language[Language.FLUX]:
            named = {each.name: each for each in asked}
            for name, chunk in self._ask_flux("\n".join(each.text for each in asked)):
                yield named[name], chunk
        if asked := by_language[Language.INFLUXQL]:
            for number, chunk in self.ask_influxql("; ".join(each.text for each in asked)):
                yield asked[number], chunk

    def ask_influxql(
        self, text: str, chunk_rows: int = influxql.CHUNK_ROWS
    ) -> Iterator[tuple[int, Chunk]]:
        """Ask statements of InfluxQL, and yield what each of them answers."""
        body = urlencode({"q": text, "chunk_size": chunk_rows}).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        path, timeout_s = self._reach.influxql, self._reach.query_timeout_s
        yield from influxql.chunks(lines(self.http.stream("POST", path, body, headers, timeout_s)))

    def _ask_flux(self, text: str) -> Iterator[tuple[str, Chunk]]:
        dialect = {"annotations": ["datatype"], "dateTimeFormat": "RFC3339Nano"}
        body = json.dumps({"query": text, "type": "flux", "dialect": dialect}).encode()
        headers = {"Content-Type": "application/json"}
        path, timeout_s = self._reach.flux, self._reach.query_timeout_s
        yield from flux.chunks(lines(self.http.stream("POST", path, body, headers, timeout_s)))
