"""Answers of thousands of groups, each of which is returned once, on every database."""

from dataclasses import replace

import pytest

from simulator.data.query import Aggregate, AggregateQuery, Function
from simulator.data.reader import DatasetReader
from simulator.modules.contract import BATCH, Unsupported
from simulator.verify.truth.oracle import Oracle
from tests.contract.harness import ask, created, send
from tests.contract.targets import STORING

ROWS, BATCH_ROWS, SECOND_MS = 3_000, 1_000, 1_000


@pytest.mark.parametrize("target", [pytest.param(t, id=name) for name, t in STORING.items()])
def test_each_of_thousands_of_buckets_is_returned_once(target, database):
    dataset = created(target, database, ROWS, BATCH_ROWS)
    reader = DatasetReader(dataset)
    (table,) = reader.tables
    greatest = Aggregate(Function.MAX, "temperature")
    every = AggregateQuery(table, (greatest,), bucket=SECOND_MS)
    oracle = Oracle([every, newest := replace(every, newest=5)])
    with database.connect() as session:
        for blocks in reader.blocks(dataset.ranges):
            for block in blocks:
                oracle.add(block)
                send(session, block, BATCH, BATCH_ROWS)
    database.visible(reader.tables)

    assert len(oracle.truth(every).answer.rows) > ROWS / 2
    with database.connect() as session:
        for query in (every, newest):
            try:
                statement = database.render(query)
            except Unsupported:
                continue
            assert ask(session, statement) == oracle.truth(query).answer
