"""PostgreSQL's protocol, version 3: simple queries, and COPY in binary format.

https://www.postgresql.org/docs/current/protocol-message-formats.html
"""

import re
import struct
from collections.abc import Iterator

from tests.faults.liar import Answer, Ask, Heard, Reply, Rows, Send, ToClient, ToServer, Wire
from tests.faults.wires import sized, texts

_ENCRYPTION_REQUESTS = (80877103, 80877104)
_COPY = re.compile(rb"COPY .*\bevents\b.* FROM STDIN", re.DOTALL)
_INSERT = re.compile(rb"INSERT INTO .*\bevents\b", re.DOTALL)
_ASK = re.compile(
    rb"(?!.*(iotbench_marks|pg_|to_regclass)).*\b(SELECT|UPDATE|DELETE)\b.*\bevents\b", re.DOTALL
)
_READY = b"Z\0\0\0\x05I"
_HEAD_BYTES = 19
"""Signature, flags and length of the extension of a binary COPY."""
_TRAILER = b"\xff\xff"


def message(kind: bytes, content: bytes) -> bytes:
    return kind + struct.pack(">I", len(content) + 4) + content


class PostgresWire(Wire):
    """A connection of libpq, which waits for each answer before the next request."""

    def __init__(self, shared: dict[object, object]) -> None:
        super().__init__(shared)
        self._has_begun = False
        self._single_bytes = 0
        """Answers to requests for encryption."""
        self._copy: bytes | None = None
        """The request of a COPY whose rows are under way."""
        self._copied = b""
        self._asked = b""
        """The query about the table that is not answered yet."""
        self._answer: list[bytes] = []

    def forth(self, piece: bytes) -> Iterator[Heard]:
        self._from_client += piece
        while True:
            head = 1 if self._has_begun else 0
            if len(self._from_client) < head + 4:
                return
            (size,) = struct.unpack_from(">I", self._from_client, head)
            if len(self._from_client) < head + size:
                return
            frame = self._from_client[: head + size]
            self._from_client = self._from_client[head + size :]
            if not self._has_begun:
                (code,) = struct.unpack_from(">I", frame, 4)
                self._has_begun = code not in _ENCRYPTION_REQUESTS
                self._single_bytes += not self._has_begun
                yield ToServer(frame)
            else:
                yield from self._request(frame)

    def _request(self, frame: bytes) -> Iterator[Heard]:
        kind, content = frame[:1], frame[5:]
        if kind == b"Q":
            self._asked = content if _ASK.match(content) else b""
        if kind == b"Q" and _COPY.match(content):
            self._copy, self._copied = frame, b""
            yield ToClient(message(b"G", b"\x01\0\0"))
        elif kind == b"Q" and _INSERT.match(content):
            yield self._send([frame], b"".join, b"INSERT 0 1", len(content) - 1)
        elif self._copy and kind == b"d":
            self._copied += content
        elif self._copy and kind == b"c":
            copy, head, rows = self._copy, self._copied[:_HEAD_BYTES], _rows(self._copied)

            def build(rows: Rows) -> bytes:
                stream = head + b"".join(rows) + _TRAILER
                return copy + message(b"d", stream) + message(b"c", b"")

            self._copy = None
            yield self._send(rows, build, b"COPY %d" % len(rows), len(self._copied))
        else:
            yield Ask(frame) if kind == b"Q" and self._asked else ToServer(frame)

    def _send(self, rows: Rows, build: object, tag: bytes, size_bytes: int) -> Send:
        refused = b"SERROR\0VERROR\0C40001\0Mcould not serialize access\0\0"
        return Send(
            rows,
            build,  # type: ignore[arg-type]
            lambda: message(b"C", tag + b"\0") + _READY,
            lambda: message(b"E", refused) + _READY,
            sized.alter_last,
            sized.swap_last,
            size_bytes=size_bytes,
        )

    def back(self, piece: bytes) -> Iterator[Heard]:
        self._from_server += piece
        while self._from_server:
            if self._single_bytes:
                self._single_bytes -= 1
                size = 1
            elif len(self._from_server) < 5:
                return
            else:
                (size,) = struct.unpack_from(">I", self._from_server, 1)
                size += 1
                if len(self._from_server) < size:
                    return
            frame, self._from_server = self._from_server[:size], self._from_server[size:]
            yield from self._answered(frame)

    def _answered(self, frame: bytes) -> Iterator[Heard]:
        if not (self._expected or self._asked):
            yield ToClient(frame)
            return
        if frame[:1] != b"G":  # the client has it already
            self._answer.append(frame)
        if frame[:1] != b"Z":
            return
        frames, self._answer = self._answer, []
        if self._expected:
            yield Reply(self._expected.pop(0), b"".join(frames))
            return
        counts, self._asked = b"temperature" not in self._asked, b""
        places = [n for n, each in enumerate(frames) if each[:1] == b"D"]
        first, last = (places[0], places[-1] + 1) if places else (len(frames), len(frames))

        def build(rows: Rows) -> bytes:
            return b"".join([*frames[:first], *rows, *frames[last:]])

        yield Answer(frames[first:last], build, _altered_answer, counts)


def _rows(stream: bytes) -> list[bytes]:
    """Return the tuples of a binary COPY."""
    rows, at = [], _HEAD_BYTES
    while stream[at : at + 2] != _TRAILER:
        begin = at
        (fields,) = struct.unpack_from(">h", stream, at)
        at += 2
        for _ in range(fields):
            (size,) = struct.unpack_from(">i", stream, at)
            at += 4 + max(size, 0)
        rows.append(stream[begin:at])
    return rows


def _altered_answer(row: bytes) -> bytes:
    """Alter the last field with a digit; a row is a message."""
    fields, at = [], 7
    while at < len(row):
        (size,) = struct.unpack_from(">i", row, at)
        fields.append((at + 4, at + 4 + max(size, 0)))
        at = fields[-1][1]
    begin, end = next(f for f in reversed(fields) if texts.has_digit(row[slice(*f)]))
    return row[:begin] + texts.alter(row[begin:end]) + row[end:]
