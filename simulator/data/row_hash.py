"""Row hashes that databases compute in queries, and NumPy from drawn rows.

The sum of a table's hashes differs if any value differs, or if two values change places. Each value
becomes a number that depends on the place of its column; the hash of a row is not a linear function
of its numbers.
"""

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded
from simulator.data.mixer import Hashes
from simulator.data.schema import FLOATS, Column, Role, Type

Words: TypeAlias = NDArray[np.uint32]
_DOUBLE = Column("double", Type.FLOAT64, Role.FIELD)
NULL = 0x1D2ED03
"""The number of a NULL."""
SEED = 0x1E3779B97F4A7C15
"""A seed of more than 32 bits."""
PRIME, OTHER_PRIME = 2**31 - 1, 2**31 - 19
WHOLE, LONG = 2**33 - 9, 2**32 - 5
"""Moduli of integers; LONG is the second one for integers of 64 bits. Values of 32 bits never share
a number, and the sum of a thousand columns fits into 64 bits."""
COARSE, FINE = 2.0**20, 2.0**60
"""Factors that turn doubles into integers: COARSE for large doubles, FINE for small ones."""
LARGEST = 1e280
"""Largest double where a product must not overflow; it replaces larger doubles."""
TEXT = "a text of more than twelve letters: \u00e9"
NUMBERS = (-5, 1, 10**15)
DOUBLE = 0.1
"""Value that a database hashes, with NUMBERS and TEXT, to prove that its functions match."""
_KNOWN_TEXT = np.array([TEXT.encode()])
_XORSHIFT = np.uint64(0xD6E8FEB86659FD93)


@dataclass(frozen=True)
class RowHash(ABC):
    """The hash of a row that a database computes."""

    ticks_per_second: int | None = None
    """Unit of an instant in the database; None: the unit of the table."""
    unseen: ClassVar[str] = ""
    """Differences between floats that the hash does not show; empty: none."""

    @abstractmethod
    def of(self, block: Block) -> Hashes:
        """Return the hash of each row of a block."""

    def _columns(self, block: Block, but: Column | None = None) -> Iterator[Array]:
        """Yield the numbers of each column, except the one named `but`."""
        for place, column in enumerate(block.table.columns):
            if column == but:
                continue
            data = block.data[column.name]
            scale = self._ticks(block) if column.type is Type.TIMESTAMP else 1
            if isinstance(data, Coded):
                numbers = self.numbers(column, data.levels, place, scale)[data.codes]
            else:
                numbers = self.numbers(column, data.values(), place, scale)
            if data.valid is not None:
                numbers = np.where(data.valid, numbers, self.null(place))
            yield numbers

    def _ticks(self, block: Block) -> int:
        unit = block.table.time_unit.per_second
        return max((self.ticks_per_second or unit) // unit, 1)

    @abstractmethod
    def numbers(self, column: Column, values: Array, place: int, ticks: int) -> Array:
        """Return the number of each value in the column at this place of the table."""

    @abstractmethod
    def null(self, place: int) -> Any:
        """Return the number of a NULL in the column at this place."""

    @abstractmethod
    def hash_known(self) -> tuple[int, ...]:
        """Return the results that the database's functions must have for the probed values."""


@dataclass(frozen=True)
class JenkinsHash(RowHash):
    """PostgreSQL's `hash...extended`, lookup3 by Bob Jenkins, which hash partitions use."""

    ticks_per_second: int | None = 10**6
    unseen = "the sign of zero"

    def of(self, block: Block) -> Hashes:
        """Return the hash of each row's time; the other columns determine the seed."""
        time = block.table.time
        columns = [*self._columns(block, but=time)]
        seeds = reduce(np.bitwise_xor, columns) if columns else SEED
        values = block.data[time.name].values()
        if time.type is Type.TIMESTAMP:
            values = _since_2000(values, self._ticks(block))
        return _jenkins_int8(values, seeds)

    def numbers(self, column: Column, values: Array, place: int, ticks: int) -> Array:
        """Return `hash...extended(value, place + 1)`."""
        seed = place + 1
        match column.type:
            case Type.TEXT:
                return _jenkins_texts(values, seed)
            case Type.FLOAT32 | Type.FLOAT64:
                bits = values.astype(np.float64).view(np.uint64)
                found = _jenkins(*_halves(bits), np.uint32(8), seed)
                return np.where(values == 0, np.uint64(seed), found)
            case Type.INT64:
                return _jenkins_int8(values, seed)
            case Type.TIMESTAMP:
                return _jenkins_int8(_since_2000(values, ticks), seed)
            case _:
                low = values.astype(np.int32).view(np.uint32)
                return _jenkins(low, np.uint32(0), np.uint32(4), seed)

    def null(self, place: int) -> Any:
        """Return the number of a NULL."""
        return np.uint64(NULL + place)

    def hash_known(self) -> tuple[int, ...]:
        """Return the results of the functions."""
        numbers = (
            number for seed in (1, SEED) for number in _jenkins_int8(np.array(NUMBERS), seed)
        )
        text = _jenkins_texts(_KNOWN_TEXT, 1)
        double = self.numbers(_DOUBLE, np.array([DOUBLE]), 0, 1)
        return (*map(int, (*numbers, *text, *double)),)


def _halves(bits: Hashes) -> tuple[Words, Words]:
    return bits.astype(np.uint32), (bits >> np.uint64(32)).astype(np.uint32)


def _rotate(words: Words, by: int) -> Words:
    return (words << np.uint32(by)) | (words >> np.uint32(32 - by))


def _mix(a: Words, b: Words, c: Words) -> tuple[Words, Words, Words]:
    for by in (4, 6, 8, 16, 19, 4):
        a = (a - c) ^ _rotate(c, by)
        c = c + b
        a, b, c = b, c, a
    return a, b, c


def _end(a: Words, b: Words, c: Words) -> Hashes:
    for by in (14, 11, 25, 16, 4, 14, 24):
        c = (c ^ b) - _rotate(b, by)
        a, b, c = b, c, a
    # The last word that changed is the lower half; the one before it is the upper half.
    return (a.astype(np.uint64) << np.uint64(32)) | b.astype(np.uint64)


def _since_2000(values: Array, ticks: int) -> Array:
    """Return instants in microseconds, as PostgreSQL stores them."""
    return values * ticks - 946_684_800 * 10**6


def _begin(length: Words, seed: int | Hashes) -> tuple[Words, Words, Words]:
    start = length + np.uint32((0x9E3779B9 + 3923095) & 0xFFFFFFFF)
    seeds = np.full(len(start), seed, np.uint64)
    low, high = _halves(seeds)
    mixed = _mix(start + high, start + low, start)
    if seeds.all():
        return mixed
    a, b, c = (np.where(seeds > 0, each, start) for each in mixed)
    return a, b, c


def _jenkins(low: Words, high: Any, length: Any, seed: int | Hashes) -> Hashes:
    a, b, c = _begin(np.full(len(low), length, np.uint32), seed)
    return _end(a + low, b + high, c)


def _jenkins_int8(values: Array, seed: int | Hashes) -> Hashes:
    low, high = _halves(values.astype(np.int64).view(np.uint64))
    low = low ^ np.where(values >= 0, high, ~high)
    return _jenkins(low, np.uint32(0), np.uint32(4), seed)


def _jenkins_texts(texts: Array, seed: int) -> Hashes:
    lengths = np.char.str_len(texts).astype(np.int64)
    portions = int(lengths.max(initial=0)) // 12 + 1
    words = texts.astype(f"S{12 * portions}").view("<u4").reshape(len(texts), 3 * portions)
    a, b, c = _begin(lengths.astype(np.uint32), seed)
    for portion in range(portions):
        x, y, z = (words[:, 3 * portion + place] for place in range(3))
        is_last, is_whole = lengths // 12 == portion, lengths // 12 > portion
        mixed = _mix(a + x, b + y, c + z)
        last = a + x, b + y, c + (z << np.uint32(8))
        a, b, c = (
            np.where(is_whole, whole, np.where(is_last, end, old))
            for whole, end, old in zip(mixed, last, (a, b, c), strict=True)
        )
    return _end(a, b, c)


@dataclass(frozen=True)
class MurmurHash(RowHash):
    """ClickHouse's `intHash64` (the end of MurmurHash3) of bits, and `murmurHash2_64` of texts."""

    def of(self, block: Block) -> Hashes:
        """Return the hash of the sum of all columns."""
        total = np.zeros(len(block), np.uint64)
        for column in self._columns(block):
            total += column
        return _murmur(total)

    def numbers(self, column: Column, values: Array, place: int, ticks: int) -> Array:
        """Return `intHash64(value + salt)`."""
        if column.type is Type.TEXT:
            bits = _murmur_texts(values)
        elif column.type in FLOATS:
            bits = values.astype(np.float64).view(np.uint64)
        else:
            bits = values.astype(np.int64).view(np.uint64)
        return _murmur(bits + np.uint64(salt(place)))

    def null(self, place: int) -> Any:
        """Return the number of a NULL."""
        return np.uint64(NULL)

    def hash_known(self) -> tuple[int, ...]:
        """Return the results of the functions."""
        numbers = _murmur(np.array(NUMBERS).view(np.uint64)).tolist()
        return (*numbers, *map(int, _murmur_texts(_KNOWN_TEXT)))


def _murmur_texts(texts: Array) -> Hashes:
    """Return MurmurHash2 of 64 bits, without a seed."""
    factor, by = np.uint64(0xC6A4A7935BD1E995), np.uint64(47)
    lengths, words = _words_of(texts)
    found = lengths * factor
    for place, word in enumerate(words):
        mixed = word * factor
        mixed = (mixed ^ (mixed >> by)) * factor
        whole, begun = lengths >= 8 * place + 8, lengths > 8 * place
        found = np.where(begun, (found ^ np.where(whole, mixed, word)) * factor, found)
    found = (found ^ (found >> by)) * factor
    return found ^ (found >> by)


def _words_of(texts: Array) -> tuple[Hashes, list[Hashes]]:
    """Return the lengths of texts, and their bytes as words of 64 bits, filled up with zeros."""
    width = -(-texts.dtype.itemsize // 8)
    words = np.ascontiguousarray(texts, f"S{8 * width}").view("<u8").reshape(len(texts), width)
    return np.char.str_len(texts).astype(np.uint64), [words[:, place] for place in range(width)]


def salt(place: int) -> int:
    """Return a 63-bit number that is different for each column of a table."""
    return (place + 1) * 0x1E3779B97F4A7C15 % 2**63


def _murmur(bits: Hashes) -> Hashes:
    bits = bits ^ np.uint64(0x4CF2D2BAAE6DA887)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        bits = (bits ^ (bits >> np.uint64(33))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(33))


@dataclass(frozen=True)
class DuckDbHash(RowHash):
    """DuckDB's `hash`, which DuckDB uses in joins and may change between versions."""

    unseen = "the sign of zero"

    def of(self, block: Block) -> Hashes:
        """Return the hash of all columns of each row."""
        return self._combine(self._columns(block))

    def numbers(self, column: Column, values: Array, place: int, ticks: int) -> Array:
        """Return `hash(value)`."""
        match column.type:
            case Type.TEXT:
                return _xorshift_texts(values)
            case Type.FLOAT32:
                bits = (values.astype(np.float32) + np.float32(0)).view(np.uint32)
            case Type.FLOAT64:
                bits = (values.astype(np.float64) + 0.0).view(np.uint64)
            case Type.INT64 | Type.TIMESTAMP:
                bits = (values.astype(np.int64) * ticks).view(np.uint64)
            case _:
                bits = values.astype(np.int32).view(np.uint32)
        return _xorshift(bits.astype(np.uint64))

    def null(self, place: int) -> Any:
        """Return the number of a NULL."""
        return np.uint64(0xBF58476D1CE4E5B9)

    def _combine(self, columns: Iterator[Array]) -> Hashes:
        """Return half of the hash of `hash(column, ...)`, which fits into a signed integer."""
        total = next(columns)
        for column in columns:
            total = (total ^ (total >> np.uint64(32))) * _XORSHIFT ^ column
        return _xorshift(total) >> np.uint64(1)

    def hash_known(self) -> tuple[int, ...]:
        """Return the results of the functions."""
        known = (np.array(NUMBERS).view(np.uint64), np.array([DOUBLE]).view(np.uint64))
        numbers = np.concatenate([*map(_xorshift, known), _xorshift_texts(_KNOWN_TEXT)])
        return (*map(int, numbers), int(self._combine(iter(numbers[:, np.newaxis]))[0]))


def _xorshift(bits: Hashes) -> Hashes:
    for _ in range(2):
        bits = (bits ^ (bits >> np.uint64(32))) * _XORSHIFT
    return bits ^ (bits >> np.uint64(32))


def _xorshift_texts(texts: Array) -> Hashes:
    lengths, words = _words_of(texts)
    found = np.uint64(0xE17A1465) ^ (lengths * np.uint64(0xC6A4A7935BD1E995))
    for place, word in enumerate(words):
        found = np.where(lengths > 8 * place, (found ^ word) * _XORSHIFT, found)
    return _xorshift(found)


@dataclass(frozen=True)
class RemainderHash(RowHash):
    """Product of a weighted sum's remainders by two primes, for databases that only hash texts."""

    saturates: bool = True
    """True if the database turns a double beyond 64 bits into the nearest integer of 64 bits."""
    unseen = "the sign of zero; steps of doubles below 2**-20, or 2**-60 for doubles below 8"

    def of(self, block: Block) -> Hashes:
        """Return the product of both remainders of the sum of all columns."""
        total = sum(self._columns(block))
        return (np.fmod(total, PRIME) * np.fmod(total, OTHER_PRIME) % PRIME).view(np.uint64)

    def numbers(self, column: Column, values: Array, place: int, ticks: int) -> Array:
        """Return the number of each value times the weight of the column."""
        if column.type is Type.TEXT:
            found = np.array([zlib.crc32(text) for text in values.tolist()], np.int64)
        elif column.type in FLOATS:
            found = self._doubles(values.astype(np.float64))
        else:
            whole = values.astype(np.int64) * ticks
            found = np.fmod(whole, WHOLE)
            if column.type is Type.INT64:
                found += np.fmod(whole, LONG)
        return found * weight(place)

    def _doubles(self, values: Array) -> Array:
        whole = _nearest if self.saturates else np.trunc
        values = values if self.saturates else np.clip(values, -LARGEST, LARGEST)
        with np.errstate(over="ignore", invalid="ignore"):
            parts = (np.fmod(whole(values * scale), PRIME) for scale in (COARSE, FINE))
            coarse, fine = (part.astype(np.int64) for part in parts)
        return coarse + fine

    def null(self, place: int) -> Any:
        """Return the number of a NULL."""
        return np.int64(NULL * weight(place))

    def hash_known(self) -> tuple[int, ...]:
        """Return the results of the functions."""
        return (zlib.crc32(TEXT.encode()),)


def weight(place: int) -> int:
    """Return the weight of the column at a place: odd, of 20 bits."""
    return ((place + 1) * 0x9E3779B1 % 2**20) | 1


def _nearest(values: Array) -> Array:
    """Return doubles without their fraction, as the nearest integers of 64 bits."""
    found = np.trunc(values).astype(np.int64)
    found[values >= 2.0**63] = 2**63 - 1
    found[values < -(2.0**63)] = -(2**63)
    return found
