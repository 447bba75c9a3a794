"""A session with IoTDB: it sends tablets, runs queries, and classifies errors.

This file imports the driver, so database.py imports this file only to connect.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from functools import cached_property, partial
from typing import ClassVar, NamedTuple

from iotdb.table_session import TableSession
from iotdb.utils.exception import IoTDBConnectionException, StatementExecutionException
from iotdb.utils.IoTDBConstants import TSDataType
from iotdb.utils.Tablet import ColumnType
from iotdb.utils.Tablet import Tablet as DriverTablet

from simulator.data.block import Block
from simulator.data.query import Statement
from simulator.data.schema import Role, Table, TimeUnit, Type
from simulator.encode.objects import Objects
from simulator.encode.tablet import Tablet, Tablets
from simulator.modules.contract import BATCH, DRIVER, Encoder, Failure, Payload, QueryPlan
from simulator.modules.iotdb import query
from simulator.modules.iotdb.query import TYPE_CODES, Clock, columns_of, type_of
from simulator.modules.iotdb.wire import ConnectError, Link, ServerError, ServerStatus, Unanswered
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
            return target.encode_objects
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
            _store(self.driver, payload.data)
            return
        target: _Target
        target, tablet = payload.data
        self.link.insert(*target.into, tablet)

    def classify(self, error: Exception) -> Failure:
        """Return what an error of `send` means for its rows.

        The server splits a tablet by device and time, and may refuse one piece and store others.
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
        """Run each statement that answers a query and yield its plan."""
        for fetch in self.plan(statement).fetches:
            with closing(self.link.blocks(f"{query.ANALYZE} {fetch.text}")) as blocks:
                lines = [str(line) for block in blocks for (line,) in block.rows()]
            text = "\n".join(lines)
            yield QueryPlan(fetch.text, text, query.shape_of_plan(text))

    def answers(self, plan: PlannedQuery, rows: int | None = None) -> Answers:
        """Run one statement after the other, and yield their answers block by block."""
        for fetch in plan.fetches:
            with closing(self.link.blocks(fetch.text)) as blocks:
                for block in self.await_parts(blocks):
                    yield fetch, block.rows()


class _Into(NamedTuple):
    """A physical table, as tablets describe it."""

    name: str
    names: Sequence[str]
    types: Sequence[int]
    categories: Sequence[int]


class _Target:
    """A physical table, and the encoders of its rows."""

    def __init__(self, table: Table, name: str, precision: TimeUnit) -> None:
        columns, unit = columns_of(table), table.time_unit
        self.into = _Into(
            query.name_table(name),
            [column.name.lower() for column in columns],
            [TYPE_CODES[type_of(column, unit, precision)] for column in columns],
            [_TAG if column.role is Role.TAG else _FIELD for column in columns],
        )
        self._time = table.time.name
        self._stored_times = partial(Clock(unit, precision).store, table.time)
        self.tablets = Tablets(columns, self._stored_times)
        self._objects = Objects(columns, unit)
        self._numbers = [
            place
            for place, column in enumerate(columns)
            if column.role is Role.TAG and column.type is not Type.TEXT
        ]

    def encode_objects(self, block: Block, rows_per_batch: int) -> Sequence[DriverBatch]:
        """Return the Python values of each row, for the driver."""
        instants = self._stored_times(block.data[self._time].values()).tolist()
        found, start = [], 0
        for rows in self._objects.encode(block, rows_per_batch):
            own = instants[start : start + len(rows)]
            start += len(rows)
            # The driver would sort by time and then by values, and cannot compare None.
            order = sorted(range(len(rows)), key=own.__getitem__)
            values = [list(rows[place]) for place in order]
            for row in values if self._numbers else ():
                for place in self._numbers:
                    row[place] = None if row[place] is None else str(row[place])
            times = [own[place] for place in order]
            found.append(DriverBatch(self.into, (times, values)))
        return found


def _store(session: TableSession, batch: DriverBatch) -> None:
    """Send the rows with the driver; translate its errors to errors of `wire`.

    The driver may connect and send the rows again; rows that are sent twice replace themselves.
    """
    into: _Into = batch.into
    times, values = batch.rows
    tablet = DriverTablet(
        into.name,
        list(into.names),
        [TSDataType(each) for each in into.types],
        values,
        times,
        [ColumnType(each) for each in into.categories],
    )
    try:
        session.insert(tablet)
    except StatementExecutionException as error:
        code = re.match(r"(\d+): ", str(error))
        status = ServerStatus(int(code[1]) if code else ServerError.SEVERAL, str(error))
        raise ServerError("", (status,)) from error
    except IoTDBConnectionException as error:
        raise Unanswered(f"apache-iotdb lost the connection: {error}") from error
