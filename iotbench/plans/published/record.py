"""The record of a reproduction: measured figures, and the document's figures and claims."""

import re
from datetime import datetime
from typing import Literal

from pydantic import Field

from iotbench.machine.machine import Machine
from iotbench.plans.published.claims import Seen
from iotbench.plans.record import Curve, ItemRecord, Status, exit_code_of
from simulator.frozen import Frozen

OWN = re.compile(rb'\s*\{\s*"format_version":\s*\d+,\s*"program_version":[^,]*,\s*"document":')
"""Pattern of the first bytes of a reproduction's file; no other file names a document there."""


class FigureLine(Frozen):
    """A figure of one system: the published value, and the measured values."""

    title: str
    setting: str
    measure: str
    unit: str
    system: str = ""
    """Name of the system; empty: the target is not a system of the document."""
    target: str = ""
    """Name of the target; empty: no target of the system was measured."""
    published: float | None = None
    """Published value in the unit of the measure."""
    published_percent: float | None = None
    """Published percentage of the value of the system `percent_of`."""
    percent_of: str = ""
    """Base system of the published percentages; empty: the document has no percentages."""
    quote: str = ""
    """Quotation from the document with the published number."""
    values: tuple[float, ...] = ()
    """Measured value of each repeat."""
    mean: float | None = None
    spread: float | None = None
    percent_of_best: float | None = None
    """Mean of the values as a percentage of the mean of the best target."""
    verdict: str = ""
    not_had: str = ""
    """Reason why there is no value."""


class ClaimSide(Frozen):
    """One side of a claim."""

    setting: str
    over: str = ""
    """Setting of the divisor, if the values are ratios; empty: the values are not ratios."""
    measure: str
    system: str
    target: str
    values: tuple[float, ...]
    published: float | None


class ClaimRecord(Frozen):
    """A claim on one target, or across several."""

    text: str
    quote: str = ""
    """Quotation from the document with a number of the statement."""
    question: bool = False
    """True if the statement is a question in the document."""
    target: str = ""
    system: str = ""
    seen: Seen
    sides: tuple[ClaimSide, ...] = ()
    reason: str = ""
    """Reason why the claim could not be examined."""


class Cell(Frozen):
    """A rate in the matrix of clusters."""

    target: str
    system: str
    module: str
    node_size: str
    """Size of a node, from the configuration; empty: not given."""
    nodes: int
    """Number of nodes that the server reports."""
    setting: str = ""
    values: tuple[float, ...]
    """Rate of each repeat."""
    verdict: str


class GainRecord(Frozen):
    """The speedup from one cell of the matrix to another cell."""

    smaller: str
    larger: str
    """Names of the targets."""
    label: str
    """Difference between the two cells."""
    percents: tuple[float, ...]
    """Gain of each repeat in percent, in order."""


class Matrix(Frozen):
    """Rates by number of nodes and size of a node."""

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
    """Start of the oldest result."""
    last: datetime | None
    items: tuple[ItemRecord, ...]
    lines: tuple[FigureLine, ...]
    claims: tuple[ClaimRecord, ...]
    curves: tuple[Curve, ...] = ()
    matrix: Matrix | None = None
    not_had: dict[str, str]
    """System, or target of the configuration, that could not be measured -> the reason."""
    in_memory: dict[str, str] = Field({})
    """Target -> data and the memory that holds the data, where the document compares disks."""
    caches: dict[str, int] = Field({})
    """State of the system's file caches before an insert -> number of items."""
    refused: dict[str, str]
    """Target and setting -> why the target was not measured with this setting."""

    @property
    def exit_code(self) -> int:
        """Exit code of the command; a claim that is not seen is not a failure."""
        return exit_code_of(self.status, self.items)
