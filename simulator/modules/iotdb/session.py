"""One session with IoTDB: how rows are sent and read."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from simulator.data.block import Block
from simulator.data.query import Statement
from simulator.data.schema import Role, Table
from simulator.encode.tablet import Tablet, Tablets
from simulator.modules.base import Failure, Payload, Session
from simulator.modules.iotdb import errors, query
from simulator.modules.iotdb.clock import TYPE_CODES, Clock, sent, type_of
from simulator.modules.iotdb.link import Link
from simulator.modules.shared.partials import Collected

_TAG, _FIELD = 0, 1


class IotDbSession(Session):
    """A connection and its session; the server acknowledges each tablet."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self._targets: dict[str, _Target] = {}

    def close(self) -> None:
        """Close the connection."""
        self.link.close()

    @property
    def alive(self) -> bool:
        """Whether the connection can still be used."""
        return self.link.alive

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as tablets."""
        target = self._targets.get(block.name)
        if target is None:
            target = _Target(block.table, block.name, self.link.precision)
            self._targets[block.name] = target
        tablets = target.tablets.encode(block, rows_per_send)
        return [Payload(tablet.rows, mode, (target, tablet)) for tablet in tablets]

    def send(self, payload: Payload) -> None:
        """Send a tablet and return once all of it is acknowledged."""
        target: _Target
        tablet: Tablet
        target, tablet = payload.data
        self.link.insert(target.name, target.names, target.types, target.categories, tablet)

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows."""
        return errors.classify(error)

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement, on every physical table, and fetch every row."""
        plan = self._plan(statement)
        fold = plan.fold()
        for select in plan.selects:
            for rows in self.link.portions(select):
                fold.add([plan.read(row) for row in rows])
        return fold.rows()

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions, as they come."""
        plan = self._plan(statement)
        if plan.fold is not Collected:
            yield from super().stream(statement, rows)
            return
        waiting: list[Sequence[Any]] = []
        for select in plan.selects:
            with closing(self.link.portions(select)) as portions:
                for portion in portions:
                    waiting += [plan.read(row) for row in portion]
                    while len(waiting) >= rows:
                        yield waiting[:rows]
                        waiting = waiting[rows:]
        if waiting:
            yield waiting

    def _plan(self, statement: Statement) -> query.Plan:
        if isinstance(statement, query.Asked) and statement.query is not None:
            asked = statement.query
            return query.planned(asked, Clock(asked.table.time_unit, self.link.precision))
        return query.Plan((statement.text,), tuple, Collected)


class _Target:
    """A physical table as tablets name it, and what makes blocks into them."""

    def __init__(self, table: Table, name: str, precision: Any) -> None:
        columns, unit = sent(table), table.time_unit
        self.name = query.stored_table(name)
        self.names = [column.name.lower() for column in columns]
        self.types = [TYPE_CODES[type_of(column, unit, precision)] for column in columns]
        self.categories = [_TAG if column.role is Role.TAG else _FIELD for column in columns]
        times = Clock(unit, precision).storing(table.time)
        self.tablets = Tablets(columns, times)
