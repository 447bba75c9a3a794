"""A question with its answer, and the pieces that the pages of all questions share."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TypeAlias

from iotbench.measurements import summary_of
from iotbench.output.page import charts
from iotbench.output.page.build import describe_verdicts
from iotbench.output.page.charts import Axis, Bar
from iotbench.output.page.content import PageTable, Picture, Section
from iotbench.output.page.measured import PageResult
from iotbench.output.site.entries import (
    LEAST_RUNS,
    PROMISES,
    Entry,
    describe_values,
    list_rates,
)

_CELLS = (
    "A cell shows the lowest and the highest repeat, and the number of repeats in brackets; of"
    f" {LEAST_RUNS} repeats and more, it shows the median, and the mean with half the width of its"
    " 95 % interval. It leads to the result, with settings, command and verification."
)
_OF_ROWS = ("rows", "start_ms", "seed")
"""Options that do not distinguish settings."""
Cell: TypeAlias = tuple[str, str]
"""The text of a cell, and the link to its result."""


@dataclass(frozen=True, slots=True)
class Line:
    """The row of a database in the table of a question."""

    entry: Entry
    results: Sequence[PageResult]
    cells: Mapping[str, Cell]
    """Column -> cell, without the columns that all questions have."""
    values: Sequence[float]
    """The figure that the question is about, in each repeat; their median orders the rows."""
    end: float | None = None
    """End of a range that begins at this median."""

    @property
    def name(self) -> str:
        """Product and target."""
        return f"{self.entry.product} ({self.entry.target})"


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
class Topic:
    """A question before it is answered."""

    title: str
    file: str
    """File of its page."""
    section: str
    """ID of the section."""
    heading: str
    note: str
    write: Callable[[float], str]
    """Returns the text of a value in the answer."""
    is_highest_first: bool = False

    def answer(
        self,
        found: Iterable[Line],
        draw: Callable[[Sequence[Line]], Iterable[Picture]],
        conclude: Callable[[Sequence[Line], str], str],
    ) -> Question | None:
        """Return the question with its answer; None without rows.

        `conclude` returns the answer from the rows, the best first, and the text of both ends.
        """
        lines = sorted(found, key=lambda each: median(each.values), reverse=self.is_highest_first)
        if not lines:
            return None
        ends = [f"{each.name}: {self.write(median(each.values))}" for each in (lines[0], lines[-1])]
        section = Section(
            self.section,
            self.heading,
            [f"{self.note} {_CELLS}"],
            [*draw(lines)],
            [_make_table(lines)],
        )
        results = [each for line in lines for each in line.results]
        answer = conclude(lines, ", ".join(dict.fromkeys(ends)))
        return Question(self.title, self.file, answer, section, results)


def _make_table(lines: Sequence[Line]) -> PageTable:
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


def list_inserts(entry: Entry) -> list[PageResult]:
    """Return the inserts with a rate, without searches."""
    return [
        each
        for each in entry.results
        if each.result.kind == "insert"
        and not (each.repeated and each.repeated.is_search)
        and min(list_rates(each), default=0)
    ]


def key_of(each: PageResult, *more: object, without: str = "") -> str:
    """Return a text that is equal for results of a plan with the same options, but for one."""
    record = str(each.repeated.record) if each.repeated else ""
    left_out = (*_OF_ROWS, without)
    options = {k: v for k, v in each.result.configuration.items() if k not in left_out}
    return json.dumps([record, options, *more], sort_keys=True, default=str)


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


def divide(values: Sequence[float], base: Sequence[float]) -> float:
    """Return the median of values as a share of another."""
    return median(values) / median(base)


def compare(values: Sequence[float], base: Sequence[float]) -> str:
    """Return the median of values as a share of another; of several repeats, also its range."""
    share = f"{divide(values, base):.0%}"
    ends = f"{min(values) / max(base):.0%} to {max(values) / min(base):.0%}"
    return f"{share} ({ends})" if len(values) > 1 else share


def draw_values(title: str, unit: str, lines: Sequence[Line], column: str) -> list[Picture]:
    """Return pictures with a bar for the median of each row, its range, and a point for each value.

    The table below a picture has a column of the table of the question.
    """
    pictures = []
    ends = [value for each in lines for value in each.values]
    for start in range(0, len(lines), charts.MOST_BARS):
        some = lines[start : start + charts.MOST_BARS]
        bars = [
            Bar(
                each.name, each.results[0].style, (median(each.values),), min(each.values),
                max(each.values), each.values,
            )
            for each in some
        ]  # fmt: skip
        axis = Axis(unit, log=True, ends=(min(ends), max(ends)) if len(lines) > len(bars) else None)
        rows = [{"Database": each.name, column: each.cells[column][0]} for each in some]
        pictures.append(Picture(title, charts.draw_bars(title, axis, bars), PageTable(rows)))
    return pictures
