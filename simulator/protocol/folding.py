"""Messages by which workers fold rows for the collector."""

from typing import Annotated, TypeAlias

from pydantic import Field

from simulator.data.ranges import RowRange
from simulator.protocol.messages import BASE64, Count, Index, Message

FOLD_BYTES = 4 << 20
"""The most that the fold of one task may take."""
_FOLD_CHARACTERS = (FOLD_BYTES + 2) // 3 * 4


class Folded(Message):
    """The result of a fold task."""

    number: Count
    """Number of the fold task."""
    content: Annotated[str, Field(max_length=_FOLD_CHARACTERS, pattern=BASE64)] | None
    """`Oracle.to_bytes`; for a window, the fingerprint of its only table; None if too large."""


class FoldRequest(Message):
    """A worker that has reported returns its fold, and asks for the next task."""

    index: Index
    folded: Folded | None = None


QueryName: TypeAlias = tuple[str, int]
"""See simulator.verify.truth.needed."""


class StoredWindow(Message):
    """Stored rows of a table (its place), in a half-open range of time in its unit."""

    table: int
    since: int | None = None
    until: int | None = None


class FoldReply(Message):
    """Rows to fold: drawn from the dataset, or stored; without a number, the worker asks again."""

    number: int | None = None
    queries: tuple[QueryName, ...] = ()
    ranges: tuple[RowRange, ...] = ()
    window: StoredWindow | None = None
    """Rows to read, in place of ranges."""
    over: bool = False
    """The worker may end."""
