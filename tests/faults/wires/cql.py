"""Cassandra's native protocol, version 4.

https://github.com/apache/cassandra/blob/trunk/doc/native_protocol_v4.spec
"""

import re
import struct
from collections.abc import Callable, Iterator
from typing import Any

from tests.faults.liar import Answer, Heard, Reply, Rows, Send, ToClient, ToServer, Wire
from tests.faults.wires import sized

_HEADER = struct.Struct(">BBhBi")
_ERROR, _QUERY, _RESULT, _PREPARE, _EXECUTE, _BATCH = 0x00, 0x07, 0x08, 0x09, 0x0A, 0x0D
_VOID, _ROWS, _PREPARED = 1, 2, 4
_OVERLOADED = 0x1001
_HAS_MORE, _NO_METADATA, _GLOBAL = 0x02, 0x04, 0x01
_INSERT = re.compile(r"INSERT INTO .*\bevents\b")
_SELECT = re.compile(r"(?!.*(iotbench_marks|system)).*\bSELECT\b.*\bevents\b")


class CqlWire(Wire):
    """A connection with many streams; a statement may be prepared on another connection."""

    head_bytes = _HEADER.size

    def __init__(self, shared: dict[Any, Any]) -> None:
        super().__init__(shared)
        self._streams: dict[Send, int] = {}
        self._asked: dict[int, bool] = {}
        """Queries by stream, and whether they only count."""
        self._preparing: dict[int, str] = {}

    def frame_bytes(self, content: bytes) -> int:
        return _HEADER.size + int(_HEADER.unpack_from(content)[4])

    def forth(self, piece: bytes) -> Iterator[Heard]:
        self._from_client += piece
        for frame in self._cut("_from_client"):
            _, _, stream, kind, _ = _HEADER.unpack_from(frame)
            body, text = frame[_HEADER.size :], ""
            if kind == _PREPARE:
                self._preparing[stream] = body[4:].decode()
            elif kind == _QUERY:
                (size,) = struct.unpack_from(">i", body)
                text = body[4 : 4 + size].decode()
            elif kind == _EXECUTE:
                text = self._text(body)
            elif kind == _BATCH:
                text = self._text(body[4:]) if body[3:4] == b"\x01" else ""
            if kind in (_BATCH, _EXECUTE) and _INSERT.match(text):
                yield self._send(stream, frame, kind)
                continue
            if _SELECT.match(text):
                self._asked[stream] = "temperature" not in text
            yield ToServer(frame)

    def _text(self, content: bytes) -> str:
        (size,) = struct.unpack_from(">H", content)
        return str(self.shared.get(content[2 : 2 + size], ""))

    def _send(self, stream: int, frame: bytes, kind: int) -> Send:
        build: Callable[[Rows], bytes] = b"".join
        rows: Rows = [frame]
        if kind == _BATCH:
            rows, tail = _rows(frame[_HEADER.size :])
            head = frame[_HEADER.size : _HEADER.size + 1]

            def build(rows: Rows) -> bytes:
                body = b"".join([head, struct.pack(">H", len(rows)), *rows, tail])
                return _HEADER.pack(*_HEADER.unpack_from(frame)[:4], len(body)) + body

        refused = struct.pack(">iH", _OVERLOADED, 9) + b"try again"
        send = Send(
            rows,
            build,
            lambda: answer(stream, _RESULT, struct.pack(">i", _VOID)),
            lambda: answer(stream, _ERROR, refused),
            sized.alter_last,
            sized.swap_last,
        )
        self._streams[send] = stream
        return send

    def back(self, piece: bytes) -> Iterator[Heard]:
        self._from_server += piece
        for frame in self._cut("_from_server"):
            _, _, stream, kind, _ = _HEADER.unpack_from(frame)
            send = next((s for s in self._expected if self._streams[s] == stream), None)
            result = struct.unpack_from(">i", frame, _HEADER.size)[0] if kind == _RESULT else 0
            text = self._preparing.pop(stream, "")
            if result == _PREPARED and text:
                at = _HEADER.size + 4
                (size,) = struct.unpack_from(">H", frame, at)
                self.shared[frame[at + 2 : at + 2 + size]] = text
            if send:
                self._expected.remove(send)
                yield Reply(send, frame)
            elif stream in self._asked:
                counts = self._asked.pop(stream)
                yield _answer(frame, counts=counts) if result == _ROWS else ToClient(frame)
            else:
                yield ToClient(frame)


def answer(stream: int, kind: int, body: bytes) -> bytes:
    return _HEADER.pack(0x84, 0, stream, kind, len(body)) + body


def _values(content: bytes, at: int, count: int) -> int:
    """Return where a number of values ends."""
    for _ in range(count):
        (size,) = struct.unpack_from(">i", content, at)
        at += 4 + max(size, 0)
    return at


def _rows(body: bytes) -> tuple[list[bytes], bytes]:
    """Return the prepared statements of a batch with their values, and what follows them."""
    (count,) = struct.unpack_from(">H", body, 1)
    at, rows = 3, []
    for _ in range(count):
        begin = at
        (size,) = struct.unpack_from(">H", body, at + 1)
        at += 3 + size
        (values,) = struct.unpack_from(">H", body, at)
        at = _values(body, at + 2, values)
        rows.append(body[begin:at])
    return rows, body[at:]


def _answer(frame: bytes, *, counts: bool) -> Answer:
    at = _HEADER.size + 4
    flags, columns = struct.unpack_from(">ii", frame, at)
    at += 8
    if flags & _HAS_MORE:
        at = _values(frame, at, 1)
    if not flags & _NO_METADATA:
        at = _after_metadata(frame, at, columns, is_global=bool(flags & _GLOBAL))
    (count,) = struct.unpack_from(">i", frame, at)
    body, rows, begin = frame[_HEADER.size : at], [], at + 4
    for _ in range(count):
        end = _values(frame, begin, columns)
        rows.append(frame[begin:end])
        begin = end

    def build(rows: Rows) -> bytes:
        content = b"".join([body, struct.pack(">i", len(rows)), *rows])
        return _HEADER.pack(*_HEADER.unpack_from(frame)[:4], len(content)) + content

    return Answer(rows, build, _altered_answer, counts)


def _after_metadata(frame: bytes, at: int, columns: int, *, is_global: bool) -> int:
    """Return where the names and types of columns end; they are of simple types."""

    def after_text(at: int) -> int:
        return at + 2 + int(struct.unpack_from(">H", frame, at)[0])

    if is_global:
        at = after_text(after_text(at))
    for _ in range(columns):
        if not is_global:
            at = after_text(after_text(at))
        at = after_text(at)
        (kind,) = struct.unpack_from(">H", frame, at)
        at += 2
        assert 0 < kind < 0x20, "a column of no simple type"
    return at


def _altered_answer(row: bytes) -> bytes:
    """Alter the last value that may be a number, so that it is another one however it is summed."""
    fields, at = [], 0
    while at < len(row):
        end = _values(row, at, 1)
        fields.append((at + 4, end))
        at = end
    numbers = [field for field in fields if field[1] - field[0] in (4, 8)]
    if not numbers:  # minima and maxima of no rows
        return row
    begin, end = numbers[-1]
    size = end - begin
    is_double = size == 8 and row[begin] != 0
    at = begin + (2 if is_double else size - 3)
    return row[:at] + bytes([row[at] ^ 0x10]) + row[at + 1 :]
