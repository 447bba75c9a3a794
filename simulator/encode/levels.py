"""A cache of what encoders compute from the levels of a coded column."""

from collections.abc import Callable
from typing import Generic, TypeVar

from simulator.data.block import Array

T = TypeVar("T")

LIMIT = 16
"""How many arrays of levels the cache of one column holds; a run has one or two for a column."""


class Rendered(Generic[T]):
    """Caches `render(levels)` by the identity of `levels`; keeps the `LIMIT` most recent.

    It also keeps the levels, so that no other array gets the same id.
    """

    def __init__(self, render: Callable[[Array], T]) -> None:
        self._render = render
        self._kept: dict[int, tuple[Array, T]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def __call__(self, levels: Array) -> T:
        """Return `render(levels)`, computed now or cached."""
        entry = self._kept.pop(id(levels), None) or (levels, self._render(levels))
        self._kept[id(levels)] = entry
        if len(self._kept) > LIMIT:
            del self._kept[next(iter(self._kept))]
        return entry[1]
