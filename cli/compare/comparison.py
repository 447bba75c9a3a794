"""Two sides compared row by row: the difference of each figure, and a judgement on the headline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import fmean, geometric_mean

from cli.compare.query_plans import PlanComparison, compared_plans
from cli.compare.sides import Sample, Side, differing, is_same_work
from cli.compare.statistics import Difference, difference
from cli.summary.figures import Better, Figure
from cli.summary.rows import Place
from cli.summary.subjects import Subject
from simulator.errors import ConfigError

CONFIDENCE = 0.95
NOISE = 0.05
"""The least difference that is called one: drift between sweeps moves rates by some percent."""
_CLIENT, _ALIKE = "client_ns_per_row", 1.3
"""The figure that shows the speed of a machine, and a factor that equal ones do not reach."""


class Judgement(StrEnum):
    """What a difference means."""

    FASTER = "faster"
    SLOWER = "slower"
    NOISE = "noise"
    """The interval includes 0, or the difference is smaller than what counts."""
    ONE_RUN = "one run"
    """So there is no interval, and no judgement."""
    ZERO = "a value is 0"
    DISTURBED = "disturbed"
    """The difference exceeds the noise, but other work on the machine can explain it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of a row on both sides."""

    figure: Figure
    base: float
    """Geometric mean of the runs, as the difference is one of logarithms."""
    other: float
    difference: Difference | None
    """None where a value is 0."""
    judgement: Judgement | None
    """Of the headline; the other figures are shown without one."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One row: a worker count, a level or a query."""

    place: Place
    runs: tuple[int, int]
    verdicts: tuple[tuple[str, ...], tuple[str, ...]]
    lines: tuple[Line, ...]
    """The headline first."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What another side is against the base."""

    base: Side
    other: Side
    subject: Subject
    rows: tuple[Compared, ...]
    differing: tuple[tuple[str, str, str], ...]
    only: tuple[tuple[str, Place], ...]
    """Rows of one side: "base" or "other", and which."""
    plans: PlanComparison
    noise: float

    def count(self, judgement: Judgement) -> int:
        """Return how many rows have this judgement."""
        return sum(line.judgement is judgement for row in self.rows for line in row.lines)

    @property
    def client_factor(self) -> float | None:
        """CPU time that a row took the client on the other side, as a multiple of that of the base.

        None: it is not known, or the client did other work, which says nothing of the machine.
        """
        lines = [line for row in self.rows for line in row.lines if line.figure.name == _CLIENT]
        factors = [1 + line.difference.change for line in lines if line.difference]
        if not factors or not is_same_work(self.base.first, self.other.first):
            return None
        return geometric_mean(factors)

    @property
    def is_of_other_speed(self) -> bool:
        """Whether the client did the same work at another speed."""
        factor = self.client_factor
        return factor is not None and not 1 / _ALIKE < factor < _ALIKE


def compared(base: Side, other: Side, noise: float = NOISE) -> Comparison:
    """Compare two sides; ConfigError if they have no row in common."""
    before, after = base.samples(), other.samples()
    common = [key for key in before if key in after]
    if not common:
        raise ConfigError(
            f"{other.label}: has no {base.subject.name} in common with {base.label}, so there is"
            " nothing to compare"
        )
    only = [("base", key) for key in before if key not in after]
    only += [("other", key) for key in after if key not in before]
    shown = base.subject.compared
    rows = tuple(_row(key, shown, before[key], after[key], noise, len(common)) for key in common)
    rows = tuple(
        _without_judgement(row) if base.is_disturbed(key) or other.is_disturbed(key) else row
        for key, row in zip(common, rows, strict=True)
    )
    return Comparison(
        base,
        other,
        base.subject,
        rows,
        tuple(differing(base.first, other.first)),
        tuple(only),
        compared_plans(base, other),
        noise,
    )


def _row(  # noqa: PLR0913, PLR0917
    place: Place, shown: Sequence[Figure], base: Sample, other: Sample, noise: float, rows: int
) -> Compared:
    lines = [
        _line(figure, base.values, other.values, noise, 0 if number else rows)
        for number, figure in enumerate(shown)
        if figure.name in base.values and figure.name in other.values
    ]
    return Compared(place, (base.runs, other.runs), (base.verdicts, other.verdicts), tuple(lines))


def _without_judgement(row: Compared) -> Compared:
    """Return a row of a disturbed sweep: a difference in it is not judged."""
    first, *others = row.lines
    if first.judgement in (Judgement.FASTER, Judgement.SLOWER):
        first = replace(first, judgement=Judgement.DISTURBED)
    return replace(row, lines=(first, *others))


def _line(
    figure: Figure,
    base: Mapping[str, tuple[float, ...]],
    other: Mapping[str, tuple[float, ...]],
    noise: float,
    judged: int,
) -> Line:
    """Return a line; `judged` is how many rows are judged together, 0: the line is not."""
    before, after = base[figure.name], other[figure.name]
    # Judgements on several rows are right together: each may err less often.
    confidence = 1 - (1 - CONFIDENCE) / max(judged, 1)
    found = difference(before, after, confidence)
    judgement = _judged(figure, found, noise) if judged else None
    mean = geometric_mean if found else fmean
    return Line(figure, mean(before), mean(after), found, judgement)


def _judged(figure: Figure, found: Difference | None, noise: float) -> Judgement:
    if found is None:
        return Judgement.ZERO
    if not found.exceeds(noise):
        return Judgement.NOISE if found.has_interval else Judgement.ONE_RUN
    is_more = found.change > 0
    return Judgement.FASTER if is_more == (figure.better is Better.HIGHER) else Judgement.SLOWER
