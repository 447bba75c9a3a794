"""Statements with encoded rows, and the protocol handler with which the driver sends them.

The driver encodes a message value by value, which takes 10 us per row. The driver's documented
hook, `client_protocol_handler`, replaces that step with the bytes of simulator.encode.cql; the
driver still does requests, answers, routing and timeouts.

This file imports the driver; session.py imports this file.
"""

import struct
from typing import Any

from cassandra.protocol import BatchMessage, ExecuteMessage, ProtocolHandler
from cassandra.query import BatchStatement, BatchType, BoundStatement, PreparedStatement

from simulator.encode.cql import MessageRows

_UNLOGGED = BatchType.UNLOGGED.value
_V5 = 5
_VALUES, _SKIP_METADATA, _TIMESTAMP = 0x01, 0x02, 0x20


class EncodedRows:
    """Encoded rows in place of a message's values; the driver only passes them on."""

    def __init__(self, request: MessageRows, prefix_bytes: int = 0) -> None:
        self.content = memoryview(request.content)[prefix_bytes:]
        self.count = request.rows

    def __len__(self) -> int:
        return self.count


class EncodedBatch(BatchStatement):  # type: ignore[misc]  # the driver has no types
    """An UNLOGGED batch of encoded rows."""

    def __init__(self, request: MessageRows, keyspace: str) -> None:
        super().__init__(BatchType.UNLOGGED)
        self._statements_and_parameters = EncodedRows(request)
        self.keyspace = keyspace
        self.routing_key = request.routing_key


class EncodedInsert(BoundStatement):  # type: ignore[misc]
    """One encoded row, without the prefix that it has in a batch."""

    def __init__(
        self, prepared: PreparedStatement, request: MessageRows, prefix_bytes: int
    ) -> None:
        super().__init__(prepared, routing_key=request.routing_key)
        self.values = EncodedRows(request, prefix_bytes)


class EncodedProtocol(ProtocolHandler):  # type: ignore[misc]
    """The driver's protocol, extended by messages with encoded rows."""

    @classmethod
    def encode_message(
        cls,
        msg: Any,
        stream_id: int,
        protocol_version: int,
        compressor: Any,
        allow_beta_protocol_version: bool,  # noqa: FBT001 - the driver's signature
    ) -> bytes:
        body = None
        if isinstance(msg, BatchMessage) and isinstance(msg.queries, EncodedRows):
            body = _batch(msg, msg.queries, protocol_version)
        elif isinstance(msg, ExecuteMessage) and isinstance(msg.query_params, EncodedRows):
            body = _execute(msg, msg.query_params, protocol_version)
        if body is None:
            encoded: bytes = super().encode_message(
                msg, stream_id, protocol_version, compressor, allow_beta_protocol_version
            )
            return encoded
        size = sum(map(len, body))
        header = struct.pack(">BBhBi", protocol_version, 0, stream_id, msg.opcode, size)
        return b"".join((header, *body))


def _batch(msg: BatchMessage, rows: EncodedRows, version: int) -> tuple[bytes | memoryview, ...]:
    before = struct.pack(">BH", _UNLOGGED, rows.count)
    flags = struct.pack(">H" + _flags(version), msg.consistency_level, _TIMESTAMP)
    return before, rows.content, flags, struct.pack(">q", msg.timestamp)


def _execute(
    msg: ExecuteMessage, rows: EncodedRows, version: int
) -> tuple[bytes | memoryview, ...]:
    before = struct.pack(">H", len(msg.query_id)) + msg.query_id
    if version >= _V5:
        before += struct.pack(">H", len(msg.result_metadata_id)) + msg.result_metadata_id
    flags = _VALUES | _SKIP_METADATA | _TIMESTAMP
    before += struct.pack(">H" + _flags(version), msg.consistency_level, flags)
    return before, rows.content, struct.pack(">q", msg.timestamp)


def _flags(version: int) -> str:
    return "I" if version >= _V5 else "B"
