"""Rows through python-arango's `import_bulk`, a dict for each document.

https://docs.python-arango.com/en/main/specs.html#arango.collection.StandardCollection.import_bulk
"""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from simulator.data.block import Block
from simulator.data.schema import ID, Table
from simulator.encode.objects import Objects
from simulator.modules.arangodb import query as queries
from simulator.modules.contract import DRIVER, Encoder
from simulator.modules.shared.client.driver import DriverBatch, batches, map_rows

if TYPE_CHECKING:
    from arango.database import StandardDatabase

_KEY = "_key"
MODES = {DRIVER: "python-arango's import_bulk, which fails as a whole"}


def encoder(table: Table, name: str) -> Encoder:
    """Return what makes a document of each row, with the client's key as its _key."""
    names = [_KEY if column == ID else column.name for column in table.columns]
    objects = Objects(table.columns, table.time_unit)

    def encode(block: Block, rows_per_batch: int) -> Sequence[Sequence[Any]]:
        found = [map_rows(names, rows) for rows in objects.encode(block, rows_per_batch)]
        for document in chain.from_iterable(found) if _KEY in names else ():
            document[_KEY] = queries.key(document[_KEY].encode())
        return found

    return batches(queries.collection(name), encode)


def store(db: "StandardDatabase", batch: DriverBatch, *, sync: bool) -> int:
    """Import the documents with the client; return how many the server has created."""
    found = db.collection(batch.into).import_bulk(batch.rows, halt_on_error=True, sync=sync)
    assert isinstance(found, dict)
    return int(found["created"])
