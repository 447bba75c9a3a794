"""The best number of shards, or size of a batch: raised until the rate clearly falls. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import count, takewhile
from statistics import fmean

FIRST_BATCH_ROWS = 1000
Rates = Mapping[int, Sequence[float]]
"""Number of shards, or rows of a batch -> the rates of its repeats."""


class Sought(StrEnum):
    """The object of the search."""

    SHARDS = "shards"
    BATCH = "batch"


@dataclass(frozen=True, slots=True)
class Search:
    """A search for a number, up to the largest that may be tried."""

    sought: Sought
    most: int

    def numbers(self) -> list[int]:
        """Return all numbers that may be measured: 1, 2, 4, ... or 1,000, 3,000, 10,000, ..."""
        doubled = (2**power for power in count())
        rounded = (
            FIRST_BATCH_ROWS * 10 ** (power // 2) * (3 if power % 2 else 1) for power in count()
        )
        series = doubled if self.sought is Sought.SHARDS else rounded
        return [*takewhile(lambda number: number < self.most, series), self.most]

    def next_number(self, rates: Rates) -> int | None:
        """Return the number to measure next; None: the best is found, or the largest was tried."""
        if not rates:
            return self.numbers()[0]
        last = max(rates)
        has_ended = not rates[last] or _is_above(rates[best_number(rates)], rates[last])
        return None if has_ended else next((each for each in self.numbers() if each > last), None)


def _is_above(ones: Sequence[float], others: Sequence[float]) -> bool:
    """Return whether all repeats of one side exceed all of the other; each has several."""
    return min(len(ones), len(others)) > 1 and min(ones) > max(others)


def best_number(rates: Rates) -> int:
    """Return the number with the highest mean rate; of equal ones, or without rates, the least."""
    return max(sorted(rates), key=lambda number: fmean(rates[number] or (0.0,)))
