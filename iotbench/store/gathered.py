"""Results that are made of many sweeps: of `reproduce`, of `run`, and of `capacity`."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from iotbench.plans.capacity.record import Capacity
from iotbench.plans.capacity.tables import format_record as capacity_text
from iotbench.plans.published.record import Reproduction, is_reproduction
from iotbench.plans.published.tables import format_record as reproduction_text
from iotbench.plans.record import PlanRecord
from iotbench.plans.tables import format_record as plan_text
from iotbench.plans.verdicts import worst
from iotbench.results import packed, result_files

_KIND = re.compile(rb'\s*\{\s*"kind":\s*"([a-z]+)"')
"""First bytes of the file of a plan or a capacity."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The entry of such a result in a list."""

    created: datetime | None
    targets: Collection[str]
    what: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Gathered:
    """The reader and the presentation of one command's result files."""

    command: str
    record: type[BaseModel]
    text: Callable[[Any, str, int], str]
    """Record, file, width -> what the command printed."""
    outline: Callable[[Any], Outline]
    files: Callable[[Any], Sequence[str]]
    """Record -> the result files of its sweeps, in the same folder."""

    def read(self, path: Path) -> Any:
        """Read a file; ConfigError if it is damaged."""
        return result_files.parse(path, packed.read(path), self.record, 1)


def _of_reproduction(record: Reproduction) -> Outline:
    return _of_items(record, f"{record.document}, size {record.size}")


def _of_plan(record: PlanRecord) -> Outline:
    return _of_items(record, f"plan {record.name}")


def _of_items(record: Reproduction | PlanRecord, what: str) -> Outline:
    done = record.status == "done" and record.items
    verdict = worst(item.verdict for item in record.items) if done else record.status
    return Outline(record.last, dict.fromkeys(item.target for item in record.items), what, verdict)


def _of_capacity(record: Capacity) -> Outline:
    found = record.holds_per_s
    rate = "no rate keeps" if found is None else f"{found:,.0f} {record.of.unit} keep"
    what = f"{rate} {' and '.join(record.objective)}"
    return Outline(record.created, (record.target,), what, record.verdict)


def _files_of_items(record: Reproduction | PlanRecord) -> list[str]:
    return [file for item in record.items for file in item.files]


GATHERED: Mapping[str, Gathered] = {
    "reproduce": Gathered(
        "reproduce", Reproduction, reproduction_text, _of_reproduction, _files_of_items
    ),
    "plan": Gathered("run", PlanRecord, plan_text, _of_plan, _files_of_items),
    "capacity": Gathered(
        "capacity", Capacity, capacity_text, _of_capacity, lambda record: record.files
    ),
}
"""Beginning of the name of a file -> its kind."""


def find_gathered(path: Path) -> Gathered | None:
    """Return the kind of a file by its content; None for a sweep, or a foreign file."""
    named = _KIND.match(packed.read(path))
    if named:
        return GATHERED.get(named[1].decode())
    return GATHERED["reproduce"] if is_reproduction(path) else None
