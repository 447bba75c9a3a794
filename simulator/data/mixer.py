"""Random draws as a pure function of (seed, column, row): no stream, no state.

The mixer is the finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
generators", 2014) over row * golden ratio + key. Any worker can draw any row alone. One core makes
about 140 million draws/s.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Rows, Texts

Hashes = NDArray[np.uint64]

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def key_of(seed: int, column: str) -> int:
    """Return the 64-bit key of one column's draws: FNV-1a of the name, mixed with the seed."""
    name_hash = 0xCBF29CE484222325
    for byte in column.encode():
        name_hash = ((name_hash ^ byte) * 0x100000001B3) & _MASK
    return _mix_int(_mix_int(seed & _MASK) ^ name_hash)


def _mix_int(value: int) -> int:
    value = (value + _GOLDEN) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def mix(values: Hashes) -> Hashes:
    """Mix 64-bit values in place and return them; a bijection that keeps 0 at 0."""
    values ^= values >> np.uint64(30)
    values *= np.uint64(0xBF58476D1CE4E5B9)
    values ^= values >> np.uint64(27)
    values *= np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values


def draw(key: int, rows: Rows) -> Hashes:
    """Return 64 uniform bits for each row."""
    values = rows.astype(np.uint64)
    values *= np.uint64(_GOLDEN)
    values += np.uint64(key)
    return mix(values)


def draw_each(keys: Hashes, rows: Rows) -> Hashes:
    """Return 64 uniform bits for each row (first axis) and key (second axis)."""
    values = (rows.astype(np.uint64) * np.uint64(_GOLDEN))[:, None] + keys
    return mix(values)


def draw_from(keys: Hashes, rows: Rows) -> Hashes:
    """Return 64 uniform bits for each pair of a key and a row; keys may be drawn, too."""
    values = rows.astype(np.uint64)
    values *= np.uint64(_GOLDEN)
    values += keys
    return mix(values)


def fractions(hashes: Hashes) -> NDArray[np.float64]:
    """Return uniform doubles 0 <= x < 1 made of the upper 53 bits."""
    return (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53


def below(key: int, rows: Rows, bound: int) -> NDArray[np.int64]:
    """Return a uniform integer 0 <= n < bound for each row; bound at most 2**31."""
    if bound == 1:
        return np.zeros(len(rows), np.int64)
    return scale(draw(key, rows), bound)


def scale(values: Hashes, bound: int) -> NDArray[np.int64]:
    """Return uniform bits as integers 0 <= n < bound, in place; bound at most 2**31.

    Multiply-shift on 32 bits: a value's share is off by at most bound / 2**32.
    """
    values >>= np.uint64(32)
    values *= np.uint64(bound)
    values >>= np.uint64(32)
    return values.view(np.int64)


_LANES = 4
"""Number of characters drawn from a hash, 16 bits each: their shares are off by at most 0.2 %."""
_PASS_WORDS = 1 << 15
"""Number of hashes drawn at once: large for calls of NumPy, small for the cache."""


@cache
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
