"""A cache of what encoders compute from the levels of coded columns."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")

LIMIT = 16
"""Results that a cache holds; a run has one or two for a column."""


class LevelCache(Generic[T]):
    """Caches `render(*levels)` by the identity of each argument; keeps the `LIMIT` most recent.

    It also keeps the levels, so that no other object gets the same id.
    """

    def __init__(self, render: Callable[..., T]) -> None:
        self._render = render
        self._kept: dict[tuple[int, ...], tuple[tuple[Any, ...], T]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def __call__(self, *levels: Any) -> T:
        """Return `render(*levels)`, computed now or cached."""
        key = tuple(map(id, levels))
        entry = self._kept.pop(key, None) or (levels, self._render(*levels))
        self._kept[key] = entry
        if len(self._kept) > LIMIT:
            del self._kept[next(iter(self._kept))]
        return entry[1]
