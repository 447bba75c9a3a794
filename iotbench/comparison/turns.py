"""Comparison of targets that are measured in turns until every difference is known."""

from collections.abc import Iterator, Sequence

from iotbench.comparison.comparison import (
    CONFIDENCE,
    NOISE,
    ComparedRow,
    Comparison,
    Judgement,
    compare_sides,
)
from iotbench.comparison.sides import Side, expect_comparable
from iotbench.comparison.statistics import Difference
from iotbench.figures.rows import ALL_QUERIES
from simulator.errors import counted

MOST_REPEATS = 12
LOOKS = 3
"""Number of comparisons: after 3, 6 and 12 repeats; more comparisons mean wider intervals."""
_LOSS = 0.1
"""Size of the difference for which the necessary number of repeats is printed."""
_KNOWN = (Judgement.FASTER, Judgement.SLOWER)


def compare_with_first(sides: Sequence[Side], looks: int = LOOKS) -> list[Comparison]:
    """Compare each other side with the first; ConfigError if they cannot be compared."""
    if sides:
        expect_comparable(sides)
    return [compare_sides(sides[0], each, looks=looks) for each in sides[1:]]


def are_known(comparisons: Sequence[Comparison]) -> bool:
    """Return whether each difference is judged, or lies within the noise.

    If a run asks several queries, only the row of all queries counts.
    """
    return all(_is_known(each, row) for each in comparisons for row in _select_rows(each))


def _select_rows(comparison: Comparison) -> Sequence[ComparedRow]:
    rows = comparison.rows
    return [each for each in rows if each.place.query == ALL_QUERIES] or rows


def _is_known(comparison: Comparison, row: ComparedRow) -> bool:
    line = row.lines[0]
    is_small = line.difference is not None and line.difference.is_within(comparison.noise)
    return line.judgement in _KNOWN or is_small


def list_conclusions(comparisons: Sequence[Comparison], remedy: str) -> Iterator[str]:
    """Yield a sentence for each difference from the first side, and one about single queries.

    `remedy`: advice for a difference that is still unknown.
    """
    for comparison in comparisons:
        base, other = comparison.base.label, comparison.other.label
        rows = _select_rows(comparison)
        for row in rows:
            line = row.lines[0]
            at = f" ({row.place})" if len(comparison.rows) > 1 else ""
            if not line.difference:
                continue
            size = f"{line.difference.change:+.1%} {line.figure.title.lower()}"
            size += f" (interval {line.interval})"
            if line.judgement in _KNOWN:
                yield f"{other} is {line.judgement} than {base}{at}: {size}"
            elif _is_known(comparison, row):
                yield f"{other} and {base} differ by less than {NOISE:.0%}{at}: {size}"
            else:
                yield (
                    f"{other} and {base} are not distinguished after"
                    f" {counted(row.sweeps[0], 'repeat')}{at}: {size}; {remedy}"
                    f"{_describe_resolution(line.difference, len(comparison.rows))}"
                )
        if len(rows) < len(comparison.rows):
            found = [row.lines[0].judgement for row in comparison.rows if row not in rows]
            faster, slower = (found.count(each) for each in _KNOWN)
            yield (
                f"of {counted(len(found), 'query')}, {other} answers {faster:,} faster and"
                f" {slower:,} slower than {base}"
            )


def _describe_resolution(difference: Difference, rows: int) -> str:
    """Return the end of a sentence: how many repeats detect a loss; empty if they are too many."""
    repeats = difference.pairs_to_find(_LOSS, 1 - (1 - CONFIDENCE) / rows)
    if repeats is None:
        return ""
    return f"; {repeats:,} such repeats find a loss of {_LOSS:.0%} in nine of ten cases"
