"""A claim is seen, not seen, or within the spread of the repeats."""

from itertools import combinations

import pytest

from iotbench.plans.published.claims import Seen, chance_of, judge
from iotbench.plans.published.documents import DocumentClaim, Term, Within

A, B, C = (Term(setting=name, measure="rows_per_s") for name in "abc")
ORDER = DocumentClaim(row="M1", text="a > b > c", largest_first=(A, B, C))
PAIR = DocumentClaim(row="M1", text="a > b", largest_first=(A, B))
RATIO = DocumentClaim(
    row="M1", text="about twice", within=Within(term=A, over=B, least=1.5, most=3)
)
BOUND = DocumentClaim(row="M1", text="flat", within=Within(term=A, least=0.9, most=1.1))


def test_the_chance_of_an_order_is_its_share_of_all_orders():
    """Counted one by one for three and four repeats; for many, the normal distribution is near."""
    orders = [
        sum(one > other for one in ones for other in {*range(7)} - {*ones})
        for ones in combinations(range(7), 3)
    ]
    for larger in range(13):
        expected = sum(found >= larger for found in orders) / len(orders)
        assert chance_of(larger, 3, 4) == pytest.approx(expected)
    assert chance_of(9, 3, 3) == pytest.approx(1 / 20)
    assert chance_of(276, 21, 21) == pytest.approx(0.083, abs=0.002)


@pytest.mark.parametrize(
    ("claim", "values", "seen"),
    [
        (PAIR, ([5, 6, 7], [1, 2, 4.9]), Seen.SEEN),
        (PAIR, ([5, 6, 7], [1, 2, 5]), Seen.WITHIN_SPREAD),
        (PAIR, ([1, 2, 3], [3.1, 4, 5]), Seen.NOT_SEEN),
        (PAIR, ([1, 2, 3], [1, 2, 3]), Seen.WITHIN_SPREAD),
        (PAIR, ([9], [1]), Seen.WITHIN_SPREAD),
        (PAIR, ([9, 8], [1]), Seen.WITHIN_SPREAD),
        (PAIR, ([9, 8], []), Seen.NOT_HAD),
        (PAIR, ([4, 6, 7, 8, 9, 9], [1, 2, 3, 4, 5, 5]), Seen.SEEN),
        (PAIR, ([3, 6, 7, 8, 9, 9], [1, 2, 3, 4, 5, 8.5]), Seen.WITHIN_SPREAD),
        (PAIR, ([1, 2, 3, 4, 5, 5], [4, 6, 7, 8, 9, 9]), Seen.NOT_SEEN),
        (PAIR, (range(5, 105), range(100)), Seen.WITHIN_SPREAD),
        (PAIR, (range(35, 135), range(100)), Seen.SEEN),
        (ORDER, ([7, 8], [5, 6], [1, 2]), Seen.SEEN),
        (ORDER, ([7, 8], [5, 6], [1, 5]), Seen.WITHIN_SPREAD),
        (ORDER, ([7, 8], [5, 7], [8, 9]), Seen.NOT_SEEN),
        (ORDER, ([7, 8], [5, 6], []), Seen.NOT_HAD),
        (RATIO, ([4, 4, 5], [2, 2, 2]), Seen.SEEN),
        (RATIO, ([4, 4, 8], [2, 2, 2]), Seen.WITHIN_SPREAD),
        (RATIO, ([8, 8, 8], [2, 2, 2]), Seen.NOT_SEEN),
        (RATIO, ([8, 8], [0, 0]), Seen.WITHIN_SPREAD),
        (BOUND, ([0.9, 1.0, 1.1],), Seen.SEEN),
        (BOUND, ([0.5, 0.6],), Seen.NOT_SEEN),
        (BOUND, ([1.0],), Seen.WITHIN_SPREAD),
        (BOUND, ([0.5],), Seen.WITHIN_SPREAD),
    ],
)
def test_repeats_decide(claim, values, seen):
    assert judge(claim, dict(zip((A, B, C), values, strict=False))) is seen
