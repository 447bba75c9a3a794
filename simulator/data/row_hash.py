"""Hashes of rows that a database computes in a query, and NumPy from the rows themselves.

The sum of a table's hashes differs if any value does, or if two values change places. Each column
has a number that depends on its place; the hash of a row is no linear function of these numbers.
"""

import hashlib
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded
from simulator.data.mixer import Hashes
from simulator.data.schema import FLOATS, Column, Role, Type

Words: TypeAlias = NDArray[np.uint32]
_DOUBLE = Column("double", Type.FLOAT64, Role.FIELD)
NULL = 0x1D2ED03
"""The number of a NULL."""
PRIME = 2**31 - 1
COARSE, FINE = 2.0**20, 2.0**60
"""Doubles become integers by both: the one has whole numbers, the other those near to zero."""
LARGEST = 1e280
"""Larger doubles are this one, where a product of doubles must not overflow."""
MD5_DIGITS = 8
"""Hexadecimal digits of an MD5 that number a text."""
TEXT = "a text of more than twelve letters: \u00e9"
NUMBERS = (-5, 1, 10**15)
DOUBLE = 0.1
"""Values that a database hashes, with NUMBERS and TEXT, to prove that its functions match."""


@dataclass(frozen=True)
class RowHash(ABC):
    """The hash of a row that a database computes."""

    ticks_per_second: int | None = None
    """Unit of an instant in the database; None: the unit of the table."""

    def of(self, block: Block) -> Hashes:
        """Return the hash of each row of a block."""
        return self.combine(self._columns(block))

    def _columns(self, block: Block) -> Iterator[Array]:
        for place, column in enumerate(block.table.columns):
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
        return (self.ticks_per_second or unit) // unit

    @property
    def unseen(self) -> str:
        """Differences of floats that the hash does not show; empty: none."""
        return ""

    @abstractmethod
    def numbers(self, column: Column, values: Array, place: int, ticks: int) -> Array:
        """Return the number of each value in the column at this place of the table."""

    @abstractmethod
    def null(self, place: int) -> Any:
        """Return the number of a NULL in the column at this place."""

    @abstractmethod
    def combine(self, columns: Iterator[Array]) -> Hashes:
        """Return the hashes of rows from the numbers of their columns."""

    @abstractmethod
    def hash_known(self) -> tuple[int, ...]:
        """Return what the functions of the database return for the values of its probe."""


@dataclass(frozen=True)
class JenkinsHash(RowHash):
    """PostgreSQL's `hash...extended`, lookup3 by Bob Jenkins: hash partitions depend on it."""

    ticks_per_second: int | None = 10**6

    @property
    def unseen(self) -> str:
        """The functions give 0.0 and -0.0 one hash."""
        return "the sign of zero"

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
                return _jenkins_int8(values * ticks - 946_684_800 * 10**6, seed)
            case _:
                low = values.astype(np.int32).view(np.uint32)
                return _jenkins(low, np.uint32(0), np.uint32(4), seed)

    def null(self, place: int) -> Any:
        """Return the number of a NULL."""
        return np.uint64(NULL + place)

    def combine(self, columns: Iterator[Array]) -> Hashes:
        """Return the hash of the exclusive or of all columns."""
        total = next(columns).copy()
        for column in columns:
            total ^= column
        return _jenkins_int8(total.view(np.int64), 0)

    def hash_known(self) -> tuple[int, ...]:
        """Return what the functions return."""
        numbers = _jenkins_int8(np.array(NUMBERS), 1)
        text = _jenkins_texts(np.array([TEXT.encode()]), 1)
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


def _begun(length: Any, seed: int) -> tuple[Any, Any, Any]:
    start = length + np.uint32((0x9E3779B9 + 3923095) & 0xFFFFFFFF)
    if not seed:
        return start, start, start
    return _mix(start, start + np.uint32(seed), start)


def _jenkins(low: Words, high: Any, length: Any, seed: int) -> Hashes:
    a, b, c = _begun(np.full(len(low), length, np.uint32), seed)
    return _end(a + low, b + high, c)


def _jenkins_int8(values: Array, seed: int) -> Hashes:
    low, high = _halves(values.astype(np.int64).view(np.uint64))
    low = low ^ np.where(values >= 0, high, ~high)
    return _jenkins(low, np.uint32(0), np.uint32(4), seed)


def _jenkins_texts(texts: Array, seed: int) -> Hashes:
    lengths = np.char.str_len(texts).astype(np.int64)
    portions = int(lengths.max(initial=0)) // 12 + 1
    words = texts.astype(f"S{12 * portions}").view("<u4").reshape(len(texts), 3 * portions)
    a, b, c = _begun(lengths.astype(np.uint32), seed)
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
    """ClickHouse's `intHash64`, the end of MurmurHash3, of bits; of texts by `halfMD5`."""

    def numbers(self, column: Column, values: Array, place: int, ticks: int) -> Array:
        """Return `intHash64(value + salt)`."""
        if column.type is Type.TEXT:
            bits = np.array([_half_md5(text) for text in values.tolist()], np.uint64)
        elif column.type in FLOATS:
            bits = values.astype(np.float64).view(np.uint64)
        else:
            bits = values.astype(np.int64).view(np.uint64)
        return _murmur(bits + np.uint64(salt(place)))

    def null(self, place: int) -> Any:
        """Return the number of a NULL."""
        return np.uint64(NULL)

    def combine(self, columns: Iterator[Array]) -> Hashes:
        """Return the hash of the sum of all columns."""
        total = next(columns).copy()
        for column in columns:
            total += column
        return _murmur(total)

    def hash_known(self) -> tuple[int, ...]:
        """Return what the functions return."""
        numbers = _murmur(np.array(NUMBERS).view(np.uint64)).tolist()
        return (*numbers, _half_md5(TEXT.encode()))


def _half_md5(text: bytes) -> int:
    return int.from_bytes(hashlib.md5(text, usedforsecurity=False).digest()[:8])


def salt(place: int) -> int:
    """Return a number of 63 bits for the column at a place."""
    return (place + 1) * 0x1E3779B97F4A7C15 % 2**63


def _murmur(bits: Hashes) -> Hashes:
    bits = bits ^ np.uint64(0x4CF2D2BAAE6DA887)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        bits = (bits ^ (bits >> np.uint64(33))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(33))


@dataclass(frozen=True)
class SquareHash(RowHash):
    """The square of a weighted sum modulo a prime: no function of a database but of texts."""

    bits_of_doubles: bool = False
    """A double is its bits, not its integers by COARSE and FINE."""
    saturates: bool = True
    """An integer of a double is the nearest of 64 bits, not the remainder of the whole one."""
    md5: bool = False
    """Texts are numbered by their MD5, not their CRC-32."""

    @property
    def unseen(self) -> str:
        """Integers have no sign of zero, and fewer digits than the doubles."""
        coarse = "the sign of zero; steps of doubles below 2**-20, or 2**-60 for doubles below 8"
        return "" if self.bits_of_doubles else coarse

    def numbers(self, column: Column, values: Array, place: int, ticks: int) -> Array:
        """Return the number of each value times the weight of the column."""
        if column.type is Type.TEXT:
            found = _each_text(values, md5_number if self.md5 else zlib.crc32)
        elif column.type in FLOATS:
            found = self._doubles(values.astype(np.float64))
        else:
            found = np.fmod(values.astype(np.int64) * ticks, PRIME)
        return found * weight(place)

    def _doubles(self, values: Array) -> Array:
        if self.bits_of_doubles:
            return np.fmod(values.view(np.int64), PRIME)
        whole = _nearest if self.saturates else np.trunc
        values = values if self.saturates else np.clip(values, -LARGEST, LARGEST)
        with np.errstate(over="ignore", invalid="ignore"):
            parts = (np.fmod(whole(values * scale), PRIME) for scale in (COARSE, FINE))
            coarse, fine = (part.astype(np.int64) for part in parts)
        return coarse + fine

    def null(self, place: int) -> Any:
        """Return the number of a NULL."""
        return np.int64(NULL * weight(place))

    def combine(self, columns: Iterator[Array]) -> Hashes:
        """Return the square of the sum."""
        total = np.fmod(sum(columns), PRIME)
        return (total * total % PRIME).view(np.uint64)

    def hash_known(self) -> tuple[int, ...]:
        """Return what the functions return."""
        return ((md5_number if self.md5 else zlib.crc32)(TEXT.encode()),)


def weight(place: int) -> int:
    """Return the weight of the column at a place: odd, of 20 bits."""
    return ((place + 1) * 0x9E3779B1 % 2**20) | 1


def md5_number(text: bytes) -> int:
    """Return the first digits of a text's MD5 as a number."""
    return int(hashlib.md5(text, usedforsecurity=False).hexdigest()[:MD5_DIGITS], 16)


def _nearest(values: Array) -> Array:
    """Return doubles without their fraction, as the nearest integers of 64 bits."""
    found = np.trunc(values).astype(np.int64)
    found[values >= 2.0**63] = 2**63 - 1
    found[values < -(2.0**63)] = -(2**63)
    return found


def _each_text(texts: Array, number: Callable[[bytes], int]) -> Array:
    return np.array([number(text) for text in texts.tolist()], np.int64)
