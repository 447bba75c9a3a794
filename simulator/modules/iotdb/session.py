"""A session with IoTDB: it sends tablets, runs queries, and classifies errors."""

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import cached_property
from typing import ClassVar

from iotdb.table_session import TableSession

from simulator.data.query import Statement
from simulator.data.schema import Role, Table, TimeUnit
from simulator.encode.tablet import Tablet, Tablets
from simulator.modules.contract import BATCH, DRIVER, Encoder, Failure, Payload, QueryPlan
from simulator.modules.iotdb import driver, query
from simulator.modules.iotdb.query import TYPE_CODES, Clock, columns_of, type_of
from simulator.modules.iotdb.wire import ConnectError, Link, ServerError
from simulator.modules.shared.client.driver import DriverBatch
from simulator.modules.shared.client.planned import Answers, Fetch, PlannedQuery, PlannedSession
from simulator.modules.shared.sql.language import quote

_TAG, _FIELD = 0, 1
_FATAL = frozenset(
    # unsupported, illegal; no such database, table, column; metadata; read-only; out of TTL
    {201, 205, 300, 303, 500, 506, 507, 508, 509, 526, 530, 550, 600, 607, 611, 614, 615, 616}
    # syntax, semantics; out of range; login, permissions
    | {700, 701, 750, 752, 801, 802, 803, 804, 811}
)


class IotDbSession(PlannedSession):
    """A connection and its session; the server acknowledges each tablet."""

    correcting: ClassVar[str] = BATCH

    def __init__(self, link: Link, open_driver: Callable[[], TableSession]) -> None:
        self.link = link
        self._open_driver = open_driver

    @cached_property
    def driver(self) -> TableSession:
        """The vendor's session, which connects when it is first used."""
        return self._open_driver()

    def close(self) -> None:
        self.link.close()
        if "driver" in self.__dict__:
            with suppress(Exception):  # of the vendor's client
                self.driver.close()

    @property
    def alive(self) -> bool:
        return self.link.alive

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        target = _Target(table, name, self.link.precision)
        if mode == DRIVER:
            times = Clock(table.time_unit, self.link.precision).storing(table.time)
            return driver.encoder(table, columns_of(table), target.into, times)
        return lambda block, rows_per_batch: [
            (target, tablet) for tablet in target.tablets.encode(block, rows_per_batch)
        ]

    def size_of(self, data: "tuple[_Target, Tablet] | DriverBatch") -> int | None:
        """Return the size of a tablet's times and values; None if the driver makes them."""
        if isinstance(data, DriverBatch):
            return None
        _, tablet = data
        return len(tablet.times) + len(tablet.values)

    def send(self, payload: Payload) -> None:
        """Send a tablet; return once every row of it is acknowledged."""
        if payload.mode == DRIVER:
            driver.store(self.driver, payload.data)
            return
        target: _Target
        tablet: Tablet
        target, tablet = payload.data
        self.link.insert(*target.into, tablet)

    def classify(self, error: Exception) -> Failure:
        """Return what an error of `send` means for its rows.

        The server splits a tablet by device and time, so it may refuse one piece and store others.
        """
        if isinstance(error, ConnectError):
            return Failure.NOT_APPLIED
        if isinstance(error, ServerError) and error.codes <= _FATAL:
            return Failure.FATAL
        return Failure.UNKNOWN

    def plan(self, statement: Statement) -> PlannedQuery:
        """Return the statements for each physical table, in the server's precision."""
        if statement.parameters:
            (asked,) = statement.parameters
            return query.plan_statements(asked, Clock(asked.table.time_unit, self.link.precision))
        return PlannedQuery(statement.text, statement.outputs, fetches=(Fetch(statement.text),))

    def delete_before(self, table: Table, until: int) -> None:
        before = Clock(table.time_unit, self.link.precision).bound(until)
        for name in table.names:
            stored = quote(query.name_table(name))
            self.link.execute(f"DELETE FROM {stored} WHERE {quote('time')} < {before}")

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        """Yield the plan of each statement that answers a query, carried out for that."""
        for fetch in self.plan(statement).fetches:
            with closing(self.link.blocks(f"{query.ANALYZE} {fetch.text}")) as blocks:
                lines = [str(line) for block in blocks for (line,) in block.rows()]
            text = "\n".join(lines)
            yield QueryPlan(fetch.text, text, query.shape_of_plan(text))

    def answers(self, plan: PlannedQuery, rows: int | None = None) -> Answers:
        """Run one statement after the other, and yield their answers block by block."""
        del rows
        for fetch in plan.fetches:
            with closing(self.link.blocks(fetch.text)) as blocks:
                for block in self.await_parts(blocks):
                    yield fetch, block.rows()


class _Target:
    """A physical table as tablets describe it, and its encoder."""

    def __init__(self, table: Table, name: str, precision: TimeUnit) -> None:
        columns, unit = columns_of(table), table.time_unit
        self.into = driver.Into(
            query.name_table(name),
            [column.name.lower() for column in columns],
            [TYPE_CODES[type_of(column, unit, precision)] for column in columns],
            [_TAG if column.role is Role.TAG else _FIELD for column in columns],
        )
        self.tablets = Tablets(columns, Clock(unit, precision).storing(table.time))
