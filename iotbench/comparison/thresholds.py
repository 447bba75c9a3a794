"""Thresholds: limits that fail a result, such as `p99_ms > 20ms at workers=4`.

A threshold is parsed before anything starts, and applied to the summary of a result. A threshold
for a figure that was not measured fails, because it would otherwise protect nothing.
"""

import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from iotbench.comparison.comparison import ComparedRow, Comparison, Judgement
from iotbench.config.input.quantities import parse_number
from iotbench.figures.figures import FACETS, Unit, is_among, percent_of, resolve, unit_of
from iotbench.figures.numbers import format_value
from iotbench.figures.rows import Place, Row
from iotbench.figures.summary import Subject, Summary
from iotbench.results.latency import FEWEST, fewest_samples
from simulator.errors import nearest

EXIT_CODE = 99
"""Exit code if a threshold fails; k6 uses the same."""
FORM = (
    "FIGURE OP NUMBER[UNIT] [at workers=N, query=NAME or change=NAME], such as"
    " 'p99_ms > 20ms at workers=4'"
)
_WRITTEN = re.compile(
    r"\s*([\w.-]+)\s*([<>]=?)\s*([+-]?[\d_.]+(?:[eE][+-]?\d+)?[kKMG]?)\s*([^\s\d]*)"
    r"(?:\s+at\s+(workers|query|change)\s*=\s*(\S+))?\s*"
)
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_UNITS: Mapping[Unit, Mapping[str, float]] = {
    Unit.MILLISECONDS: {"ms": 1.0, "us": 0.001, "s": 1000.0},
    Unit.SECONDS: {"s": 1.0, "ms": 0.001, "m": 60.0},
    Unit.SHARE: {"%": 0.01},
    Unit.ROWS: {"rows": 1.0},
    Unit.ROWS_PER_S: {"rows/s": 1.0},
    Unit.QUERIES_PER_S: {"queries/s": 1.0},
    Unit.VALUES_PER_S: {"values/s": 1.0},
    Unit.BYTES_PER_S: {"B/s": 1.0, "bytes/s": 1.0},
    Unit.NS_PER_ROW: {"ns": 1.0, "us": 1000.0, "ns/row": 1.0},
    Unit.BYTES_PER_ROW: {"B": 1.0, "bytes": 1.0, "bytes/row": 1.0},
}
CHANGE = "_change"
"""Suffix of a figure's name in thresholds for its change."""
_ALIASES = {"spread": "rows_per_s_spread"}
COUNTS = {each.value: each for each in (Judgement.SLOWER, Judgement.FASTER)}
"""Name in thresholds for a number of rows -> judgement on these rows."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The rows and figures that thresholds may name."""

    subjects: Collection[Subject]
    """Subjects of the summaries."""
    compares: bool = False
    """True if the thresholds apply to changes against a base."""
    workers: Collection[int] | None = None
    """Worker counts; None if they are not known yet."""
    queries: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class Threshold:
    """A limit for a figure."""

    text: str
    """Text of the threshold as the user wrote it."""
    figure: str
    sign: str
    limit: float
    """Limit, in the unit of the figure."""
    key: str = ""
    """Dimension that selects rows: workers, query or change; empty if the threshold is for all
    rows."""
    value: str = ""

    def is_reached(self, value: float) -> bool:
        """Return whether a value is beyond the limit."""
        return _OPERATORS[self.sign](value, self.limit)

    def is_about(self, place: Place) -> bool:
        """Return whether the threshold applies to a row."""
        if self.key == "workers":
            return place.workers == int(self.value)
        return not self.key or fnmatchcase(place.name, self.value)


@dataclass(frozen=True, slots=True)
class ThresholdCheck:
    """The check of one row against a threshold."""

    threshold: str
    place: str
    """Description of the row, with the name of its result."""
    found: str
    """The value of the figure, or the reason why it is missing."""
    ok: bool


def parse(
    texts: Iterable[str], scope: Scope, problems: list[str], where: str = "--fail-if"
) -> tuple[Threshold, ...]:
    """Return the parsed thresholds; add the errors to `problems`."""
    found = []
    for text in texts:
        try:
            found.append(_parse(text, scope))
        except ValueError as error:
            problems.append(f"{where}: {text!r}: {error}")
    return tuple(found)


def _parse(text: str, scope: Scope) -> Threshold:
    match = _WRITTEN.fullmatch(text)
    if not match:
        raise ValueError(f"expected {FORM}; OP is <, <=, > or >=")
    name, sign, number, unit, key, value = match.groups(default="")
    figure, known = _ALIASES.get(name, name), _list_known(scope)
    if figure not in known and not _is_percentile(figure, scope):
        raise ValueError(f"unknown figure {figure!r} ({nearest(figure, known)})")
    is_change = figure.endswith(CHANGE)
    kind = known[figure] if figure in known else Unit.SHARE if is_change else unit_of(figure)
    units = _UNITS[kind] if kind else {}
    if unit and unit not in units:
        expected = f"one of {', '.join(units)}" if units else "none"
        raise ValueError(f"unknown unit {unit!r} of {figure}: expected {expected}")
    limit = parse_number(number) * units.get(unit, 1.0)
    found = Threshold(text.strip(), figure, sign, limit, key, value)
    if key == "workers" and not value.isdecimal():
        raise ValueError(f"expected workers=N with a whole number, got {value!r}")
    _expect_rows(found, scope)
    return found


def _is_percentile(name: str, scope: Scope) -> bool:
    """Return whether rows of a scope have a percentile with this name, such as p99.99_ms."""
    if scope.compares and percent_of(name.removesuffix(CHANGE)):
        name = name.removesuffix(CHANGE)
    figure, _ = resolve(name) or (None, "")
    return any(figure and each.has(figure.name) for each in scope.subjects)


def list_changed_percentiles(texts: Iterable[str]) -> list[str]:
    """Return the percentiles in thresholds for changes, such as p90_ms for p90_ms_change."""
    written = (_WRITTEN.fullmatch(text) for text in texts)
    names = dict.fromkeys(each[1] for each in written if each and each[1].endswith(CHANGE))
    return [name for each in names if percent_of(name := each.removesuffix(CHANGE))]


def _list_known(scope: Scope) -> dict[str, Unit | None]:
    """Return name of a figure that a threshold may use -> its unit; None for a number of rows."""
    names = (
        f"{name}{facet}" for each in scope.subjects for name in each.figures for facet in FACETS
    )
    known: dict[str, Unit | None] = {name: unit_of(name) for name in names}
    if scope.compares:
        changes = (each.name for subject in scope.subjects for each in subject.compared)
        known |= {f"{name}{CHANGE}": Unit.SHARE for name in changes}
        known |= dict.fromkeys(COUNTS)
    return known


def _expect_rows(threshold: Threshold, scope: Scope) -> None:
    """Raise ValueError if a threshold names a row that the result will not have."""
    rows = scope.workers if threshold.key == "workers" else scope.queries
    if not threshold.key or rows is None:
        return
    names = [str(row) for row in rows]
    if not any(fnmatchcase(name, threshold.value) for name in names):
        known = nearest(threshold.value, names) if names else "there is none"
        raise ValueError(f"{threshold.key}={threshold.value} is not measured ({known})")


def checks_of(
    thresholds: Iterable[Threshold], *summaries: Summary, place: str = ""
) -> Iterator[ThresholdCheck]:
    """Yield the checks of an item's summaries; a threshold without a matching row fails.

    Thresholds for figures that no summary can have are ignored.
    """
    for threshold in thresholds:
        figure, _ = resolve(threshold.figure) or (None, "")
        having = [each for each in summaries if figure and each.subject.has(figure.name)]
        if not having:
            continue
        found = [check for each in having for check in _check_rows(threshold, each, place)]
        nothing = ThresholdCheck(
            threshold.text, place.rstrip(" ,"), "nothing was measured", ok=False
        )
        yield from found or [nothing]


def _check_rows(threshold: Threshold, summary: Summary, place: str) -> Iterator[ThresholdCheck]:
    figure, _ = resolve(threshold.figure) or (None, "")
    for row in summary.every:
        may_have = figure and is_among(summary.subject.figures_at(row.place), figure.name)
        if may_have and threshold.is_about(row.place):
            found, ok = _judge(threshold, row)
            yield ThresholdCheck(threshold.text, f"{place}{row.place}", found, ok)


def _judge(threshold: Threshold, row: Row) -> tuple[str, bool]:
    """Return the figure of a row or why the figure is missing, and whether the row passes."""
    name, value, unit = threshold.figure, row.value(threshold.figure), unit_of(threshold.figure)
    if value is not None and unit:
        text = format_value(value, unit)
        shown = text if unit is Unit.SHARE else f"{text} {unit.value}"
        return shown, not threshold.is_reached(value)
    figure, _ = resolve(name) or (None, "")
    if figure and figure.name in row.withheld:
        least, n = FEWEST[figure.name], row.figures["p50_ms"].n
        return f"{name} needs {least:,} samples, and there are {n:,}", False
    return f"{name} was not measured", False


def comparison_checks(
    thresholds: Iterable[Threshold], comparison: Comparison
) -> Iterator[ThresholdCheck]:
    """Yield the checks of a comparison against thresholds for changes."""
    label = comparison.other.label
    for threshold in thresholds:
        if threshold.figure in COUNTS:
            found, ok = _judge_count(threshold, comparison)
            yield ThresholdCheck(threshold.text, label, found, ok)
        elif threshold.figure.endswith(CHANGE):
            about = [row for row in comparison.rows if threshold.is_about(row.place)]
            for row in about:
                found, ok = _judge_change(threshold, row)
                yield ThresholdCheck(threshold.text, f"{label}, {row.place}", found, ok)
            if not about:
                yield ThresholdCheck(threshold.text, label, "nothing was compared", ok=False)


def _judge_count(threshold: Threshold, comparison: Comparison) -> tuple[str, bool]:
    """Return the number of rows with a judgement, and whether the comparison passes."""
    judged = (Judgement.FASTER, Judgement.SLOWER, Judgement.NOISE)
    without = sum(map(comparison.count, set(Judgement) - set(judged)))
    if without:
        return f"no judgement on {without} of {len(comparison.rows)} rows", False
    count = comparison.count(COUNTS[threshold.figure])
    return str(count), not threshold.is_reached(count)


def _judge_change(threshold: Threshold, row: ComparedRow) -> tuple[str, bool]:
    """Return the change of a figure or why the change is missing, and whether the row passes."""
    name = threshold.figure.removesuffix(CHANGE)
    line = next((line for line in row.lines if line.figure.name == name), None)
    if line is None or line.difference is None:
        percent = None if line else percent_of(name)
        needs = f": needs {fewest_samples(percent):,} samples of each run" if percent else ""
        return f"{name} cannot be compared{needs}", False
    change = line.difference.change
    shown = f"{change:+.1%} ({'one run' if line.interval == '-' else line.interval})"
    return shown, not threshold.is_reached(change)


def list_failures(checks: Sequence[ThresholdCheck]) -> list[str]:
    """Return a line for each check that failed."""
    return [
        f"threshold failed: {each.threshold}: {', '.join(filter(None, (each.found, each.place)))}"
        for each in checks
        if not each.ok
    ]
