"""MongoDB's protocol: OP_MSG.

https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/
"""

import struct
from collections.abc import Iterator
from typing import Any

import bson

from tests.faults.liar import Answer, Heard, Reply, Rows, Send, ToClient, ToServer, Wire

_HEADER = struct.Struct("<iiii")
_MESSAGE = 2013
_VALUE = b"\x01temperature\0"


def message(number: int, answers: int, content: bytes) -> bytes:
    size = _HEADER.size + 4 + len(content)
    return _HEADER.pack(size, number, answers, _MESSAGE) + bytes(4) + content


class MongoDbWire(Wire):
    """A connection; answers name their request."""

    def __init__(self, shared: dict[object, object]) -> None:
        super().__init__(shared)
        self._numbers: dict[Send, int] = {}
        self._asked: dict[int, bool] = {}
        """Queries by number, and whether they only count."""

    def frame_bytes(self, content: bytes) -> int:
        return int(struct.unpack_from("<i", content)[0])

    def forth(self, piece: bytes) -> Iterator[Heard]:
        self._from_client += piece
        for frame in self._cut("_from_client"):
            _, number, _, kind = _HEADER.unpack_from(frame)
            body, documents = _sections(frame) if kind == _MESSAGE else ({}, [])
            name, of = next(iter(body.items()), ("", ""))
            if name == "insert" and str(of).startswith("events"):
                yield self._send(number, frame, documents)
                continue
            asked = str(body.get("collection", of)) if name == "getMore" else str(of)
            if name in ("find", "aggregate", "getMore") and asked.startswith("events"):
                self._asked[number] = b"temperature" not in frame
            yield ToServer(frame)

    def _send(self, number: int, frame: bytes, documents: list[bytes]) -> Send:
        (size,) = struct.unpack_from("<i", frame, 21)
        body = frame[20 : 21 + size]

        def build(rows: Rows) -> bytes:
            content = b"documents\0" + b"".join(rows)
            sequence = b"\x01" + struct.pack("<i", len(content) + 4) + content
            return message(number, 0, body + sequence)

        def answer(**content: Any) -> bytes:
            return message(0, number, b"\0" + bson.encode(content))

        send = Send(
            documents,
            build,
            lambda: answer(n=len(documents), ok=1.0),
            lambda: answer(ok=0.0, code=112, codeName="WriteConflict", errmsg="try again"),
            _altered,
            _swapped,
        )
        self._numbers[send] = number
        return send

    def back(self, piece: bytes) -> Iterator[Heard]:
        self._from_server += piece
        for frame in self._cut("_from_server"):
            _, number, answers, _ = _HEADER.unpack_from(frame)
            send = next((s for s in self._expected if self._numbers[s] == answers), None)
            if send:
                self._expected.remove(send)
                yield Reply(send, frame)
            elif answers in self._asked:
                yield _answer(number, answers, frame, counts=self._asked.pop(answers))
            else:
                yield ToClient(frame)


def _answer(number: int, answers: int, frame: bytes, *, counts: bool) -> Answer | ToClient:
    body, _ = _sections(frame)
    name = next((n for n in ("firstBatch", "nextBatch") if n in body.get("cursor", {})), "")
    if not name:
        return ToClient(frame)

    def build(rows: Rows) -> bytes:
        cursor = {**body["cursor"], name: [bson.decode(row) for row in rows]}
        return message(number, answers, b"\0" + bson.encode({**body, "cursor": cursor}))

    rows = [bson.encode(each) for each in body["cursor"][name]]
    return Answer(rows, build, _altered_answer, counts)


def _sections(frame: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Return the body of a message, and its sequence of documents."""
    at, body, documents = 20, {}, list[bytes]()
    while at < len(frame):
        (size,) = struct.unpack_from("<i", frame, at + 1)
        section = frame[at + 1 : at + 1 + size]
        if frame[at] == 0:
            body = bson.decode(section)
        else:
            within = section.index(b"\0", 4) + 1
            while within < size:
                (length,) = struct.unpack_from("<i", section, within)
                documents.append(section[within : within + length])
                within += length
        at += 1 + size
    return body, documents


def _value(document: bytes) -> slice:
    at = document.index(_VALUE) + len(_VALUE)
    return slice(at, at + 8)


def _altered(document: bytes) -> bytes:
    at = _value(document).start + 5
    return document[:at] + bytes([document[at] ^ 0x10]) + document[at + 1 :]


def _swapped(one: bytes, other: bytes) -> tuple[bytes, bytes]:
    a, b = _value(one), _value(other)
    return (
        one[: a.start] + other[b] + one[a.stop :],
        other[: b.start] + one[a] + other[b.stop :],
    )


def _altered_answer(document: bytes) -> bytes:
    """Alter the last number."""
    content = bson.decode(document)
    name = next(
        n for n, v in reversed(content.items()) if isinstance(v, float | int) and n != "_id"
    )
    return bson.encode({**content, name: content[name] + 1})
