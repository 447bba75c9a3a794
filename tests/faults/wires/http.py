"""HTTP/1.1, over which InfluxDB, QuestDB and VictoriaMetrics get lines, Elasticsearch documents.

Answers to queries pass as they are.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import ClassVar

from tests.faults.liar import Answered, Ask, Heard, Reply, Rows, Send, ToClient, ToServer, Wire
from tests.faults.wires import texts

_LENGTH = re.compile(rb"(?im)^content-length:\s*(\d+)")
_CHUNKED = re.compile(rb"(?im)^transfer-encoding:\s*chunked")
_NO_BODY = re.compile(rb"HTTP/1\.1 (1\d\d|204|304) ")
_VALUE = re.compile(rb"(temperature\"?[=:])(-?[\d.]+)")
_BUSY = b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\n"


class HttpWire(Wire):
    """A connection of a client that waits for each answer before the next request."""

    writes: ClassVar[re.Pattern[bytes]]
    """Matches the first line of a request that stores rows."""
    lines: ClassVar[int] = 1
    """Of each row."""

    def __init__(self, shared: dict[object, object]) -> None:
        super().__init__(shared)
        self._asked: deque[Send | Ask | bytes] = deque()
        """What is not answered yet; bytes: of no table of ours."""

    def expect(self, send: Send) -> None:
        self._asked.append(send)

    # --- requests

    def forth(self, piece: bytes) -> Iterator[Heard]:
        self._from_client += piece
        while (head := self._from_client.find(b"\r\n\r\n") + 4) > 3:
            found = _LENGTH.search(self._from_client, 0, head)
            stop = head + (int(found[1]) if found else 0)
            if len(self._from_client) < stop:
                return
            frame, self._from_client = self._from_client[:stop], self._from_client[stop:]
            yield self._request(frame, frame[:head], frame[head:])

    def _request(self, frame: bytes, head: bytes, body: bytes) -> Heard:
        if b"events" in frame and b"iotbench_marks" not in frame:
            if self.writes.match(head):
                return self._send(head, body)
            if not re.match(rb"(PUT|HEAD) ", head):
                ask = Ask(frame)
                self._asked.append(ask)
                return ask
        self._asked.append(frame)
        return ToServer(frame)

    def _send(self, head: bytes, body: bytes) -> Send:
        each = body.splitlines(keepends=True)
        rows = [b"".join(each[n : n + self.lines]) for n in range(0, len(each), self.lines)]

        def build(rows: Rows) -> bytes:
            content = b"".join(rows)
            return _LENGTH.sub(b"Content-Length: %d" % len(content), head) + content

        return Send(
            rows,
            build,
            lambda: self.done(len(rows)),
            lambda: _BUSY + _sized(b'{"code":"unavailable","message":"busy"}'),
            _altered,
            _swapped,
            size_bytes=len(body),
        )

    def done(self, rows: int) -> bytes:
        """Return the acknowledgement of so many rows."""
        del rows
        return b"HTTP/1.1 204 No Content\r\n\r\n"

    # --- answers

    def back(self, piece: bytes) -> Iterator[Heard]:
        self._from_server += piece
        while stop := self._answer_bytes():
            frame, self._from_server = self._from_server[:stop], self._from_server[stop:]
            match self._asked.popleft():
                case Send() as send:
                    yield Reply(send, frame)
                case Ask():
                    yield Answered(frame)
                case _:
                    yield ToClient(frame)

    def _answer_bytes(self) -> int:
        """Return the size of the first answer; 0: it is not complete."""
        content = self._from_server
        head = content.find(b"\r\n\r\n") + 4
        if head < 4:
            return 0
        asked = self._asked[0]
        of_head = isinstance(asked, bytes) and asked.startswith(b"HEAD ")
        if of_head or _NO_BODY.match(content):
            return head
        if _CHUNKED.search(content, 0, head):
            return _chunks_end(content, head)
        found = _LENGTH.search(content, 0, head)
        assert found, "the end of the answer is that of the connection"
        stop = head + int(found[1])
        return stop if len(content) >= stop else 0


class InfluxWire(HttpWire):
    writes = re.compile(rb"POST \S*/api/v2/write")


class LinesWire(HttpWire):
    """QuestDB, and VictoriaMetrics where few rows of a batch are of one series."""

    writes = re.compile(rb"POST /write")


class BulkWire(HttpWire):
    """Elasticsearch: an action and a document for each row."""

    writes = re.compile(rb"POST /\S*_bulk")
    lines = 2

    def done(self, rows: int) -> bytes:
        items = b",".join([b'{"create":{"status":201}}'] * rows)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        return head + _sized(b'{"errors":false,"items":[%s]}' % items)


def _sized(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def _chunks_end(content: bytes, at: int) -> int:
    """Return where the last chunk ends; 0: it is not there."""
    while (end := content.find(b"\r\n", at)) >= 0:
        size = int(content[at:end].partition(b";")[0], 16)
        at = end + 2 + size + 2
        if not size:
            return at if len(content) >= at else 0
    return 0


def _altered(row: bytes) -> bytes:
    return _VALUE.sub(lambda found: found[1] + texts.alter(found[2]), row)


def _swapped(one: bytes, other: bytes) -> tuple[bytes, bytes]:
    values: Sequence[bytes] = [found[2] for row in (one, other) if (found := _VALUE.search(row))]
    a, b = values
    return (
        _VALUE.sub(lambda found: found[1] + b, one),
        _VALUE.sub(lambda found: found[1] + a, other),
    )
