"""Workers' reports about rows that arrive: batches, and answers about fresh rows."""

from typing import Annotated

from pydantic import Field

from simulator.protocol.messages import Index, Instant, Message, Name, Scalar
from simulator.protocol.numbers import Packed

NEVER_NS = (1 << 62) - 1
"""Instant that never comes, such as the acknowledgement of a batch that had none."""
BATCH_COLUMNS = ("sent_ns", "acknowledged_ns")
RUN_COLUMNS = ("batch", "table", "first", "count", "step")
"""Rows first, first + step, ... of one batch and table (its place)."""
ANSWER_COLUMNS = ("since_ms", "began_ns", "ended_ns", "rows")
NULL_INTEGER, NULL_DOUBLE = -(1 << 63), 0x7FF8 << 48
"""NULLs among the values of an answer; the latter is a NaN."""
_MOST_KEYS = 1 << 18


class Ticks(Message):
    """The difference between a worker's monotonic clock and the collector's."""

    offset_ns: Instant = 0
    """Offset to add to the worker's time."""
    unsure_ns: Annotated[int, Field(ge=0)] = 0
    """Uncertainty of the sum, either way; 0 on the machine of the collector."""


class ArrivalPart(Message):
    """A part of a report; the last one is marked."""

    index: Index
    part: Annotated[int, Field(ge=0)]
    last: bool = False
    ticks: Ticks = Ticks()


class SentBatches(ArrivalPart):
    """Timed batches of a worker, in the order in which they were sent."""

    batches: Packed
    """BATCH_COLUMNS, on the worker's monotonic clock."""
    runs: Packed
    """RUN_COLUMNS; `batch` counts from the first one of this part."""
    measured_ns: Instant = 0
    """Start of the measured part."""


class FreshAnswers(ArrivalPart):
    """Answers to one query about fresh rows, in the order in which they came."""

    query: Name
    count: Annotated[int, Field(ge=0)]
    """Number of answers in this part."""
    answers: Packed
    """ANSWER_COLUMNS."""
    keys: Annotated[tuple[tuple[Scalar, ...], ...], Field(max_length=_MOST_KEYS)] = ()
    """Combinations of its tags that occur in this part."""
    values: Packed
    """Rows of the answers: the number of the key, then the other columns; floats as the 64-bit
    integers with the same bits."""
