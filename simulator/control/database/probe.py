"""Checks a target before a long sweep: reaches it, describes it, uses each permission once."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simulator.data.block import Block, Values
from simulator.data.query import Aggregate, AggregateQuery, Function
from simulator.data.schema import Column, Role, Table, Type
from simulator.errors import BenchError
from simulator.modules.contract import BATCH, OWN, Database


@dataclass(frozen=True, slots=True)
class ProbeStep:
    """One step of the check, and its result."""

    name: str
    ok: bool
    detail: str


def probe(database: Database) -> Iterator[ProbeStep]:
    """Yield one step after the other, until one fails."""
    scratch = Table(
        f"{OWN}check_{os.urandom(4).hex()}",
        (Column("time", Type.INT64, Role.TIME), Column("value", Type.FLOAT64, Role.FIELD)),
        key=("time",),
    )
    name, database = "not reached", database.for_own_tables()
    try:
        facts = database.inspect()
        yield ProbeStep(
            "reached",
            ok=True,
            detail=f"{facts.version}, {facts.nodes} {'node' if facts.nodes == 1 else 'nodes'}",
        )
        yield ProbeStep("durability", ok=True, detail=facts.durability)
        name = "permissions"
        database.create([scratch], 1)
        try:
            _write_and_read(database, scratch)
        finally:
            database.drop(database.objects(scratch))
        yield ProbeStep(name, ok=True, detail="create, insert, read and drop work")
    except BenchError as error:
        # The message goes after the target's name, which says enough.
        yield ProbeStep(name, ok=False, detail=str(error).removeprefix(f"{database.name}: "))
    except Exception as error:  # noqa: BLE001 - a driver's error
        yield ProbeStep(name, ok=False, detail=database.explain(error))


def _write_and_read(database: Database, scratch: Table) -> None:
    # Every database can store the present second, and no retention policy drops it.
    now_ms = int(time.time()) * 1000  # noqa: TID251
    data = {"time": Values(np.array([now_ms])), "value": Values(np.array([0.5]))}
    row = Block(scratch, 0, np.array([0]), data)
    with database.connect() as session:
        for payload in session.encode(row, BATCH, 1):
            session.send(payload)
        if not database.capabilities.stores:
            return
        database.visible([scratch])
        database.compact([scratch])
        count = AggregateQuery(scratch, (Aggregate(Function.COUNT),))
        ((rows,),) = session.run(database.render(count))
        if rows != 1:
            raise BenchError(f"one row was written and {rows} were read")
