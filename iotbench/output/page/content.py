"""The contents of a page, before it is HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SYMBOLS = {
    "verified": "✓",
    "mismatch": "✗",
    "failed": "✗",
    "incomplete": "!",
    "interrupted": "!",
    "running": "!",
    "unknown": "?",
    "not checked": "-",
    "not verified": "-",
}
"""Status of a verdict -> its symbol."""


@dataclass(frozen=True, slots=True)
class PageTable:
    """Records as rows: their keys, which all of them have, are the titles of the columns."""

    rows: Sequence[Mapping[str, str]]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, and the table with its values."""

    title: str
    svg: str
    table: PageTable
    note: str = ""
    """Explanation for the reader."""
    marks: PageTable | None = None
    """Table of its marks, if it has any."""


@dataclass(frozen=True, slots=True)
class Section:
    """Pictures and tables about the same question."""

    id: str
    title: str
    notes: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[PageTable] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """The headline of a result: one number, and its basis."""

    name: str
    link: str
    value: str
    unit: str
    basis: str
    verdict: str
    colour: int


@dataclass(frozen=True, slots=True)
class Detail:
    """Everything about one result."""

    id: str
    title: str
    verdict: str
    alerts: Sequence[tuple[str, str]]
    """(kind, text) of failures, wrong rows or answers, and warnings with their remedies."""
    facts: Sequence[tuple[str, str]]
    tables: Sequence[PageTable]
    options: Mapping[str, Mapping[str, str]]
    """Title -> names and values."""
    plans: Mapping[str, str]
    """Query -> the database's plan for it."""


@dataclass(frozen=True, slots=True)
class Selector:
    """A choice for the reader."""

    name: str
    title: str
    options: Mapping[str, str]
    """Value -> its label."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """All results on one axis, with the data to draw and sort them again."""

    title: str
    svg: str
    """Picture of the first choice."""
    choices: Sequence[Selector]
    data: str
    """Data as JSON."""
    origin: str
    """Origin and licence of the drawing library."""
    library: str
    """The drawing library, compressed, in base 64."""
    program: str
    """Script that draws the reader's choices with the library."""
    allowed: str
    """Hashes of library and script, for the page's policy."""


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page."""

    title: str
    subtitle: str
    verdict: str
    """The worst verdict, with its consequence."""
    warnings: Sequence[str]
    """Reasons why the figures mean less; the verdict is followed by them."""
    cards: Sequence[Card]
    overview: PageTable
    ranking: Ranking | None
    """Ranking; None for results that are not comparable."""
    sections: Sequence[Section]
    details: Sequence[Detail]
    program: str
    is_folded: bool
    """True if the details of single results are folded, as there are many."""


TEXTS = frozenset({
    "Result", "What", "At", "Unit", "Durability", "Verdict", "Query", "Load", "Change", "Check",
    "Expected", "Found", "Server's own work", "Precision", "Phase", "Run with", "Mark", "At s",
    "Figure", "Setting", "System", "In the document", "Target", "Size of a node", "Claim", "Seen",
    "Values", "Result files", "Cause",
})  # fmt: skip
"""Titles of columns with text, aligned left; other columns have numbers."""
