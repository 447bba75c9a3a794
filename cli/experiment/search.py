"""The best number of shards: doubled until the rate no longer rises beyond the spread. Pure."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

Rates = Mapping[int, Sequence[float]]
"""Number of shards -> the rates of its repeats."""


def _is_above(ones: Sequence[float], others: Sequence[float]) -> bool:
    """Whether every repeat of one side is above every repeat of the other; each has several."""
    return min(len(ones), len(others)) > 1 and min(ones) > max(others)


def numbers(most: int) -> list[int]:
    """Return all numbers that a search may measure."""
    found = [1]
    while found[-1] < most:
        found.append(min(2 * found[-1], most))
    return found


def best_number(rates: Rates) -> int:
    """Return the number up to which each one is faster than the one before."""
    tried = sorted(rates)
    for before, number in pairwise(tried):
        if not _is_above(rates[number], rates[before]):
            return before
    return tried[-1]


def next_number(rates: Rates, most: int) -> int | None:
    """Return the number to measure next; None: the best one is found, or the largest one tried."""
    if not rates:
        return 1
    last = max(rates)
    is_rising = bool(rates[last]) and best_number(rates) == last
    return next((each for each in numbers(most) if each > last), None) if is_rising else None
