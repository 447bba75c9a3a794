"""Compares measured items with the figures, claims and clusters of a document. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from iotbench.figures.figures import spread_of
from iotbench.plans.items import Candidate, Item, MeasuredItem
from iotbench.plans.measures import unit_of
from iotbench.plans.published.claims import Seen, judge, judge_bounds
from iotbench.plans.published.documents import (
    Document,
    DocumentClaim,
    Gain,
    PublishedFigure,
    Scaling,
    Term,
    Unexamined,
)
from iotbench.plans.published.measurements import Measurements, Systems
from iotbench.plans.published.record import (
    Cell,
    ClaimRecord,
    ClaimSide,
    FigureLine,
    GainRecord,
    Matrix,
)
from simulator.errors import counted


@dataclass(frozen=True)
class Experiment:
    """The evaluation of a document: figures, claims and matrix from the results of the targets."""

    document: Document
    candidates: Sequence[Candidate]
    refused: Mapping[tuple[str, str], str]
    """(setting, target) -> why the target cannot be measured with the setting."""
    measured: Sequence[tuple[Item, MeasuredItem]]

    def lines(self) -> tuple[FigureLine, ...]:
        """Return every figure, for each system of the document and for other targets."""
        return tuple(line for figure in self.document.figures for line in self._compare(figure))

    def claims(self) -> tuple[ClaimRecord, ...]:
        """Return every claim, once for each target on which it can be examined."""
        records = [record for claim in self.document.claims for record in self._examine(claim)]
        records += [
            _record(each, seen=Seen.NOT_HAD, reason=each.reason)
            for each in self.document.out_of_reach
        ]
        return tuple(records)

    def matrix(self) -> Matrix | None:
        """Return the rates by number and size of nodes, if the document has a matrix."""
        return matrix(self.document.scaling, self._cells) if self.document.scaling else None

    def find_unsettled(self) -> set[tuple[str, str]]:
        """Return each (setting, target) of the claims that are within the spread.

        Claims about bounds are left out: they have one side, so more repeats cannot settle them.
        """
        return {
            (setting, side.target)
            for claim in self.document.claims
            if claim.largest_first
            for record in self._examine(claim)
            if record.seen is Seen.WITHIN_SPREAD
            for side in record.sides
            for setting in (side.setting, side.over)
            if setting
        }

    def not_had(self) -> dict[str, str]:
        """Return the systems and targets that could not be measured at all, with the reason."""
        systems = {name: self._systems.absence(name) for name in self.document.systems
                   if not self._systems.targets_of(name)}  # fmt: skip
        others = {candidate.name: candidate.not_had for candidate in self._systems.others
                  if candidate.not_had}  # fmt: skip
        return {**systems, **others}

    @cached_property
    def _systems(self) -> Systems:
        return Systems(self.document.systems, self.candidates)

    @cached_property
    def _measurements(self) -> Measurements:
        return Measurements(self.measured, self.refused)

    @cached_property
    def _cells(self) -> Sequence[Cell]:
        scaling = self.document.scaling
        cells = []
        for candidate in self.candidates if scaling else ():
            assert scaling
            nodes = self._measurements.nodes(candidate.name, scaling.setting)
            setting = scaling.setting
            targets = self._systems.of_module(candidate.module)
            if self._measurements.have_all(targets, scaling.by_nodes.values()):
                setting = scaling.setting_at(nodes)
            values = self._measurements.values(candidate.name, setting, scaling.measure)
            if values and nodes:
                cells.append(
                    Cell(
                        target=candidate.name,
                        system=self._systems.system_of(candidate.name),
                        module=candidate.module,
                        node_size=candidate.node_size,
                        nodes=nodes,
                        setting=setting,
                        values=values,
                        verdict=self._measurements.verdict(candidate.name, setting),
                    )
                )
        return cells

    def _compare(self, figure: PublishedFigure) -> Iterator[FigureLine]:
        lines = []
        for system in figure.systems:
            targets = self._systems.targets_of(system)
            lines += [self._measure(figure, system, target) for target in targets]
            if not targets:
                lines.append(self._measure(figure, system, reason=self._systems.absence(system)))
        shown = {line.target for line in lines}
        for candidate in self.candidates:
            if candidate.name not in shown and not candidate.not_had:
                system = self._systems.system_of(candidate.name)
                line = self._measure(figure, system, candidate.name)
                lines += [line] if line.values else []
        means = [line.mean for line in lines if line.mean]
        best = (min if figure.lower_is_better else max)(means) if len(means) > 1 else None
        for line in lines:
            percent = 100 * line.mean / best if best and line.mean else None
            yield line.model_copy(update={"percent_of_best": percent})

    def _measure(
        self, figure: PublishedFigure, system: str, target: str = "", reason: str = ""
    ) -> FigureLine:
        """Return the figure of a system on a target; `reason`: why there is no target."""
        setting = figure.setting_of(system)
        values = self._measurements.values(target, setting, figure.measure)
        if target and not values:
            reason = self._measurements.why_not(target, setting, figure.measure)
        return FigureLine(
            title=figure.title,
            setting=setting,
            measure=figure.measure,
            unit=unit_of(figure.measure),
            system=system,
            target=target,
            published=figure.value_of(system),
            published_percent=figure.percent_of_base(system),
            percent_of=figure.percent_of,
            quote=figure.quote_of(system),
            values=values,
            mean=sum(values) / len(values) if values else None,
            spread=spread_of(values),
            verdict=self._measurements.verdict(target, setting) if values else "",
            not_had=reason,
        )

    # --- claims

    def _examine(self, claim: DocumentClaim) -> Iterator[ClaimRecord]:
        if claim.gain and self.document.scaling:
            cells = [cell for cell in self._cells if cell.system in claim.of or claim.elsewhere]
            yield from claims_of_gains(claim, claim.gain, self.document.scaling, cells)
            return
        if claim.across:
            yield self._examine_on(claim, "", "")
            return
        examined = set()
        for system in claim.of:
            targets = self._systems.targets_of(system)
            examined |= {*targets}
            yield from (self._examine_on(claim, system, target) for target in targets or [""])
        for candidate in self.candidates if claim.elsewhere else ():
            if candidate.name in examined or candidate.not_had:
                continue
            system = self._systems.system_of(candidate.name)
            record = self._examine_on(claim, system, candidate.name)
            if record.seen is not Seen.NOT_HAD or not claim.of:
                yield record

    def _examine_on(self, claim: DocumentClaim, system: str, target: str) -> ClaimRecord:
        sides = {term: self._find_side(term, system, target) for term in claim.terms}
        seen = judge(claim, {term: side.values for term, side in sides.items()})
        is_missing = seen is Seen.NOT_HAD
        return _record(
            claim,
            target=target,
            system=system,
            seen=seen,
            sides=tuple(sides.values()),
            reason=self._explain_missing(sides, across=claim.across) if is_missing else "",
        )

    def _find_side(self, term: Term, system: str, target: str) -> ClaimSide:
        targets = self._systems.targets_of(term.system) if term.system else [target]
        name = term.system or system
        compared = ((target, self._measurements.compare(target, term)) for target in targets)
        measured, values = next(
            ((target, values) for target, values in compared if values), ("", ())
        )
        published = (
            figure.value_of(name)
            for figure in self.document.figures
            if not term.over
            and (figure.setting_of(name), figure.measure) == (term.setting, term.measure)
        )
        return ClaimSide(
            setting=term.setting,
            over=term.over,
            measure=term.measure,
            system=name,
            target=measured or (targets[0] if targets else ""),
            values=values,
            published=next((value for value in published if value is not None), None),
        )

    def _explain_missing(self, sides: Mapping[Term, ClaimSide], *, across: bool) -> str:
        """Return why a side has no values; empty if no target of the side's system was measured."""
        without = [side for side in sides.values() if not side.values]
        absent = dict.fromkeys(side.system for side in without if not side.target)
        reasons = [f"{', '.join(absent)} not measured"] if across and absent else []
        reasons += [
            self._measurements.why_not(side.target, setting, side.measure)
            for side in without
            for setting in (side.setting, side.over)
            if side.target
            and setting
            and not self._measurements.values(side.target, setting, side.measure)
        ]
        return "; ".join(dict.fromkeys(reasons))


def _record(claim: DocumentClaim | Unexamined, **found: Any) -> ClaimRecord:
    """Return the record of a claim with the findings."""
    shared = {name: getattr(claim, name) for name in ("text", "quote", "question")}
    return ClaimRecord(**shared, **found)


_ALONE = "no other target has the same module on another number of nodes, or of another node_size"


@dataclass(frozen=True, slots=True)
class ScalingStep:
    """A cluster, and the next larger cluster in one direction of the matrix."""

    smaller: Cell
    larger: Cell

    @property
    def ratios(self) -> tuple[float, ...]:
        """Ratios of the larger cluster's rate to the smaller cluster's rate, repeat by repeat."""
        pairs = zip(self.larger.values, self.smaller.values, strict=False)
        return tuple(larger / smaller for larger, smaller in pairs if smaller)

    @property
    def nodes(self) -> tuple[int, int]:
        """Numbers of nodes of the two clusters."""
        return self.smaller.nodes, self.larger.nodes

    @property
    def label(self) -> str:
        """Difference between the clusters."""
        nodes, size = self.nodes, self.smaller.node_size
        if nodes[0] == nodes[1]:
            return f"{size} to {self.larger.node_size}, {counted(nodes[0], 'node')}"
        return f"{nodes[0]} to {nodes[1]} nodes{', ' if size else ''}{size}"


def steps(cells: Sequence[Cell]) -> list[ScalingStep]:
    """Return the steps of the matrix: to more nodes of the same size, then to the next node size.

    Sizes follow each other in the order of the cells.
    """
    found = []
    for kind in dict.fromkeys((cell.module, cell.node_size) for cell in cells):
        alike = [cell for cell in cells if (cell.module, cell.node_size) == kind]
        for smaller, larger in pairwise(sorted(alike, key=lambda cell: cell.nodes)):
            if smaller.nodes < larger.nodes:
                found.append(ScalingStep(smaller, larger))
    for row in dict.fromkeys((cell.module, cell.nodes) for cell in cells):
        alike = [cell for cell in cells if (cell.module, cell.nodes) == row]
        for smaller, larger in pairwise(alike):
            if smaller.node_size and larger.node_size not in ("", smaller.node_size):
                found.append(ScalingStep(smaller, larger))
    return found


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
    return Matrix(setting=scaling.setting, measure=scaling.measure, cells=tuple(cells), gains=gains)


def claims_of_gains(
    claim: DocumentClaim, gain: Gain, scaling: Scaling, cells: Sequence[Cell]
) -> Iterator[ClaimRecord]:
    """Yield a record for each step that the claim is about, or a NOT_HAD record without steps."""
    examined = [
        step
        for step in steps(cells)
        if (step.nodes == gain.nodes if gain.nodes else step.nodes[0] == step.nodes[1])
    ]
    for step in examined:
        sides = tuple(
            ClaimSide(
                setting=cell.setting, measure=scaling.measure, system=cell.system,
                target=cell.target, values=cell.values, published=None,
            )
            for cell in (step.larger, step.smaller)
        )  # fmt: skip
        yield _record(
            claim,
            target=step.larger.target,
            system=step.larger.system,
            seen=judge_bounds(step.ratios, gain.least, gain.most),
            sides=sides,
        )
    if not examined:
        yield _record(claim, seen=Seen.NOT_HAD, reason=_ALONE)
