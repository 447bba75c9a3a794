"""Comparison of the items' results with the document's figures and claims. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from iotbench.figures.figures import spread_of
from iotbench.plans.engine import MeasuredItem
from iotbench.plans.items import Candidate, Item
from iotbench.plans.measures import unit_of
from iotbench.plans.published.claims import Seen, judge
from iotbench.plans.published.documents import Document, DocumentClaim, PublishedFigure, Term
from iotbench.plans.published.measurements import Measurements, Systems
from iotbench.plans.published.record import Cell, ClaimRecord, ClaimSide, FigureLine, Matrix
from iotbench.plans.published.scaling import claims_of_gains, matrix


@dataclass(frozen=True)
class Experiment:
    """The attempted measurements and their results, as parts of a reproduction's record."""

    document: Document
    candidates: Sequence[Candidate]
    refused: Mapping[tuple[str, str], str]
    """(setting, target) -> why the target cannot be measured with the setting."""
    measured: Sequence[tuple[Item, MeasuredItem]]

    def lines(self) -> tuple[FigureLine, ...]:
        """Return every figure of every system of the document, and of our other targets."""
        return tuple(line for figure in self.document.figures for line in self._lines(figure))

    def claims(self) -> tuple[ClaimRecord, ...]:
        """Return every claim, for each target that it can be examined on."""
        records = [record for claim in self.document.claims for record in self._claims(claim)]
        records += [
            ClaimRecord(
                row=claim.row, text=claim.text, quote=claim.quote, question=claim.question,
                seen=Seen.NOT_HAD, reason=claim.reason,
            )
            for claim in self.document.out_of_reach
        ]  # fmt: skip
        return tuple(records)

    def matrix(self) -> Matrix | None:
        """Return the rates by number and size of nodes, if the document has such a matrix."""
        return matrix(self.document.scaling, self._cells) if self.document.scaling else None

    def find_unsettled(self) -> set[tuple[str, str]]:
        """Return each (setting, target) of the claims that are within the spread.

        Claims about bounds are left out: more repeats cannot settle them without a second side.
        """
        return {
            (setting, side.target)
            for claim in self.document.claims
            if claim.largest_first
            for record in self._claims(claim)
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

    def refusals(self) -> dict[str, str]:
        """Return "target, setting" -> why the target was not measured with the setting."""
        return {f"{target}, {name}": why for (name, target), why in self.refused.items()}

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

    def _lines(self, figure: PublishedFigure) -> Iterator[FigureLine]:
        lines = []
        for system in figure.systems:
            targets = self._systems.targets_of(system)
            lines += [self._line(figure, system, target) for target in targets]
            if not targets:
                lines.append(self._empty(figure, system, self._systems.absence(system)))
        shown = {line.target for line in lines}
        for candidate in self.candidates:
            if candidate.name not in shown and not candidate.not_had:
                line = self._line(figure, self._systems.system_of(candidate.name), candidate.name)
                lines += [line] if line.values else []
        means = [line.mean for line in lines if line.mean]
        best = (min if figure.lower_is_better else max)(means) if len(means) > 1 else None
        for line in lines:
            percent = 100 * line.mean / best if best and line.mean else None
            yield line.model_copy(update={"percent_of_best": percent})

    def _line(self, figure: PublishedFigure, system: str, target: str) -> FigureLine:
        setting = figure.setting_of(system)
        values = self._measurements.values(target, setting, figure.measure)
        if not values:
            reason = self._measurements.why_not(target, setting, figure.measure)
            return self._empty(figure, system, reason, target)
        return self._empty(figure, system, "", target).model_copy(
            update={
                "values": values,
                "mean": sum(values) / len(values),
                "spread": spread_of(values),
                "verdict": self._measurements.verdict(target, setting),
            }
        )

    def _empty(
        self, figure: PublishedFigure, system: str, reason: str, target: str = ""
    ) -> FigureLine:
        return FigureLine(
            row=figure.row,
            title=figure.title,
            setting=figure.setting_of(system),
            measure=figure.measure,
            unit=unit_of(figure.measure),
            system=system,
            target=target,
            published=figure.value_of(system),
            published_percent=figure.percent_of_base(system),
            percent_of=figure.percent_of,
            quote=figure.quote_of(system),
            not_had=reason,
        )

    # --- claims

    def _claims(self, claim: DocumentClaim) -> Iterator[ClaimRecord]:
        if claim.gain and self.document.scaling:
            cells = [cell for cell in self._cells if cell.system in claim.of or claim.elsewhere]
            yield from claims_of_gains(claim, claim.gain, self.document.scaling, cells)
            return
        if claim.across:
            yield self._claim(claim, "", "")
            return
        for system in claim.of:
            targets = self._systems.targets_of(system)
            yield from (self._claim(claim, system, target) for target in targets)
            if not targets:
                yield self._claim(claim, system, "")
        examined = {target for system in claim.of for target in self._systems.targets_of(system)}
        for candidate in self.candidates if claim.elsewhere else ():
            if candidate.name in examined or candidate.not_had:
                continue
            record = self._claim(claim, self._systems.system_of(candidate.name), candidate.name)
            if record.seen is not Seen.NOT_HAD or not claim.of:
                yield record

    def _claim(self, claim: DocumentClaim, system: str, target: str) -> ClaimRecord:
        sides = {term: self._side(term, system, target) for term in claim.terms}
        seen = judge(claim, {term: side.values for term, side in sides.items()})
        return ClaimRecord(
            row=claim.row,
            text=claim.text,
            quote=claim.quote,
            question=claim.question,
            target=target,
            system=system,
            seen=seen,
            sides=tuple(sides.values()),
            reason="" if seen is not Seen.NOT_HAD else self._missing(sides, across=claim.across),
        )

    def _side(self, term: Term, system: str, target: str) -> ClaimSide:
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

    def _missing(self, sides: Mapping[Term, ClaimSide], *, across: bool) -> str:
        """Return why not all sides have values; empty if the whole system was not measured."""
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
