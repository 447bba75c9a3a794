"""Messages with which workers fold rows for the collector."""

from typing import Annotated, TypeAlias

from pydantic import Field

from simulator.data.ranges import RowRange
from simulator.protocol.messages import BASE64, Count, Index, Message

FOLD_BYTES = 4 << 20
"""Maximum size of the result of a fold task, in bytes."""
_FOLD_CHARACTERS = (FOLD_BYTES + 2) // 3 * 4


class Folded(Message):
    """The result of a fold task."""

    number: Count
    """Number of the fold task."""
    content: Annotated[str, Field(max_length=_FOLD_CHARACTERS, pattern=BASE64)] | None
    """Result of `Oracle.to_bytes`; None if it is too large.

    For a window, the content is the fingerprint of the window's only table."""


class FoldRequest(Message):
    """Request of a worker that has reported: it returns a result, and asks for the next task."""

    index: Index
    folded: Folded | None = None


QueryName: TypeAlias = tuple[str, int]
"""Name of a query, as described at simulator.verify.truth.needed."""


class StoredWindow(Message):
    """Stored rows of a table, which is given as place, in a half-open range of time.

    `since` and `until` are in the unit of the table.
    """

    table: int
    since: int | None = None
    until: int | None = None


class FoldReply(Message):
    """Rows to fold, either drawn from the dataset or stored; without `number`, ask again."""

    number: int | None = None
    queries: tuple[QueryName, ...] = ()
    ranges: tuple[RowRange, ...] = ()
    window: StoredWindow | None = None
    """Stored rows to read instead of drawing the rows in `ranges`."""
    over: bool = False
    """True if the worker may end."""
