"""The published results of the reference documents, as data: systems, figures and claims.

`documents/NAME.yaml` holds the figures and claims.
`plans/NAME-SIZE.yaml` holds the plan that measures them. A published number is written as a
quotation of the document with the number in brackets, so that the origin of each number is known.
"""

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from iotbench.config.input.records import Record, read_record
from iotbench.config.input.values import Number
from iotbench.plans.items import Candidate
from iotbench.plans.measures import is_measure, step_of, unit_of
from iotbench.plans.plan import Plan, read_plan
from simulator.errors import ConfigError, nearest

NAMES = ("iot", "devops", "ingress", "nosql", "cratedb")
_FOLDER = Path(__file__).parent
_MARKED = re.compile(r"([^\[\]]*)\[([^\[\]]+)\]([^\[\]]*)")
_FACTORS = {("s", "ms"): 1000.0, ("MB/s", "bytes/s"): 1e6}
"""(unit of a document, unit of a measure) -> factor."""


class ExperimentSize(StrEnum):
    """The size of an experiment."""

    DEMO = "demo"
    """A size that takes minutes on one machine."""
    DOCUMENT = "document"
    """The size that the document describes."""


class System(Record):
    """A system of the document: targets with one of these modules and these options."""

    modules: tuple[str, ...] = Field(min_length=1)
    options: dict[str, Any] = Field({})

    def has(self, candidate: Candidate) -> bool:
        """Return whether a target belongs to this system."""
        chosen = candidate.options
        alike = all(chosen.get(name) == value for name, value in self.options.items())
        return candidate.module in self.modules and alike


class PublishedNumber(Record):
    """A number of the document, in the document's unit, with the quotation around the number."""

    value: float
    quote: str
    """Quotation from the document that contains the number."""


def _parse_published(text: Any) -> Any:
    """Return the number and the text of a quotation with one number in brackets."""
    found = _MARKED.fullmatch(text) if isinstance(text, str) else None
    try:
        value = float(found[2].replace(",", "")) if found else None
    except ValueError:
        value = None
    if not found or value is None:
        raise ValueError(
            "expected a quotation with its number in brackets, such as 'mean: [2.07]ms',"
            f" got {text!r}"
        )
    return {"value": value, "quote": "".join(found.groups())}


class PublishedFigure(Record):
    """A figure of the document, with the setting and the measure that reproduce it."""

    title: str
    setting: str
    settings: dict[str, str] = Field({})
    """System -> setting instead of `setting`, if the document measured the system differently."""
    measure: str
    lower_is_better: bool = False
    unit: str = ""
    """Unit of the published numbers; empty: the unit of the measure."""
    percent_of: str = ""
    """System that is 100 % for the published numbers; empty: the numbers are not percentages."""
    published: dict[str, Annotated[PublishedNumber, BeforeValidator(_parse_published)]] = Field({})
    """System -> a quotation with the number in brackets."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems for which the document has this figure."""
        base = (self.percent_of,) if self.percent_of else ()
        return tuple(dict.fromkeys((*base, *self.published)))

    def setting_of(self, system: str) -> str:
        """Return the setting that measures the figure of a system."""
        return self.settings.get(system, self.setting)

    def value_of(self, system: str) -> float | None:
        """Return the published value in the unit of the measure; None: there is none.

        The value is rounded to remove digits that only the conversion of units adds.
        """
        found = self.published.get(system)
        if found is None or self.percent_of:
            return None
        factor = _FACTORS[self.unit, unit_of(self.measure)] if self.unit else 1.0
        return float(f"{found.value * factor:.12g}")

    def percent_of_base(self, system: str) -> float | None:
        """Return the published percentage, if the document has one."""
        found = self.published.get(system)
        return found.value if found and self.percent_of else None

    def quote_of(self, system: str) -> str:
        """Return the quotation with the value; empty if the document has no value."""
        found = self.published.get(system)
        return found.quote if found else ""


class Term(Record):
    """A measure that a claim compares."""

    setting: str
    over: str = ""
    """Setting of the divisor, if the term is a ratio of two settings, repeat by repeat; empty: no
    ratio.
    """
    measure: str
    system: str = ""
    """System to measure; empty: the examined target."""

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings that must be measured."""
        return (self.setting, self.over) if self.over else (self.setting,)


class Within(Record):
    """A measure, or a ratio of two measures, that should lie between two bounds."""

    term: Term
    over: Term | None = None
    least: Number
    most: Number


class Gain(Record):
    """The speedup of a larger cluster, with a lower and an upper bound."""

    nodes: tuple[int, int] | None = None
    """Two numbers of nodes of the same size; None: from one node size to the next larger size."""
    least: Number
    most: Number


class Scaling(Record):
    """The matrix of the document: rates by number of nodes and size of a node."""

    setting: str
    by_nodes: dict[int, str] = Field({})
    """Minimum number of nodes -> setting, for modules that were measured with all settings."""
    measure: str

    def setting_at(self, nodes: int) -> str:
        """Return the setting of the document for a cluster of `nodes` nodes."""
        reached = [least for least in self.by_nodes if least <= nodes]
        return self.by_nodes[max(reached)] if reached else self.setting


class Unexamined(Record):
    """A statement of the document that no plan measures."""

    text: str
    quote: str = ""
    """Quotation from the document with a number of the statement."""
    question: bool = False
    """True if the statement is a question in the document."""
    reason: str


class DocumentClaim(Record):
    """A statement of the document, as a relation: `largest_first`, `within` or `gain`."""

    text: str
    quote: str = ""
    """Quotation from the document with a number of the statement; empty: the statement has no
    number, or follows from the published figures.
    """
    question: bool = False
    """True if the statement is a question in the document."""
    of: tuple[str, ...] = ()
    """Systems that the statement is about; empty: all."""
    elsewhere: bool = True
    """True if targets other than these systems are examined as well."""
    largest_first: tuple[Term, ...] = ()
    within: Within | None = None
    gain: Gain | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        """All measures that the claim needs."""
        if self.within is None:
            return self.largest_first
        return (self.within.term, *((self.within.over,) if self.within.over else ()))

    @property
    def across(self) -> bool:
        """True if the claim compares systems with each other."""
        return any(term.system for term in self.terms)


class Document(Record):
    """A reference document."""

    number: int = Field(ge=1)
    title: str
    measured_on: str
    """The machines of the published figures."""
    systems: dict[str, System]
    figures: tuple[PublishedFigure, ...]
    claims: tuple[DocumentClaim, ...]
    scaling: Scaling | None = None
    compares_disks: bool = False
    """True if the document's figures mean little when all data fits into memory."""
    out_of_reach: tuple[Unexamined, ...] = ()

    @property
    def quotes(self) -> tuple[str, ...]:
        """All quotations, which the text of the document must contain."""
        published = [each.quote for figure in self.figures for each in figure.published.values()]
        claimed = [each.quote for each in self.claims] + [each.quote for each in self.out_of_reach]
        return (*published, *filter(None, claimed))


def read_document(name: str, folder: Path = _FOLDER) -> Document:
    """Return a document; ConfigError if its file refers to unknown systems or measures."""
    path = folder / "documents" / f"{name}.yaml"
    document = read_record(path, Document)
    problems = [f"{path}: {problem}" for problem in _list_problems(document)]
    if problems:
        raise ConfigError(problems)
    return document


def plan_of(name: str, size: ExperimentSize) -> Plan:
    """Return the plan that measures a document."""
    return read_plan(_FOLDER / "plans" / f"{name}-{size}.yaml")


def keep_measured(document: Document, plan: Plan) -> Document:
    """Return the document with only the figures that a plan measures; a demo has fewer settings."""
    figures = [each for each in document.figures if _is_measured(each, plan)]
    return document.model_copy(update={"figures": tuple(figures)})


def _is_measured(figure: PublishedFigure, plan: Plan) -> bool:
    """Return whether a plan has a setting that measures a figure, with enough steps."""
    found = [plan.setting(name) for name in (figure.setting, *figure.settings.values())]
    step = step_of(figure.measure) or 0
    return any(each and step <= each.inserting.steps for each in found) if step else any(found)


def _list_problems(document: Document) -> list[str]:
    problems = []
    for number, figure in enumerate(document.figures):
        place = f"figures.{number}"
        problems += _list_unknown(place, (*figure.systems, *figure.settings), document)
        if not is_measure(figure.measure):
            problems.append(f"{place}.measure: {figure.measure!r} is not known")
        elif figure.unit and (figure.unit, unit_of(figure.measure)) not in _FACTORS:
            problems.append(
                f"{place}.unit: {figure.unit!r} is not a unit of {figure.measure}, which is in"
                f" {unit_of(figure.measure) or 'no unit'}"
            )
    for number, claim in enumerate(document.claims):
        place = f"claims.{number}"
        systems = [term.system for term in claim.terms if term.system]
        problems += _list_unknown(place, (*claim.of, *systems), document)
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


def _list_unknown(place: str, names: tuple[str, ...], document: Document) -> list[str]:
    return [
        f"{place}: unknown system {name!r} ({nearest(name, document.systems)})"
        for name in names
        if name not in document.systems
    ]
