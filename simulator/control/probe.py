"""Trying a target before a long sweep: reach it, describe it, and use every right once."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simulator.data.block import Block, Values
from simulator.data.query import Aggregate, AggregateQuery, Function
from simulator.data.schema import Column, Role, Table, Type
from simulator.errors import BenchError
from simulator.modules.base import BATCH, Database


@dataclass(frozen=True, slots=True)
class Step:
    """One thing tried, and what came of it."""

    name: str
    ok: bool
    told: str


def probe(database: Database) -> Iterator[Step]:
    """Try one thing after the other; the first that fails is the last."""
    scratch = Table(
        f"bench_check_{os.urandom(4).hex()}",
        (Column("time", Type.INT64, Role.TIME), Column("value", Type.FLOAT64, Role.FIELD)),
        key=("time",),
    )
    name = "reached"
    try:
        facts = database.inspect()
        yield Step(name, ok=True, told=f"{facts.version}, {facts.nodes} node(s)")
        yield Step("durability", ok=True, told=facts.durability)
        name = "rights"
        try:
            database.create([scratch], 1)
            _write_and_read(database, scratch)
        finally:
            database.drop([scratch])
        yield Step(name, ok=True, told="create, insert, read and drop work")
    except BenchError as error:
        yield Step(name, ok=False, told=str(error))
    except Exception as error:  # noqa: BLE001 - a driver's error is told in its own words
        yield Step(name, ok=False, told=database.explain(error))


def _write_and_read(database: Database, scratch: Table) -> None:
    # A whole second of the present is a time that every database can tell and still keeps.
    data = {"time": Values(np.array([int(time.time()) * 1000])), "value": Values(np.array([0.5]))}
    row = Block(scratch, 0, np.array([0]), data)
    with database.connect() as session:
        for payload in session.encode(row, BATCH, 1):
            session.send(payload)
        if not database.capabilities.stores:
            return
        database.settle([scratch])
        count = AggregateQuery(scratch, (Aggregate(Function.COUNT),))
        ((rows,),) = session.run(database.render(count))
        if rows != 1:
            raise BenchError(f"one row was written and {rows} were read")
