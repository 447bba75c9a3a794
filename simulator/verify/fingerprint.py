"""Fingerprints of row multisets, in fixed memory: whether two are equal, and where not.

Each row has a 64-bit hash of its canonical values. A fingerprint holds, for each of 65,536 buckets,
the number of hashes in it and their sum modulo 2**64. The order of rows does not matter. Different
multisets have equal fingerprints with a probability of about 2**-64 per differing bucket. Where
fingerprints differ, a second pass over the differing buckets names the rows.
"""

import numpy as np
from numpy.typing import NDArray

from simulator.data.mixer import Hashes

BUCKETS = 1 << 16
_BUCKET_SHIFT = np.uint64(48)


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

    def differing(self, other: "Fingerprint") -> NDArray[np.int64]:
        """Return the buckets in which the two differ."""
        return np.flatnonzero((self.counts != other.counts) | (self.sums != other.sums))


def buckets_of(hashes: Hashes) -> NDArray[np.int64]:
    """Return the bucket of each hash."""
    return (hashes >> _BUCKET_SHIFT).view(np.int64)
