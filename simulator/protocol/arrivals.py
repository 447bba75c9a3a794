"""Workers' reports about the arrival of rows: batches, and answers about fresh rows."""

from typing import Annotated

from pydantic import Field

from simulator.protocol.messages import Index, Instant, Message, Name, Scalar
from simulator.protocol.numbers import Packed

NEVER_NS = (1 << 62) - 1
"""Instant that never comes, such as the acknowledgement of a batch that was not acknowledged."""
BATCH_COLUMNS = ("sent_ns", "acknowledged_ns")
RUN_COLUMNS = ("batch", "table", "first", "count", "step")
"""Columns of rows first, first + step, ... of one batch and table; the table is given as place."""
ANSWER_COLUMNS = ("since_ms", "began_ns", "ended_ns", "rows")
NULL_INTEGER, NULL_DOUBLE = -(1 << 63), 0x7FF8 << 48
"""NULL among the values of an answer, as an integer and as a NaN."""
_MOST_KEYS = 1 << 18


class Ticks(Message):
    """The difference between the monotonic clocks of a worker and of the collector."""

    offset_ns: Instant = 0
    """Offset to add to the worker's time in order to get the collector's time."""
    unsure_ns: Annotated[int, Field(ge=0)] = 0
    """Uncertainty of the sum in either direction; 0 on the collector's machine."""


class ArrivalPart(Message):
    """A part of a report; `last` is True in the last part."""

    index: Index
    part: Annotated[int, Field(ge=0)]
    last: bool = False
    ticks: Ticks = Ticks()


class SentBatches(ArrivalPart):
    """Timed batches of a worker, in the order in which they were sent."""

    batches: Packed
    """Packed BATCH_COLUMNS; instants are on the worker's monotonic clock."""
    runs: Packed
    """Packed RUN_COLUMNS; `batch` is the number of the batch in this part, from 0."""
    measured_ns: Instant = 0
    """Start of the measured part, on the worker's monotonic clock."""


class FreshAnswers(ArrivalPart):
    """Answers to one query about fresh rows, in the order in which they arrived."""

    query: Name
    count: Annotated[int, Field(ge=0)]
    """Number of answers in this part."""
    answers: Packed
    """Packed ANSWER_COLUMNS."""
    keys: Annotated[tuple[tuple[Scalar, ...], ...], Field(max_length=_MOST_KEYS)] = ()
    """Combinations of the query's tags that occur in this part."""
    values: Packed
    """Rows of the answers: the number of the key, then the values of the other columns.

    A float is sent as the 64-bit integer with the same bits."""
