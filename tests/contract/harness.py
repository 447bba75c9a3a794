"""The wide dataset as batches, and how to write and ask it."""

import time
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from simulator.batch import Batch
from simulator.dataset import Dataset, Feed, RowRange
from simulator.modules.base import BATCH, Database, Session
from simulator.query import (
    Aggregate,
    AggregateQuery,
    Answer,
    Function,
    Query,
    Statement,
    answer,
)
from simulator.schema import PrimaryKey, Table
from tests.contract import reference
from tests.contract.wide import ROWS, Awkward, Wide

_RECENTLY_MS = (int(time.time()) - 3600) * 1000


class Wideset:
    """The wide dataset with one kind of primary key and number of parts, less what is left out."""

    def __init__(
        self,
        primary_key: PrimaryKey = PrimaryKey.NONE,
        parts: int = 1,
        lacks: Collection[Awkward] = (),
    ) -> None:
        self.dataset = Dataset(
            workload=Wide.name,
            workload_version=Wide.version,
            params={"lacks": sorted(lacks)},
            seed=1,
            start_ms=_RECENTLY_MS if Awkward.OLD_ROWS in lacks else 0,
            primary_key=primary_key,
            parts=parts,
            ranges=(RowRange(start=0, stop=ROWS),),
        )
        self.feed = Feed(self.dataset)
        self.tables = self.feed.tables

    @property
    def queries(self) -> Mapping[str, Query]:
        params = Wide.params_model.model_validate(self.dataset.params)
        return Wide(params, 1, self.dataset.start_ms).queries(self.tables)

    @cached_property
    def batches(self) -> Sequence[Batch]:
        (rows,) = self.dataset.ranges
        return [batch for block in self.feed.blocks(rows) for batch in block]

    def answer(self, query: Query) -> Answer:
        mine = [batch for batch in self.batches if batch.table.name == query.table.name]
        return reference.answer_of(query, reference.rows_of(mine))

    def fill(self, database: Database) -> None:
        database.drop(self.tables)
        database.create(self.tables, 100)
        with database.connect() as session:
            for batch in self.batches:
                send(session, batch, BATCH, 100)
        database.settle(self.tables)


def send(session: Session, batch: Batch, mode: str, rows_per_send: int) -> None:
    payloads = session.encode(batch, mode, rows_per_send)
    assert sum(payload.rows for payload in payloads) == len(batch)
    for payload in payloads:
        assert payload.rows <= rows_per_send
        session.send(payload)


def ask(session: Session, statement: Statement) -> Answer:
    return answer(statement.outputs, session.run(statement))


def count(database: Database, session: Session, table: Table) -> int:
    query = AggregateQuery(table, (Aggregate(Function.COUNT),))
    ((rows,),) = ask(session, database.render(query)).rows
    return rows
