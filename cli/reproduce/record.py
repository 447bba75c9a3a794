"""The record of a reproduction: our figures beside the document's, and its claims."""

import re
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import Field

from cli.experiment.record import Curve, ItemRecord, Status, exit_code_of
from cli.host.machine import Machine
from cli.reproduce.claims import Seen
from cli.results import result_files
from simulator.frozen import Frozen

FORMAT_VERSION: Literal[1] = 1
OWN = re.compile(rb'\s*\{\s*"format_version":\s*\d+,\s*"program_version":[^,]*,\s*"document":')
"""Of the file of a reproduction; that of a sweep has no document there."""


class Line(Frozen):
    """A figure of one system: what the document has, and what we measured."""

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
    """In the unit of ours."""
    published_percent: float | None = None
    """Of the value of the system `percent_of`."""
    percent_of: str = ""
    """The base of the document's percentages; empty: the document has none."""
    quote: str = ""
    """Where the published number stands in the document's text."""
    values: tuple[float, ...] = ()
    """Of the repeats."""
    mean: float | None = None
    spread: float | None = None
    percent_of_best: float | None = None
    """Of the best target that we measured."""
    verdict: str = ""
    not_had: str = ""
    """Why there is no value."""


class Compared(Frozen):
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
    """Where a number of the text stands in the document."""
    target: str = ""
    system: str = ""
    seen: Seen
    sides: tuple[Compared, ...] = ()
    reason: str = ""
    """Why it could not be examined."""


class Cell(Frozen):
    """A rate in the matrix of clusters."""

    target: str
    system: str
    module: str
    node_size: str
    """As the configuration names it; empty: not named."""
    nodes: int
    """As the server reports."""
    setting: str = ""
    values: tuple[float, ...]
    """Of the repeats."""
    verdict: str


class GainRecord(Frozen):
    """How much faster one cell of the matrix is than another one."""

    smaller: str
    larger: str
    """Targets."""
    label: str
    """What differs between them."""
    percents: tuple[float, ...]
    """Of the repeats, in their order."""


class Matrix(Frozen):
    """Rates by number of nodes and size of a node."""

    row: str
    setting: str
    measure: str
    cells: tuple[Cell, ...]
    gains: tuple[GainRecord, ...]


class Reproduction(Frozen):
    """The result file of a reproduction; each item has result files of its own."""

    format_version: Literal[1] = FORMAT_VERSION
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
    """When the oldest of its results was started."""
    last: datetime | None
    items: tuple[ItemRecord, ...]
    lines: tuple[Line, ...]
    claims: tuple[ClaimRecord, ...]
    curves: tuple[Curve, ...] = ()
    matrix: Matrix | None = None
    not_had: dict[str, str]
    """System, or target of the configuration, that could not be measured -> the reason."""
    in_memory: dict[str, str] = Field({})
    """Target -> its data and the memory that holds it, where the document compares disks."""
    caches: dict[str, int] = Field({})
    """What became of the system's file caches before an insert -> number of items."""
    refused: dict[str, str]
    """Target and setting -> why the target was not measured with this setting."""

    @property
    def exit_code(self) -> int:
        """The exit code; that a claim is not seen is no failure."""
        return exit_code_of(self.status, self.items)


def is_reproduction(path: Path) -> bool:
    """Whether a result file is that of a reproduction."""
    return bool(OWN.match(result_files.content_of(path)))


def read(path: Path) -> Reproduction:
    """Read the result file of a reproduction; ConfigError if it is damaged."""
    return result_files.parsed(path, result_files.content_of(path), Reproduction, FORMAT_VERSION)
