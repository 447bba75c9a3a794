"""Judges whether a claim of a document is seen in our measurements. Pure.

Repeats decide: a relation is seen if it holds between all repeats of one side and all repeats of
the other side, not seen if the opposite holds, and within the spread otherwise. By chance alone,
three repeats of each side fall into a given order one time in twenty. With more repeats, the two
sides may overlap, but the order must be less likely by chance: one time in forty for six repeats,
one in eighty for twelve. So a claim that is examined after three, six and twelve repeats is seen by
chance less than one time in ten.
"""

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise

from iotbench.plans.published.documents import DocumentClaim, Term

_CHANCE = 0.15
"""Maximum probability that chance orders two sides, multiplied by the number of repeats."""
_EXACT_REPEATS = 20
"""Maximum number of repeats for the exact test; above it, the normal approximation is used."""
Values = Sequence[float]
"""Values of the repeats, in order."""


class Seen(StrEnum):
    """The outcome of comparing a claim with measurements."""

    SEEN = "seen"
    NOT_SEEN = "not seen"
    WITHIN_SPREAD = "within the spread"
    NOT_HAD = "not measured"
    """A measure of the claim is missing."""


def judge(claim: DocumentClaim, values: Mapping[Term, Values]) -> Seen:
    """Return whether a claim is seen in the values of its terms."""
    if any(not values.get(term) for term in claim.terms):
        return Seen.NOT_HAD
    if within := claim.within:
        found = list(values[within.term])
        if within.over:
            pairs = zip(found, values[within.over], strict=False)
            found = [one / other for one, other in pairs if other]
        return judge_bounds(found, within.least, within.most)
    steps = [_compare(values[one], values[other]) for one, other in pairwise(claim.largest_first)]
    order = (Seen.NOT_SEEN, Seen.WITHIN_SPREAD, Seen.SEEN)
    return next(seen for seen in order if seen in steps)


def _compare(ones: Values, others: Values) -> Seen:
    """Return whether the first side is larger; WITHIN_SPREAD if a side has a single repeat."""
    if min(len(ones), len(others)) < 2:
        return Seen.WITHIN_SPREAD
    if _is_larger(ones, others):
        return Seen.SEEN
    return Seen.NOT_SEEN if _is_larger(others, ones) else Seen.WITHIN_SPREAD


def _is_larger(ones: Values, others: Values) -> bool:
    if min(ones) > max(others):
        return True
    larger = sum(one > other for one in ones for other in others)
    return chance_of(larger, len(ones), len(others)) * min(len(ones), len(others)) <= _CHANCE


def chance_of(larger: int, ones: int, others: int) -> float:
    """Return the probability that at least `larger` pairs are larger by chance (rank-sum test)."""
    pairs = ones * others
    if max(ones, others) > _EXACT_REPEATS:
        deviation = math.sqrt(pairs * (ones + others + 1) / 12)
        return math.erfc((larger - 0.5 - pairs / 2) / deviation / math.sqrt(2)) / 2
    # Orders of both sides together, by the number of pairs in which the first side is larger:
    # the coefficients of the product of (1 - q^(others + k)) / (1 - q^k).
    orders = [1] + [0] * pairs
    for k in range(1, ones + 1):
        for place in range(pairs, others + k - 1, -1):
            orders[place] -= orders[place - others - k]
        for place in range(k, pairs + 1):
            orders[place] += orders[place - k]
    return sum(orders[larger:]) / sum(orders)


def judge_bounds(found: Values, least: float, most: float) -> Seen:
    """Return SEEN if several values all lie between two bounds, NOT_SEEN if no value does."""
    inside = [least <= value <= most for value in found]
    if len(inside) > 1 and all(inside):
        return Seen.SEEN
    return Seen.NOT_SEEN if len(inside) > 1 and not any(inside) else Seen.WITHIN_SPREAD
