"""Whether a claim of a document is seen in our measurements. Pure.

Repeats decide: a relation is seen if it holds between any repeat of one side and any of the other,
not seen if the opposite does, and within the spread otherwise. If nothing but chance is at work,
three repeats of two sides fall into a given order one time in twenty.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise

from cli.reproduce.documents import Claim, Term, Within

Values = Sequence[float]
"""Of the repeats, in their order."""


class Seen(StrEnum):
    """The outcome of comparing a claim with measurements."""

    SEEN = "seen"
    NOT_SEEN = "not seen"
    WITHIN_SPREAD = "within the spread"
    NOT_HAD = "not had"
    """Something that it compares was not measured."""


def judged(claim: Claim, values: Mapping[Term, Values]) -> Seen:
    """Return whether the values of the claim's terms agree with it."""
    if any(not values.get(term) for term in claim.terms):
        return Seen.NOT_HAD
    if claim.within:
        return _bounded(claim.within, values)
    steps = [_larger(values[one], values[other]) for one, other in pairwise(claim.largest_first)]
    order = (Seen.NOT_SEEN, Seen.WITHIN_SPREAD, Seen.SEEN)
    return next(seen for seen in order if seen in steps)


def _larger(ones: Values, others: Values) -> Seen:
    """Return whether one side is larger; a single repeat has no spread to compare with."""
    if min(len(ones), len(others)) < 2:
        return Seen.WITHIN_SPREAD
    if min(ones) > max(others):
        return Seen.SEEN
    return Seen.NOT_SEEN if max(ones) < min(others) else Seen.WITHIN_SPREAD


def _bounded(within: Within, values: Mapping[Term, Values]) -> Seen:
    found = list(values[within.term])
    if within.over:
        found = [one / other for one, other in zip(found, values[within.over], strict=False)
                 if other]  # fmt: skip
    inside = [within.least <= value <= within.most for value in found]
    if inside and all(inside):
        return Seen.SEEN
    return Seen.NOT_SEEN if inside and not any(inside) else Seen.WITHIN_SPREAD
