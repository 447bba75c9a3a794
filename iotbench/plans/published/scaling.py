"""The matrix of clusters: rates by number of nodes and size of a node, and the gains. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from iotbench.plans.published.claims import Seen, judge_bounds
from iotbench.plans.published.documents import DocumentClaim, Gain, Scaling
from iotbench.plans.published.record import Cell, ClaimRecord, ClaimSide, GainRecord, Matrix
from simulator.errors import counted

_ALONE = "no other target has the same module on another number of nodes, or of another node_size"


@dataclass(frozen=True, slots=True)
class ScalingStep:
    """A step from a cluster to the next larger one in one direction of the matrix."""

    smaller: Cell
    larger: Cell

    @property
    def ratios(self) -> tuple[float, ...]:
        """Speedup of the larger one, repeat by repeat."""
        pairs = zip(self.larger.values, self.smaller.values, strict=False)
        return tuple(larger / smaller for larger, smaller in pairs if smaller)

    @property
    def nodes(self) -> tuple[int, int]:
        """The numbers of nodes of both."""
        return self.smaller.nodes, self.larger.nodes

    @property
    def label(self) -> str:
        """Difference between the clusters."""
        nodes, size = self.nodes, self.smaller.node_size
        if nodes[0] == nodes[1]:
            return f"{size} to {self.larger.node_size}, {counted(nodes[0], 'node')}"
        return f"{nodes[0]} to {nodes[1]} nodes{', ' if size else ''}{size}"

    def is_examined_by(self, gain: Gain) -> bool:
        """Return whether a claim is about this step."""
        return self.nodes == gain.nodes if gain.nodes else self.nodes[0] == self.nodes[1]


def steps(cells: Sequence[Cell]) -> list[ScalingStep]:
    """Return the gains of the matrix; sizes follow each other in the order of the cells."""
    return [
        ScalingStep(smaller, larger) for smaller, larger in (*_by_nodes(cells), *_by_size(cells))
    ]


def matrix(scaling: Scaling, cells: Sequence[Cell]) -> Matrix:
    """Return the matrix with its gains."""
    gains = tuple(
        GainRecord(
            smaller=step.smaller.target,
            larger=step.larger.target,
            label=step.label,
            percents=tuple(100 * (ratio - 1) for ratio in step.ratios),
        )
        for step in steps(cells)
    )
    return Matrix(
        row=scaling.row, setting=scaling.setting, measure=scaling.measure,
        cells=tuple(cells), gains=gains,
    )  # fmt: skip


def claims_of_gains(
    claim: DocumentClaim, gain: Gain, scaling: Scaling, cells: Sequence[Cell]
) -> Iterator[ClaimRecord]:
    """Yield the claim for each step that it is about, or that there is none."""
    examined = [step for step in steps(cells) if step.is_examined_by(gain)]
    for step in examined:
        sides = tuple(
            ClaimSide(
                setting=cell.setting, measure=scaling.measure, system=cell.system,
                target=cell.target, values=cell.values, published=None,
            )
            for cell in (step.larger, step.smaller)
        )  # fmt: skip
        yield ClaimRecord(
            row=claim.row, text=claim.text, quote=claim.quote,
            target=step.larger.target, system=step.larger.system,
            seen=judge_bounds(step.ratios, gain.least, gain.most), sides=sides,
        )  # fmt: skip
    if not examined:
        yield ClaimRecord(
            row=claim.row, text=claim.text, quote=claim.quote, seen=Seen.NOT_HAD, reason=_ALONE
        )


def _by_nodes(cells: Sequence[Cell]) -> Iterator[tuple[Cell, Cell]]:
    """Yield clusters of the same size of nodes, and of ever more nodes."""
    for kind in dict.fromkeys((cell.module, cell.node_size) for cell in cells):
        alike = [cell for cell in cells if (cell.module, cell.node_size) == kind]
        ordered = sorted(alike, key=lambda cell: cell.nodes)
        yield from (pair for pair in pairwise(ordered) if pair[0].nodes < pair[1].nodes)


def _by_size(cells: Sequence[Cell]) -> Iterator[tuple[Cell, Cell]]:
    """Yield clusters of the same number of nodes, and of ever larger ones."""
    for kind in dict.fromkeys((cell.module, cell.nodes) for cell in cells):
        alike = [cell for cell in cells if (cell.module, cell.nodes) == kind]
        yield from (
            pair for pair in pairwise(alike)
            if pair[0].node_size and pair[1].node_size and pair[0].node_size != pair[1].node_size
        )  # fmt: skip
