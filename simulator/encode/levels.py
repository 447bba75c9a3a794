"""What is made once of the levels of a coded column, kept as long as they are in use."""

from collections.abc import Callable
from typing import Generic, TypeVar

from simulator.data.block import Array

T = TypeVar("T")

LIMIT = 16
"""How many levels arrays of one column are remembered; a run has one or two a column."""


class Rendered(Generic[T]):
    """Remembers `render(levels)` by the identity of `levels`, the last used `LIMIT` of them.

    The levels are held too: their id cannot pass to another array while it is a key here.
    """

    def __init__(self, render: Callable[[Array], T]) -> None:
        self._render = render
        self._kept: dict[int, tuple[Array, T]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def __call__(self, levels: Array) -> T:
        """Return what `render` makes of the levels, made now or before."""
        entry = self._kept.pop(id(levels), None) or (levels, self._render(levels))
        self._kept[id(levels)] = entry
        if len(self._kept) > LIMIT:
            del self._kept[next(iter(self._kept))]
        return entry[1]
