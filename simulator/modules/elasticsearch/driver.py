"""Rows through the vendor's `helpers.bulk`, which makes a bulk request of a dict for each row.

https://www.elastic.co/guide/en/elasticsearch/client/python-api/current/client-helpers.html
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simulator.data.block import Block
from simulator.data.schema import Table
from simulator.encode.objects import Objects
from simulator.modules.contract import DRIVER, Encoder
from simulator.modules.elasticsearch import query as queries
from simulator.modules.shared.client.driver import DriverBatch, batches, map_rows

if TYPE_CHECKING:
    from simulator.modules.elasticsearch.wire import Client

_ID = "_id"
MODES = {DRIVER: "the vendor's helpers.bulk, one request; each document succeeds on its own"}


def encoder(table: Table, name: str) -> Encoder:
    """Return what makes a document for each row, with the client's key as its _id."""
    names = [_ID if queries.is_key(column) else column.name for column in table.columns]
    objects = Objects(table.columns, table.time_unit)

    def encode(block: Block, rows_per_batch: int) -> Sequence[Sequence[Any]]:
        return [map_rows(names, rows) for rows in objects.encode(block, rows_per_batch)]

    return batches(queries.index_name(name), encode)


def store(
    client: "Client", batch: DriverBatch, refresh: str
) -> tuple[int, Sequence[Mapping[str, Any]]]:
    """Create documents with the client; return how many it created, and the failed items."""
    from elasticsearch import helpers  # noqa: PLC0415

    parameters: dict[str, Any] = {} if refresh == "false" else {"refresh": refresh}
    created, errors = helpers.bulk(
        client,
        _actions(batch),
        chunk_size=len(batch.rows),
        raise_on_error=False,
        **parameters,
    )
    assert isinstance(errors, list)
    return created, [next(iter(item.values())) for item in errors]


def _actions(batch: DriverBatch) -> Iterator[dict[str, Any]]:
    for document in batch.rows:
        source = {name: value for name, value in document.items() if name != _ID}
        key = {_ID: document[_ID]} if _ID in document else {}
        yield {"_op_type": "create", "_index": batch.into, "_source": source, **key}
