"""Messages between a worker and the process that sends its batches, over a pipe."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from simulator.data.block import Block, Rows
from simulator.modules.contract import Database, Failure, Options
from simulator.protocol.spec import Several


@dataclass(frozen=True, slots=True)
class Begin:
    """The worker's first message: connect."""

    database: type[Database]
    options: Options
    several: Several
    within_s: float
    """Time for which to try to connect."""


@dataclass(frozen=True, slots=True)
class Encode:
    """The worker asks to encode payloads, which stay in the sending process."""

    number: int
    arguments: "Arguments"


@dataclass(frozen=True, slots=True)
class SendMessage:
    """The worker asks to send a payload of an `Encode`."""

    number: int
    encoded: int
    place: int


@dataclass(frozen=True, slots=True)
class BlockMessage:
    """A block to encode, in payloads of this many rows."""

    block: Block
    mode: str
    batch_rows: int


@dataclass(frozen=True, slots=True)
class BlocksMessage:
    """Blocks of several tables to encode; each payload has the rows between two places."""

    blocks: Sequence[Block]
    places: Sequence[Rows]


Arguments: TypeAlias = BlockMessage | BlocksMessage


@dataclass(frozen=True, slots=True)
class Problem:
    """A failure, as the database's module explains and classifies it."""

    cause: str
    failure: Failure = Failure.FATAL
    may_pass: bool = False
    """See `WriterConnection.may_pass`."""
    alive: bool = True
    """True if the session is usable afterwards."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The answer to `Begin`."""

    in_flight: int
    makes_objects: bool
    opened_ns: Sequence[int]


@dataclass(frozen=True, slots=True)
class Encoded:
    """The answer to `Encode`: the size of each payload, None if only the driver knows the size."""

    number: int
    sizes_bytes: Sequence[int | None]
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """The answer to `SendMessage`; without a problem, the payload is acknowledged."""

    number: int
    problem: Problem | None
    cpu_s: float
    """CPU time of the sending process since its start."""
