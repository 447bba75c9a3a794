"""Fingerprints, of fixed size, show whether two multisets of rows are equal, and where they differ.

Each row has a 64-bit hash of its canonical values. A fingerprint holds, for each of 65,536 buckets,
the number of hashes in the bucket and their sum modulo 2**64. The order of rows does not matter.
Different multisets have equal fingerprints with a probability of about 2**-64 per differing bucket.
If fingerprints differ, a second pass over the differing buckets names the rows.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Block
from simulator.data.hashes import block_hashes
from simulator.data.mixer import Hashes
from simulator.data.query import RowsQuery, outputs
from simulator.data.schema import Table
from simulator.verify.truth.measures import Arrays

BUCKETS = 1 << 16
_BUCKET_SHIFT = np.uint64(48)
_COUNTS, _SUMS = "counts", "sums"


class Fingerprint:
    """Counts and wrapping sums of row hashes, by bucket."""

    def __init__(self) -> None:
        self.counts = np.zeros(BUCKETS, np.int64)
        self.sums = np.zeros(BUCKETS, np.uint64)

    def add(self, hashes: Hashes) -> None:
        """Add rows."""
        buckets = buckets_of(hashes)
        self.counts += np.bincount(buckets, minlength=BUCKETS)
        np.add.at(self.sums, buckets, hashes)

    @property
    def total(self) -> tuple[int, int]:
        """The number of rows, and the sum of their hashes modulo 2**64."""
        return int(self.counts.sum()), int(self.sums.sum())

    def find_differing(self, other: "Fingerprint") -> NDArray[np.int64]:
        """Return the buckets in which the fingerprints differ."""
        return np.flatnonzero((self.counts != other.counts) | (self.sums != other.sums))

    def parts(self) -> Arrays:
        """Return counts and sums; empty without rows."""
        if not self.counts.any():
            return {}
        return {_COUNTS: self.counts, _SUMS: self.sums.view(np.int64)}

    def append(self, parts: Arrays) -> None:
        """Add the rows of another fingerprint."""
        if parts:
            self.counts += parts[_COUNTS]
            self.sums += parts[_SUMS].view(np.uint64)


class EveryRow:
    """Folds the rows of a table into a fingerprint."""

    def __init__(self, query: RowsQuery, *, signless: bool = False) -> None:
        """Store the query; with `signless`, 0.0 and -0.0 have the same hash."""
        self.query = query
        self.found = Fingerprint()
        self._outputs = [replace(each, signless=signless) for each in outputs(query)]

    @property
    def table(self) -> Table:
        """The table of the rows."""
        return self.query.table

    def add(self, block: Block) -> None:
        """Fold the rows of a block."""
        hashing = self.query.hashed
        self.found.add(hashing.of(block) if hashing else block_hashes(self._outputs, block))

    def append(self, parts: Arrays) -> None:
        """Merge another fold of the same query."""
        self.found.append(parts)

    def parts(self) -> Arrays:
        """Return the fold."""
        return self.found.parts()

    def form(self) -> dict[str, str]:
        """Return the names of the arrays, and the kind of NumPy type of each."""
        return {_COUNTS: "i", _SUMS: "i"}

    def check(self, parts: Arrays) -> None:
        """Raise ValueError unless each bucket has an item in every array."""
        if any(array.shape != (BUCKETS,) or array.dtype != np.int64 for array in parts.values()):
            raise ValueError(f"a fingerprint has {BUCKETS:,} buckets of 64 bits")


def buckets_of(hashes: Hashes) -> NDArray[np.int64]:
    """Return the bucket of each hash."""
    return (hashes >> _BUCKET_SHIFT).view(np.int64)
