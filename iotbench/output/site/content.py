"""The content of a site's first page."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeadCell:
    """A database with its settings: the head of a row or a column."""

    name: str
    """Product and version."""
    target: str
    link: str
    classes: str
    """Classes by which the selection of the reader hides it."""


@dataclass(frozen=True, slots=True)
class LinkedCell:
    """A cell of a table."""

    text: str
    note: str = ""
    """Explanation that appears on hovering."""
    small: str = ""
    """Second line."""
    link: str = ""
    shade: int | None = None
    """Class of a factor, 0 for the best; None: the cell has no colour."""


@dataclass(frozen=True, slots=True)
class RateBar:
    """A rate; positions are percentages of the highest rate."""

    cell: LinkedCell
    length: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class InsertLine:
    """The inserts of a database."""

    head: HeadCell
    bar: RateBar | None
    cells: Sequence[LinkedCell]
    verdict: str


@dataclass(frozen=True, slots=True)
class Promise:
    """Databases of which an acknowledged row survives the same failures, fastest first."""

    classes: str
    title: str
    answer: str
    """The fastest databases, in a sentence."""
    lines: Sequence[InsertLine]


@dataclass(frozen=True, slots=True)
class HeatTable:
    """Waits of queries as factors of the shortest wait."""

    id: str
    title: str
    answer: str
    """The fastest database, in a sentence; empty if there is only one."""
    heads: Sequence[HeadCell]
    rows: Sequence[tuple[str, Sequence[tuple[HeadCell, LinkedCell | None]]]]
    """Name of a query -> a cell for each head; the first row has the means of all queries."""
    link: str


@dataclass(frozen=True, slots=True)
class IndexPage:
    """The first page of a site."""

    title: str
    subtitle: str
    verdict: str
    workload: str
    """Workload of the inserts."""
    columns: Sequence[str]
    """Titles of the columns between the bar and the verdict."""
    promises: Sequence[Promise]
    heats: Sequence[HeatTable]
    questions: Sequence[tuple[str, str, str, str]]
    """(title, link, answer, verdict) of the pages of questions."""
    pages: Sequence[tuple[str, str]]
    """(title, link) of the pages with pictures."""
    files: Sequence[tuple[str, str]]
    """(link, content) of the other files in the folder."""
    has_advised: bool
    """True if some databases were also measured with the settings that their vendors advise."""
    program: str
