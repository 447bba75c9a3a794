"""What is remembered of levels: once made, never stale, never more than the limit."""

import gc
import weakref

import numpy as np

from simulator.encode.columns import LIMIT, LevelCache


def test_levels_are_rendered_once():
    calls = []
    rendered = LevelCache(calls.append)
    levels = np.arange(3)
    for _ in range(3):
        rendered(levels)

    assert len(calls) == 1


def test_memory_is_bounded():
    rendered = LevelCache(len)
    first = np.arange(3)
    gone = weakref.ref(first)
    rendered(first)
    del first
    for size in range(3 * LIMIT):
        rendered(np.arange(size))
    gc.collect()

    assert len(rendered) == LIMIT
    assert gone() is None


def test_levels_in_use_stay():
    calls = []
    rendered = LevelCache(lambda levels: calls.append(levels) or len(levels))
    used = np.arange(3)
    for size in range(3 * LIMIT):
        assert rendered(used) == 3
        rendered(np.zeros(size))

    assert sum(levels is used for levels in calls) == 1


def test_an_array_at_the_same_address_is_not_taken_for_the_old_one():
    """CPython reuses addresses at once; holding the levels makes that impossible."""
    rendered = LevelCache(lambda levels: levels.sum())
    for number in range(10 * LIMIT):
        assert rendered(np.array([number])) == number
