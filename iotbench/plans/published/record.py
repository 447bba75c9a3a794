"""The record of a reproduction: our figures, and the figures and claims of the document."""

import re
from datetime import datetime
from typing import Literal

from pydantic import Field

from iotbench.machine.machine import Machine
from iotbench.plans.published.claims import Seen
from iotbench.plans.record import Curve, ItemRecord, Status, exit_code_of
from simulator.frozen import Frozen

OWN = re.compile(rb'\s*\{\s*"format_version":\s*\d+,\s*"program_version":[^,]*,\s*"document":')
"""First bytes of a reproduction's file; a sweep's file names no document there."""


class FigureLine(Frozen):
    """A figure of one system: the document's value, and ours."""

    row: str
    title: str
    setting: str
    measure: str
    unit: str
    system: str = ""
    """Empty: the document does not have it."""
    target: str = ""
    """Empty: none of the system was measured."""
    published: float | None = None
    """Published value in our unit."""
    published_percent: float | None = None
    """Percentage of the value of the system `percent_of`."""
    percent_of: str = ""
    """The base of the document's percentages; empty: the document has none."""
    quote: str = ""
    """Place of the published number in the document's text."""
    values: tuple[float, ...] = ()
    """Values of the repeats."""
    mean: float | None = None
    spread: float | None = None
    percent_of_best: float | None = None
    """Our mean as a percentage of the best target's."""
    verdict: str = ""
    not_had: str = ""
    """Reason why there is no value."""


class ClaimSide(Frozen):
    """One side of a claim."""

    setting: str
    over: str = ""
    """Another setting: the values are ratios to it; empty: they are no ratios."""
    measure: str
    system: str
    target: str
    values: tuple[float, ...]
    published: float | None


class ClaimRecord(Frozen):
    """A claim on one target, or across several."""

    row: str
    text: str
    quote: str = ""
    """Place of a number of the text in the document."""
    question: bool = False
    """True if the document asks this as a question."""
    target: str = ""
    system: str = ""
    seen: Seen
    sides: tuple[ClaimSide, ...] = ()
    reason: str = ""
    """Reason why it could not be examined."""


class Cell(Frozen):
    """A rate in the matrix of clusters."""

    target: str
    system: str
    module: str
    node_size: str
    """Size from the configuration; empty: not named."""
    nodes: int
    """Number of nodes that the server reports."""
    setting: str = ""
    values: tuple[float, ...]
    """Values of the repeats."""
    verdict: str


class GainRecord(Frozen):
    """The speedup from one cell of the matrix to another one."""

    smaller: str
    larger: str
    """Targets."""
    label: str
    """Difference between them."""
    percents: tuple[float, ...]
    """Values of the repeats, in order."""


class Matrix(Frozen):
    """Rates by number of nodes and size of a node."""

    row: str
    setting: str
    measure: str
    cells: tuple[Cell, ...]
    gains: tuple[GainRecord, ...]


class Reproduction(Frozen):
    """The result file of a reproduction; each item has its own result files."""

    format_version: Literal[1] = 1
    program_version: str
    document: str
    number: int
    size: str
    title: str
    measured_on: str
    machine: Machine
    """The machine that wrote this record."""
    hardware: dict[str, int] = Field({})
    """Processor, cores and memory of local workers -> number of results."""
    status: Status
    first: datetime | None
    """Start of the oldest of its results."""
    last: datetime | None
    items: tuple[ItemRecord, ...]
    lines: tuple[FigureLine, ...]
    claims: tuple[ClaimRecord, ...]
    curves: tuple[Curve, ...] = ()
    matrix: Matrix | None = None
    not_had: dict[str, str]
    """System, or target of the configuration, that could not be measured -> the reason."""
    in_memory: dict[str, str] = Field({})
    """Target -> its data and the memory that holds it, where the document compares disks."""
    caches: dict[str, int] = Field({})
    """Outcome for the system's file caches before an insert -> number of items."""
    refused: dict[str, str]
    """Target and setting -> why the target was not measured with this setting."""

    @property
    def exit_code(self) -> int:
        """Exit code of the command; a claim that is not seen is no failure."""
        return exit_code_of(self.status, self.items)
