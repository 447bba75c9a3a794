"""A liar between the benchmark and a database: it understands the wire, and cheats both ends.

A wire (tests/faults/wires) cuts what one connection says into frames, and names those that carry
rows, acknowledgements and answers. A lie says what becomes of one batch, or of every answer.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from tests.faults.proxy import Passed

Rows: TypeAlias = Sequence[bytes]


@dataclass(frozen=True, eq=False)
class Send:
    """The rows of a request that stores them, encoded for the wire; or a commit, without rows."""

    rows: Rows
    build: Callable[[Rows], bytes]
    """Makes the request of such rows."""
    acknowledge: Callable[[], bytes]
    """Makes the acknowledgement of all of them."""
    try_again: Callable[[], bytes]
    """Makes an error after which nothing is stored, and a client sends the rows again."""
    alter: Callable[[bytes], bytes] = bytes
    """Changes a value of a row."""
    swap: Callable[[bytes, bytes], tuple[bytes, bytes]] = lambda one, other: (one, other)
    """Exchanges the last values of two rows."""
    commits: bool = False


@dataclass(frozen=True, eq=False)
class Reply:
    """The answer to a batch."""

    send: Send
    content: bytes


@dataclass(frozen=True, eq=False)
class Answer:
    """The rows of an answer to a query."""

    rows: Rows
    build: Callable[[Rows], bytes]
    alter: Callable[[bytes], bytes]
    counts: bool
    """Whether the query only counts rows, as one does before the others are asked."""


@dataclass(frozen=True)
class ToServer:
    """What passes as it is."""

    content: bytes


@dataclass(frozen=True)
class ToClient:
    """What passes as it is."""

    content: bytes


Heard: TypeAlias = ToServer | ToClient | Send | Reply | Answer


class Wire(ABC):
    """One connection of a protocol."""

    def __init__(self, shared: dict[Any, Any]) -> None:
        """Take what all connections know, such as prepared statements."""
        self.shared = shared

    @abstractmethod
    def forth(self, piece: bytes) -> Iterator[Heard]:
        """Yield what a piece from the client completes."""

    @abstractmethod
    def back(self, piece: bytes) -> Iterator[Heard]:
        """Yield what a piece from the server completes."""

    @abstractmethod
    def expect(self, send: Send) -> None:
        """Expect an answer to a batch that has been forwarded."""


class Says(Enum):
    """What the client hears instead of an answer."""

    TRUTH = "the answer"
    NOTHING = "nothing"
    DONE = "an acknowledgement of all rows"
    TRY_AGAIN = "an error after which nothing is stored"
    TWICE = "the answer, twice"
    END = "nothing, and the connection ends"


@dataclass(frozen=True)
class Fate:
    """What becomes of a batch."""

    forwarded: Sequence[Rows] = ()
    """The rows of each request that the server gets."""
    says: Sequence[Says] = ()
    """What the client hears as each of them is answered."""
    at_once: bool = False
    """Whether the client hears at once that all rows are stored."""
    ends: bool = False
    """Whether the connection ends then."""
    later: Rows = ()
    """Rows that the server gets after those of the next batch."""


def _swapped(send: Send) -> Rows:
    """Return the rows with the last values of two of them exchanged."""
    for place in range(len(send.rows) - 1):
        one, other = send.swap(*send.rows[place : place + 2])
        if one != send.rows[place]:
            return [*send.rows[:place], one, other, *send.rows[place + 2 :]]
    raise AssertionError("all values are equal")


LIES: dict[str, Callable[[Send], Fate]] = {
    "acknowledged, not stored": lambda _: Fate(at_once=True),
    "acknowledged, stored after the next": lambda send: Fate(at_once=True, later=send.rows),
    "acknowledged, and closed": lambda _: Fate(at_once=True, ends=True),
    "closed": lambda _: Fate(ends=True),
    "stored, and closed": lambda send: Fate([send.rows], [Says.END]),
    "stored twice": lambda send: Fate([send.rows] * 2, [Says.TRUTH, Says.NOTHING]),
    "stored, and refused": lambda send: Fate([send.rows], [Says.TRY_AGAIN]),
    "stored, and acknowledged twice": lambda send: Fate([send.rows], [Says.TWICE]),
    "last row cut": lambda send: Fate([send.rows[:-1]], [Says.DONE]),
    "last row cut, and said so": lambda send: Fate([send.rows[:-1]], [Says.TRUTH]),
    "a value altered": lambda send: Fate(
        [[send.alter(send.rows[0]), *send.rows[1:]]], [Says.TRUTH]
    ),
    "two values swapped": lambda send: Fate([_swapped(send)], [Says.TRUTH]),
}
"""What becomes of the rows of one batch."""

OF_COMMIT: dict[str, Callable[[Send], Fate]] = {
    "commit acknowledged, not done": lambda _: Fate(at_once=True),
    "commit done, and refused": lambda send: Fate([send.rows], [Says.TRY_AGAIN]),
    "commit done, and closed": lambda send: Fate([send.rows], [Says.END]),
}
"""What becomes of one commit, where it is a request of its own."""

OF_ANSWERS: dict[str, Callable[[Answer], Rows]] = {
    "answered without its last row": lambda answer: answer.rows[:-1],
    "answered with a row twice": lambda answer: [*answer.rows, answer.rows[-1]],
    "answered with a value altered": lambda answer: [
        *answer.rows[:-1],
        answer.alter(answer.rows[-1]),
    ],
    "answered without rows": lambda _: [],
}
"""What becomes of every answer that has rows of the table."""


class Plot:
    """A lie, and when it is says: shared by all connections."""

    def __init__(self) -> None:
        self.failed: list[Exception] = []
        """Errors of the liar itself."""
        self.shared: dict[Any, Any] = {}
        """What all connections know."""
        self.lies = 0
        """How often it lied."""
        self._lock = threading.Lock()
        self.begin("")

    def begin(self, lie: str, at: int = 1, *, about_counts: bool = False) -> None:
        """Lie about the batch, or the commit, of this number; or about every answer.

        Those to queries that only count rows are all, or none, of these.
        """
        with self._lock:
            self.lies, self._lie, self._at, self._about_counts = 0, lie, at, about_counts
            self._sends = {True: 0, False: 0}
            self._later: list[Rows] = []

    def fate(self, send: Send) -> Fate:
        """Return what becomes of a batch."""
        lies = OF_COMMIT if send.commits else LIES
        with self._lock:
            self._sends[send.commits] += 1
            later = [self._later.pop()] if self._later and not send.commits else []
            if self._lie in lies and self._sends[send.commits] == self._at:
                self.lies += 1
                found = lies[self._lie](send)
                if found.later:
                    self._later.append(found.later)
                return found
        says = [Says.TRUTH, *[Says.NOTHING for _ in later]]
        return Fate([send.rows, *later], says)

    def rows(self, answer: Answer) -> Rows:
        """Return the rows of an answer."""
        about_it = self._about_counts == answer.counts
        if self._lie not in OF_ANSWERS or not answer.rows or not about_it:
            return answer.rows
        with self._lock:
            self.lies += 1
        return OF_ANSWERS[self._lie](answer)


class Liar:
    """One connection."""

    def __init__(self, wire: type[Wire], plot: Plot) -> None:
        self._wire, self._plot = wire(plot.shared), plot
        self._says: list[tuple[Send, Says]] = []
        """What the client hears about each batch that is not answered yet."""

    def forth(self, piece: bytes) -> Passed:
        """Return what takes the place of a piece from the client."""
        return self._passed(self._wire.forth, piece)

    def back(self, piece: bytes) -> Passed:
        """Return what takes the place of a piece from the server."""
        return self._passed(self._wire.back, piece)

    def _passed(self, hear: Callable[[bytes], Iterator[Heard]], piece: bytes) -> Passed:
        try:
            found = [self._become(heard) for heard in hear(piece)]
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self._plot.failed.append(error)
            return Passed(ends=True)
        to_server = b"".join(each.to_server for each in found)
        to_client = b"".join(each.to_client for each in found)
        return Passed(to_server, to_client, any(each.ends for each in found))

    def _become(self, heard: Heard) -> Passed:
        match heard:
            case ToServer(content):
                return Passed(to_server=content)
            case ToClient(content):
                return Passed(to_client=content)
            case Answer():
                return Passed(to_client=heard.build(self._plot.rows(heard)))
            case Send():
                return self._decide(heard)
            case Reply():
                return self._reply(heard)

    def _decide(self, send: Send) -> Passed:
        fate = self._plot.fate(send)
        for says in fate.says:
            self._wire.expect(send)
            self._says.append((send, says))
        now = send.acknowledge() if fate.at_once else b""
        return Passed(b"".join(map(send.build, fate.forwarded)), now, fate.ends)

    def _reply(self, reply: Reply) -> Passed:
        place = next(n for n, (send, _) in enumerate(self._says) if send is reply.send)
        _, says = self._says.pop(place)
        match says:
            case Says.TRUTH:
                return Passed(to_client=reply.content)
            case Says.DONE:
                return Passed(to_client=reply.send.acknowledge())
            case Says.TRY_AGAIN:
                return Passed(to_client=reply.send.try_again())
            case Says.TWICE:
                return Passed(to_client=reply.content * 2)
            case Says.NOTHING | Says.END:
                return Passed(ends=says is Says.END)
