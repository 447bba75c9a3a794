"""Comparison of two sides, row by row: differences of figures, and a judgement on each row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import fmean, geometric_mean

from iotbench.comparison.calibration import Calibration, calibration_of
from iotbench.comparison.query_plans import PlanComparison, compare_plans
from iotbench.comparison.sides import Side, SideSample, differing, is_same_work
from iotbench.comparison.statistics import Difference, Sweeps, are_in_turns, difference
from iotbench.figures.figures import Better, Figure, find_figure
from iotbench.figures.rows import Place
from iotbench.figures.summary import Subject
from simulator.errors import ConfigError

CONFIDENCE = 0.95
NOISE = 0.05
"""Share below which a difference is noise."""
_CLIENT, _ALIKE = "client_ns_per_row", 1.3
"""Figure that shows the speed of a machine, and the factor that equal machines stay below."""


class Judgement(StrEnum):
    """The meaning of a difference."""

    FASTER = "faster"
    SLOWER = "slower"
    NOISE = "noise"
    """The interval includes 0, or the difference is below the noise."""
    ONE_RUN = "one run"
    """A side has a single run, so there is no interval."""
    ZERO = "a value is 0"
    NOT_IN_TURNS = "not in turns"
    """The difference exceeds the noise of runs, but the scatter between sweeps is unknown."""
    DISTURBED = "disturbed"
    """The difference exceeds the noise, but other work on the machine can explain it.

    Sides that were measured in turns are judged nevertheless, because the differences of pairs
    include the effect of other work."""


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """One figure of a row on both sides."""

    figure: Figure
    base: float
    """Geometric mean of the sweeps, because the difference is computed on logarithms."""
    other: float
    difference: Difference | None
    """Relative difference; None if a value is 0."""
    judgement: Judgement | None
    """Judgement; None unless the figure is the headline."""

    @property
    def interval(self) -> str:
        """The interval of the difference as text; a dash if there is no interval."""
        found = self.difference
        if found is None or found.low is None or found.high is None:
            return "-"
        return f"{100 * found.low:+.1f} to {found.high:+.1%}"


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One row: a worker count, a level or a query."""

    place: Place
    runs: tuple[int, int]
    sweeps: tuple[int, int]
    in_turns: bool
    """True if the sweeps form pairs of one sweep of each side, measured one after the other."""
    verdicts: tuple[tuple[str, ...], tuple[str, ...]]
    lines: tuple[ComparedFigure, ...]
    """Figures of the row; the headline comes first."""
    calibrations: tuple[Calibration, ...] = ()
    """Calibrations of both sides; empty if they are unknown or not needed."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference of one side from another, the base."""

    base: Side
    other: Side
    subject: Subject
    rows: tuple[ComparedRow, ...]
    differing: tuple[tuple[str, str, str], ...]
    only: tuple[tuple[str, Place], ...]
    """(Side, row) of each row that only one side has; the side is "base" or "other"."""
    plans: PlanComparison
    noise: float
    percentiles: tuple[Figure, ...] = ()
    """Percentiles that the user named in addition to the usual figures."""

    def count(self, judgement: Judgement) -> int:
        """Return the number of rows with a judgement."""
        return sum(line.judgement is judgement for row in self.rows for line in row.lines)

    @property
    def client_factor(self) -> float | None:
        """The client's CPU time per row on the other side, as a multiple of the base.

        None if the time is unknown, or if the clients did different work.
        """
        lines = [line for row in self.rows for line in row.lines if line.figure.name == _CLIENT]
        factors = [1 + line.difference.change for line in lines if line.difference]
        if not factors or not is_same_work(self.base.first, self.other.first):
            return None
        return geometric_mean(factors)

    @property
    def is_of_other_speed(self) -> bool:
        """True if the clients did the same work at different speeds."""
        factor = self.client_factor
        return factor is not None and not 1 / _ALIKE < factor < _ALIKE


def compare_sides(  # noqa: PLR0913
    base: Side,
    other: Side,
    noise: float = NOISE,
    known: Sequence[Calibration] = (),
    percentiles: Sequence[str] = (),
    *,
    looks: int = 1,
) -> Comparison:
    """Compare two sides; ConfigError if they have no row in common.

    `known`: calibrations of this machine; `percentiles`: names of further figures; `looks`: number
    of comparisons that are made of these sides while repeats are added.
    """
    shown = base.subject.compared
    more = tuple(each for each in map(find_figure, percentiles) if each not in shown)
    before, after = (side.samples([each.name for each in more]) for side in (base, other))
    common = [key for key in before if key in after]
    if not common:
        raise ConfigError(
            f"{other.label}: has no {base.subject.name} in common with {base.label}, so there is"
            " nothing to compare"
        )
    only = [("base", key) for key in before if key not in after]
    only += [("other", key) for key in after if key not in before]
    rows = []
    for key in common:
        found = [calibration_of(known, side.first, key.workers) for side in (base, other)]
        calibrations = tuple(each for each in found if each)
        calibrations = calibrations if len(calibrations) == len(found) else ()
        row = _compare_row(
            key, (*shown, *more), before[key], after[key], noise, len(common) * looks, calibrations
        )
        is_disturbed = base.is_disturbed(key) or other.is_disturbed(key)
        rows.append(_withhold_judgement(row) if is_disturbed and not row.in_turns else row)
    return Comparison(
        base,
        other,
        base.subject,
        tuple(rows),
        tuple(differing(base.first, other.first)),
        tuple(only),
        compare_plans(base, other),
        noise,
        more,
    )


def _compare_row(  # noqa: PLR0913, PLR0917
    place: Place,
    shown: Sequence[Figure],
    base: SideSample,
    other: SideSample,
    noise: float,
    judged: int,
    calibrations: tuple[Calibration, ...],
) -> ComparedRow:
    in_turns = are_in_turns(base.began_s, other.began_s)
    # The judgements on all rows and looks are right together with this confidence.
    strict = 1 - (1 - CONFIDENCE) / judged
    common = [each for each in shown if each.name in base.values and each.name in other.values]
    scatter = tuple(each.scatter for each in calibrations) if not in_turns else ()
    lines = []
    for number, figure in enumerate(common):
        before, after = base.values[figure.name], other.values[figure.name]
        found = difference(
            before,
            after,
            CONFIDENCE if number else strict,
            in_turns=in_turns,
            scatter=(scatter[0], scatter[1]) if scatter and not number else None,
        )
        judgement = None if number else _judge(figure, found, noise)
        lines.append(
            ComparedFigure(
                figure, _average(before, found), _average(after, found), found, judgement
            )
        )
    return ComparedRow(
        place,
        (base.runs, other.runs),
        (len(base.began_s), len(other.began_s)),
        in_turns,
        (base.verdicts, other.verdicts),
        tuple(lines),
        calibrations if scatter else (),
    )


def _average(sweeps: Sweeps, found: Difference | None) -> float:
    mean = geometric_mean if found else fmean
    return mean([mean(sweep) for sweep in sweeps])


def _withhold_judgement(row: ComparedRow) -> ComparedRow:
    first, *others = row.lines
    if first.judgement in (Judgement.FASTER, Judgement.SLOWER, Judgement.NOT_IN_TURNS):
        first = replace(first, judgement=Judgement.DISTURBED)
    return replace(row, lines=(first, *others))


def _judge(figure: Figure, found: Difference | None, noise: float) -> Judgement:
    if found is None:
        return Judgement.ZERO
    if not found.exceeds(noise):
        return Judgement.ONE_RUN if found.low is None else Judgement.NOISE
    if not found.knows_drift:
        return Judgement.NOT_IN_TURNS
    is_more = found.change > 0
    return Judgement.FASTER if is_more == (figure.better is Better.HIGHER) else Judgement.SLOWER
