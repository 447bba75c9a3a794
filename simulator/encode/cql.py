"""Blocks as the bound statements of a BATCH message in CQL's native protocol.

https://github.com/apache/cassandra/blob/trunk/doc/native_protocol_v5.spec, 4.1.7: each row consists
of a byte for "prepared", the statement's ID, the number of values, and the values with their
lengths. An EXECUTE message has the values in the same form.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded, ColumnData
from simulator.data.octets import literal
from simulator.data.schema import Column, TimeUnit, Type
from simulator.encode.pgcopy import prefix_columns
from simulator.encode.rows import AnyShare, Share, lay_out
from simulator.errors import UnstorableError

MOST_ROWS = 0xFFFF
"""Maximum number of rows in a message, which counts its statements in 16 bits."""
MOST_KEY_BYTES = 0xFFFF
_UNSET = -2
"""Length that marks a value as not set; a NULL would be stored as a tombstone."""
_MS_PER_S = 1000


class MessageRows(NamedTuple):
    """The rows of one message."""

    content: bytes
    rows: int
    routing_key: bytes | None
    """Partition key by which the driver selects a replica; None if any node is suitable."""


@dataclass(frozen=True, slots=True)
class CqlInsert:
    """A prepared INSERT: the ID of the statement, and its columns."""

    id: bytes
    columns: tuple[Column, ...]
    time_unit: TimeUnit
    key: tuple[str, ...]
    """Columns of the primary key with values that the client sends."""
    partition: tuple[str, ...]
    """First columns of the key, which determine the node."""
    grouped: bool
    """True if a message contains only rows of a single partition."""
    most_bytes: int | None = None
    """Approximate maximum size of a message; None if there is no limit."""

    @property
    def prefix(self) -> bytes:
        """The bytes before the number of values."""
        return b"\1" + len(self.id).to_bytes(2, "big") + self.id


class CqlRows:
    """Encodes blocks as requests; tests/perf/encode.py measures the speed."""

    def __init__(self, prepared: CqlInsert) -> None:
        self._prepared = prepared
        count = len(prepared.columns).to_bytes(2, "big")
        self._before = literal(prepared.prefix + count)
        instants = partial(milliseconds, prepared.time_unit)
        self._values = prefix_columns(prepared.columns, instants, null=_UNSET)

    def encode(self, block: Block, batch_rows: int) -> list[list[MessageRows]]:
        """Return the requests of each batch of `batch_rows` rows."""
        if not len(block):
            return []
        _refuse_unstorable(self._prepared, block)
        shares = [Share([self._before], None), *self._values.shares(block)]
        order, starts = self._cut(block, batch_rows, self._limit_rows(shares, len(block)))
        firsts = starts
        if order is not None:
            shares, firsts = [share.take(order) for share in shares], order.take(starts)
        rows = lay_out(shares, len(block))
        edges = np.append(starts, len(block))
        content, offsets = rows.content.data, rows.offsets(edges).tolist()
        requests: list[list[MessageRows]] = [[] for _ in range(0, len(block), batch_rows)]
        for send, key, count, start, stop in zip(
            (starts // batch_rows).tolist(),
            self._make_routing_keys(block, firsts, batch_rows),
            np.diff(edges).tolist(),
            offsets,
            offsets[1:],
            strict=False,
        ):
            requests[send].append(MessageRows(bytes(content[start:stop]), count, key))
        return requests

    def _limit_rows(self, shares: Sequence[AnyShare], rows: int) -> int:
        if self._prepared.most_bytes is None:
            return MOST_ROWS
        written = sum(share.size_bytes(rows) for share in shares)
        return max(self._prepared.most_bytes * rows // written, 1)

    def _cut(
        self, block: Block, batch_rows: int, most_rows: int
    ) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
        """Return a new order of the rows, or None, and the start of each request in this order."""
        begins = np.arange(len(block)) % batch_rows % most_rows == 0
        partitions = None
        if self._prepared.grouped and batch_rows > 1:
            partitions = _number_partitions([block.data[name] for name in self._prepared.partition])
        if partitions is None:
            return None, np.flatnonzero(begins)
        order = np.lexsort((partitions, np.arange(len(block)) // batch_rows))
        partitions = partitions.take(order)
        begins[1:] |= partitions[1:] != partitions[:-1]
        return order, np.flatnonzero(begins)

    def _make_routing_keys(
        self, block: Block, rows: NDArray[np.int64], batch_rows: int
    ) -> Sequence[bytes | None]:
        """Return the partition keys of rows, in the form from which the driver computes tokens."""
        names = self._prepared.partition
        if not names or not (self._prepared.grouped or batch_rows == 1):
            return [None] * len(rows)
        columns = [self._make_key_part(name, block.data[name], rows) for name in names]
        if len(columns) == 1:
            return columns[0]
        return [
            b"".join(len(part).to_bytes(2, "big") + part + b"\0" for part in parts)
            for parts in zip(*columns, strict=True)
        ]

    def _make_key_part(self, name: str, data: ColumnData, rows: NDArray[np.int64]) -> list[bytes]:
        (column,) = (column for column in self._prepared.columns if column.name == name)
        values = (
            data.levels.take(data.codes.take(rows))
            if isinstance(data, Coded)
            else data.array.take(rows)
        )
        if column.type is Type.TEXT:
            listed: list[bytes] = values.tolist()
            return listed
        if column.type is Type.TIMESTAMP:
            values = milliseconds(self._prepared.time_unit, values)
        big = values.astype(values.dtype.newbyteorder(">"))
        parts: list[bytes] = big.view(f"V{big.dtype.itemsize}").tolist()
        return parts


def milliseconds(unit: TimeUnit, values: Array) -> Array:
    """Return instants in milliseconds for a CQL timestamp; for a bigint, they remain unchanged."""
    return values * _MS_PER_S if unit is TimeUnit.SECOND else values


def _number_partitions(columns: Sequence[ColumnData]) -> NDArray[np.int64] | None:
    """Return the number of each row's partition; None if all rows are in one partition."""
    total: NDArray[np.int64] | None = None
    for data in columns:
        if isinstance(data, Coded):
            if len(data.levels) == 1:
                continue
            codes, count = data.codes, len(data.levels)
        else:
            found, codes = np.unique(data.array, return_inverse=True)
            count = len(found)
        total = codes if total is None else total * count + codes
    return total


def _refuse_unstorable(prepared: CqlInsert, block: Block) -> None:
    seconds = prepared.time_unit is TimeUnit.SECOND
    for column in prepared.columns:
        data = block.data[column.name]
        if column.type is Type.TIMESTAMP and seconds:
            values = data.present()
            limit = (2**63 - 1) // _MS_PER_S
            if len(values) and (values.max() > limit or values.min() < -limit):
                raise UnstorableError(
                    f"{column.name}: a CQL timestamp counts milliseconds in 64 bits, so seconds "
                    f"must be between -{limit} and {limit}, got {values.min()} to {values.max()}"
                )
        if column.name in prepared.key:
            _refuse_key(prepared, column, data)


def _refuse_key(prepared: CqlInsert, column: Column, data: ColumnData) -> None:
    if data.valid is not None and not data.valid.all():
        raise UnstorableError(
            f"{column.name}: CQL allows no NULL in a primary key; use --primary-key uuid"
        )
    if column.type is not Type.TEXT:
        return
    texts = data.levels if isinstance(data, Coded) else data.array
    longest = int(np.strings.str_len(texts).max())
    if longest > MOST_KEY_BYTES:
        raise UnstorableError(
            f"{column.name}: CQL allows at most {MOST_KEY_BYTES} bytes in a primary key, got a "
            f"text of {longest}; use --primary-key uuid"
        )
    if prepared.partition == (column.name,) and not np.strings.str_len(data.values()).all():
        raise UnstorableError(
            f"{column.name}: CQL allows no empty text as the whole partition key; "
            "use --primary-key uuid"
        )
