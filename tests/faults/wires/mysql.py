"""MySQL's protocol: commands as texts, and LOAD DATA LOCAL INFILE.

https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html
"""

import re
import struct
from collections.abc import Callable, Iterator

from tests.faults.liar import Answer, Heard, Reply, Rows, Send, ToClient, ToServer, Wire
from tests.faults.wires import texts

_QUERY = 3
_OK, _NULL, _EOF, _ERROR = 0x00, 0xFB, 0xFE, 0xFF
_LOAD = re.compile(rb"(BEGIN;)?LOAD DATA LOCAL INFILE .*\bevents\b", re.DOTALL)
_INSERT = re.compile(rb"INSERT INTO .*\bevents\b", re.DOTALL)
_SELECT = re.compile(
    rb"(?!.*(iotbench_marks|information_schema)).*\bSELECT\b.*\bevents\b", re.DOTALL
)


def packet(number: int, content: bytes) -> bytes:
    return struct.pack("<I", len(content))[:3] + bytes([number % 256]) + content


def _ok(number: int, rows: int, status: int = 2) -> bytes:
    assert rows < 251
    return packet(number, bytes([_OK, rows, 0]) + struct.pack("<HH", status, 0))


class MySqlWire(Wire):
    """A connection of a client that waits for each answer before the next request."""

    def __init__(self, shared: dict[object, object]) -> None:
        super().__init__(shared)
        self._is_logged_in = False
        self._load: bytes | None = None
        """The request of a LOAD DATA whose rows are under way."""
        self._loaded = b""
        self._is_open = False
        """Whether rows of the table wait for a commit."""
        self._packets: dict[Send, int] = {}
        """How many packets answer each batch."""
        self._asked = b""
        """The query about the table that is not answered yet."""
        self._answer: list[bytes] = []

    def forth(self, piece: bytes) -> Iterator[Heard]:
        self._from_client += piece
        for frame in self._cut("_from_client"):
            yield from self._request(frame)

    def frame_bytes(self, content: bytes) -> int:
        return 4 + int.from_bytes(content[:3], "little")

    def _request(self, frame: bytes) -> Iterator[Heard]:
        content = frame[4:]
        if self._load is not None:
            self._loaded += content
            if not content:
                yield self._load_of(self._load, frame[3])
                self._load = None
            return
        self._asked = b""
        if not self._is_logged_in or frame[3] or content[0] != _QUERY:
            yield ToServer(frame)
        elif found := _LOAD.match(content[1:]):
            self._load, self._loaded = frame, b""
            begun = _ok(1, 0, 0x0B) if found[1] else b""
            yield ToClient(begun + packet(2 if found[1] else 1, b"\xfbrows"))
        elif _INSERT.match(content[1:]):
            yield self._send([frame], b"".join, 1, 1)
        elif content[1:] == b"COMMIT" and self._is_open:
            self._is_open = False
            yield self._send([frame], b"".join, 1, 0, commits=True)
        else:
            self._asked = content if _SELECT.match(content[1:]) else b""
            yield ToServer(frame)

    def _load_of(self, load: bytes, last: int) -> Send:
        rows = re.findall(rb"[^\n]*\n", self._loaded)
        before = 2 if load[5:11] == b"BEGIN;" else 1

        def build(rows: Rows) -> bytes:
            content = b"".join(rows)
            return load + packet(before + 1, content) + packet(before + 2, b"")

        assert last == before + 2, "the rows came in several packets"
        self._is_open = True
        return self._send(rows, build, before + 1, len(rows), last + 1)

    def _send(
        self,
        rows: Rows,
        build: Callable[[Rows], bytes],
        packets: int,
        stored: int,
        number: int = 1,
        *,
        commits: bool = False,
    ) -> Send:
        refused = b"\xff" + struct.pack("<H", 1213) + b"#40001Deadlock found; try again"
        send = Send(
            rows,
            build,
            lambda: _ok(number, stored),
            lambda: packet(number, refused),
            _altered,
            _swapped,
            commits,
        )
        self._packets[send] = packets
        return send

    def back(self, piece: bytes) -> Iterator[Heard]:
        self._from_server += piece
        for frame in self._cut("_from_server"):
            yield from self._answered(frame)

    def _answered(self, frame: bytes) -> Iterator[Heard]:
        kind = frame[4]
        if not self._is_logged_in:
            self._is_logged_in = kind == _OK
            yield ToClient(frame)
        elif self._expected:
            self._answer.append(frame)
            send = self._expected[0]
            if kind == _ERROR or len(self._answer) == self._packets[send]:
                self._expected.pop(0)
                self._answer = []
                yield Reply(send, frame)  # of those before, the client has them already
        elif self._asked:
            self._answer.append(frame)
            ends = [n for n, each in enumerate(self._answer) if each[4] == _EOF and len(each) < 13]
            if kind == _ERROR or len(ends) == 2:
                frames, self._answer = self._answer, []
                counts, self._asked = b"temperature" not in self._asked, b""
                if kind == _ERROR:
                    yield ToClient(b"".join(frames))
                else:
                    yield _answer(frames, ends[0] + 1, counts=counts)
        else:
            yield ToClient(frame)


def _answer(frames: list[bytes], first: int, *, counts: bool) -> Answer:
    number = frames[first - 1][3]

    def build(rows: Rows) -> bytes:
        after = [packet(number + 1 + n, each[4:]) for n, each in enumerate([*rows, frames[-1]])]
        return b"".join([*frames[:first], *after])

    return Answer(frames[first:-1], build, _altered_answer, counts)


def _altered(row: bytes) -> bytes:
    """Alter the last value of a line."""
    before, tab, value = row.rpartition(b"\t")
    return before + tab + texts.alter(value)


def _swapped(one: bytes, other: bytes) -> tuple[bytes, bytes]:
    (a, tab, x), (b, _, y) = one.rpartition(b"\t"), other.rpartition(b"\t")
    return a + tab + y, b + tab + x


def _altered_answer(row: bytes) -> bytes:
    """Alter the last value with a digit; a row is a packet."""
    fields, at = [], 4
    while at < len(row):
        size = 0 if row[at] == _NULL else row[at]
        assert row[at] <= _NULL, "a long value"
        fields.append((at + 1, at + 1 + size))
        at = fields[-1][1]
    begin, end = next(f for f in reversed(fields) if texts.has_digit(row[slice(*f)]))
    return row[:begin] + texts.alter(row[begin:end]) + row[end:]
