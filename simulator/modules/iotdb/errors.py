"""What goes wrong with IoTDB, and what it means for rows that were being sent."""

from typing import ClassVar, NamedTuple

from simulator.modules.base import Failure


class IotDbError(Exception):
    """Root of what goes wrong here; the text says what, in whose words."""


class NotConnected(IotDbError):
    """There was no connection, so nothing was sent."""


class NoAnswer(IotDbError):
    """It was sent, wholly or in part, and no complete answer came."""


class Status(NamedTuple):
    """What the server says of a request, or of a part of it."""

    code: int
    words: str


class ServerError(IotDbError):
    """The server has refused a request, or a part of it; the numbers are its TSStatusCode."""

    GOOD: ClassVar[frozenset[int]] = frozenset({200, 400})
    """Success; and success with a hint at another node that would have been nearer."""
    SEVERAL: ClassVar[int] = 302
    """The request's parts have a status each."""

    def __init__(self, where: str, wrong: tuple[Status, ...]) -> None:
        self.codes = frozenset(status.code for status in wrong)
        different = dict.fromkeys(f"{status.words} ({status.code})" for status in wrong)
        words = "; ".join(" ".join(each.split()) for each in different)
        super().__init__(f"{where}: {words}" if where else words)


TABLE_EXISTS = 551
NO_DATABASE = 500
SYNTAX = 700

_REJECTED = 606  # memory is short, or the write-ahead log is: it is turned away at the door
_FATAL = frozenset(
    # unsupported, illegal; no such database, table, column; metadata; read-only; out of its time
    {201, 205, 300, 303, 500, 506, 507, 508, 509, 526, 530, 550, 600, 607, 611, 614, 615, 616}
    # syntax, semantics; out of range; login, rights
    | {700, 701, 750, 752, 801, 802, 803, 804, 811}
)


def classify(error: Exception) -> Failure:
    """Say what an error means for the rows of a tablet.

    The server takes a tablet apart, so that of one that it refuses other parts may be stored.
    """
    if isinstance(error, NotConnected):
        return Failure.NOT_APPLIED
    if isinstance(error, ServerError) and error.codes <= _FATAL:
        return Failure.FATAL
    return Failure.UNKNOWN


REMEDIES = {
    TABLE_EXISTS: "drop it, or run with --clean",
    NO_DATABASE: "run an insert first, or name another in database",
    550: "run an insert first",
    600: "the server takes no more rows: look at its log and disks, then SET SYSTEM TO RUNNING",
    _REJECTED: "use fewer workers, or give the server more memory",
    611: "make room on the server",
    801: "check username and password: --extra-option password=..., or the target's options",
    803: "let the user do this: GRANT ALL ON DATABASE ... TO USER ...",
    804: "check username and password: --extra-option password=..., or the target's options",
}
"""A status -> what to try."""
