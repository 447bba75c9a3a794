"""Rows of one device in the table of events, and what is done with them on every database."""

import numpy as np

from simulator.data.block import Block, Coded, Values
from simulator.data.schema import PrimaryKey, Table
from simulator.data.workloads.iot import EVENTS, Iot
from simulator.modules.contract import BATCH, Database, Payload, Session
from tests.contract.harness import count

TABLE = EVENTS.stored(PrimaryKey.DB, 1)
QUERIES = Iot(Iot.params_model(), 1, 0).queries([TABLE])
START_MS = 1_700_000_000_000


def readings(
    rows: int = 5,
    first: int = 0,
    *,
    device: bytes = b"d1",
    table: Table = TABLE,
    start_ms: int = START_MS,
    temperature: float | None = None,
) -> Block:
    """Return rows of one device, a second apart, from row `first` on."""
    number = np.arange(first, first + rows)
    degrees = number / 2 if temperature is None else np.full(rows, temperature)
    data = {
        "timestamp": Values(start_ms + number * 1000),
        "device_id": Coded(np.zeros(rows, np.int64), np.array([device])),
        "sequence_number": Values(number),
        "temperature": Values(degrees.astype(np.float32)),
    }
    return Block(table, 0, number, data)


def encoded(session: Session, batch: Block, mode: str = BATCH) -> Payload:
    """Return a block as one payload."""
    (payload,) = session.encode(batch, mode, len(batch))
    return payload


def stored(database: Database, table: Table = TABLE) -> int:
    """Return how many rows are stored."""
    with database.connect() as session:
        return count(database, session, table)
