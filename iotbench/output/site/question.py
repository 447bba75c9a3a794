"""A question with its answer, and the pieces that the pages of all questions share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TypeAlias

from iotbench.measurements import summary_of
from iotbench.output.page import charts
from iotbench.output.page.build import describe_verdicts
from iotbench.output.page.charts import Axis, Bar
from iotbench.output.page.content import PageTable, Picture, Section
from iotbench.output.page.measured import PageResult
from iotbench.output.site.entries import LEAST_RUNS, PROMISES, Entry, describe_values

CELLS = (
    "A cell shows the lowest and the highest repeat, and the number of repeats in brackets; of"
    f" {LEAST_RUNS} repeats and more, it shows the median, and the mean with half the width of its"
    " 95 % interval. It leads to the result, with settings, command and verification."
)
Cell: TypeAlias = tuple[str, str]
"""The text of a cell, and the link to its result."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answer, and the results that answer it."""

    title: str
    file: str
    """File of its page."""
    answer: str
    section: Section
    results: Sequence[PageResult]

    @property
    def verdict(self) -> str:
        """Worst verdict of the results, with its consequence."""
        return describe_verdicts(self.results)


@dataclass(frozen=True, slots=True)
class Line:
    """The row of a database in the table of a question."""

    entry: Entry
    results: Sequence[PageResult]
    cells: Mapping[str, Cell]
    """Column -> cell, without the columns that all questions have."""

    @property
    def name(self) -> str:
        """Product and target."""
        return f"{self.entry.product} ({self.entry.target})"


def make_table(lines: Sequence[Line]) -> PageTable:
    """Return the table of a question; columns that a row lacks show a dash."""
    columns = dict.fromkeys(name for each in lines for name in each.cells)
    rows = []
    for each in lines:
        judged = replace(each.entry, results=each.results).verdict
        rows.append({
            "Database": (each.name, each.entry.page),
            **{name: each.cells.get(name, ("-", "")) for name in columns},
            "An acknowledged row survives": (PROMISES[each.entry.promise], each.entry.page),
            "Verdict": (judged, each.results[0].link),
        })  # fmt: skip
    return PageTable(
        [{name: text for name, (text, _) in row.items()} for row in rows],
        links=[{name: link for name, (_, link) in row.items()} for row in rows],
    )


def make_cell(values: Sequence[float], link: str, write: Callable[[float], str]) -> Cell:
    """Return the cell of a figure, with its value in each repeat."""
    return (describe_values(values, write), link) if values else ("-", "")


def list_values(each: PageResult, figure: str, row: str) -> list[float]:
    """Return a figure of a named row in each repeat."""
    found = []
    for part in each.results:
        rows = (one for one in summary_of(part).every if one.place.name == row)
        found += [value for one in rows if (value := one.value(figure)) is not None][:1]
    return found


def compare(values: Sequence[float], base: Sequence[float]) -> str:
    """Return the median of values as a share of another; of several repeats, also its range."""
    share = f"{median(values) / median(base):.0%}"
    ends = f"{min(values) / max(base):.0%} to {max(values) / min(base):.0%}"
    return f"{share} ({ends})" if len(values) > 1 else share


def name_ends(values: Sequence[tuple[str, str]]) -> str:
    """Return the first and the last database of a list with their values, as text."""
    return ", ".join(f"{name}: {value}" for name, value in dict.fromkeys((values[0], values[-1])))


def draw_values(
    title: str, unit: str, lines: Sequence[Line], column: str, values: Sequence[Sequence[float]]
) -> list[Picture]:
    """Return pictures with a bar for the median of each row, its range, and a point for each value.

    The table below a picture has a column of the table of the question.
    """
    pictures = []
    ends = [value for own in values for value in own]
    for start in range(0, len(lines), charts.MOST_BARS):
        some = slice(start, start + charts.MOST_BARS)
        shown = [*zip(lines[some], values[some], strict=True)]
        bars = [
            Bar(each.name, each.results[0].style, (median(own),), min(own), max(own), own)
            for each, own in shown
        ]
        axis = Axis(unit, log=True, ends=(min(ends), max(ends)) if len(lines) > len(bars) else None)
        rows = [{"Database": each.name, column: each.cells[column][0]} for each, _ in shown]
        pictures.append(Picture(title, charts.draw_bars(title, axis, bars), PageTable(rows)))
    return pictures
