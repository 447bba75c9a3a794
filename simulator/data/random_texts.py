"""Long random texts, each a pure function of a key and a number."""

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Rows, Texts
from simulator.data.mixer import draw, draw_from

_LANES = 4
"""Characters of a hash, each made of 16 bits: a character's share is off by 0.2 % at most."""
_PASS_WORDS = 1 << 15
"""Hashes drawn at once: many for a call of NumPy, few for the cache."""


def letters_of(alphabet: bytes) -> NDArray[np.uint8]:
    """Return the character for each 16-bit value."""
    places = np.arange(1 << 16) * len(alphabet) >> 16
    return np.frombuffer(alphabet, np.uint8).take(places)


def random_texts(
    key: int, numbers: Rows, lengths: NDArray[np.int64], letters: NDArray[np.uint8]
) -> Texts:
    """Return a text for each number; lengths are multiples of four, `letters` from `letters_of`."""
    stops = np.cumsum(lengths)
    content = np.empty(int(lengths.sum()), np.uint8)
    seeds, words = draw(key, numbers), lengths // _LANES
    first, done = 0, 0
    while first < len(numbers):
        limit = np.searchsorted(stops, _LANES * (done + _PASS_WORDS), "right")
        last = max(int(limit), first + 1)
        some = words[first:last]
        count = int(some.sum())
        places = np.arange(count) - np.repeat(np.cumsum(some) - some, some)
        hashes = draw_from(np.repeat(seeds[first:last], some), places)
        lanes = hashes.astype("<u8", copy=False).view("<u2")
        letters.take(lanes, out=content[_LANES * done : _LANES * (done + count)])
        first, done = last, done + count
    return Texts(content, stops - lengths, lengths)
