"""What the reference documents published, as data: systems, figures and claims.

`documents/NAME.yaml` holds the figures with their rows in the inventory of the documents;
`plans/NAME-SIZE.yaml` the experiment that measures them here.
"""

from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import Field

from cli.experiment.items import Candidate
from cli.experiment.measures import is_measure
from cli.experiment.plan import Plan, read_plan
from cli.experiment.records import Number, Record, read_record
from simulator.errors import ConfigError, nearest

NAMES = ("iot", "devops", "ingress", "nosql", "cratedb")
_FOLDER = Path(__file__).parent


class Size(StrEnum):
    """How large an experiment is."""

    DEMO = "demo"
    """Minutes on one machine."""
    DOCUMENT = "document"
    """As the document describes it."""


class System(Record):
    """A system of the document: targets with one of these modules and these options."""

    modules: tuple[str, ...] = Field(min_length=1)
    options: dict[str, Any] = Field({})

    def has(self, candidate: Candidate) -> bool:
        """Whether a target is this system."""
        chosen = candidate.options
        alike = all(chosen.get(name) == value for name, value in self.options.items())
        return candidate.module in self.modules and alike


class PublishedFigure(Record):
    """A figure of the document, and how it is measured here."""

    row: str
    """In the inventory of the documents."""
    title: str
    setting: str
    measure: str
    lower_is_better: bool = False
    published: dict[str, Number] = Field({})
    """System -> value, in the unit of the measure."""
    percent_of_best: dict[str, Number] = Field({})
    """System -> value in percent of the best system, where the document gives no other."""


class Term(Record):
    """A measure that a claim compares."""

    setting: str
    measure: str
    system: str = ""
    """Empty: of the target that is examined."""


class Within(Record):
    """A measure, or its ratio to another one, that is to lie between two bounds."""

    term: Term
    over: Term | None = None
    least: Number
    most: Number


class Gain(Record):
    """How many times as fast a larger cluster is, which is to lie between two bounds."""

    nodes: tuple[int, int] | None = None
    """From so many nodes to so many of the same size; None: from a size to the next larger one."""
    least: Number
    most: Number


class Scaling(Record):
    """The matrix of the document: rates by number of nodes and size of a node."""

    row: str
    setting: str
    measure: str


class Claim(Record):
    """What the document says, as a relation: either `largest_first`, `within` or `gain`."""

    row: str
    text: str
    of: tuple[str, ...] = ()
    """Systems that the document says it about; empty: all."""
    elsewhere: bool = True
    """Whether other targets than those systems are examined as well."""
    largest_first: tuple[Term, ...] = ()
    within: Within | None = None
    gain: Gain | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        """All measures that it needs."""
        if self.within is None:
            return self.largest_first
        return (self.within.term, *((self.within.over,) if self.within.over else ()))

    @property
    def across(self) -> bool:
        """Whether it compares systems with each other."""
        return any(term.system for term in self.terms)


class Document(Record):
    """A reference document."""

    number: int = Field(ge=1)
    title: str
    measured_on: str
    """The machines of the published figures."""
    systems: dict[str, System]
    figures: tuple[PublishedFigure, ...]
    claims: tuple[Claim, ...]
    scaling: Scaling | None = None
    compares_disks: bool = False
    """Whether its figures mean little if all data fits into memory."""
    out_of_reach: dict[str, str] = Field({})
    """Claim that no plan measures -> the reason."""


def read_document(name: str, folder: Path = _FOLDER) -> Document:
    """Return a document; ConfigError if its file refers to what does not exist."""
    path = folder / "documents" / f"{name}.yaml"
    document = read_record(path, Document)
    problems = [f"{path}: {problem}" for problem in _problems(document)]
    if problems:
        raise ConfigError(problems)
    return document


def plan_of(name: str, size: Size) -> Plan:
    """Return the plan of a document's experiment."""
    return read_plan(_FOLDER / "plans" / f"{name}-{size}.yaml")


def measured_by(document: Document, plan: Plan) -> Document:
    """Return the document with the figures that a plan measures: a demo has fewer settings."""
    figures = [each for each in document.figures if plan.setting(each.setting)]
    return document.model_copy(update={"figures": tuple(figures)})


def _problems(document: Document) -> list[str]:
    problems = []
    for number, figure in enumerate(document.figures):
        place = f"figures.{number}"
        problems += _unknown(place, (*figure.published, *figure.percent_of_best), document)
        if not is_measure(figure.measure):
            problems.append(f"{place}.measure: {figure.measure!r} is not known")
    for number, claim in enumerate(document.claims):
        place = f"claims.{number}"
        systems = [term.system for term in claim.terms if term.system]
        problems += _unknown(place, (*claim.of, *systems), document)
        problems += [
            f"{place}: measure {term.measure!r} is not known"
            for term in claim.terms
            if not is_measure(term.measure)
        ]
        if claim.gain and not document.scaling:
            problems.append(f"{place}.gain: needs `scaling` of the document")
        if [len(claim.largest_first) > 1, bool(claim.within), bool(claim.gain)].count(True) != 1:
            problems.append(f"{place}: has either largest_first, with two terms, within, or gain")
    if document.scaling and not is_measure(document.scaling.measure):
        problems.append(f"scaling.measure: {document.scaling.measure!r} is not known")
    return problems


def _unknown(place: str, names: tuple[str, ...], document: Document) -> list[str]:
    return [
        f"{place}: unknown system {name!r} ({nearest(name, document.systems)})"
        for name in names
        if name not in document.systems
    ]
