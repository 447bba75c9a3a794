"""The matrix of clusters: nodes and sizes, gains in percent, and the claims about them."""

import pytest

from iotbench.plans.published.claims import Seen
from iotbench.plans.published.documents import DocumentClaim, Gain, Scaling
from iotbench.plans.published.record import Cell
from iotbench.plans.published.scaling import claims_of_gains, matrix

SCALING = Scaling(row="C15", setting="bulk", measure="rows_per_s")
NODES = Gain(nodes=(1, 3), least=1.2, most=1.7)
SIZES = Gain(least=1.5, most=2.5)


def cell(target, nodes, size, *values, module="cratedb"):
    return Cell(
        target=target, system="CrateDB", module=module, node_size=size, nodes=nodes,
        values=values, verdict="verified",
    )  # fmt: skip


CELLS = (
    cell("one-small", 1, "CR1", 100, 110),
    cell("three-small", 3, "CR1", 150, 165),
    cell("one-large", 1, "CR2", 200, 176),
    cell("three-large", 3, "CR2", 200, 220),
    cell("other", 1, "", 50, 60, module="elasticsearch"),
)


def test_gains_go_from_fewer_nodes_to_more_and_from_one_size_to_the_next():
    found = matrix(SCALING, CELLS)

    assert (found.row, found.cells) == ("C15", CELLS)
    gains = [(gain.smaller, gain.larger, gain.label) for gain in found.gains]
    assert gains == [
        ("one-small", "three-small", "1 to 3 nodes, CR1"),
        ("one-large", "three-large", "1 to 3 nodes, CR2"),
        ("one-small", "one-large", "CR1 to CR2, 1 node"),
        ("three-small", "three-large", "CR1 to CR2, 3 nodes"),
    ]
    assert found.gains[0].percents == pytest.approx((50, 50))
    assert found.gains[1].percents == pytest.approx((0, 25))
    assert found.gains[2].percents == pytest.approx((100, 60))


def seen(gain, cells):
    claim = DocumentClaim(row="C13", text="faster", of=("CrateDB",), gain=gain)
    return [(each.target, each.seen) for each in claims_of_gains(claim, gain, SCALING, cells)]


def test_a_claim_is_examined_at_each_step_that_it_is_about():
    assert seen(NODES, CELLS) == [
        ("three-small", Seen.SEEN),
        ("three-large", Seen.WITHIN_SPREAD),
    ]
    assert seen(SIZES, CELLS) == [
        ("one-large", Seen.SEEN),
        ("three-large", Seen.NOT_SEEN),
    ]


def test_one_cluster_alone_has_no_gain():
    claim = DocumentClaim(row="C13", text="faster", gain=NODES)
    (record,) = claims_of_gains(claim, NODES, SCALING, CELLS[:1])

    assert record.seen is Seen.NOT_HAD
    assert record.reason.startswith("no other target has the same module on another number")
    assert matrix(SCALING, CELLS[:1]).gains == ()


def test_two_clusters_of_equal_nodes_and_size_have_no_gain():
    twins = (cell("a", 1, "CR1", 100, 110), cell("b", 1, "CR1", 150, 160))

    assert matrix(SCALING, twins).gains == ()
    assert matrix(SCALING, (CELLS[0], cell("b", 1, "", 150, 160))).gains == ()
