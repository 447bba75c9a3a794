"""The content of a page."""

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
"""Status of a verdict -> symbol of the status."""


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table of records with equal keys; the keys are the titles of the columns."""

    rows: Sequence[Mapping[str, str]]
    title: str = ""
    links: Sequence[Mapping[str, str]] = ()
    """Column -> link of the cell, for each row; empty: no cell is a link."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, with a table of the shown values."""

    title: str
    svg: str
    table: PageTable
    note: str = ""
    """Explanation for the reader."""
    marks: PageTable | None = None
    """Table of the marks; None if the picture has no marks."""


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
    """The headline of a result: a number and the basis of the number."""

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
    """Title -> options with their values."""
    plans: Mapping[str, str]
    """Name of a query -> the database's plan for the query."""


@dataclass(frozen=True, slots=True)
class Selector:
    """A selection that the reader can change."""

    name: str
    title: str
    options: Mapping[str, str]
    """Value -> label of the value."""


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
    """The drawing library, compressed and encoded in base64."""
    program: str
    """Script that uses the library to draw other selections."""
    allowed: str
    """Hashes of the library and the script, for the content security policy of the page."""


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page."""

    title: str
    subtitle: str
    verdict: str
    """The worst verdict, with a sentence on its consequence."""
    warnings: Sequence[str]
    """Warnings about the figures, below the verdict."""
    cards: Sequence[Card]
    overview: PageTable
    ranking: Ranking | None
    """Ranking; None if fewer than two results can be compared."""
    sections: Sequence[Section]
    details: Sequence[Detail]
    program: str
    is_folded: bool
    """True if the details of results are folded, because the page has many results."""
    home: str = ""
    """Link to the first page of the site; empty if the page is not part of a site."""
    facts: Sequence[tuple[str, str]] = ()
    """Facts about the database that all results are of."""


TEXTS = frozenset({
    "Result", "What", "At", "Unit", "Durability", "Verdict", "Query", "Load", "Change", "Check",
    "Expected", "Found", "Server's own work", "Precision", "Phase", "Run with", "Mark", "At s",
    "Figure", "Setting", "System", "In the document", "Target", "Size of a node", "Claim", "Seen",
    "Values", "Result files", "Cause", "Database", "An acknowledged row survives",
    "Rows are visible",
})  # fmt: skip
"""Titles of the columns that contain text, which is aligned left."""
