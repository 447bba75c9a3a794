"""The contents of a page."""

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
    """A table of records with equal keys, which are the titles of the columns."""

    rows: Sequence[Mapping[str, str]]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, with a table of its values."""

    title: str
    svg: str
    table: PageTable
    note: str = ""
    """Explanation for the reader."""
    marks: PageTable | None = None
    """Table of the marks; None: no marks."""


@dataclass(frozen=True, slots=True)
class Section:
    """Pictures and tables about a question."""

    id: str
    title: str
    notes: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[PageTable] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """The headline of a result: a number and its basis."""

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
    """A selection that the reader can change."""

    name: str
    title: str
    options: Mapping[str, str]
    """Value -> its label."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """All results on one axis, with the data for other selections."""

    title: str
    svg: str
    """Picture of the first selection."""
    choices: Sequence[Selector]
    data: str
    """Data as JSON."""
    origin: str
    """Origin and licence of the drawing library."""
    library: str
    """The drawing library, compressed, in base 64."""
    program: str
    """Script that draws other selections with the library."""
    allowed: str
    """Hashes of library and script for the page's policy."""


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page."""

    title: str
    subtitle: str
    verdict: str
    """The worst verdict, with its consequence."""
    warnings: Sequence[str]
    """Warnings about the figures, below the verdict."""
    cards: Sequence[Card]
    overview: PageTable
    ranking: Ranking | None
    """Ranking; None: there is nothing to compare."""
    sections: Sequence[Section]
    details: Sequence[Detail]
    program: str
    is_folded: bool
    """True if the details of results are folded, since there are many."""


TEXTS = frozenset({
    "Result", "What", "At", "Unit", "Durability", "Verdict", "Query", "Load", "Change", "Check",
    "Expected", "Found", "Server's own work", "Precision", "Phase", "Run with", "Mark", "At s",
    "Figure", "Setting", "System", "In the document", "Target", "Size of a node", "Claim", "Seen",
    "Values", "Result files", "Cause",
})  # fmt: skip
"""Titles of the columns with text, which are aligned left."""
