"""The sources of a page: the results and reproductions that the user names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iotbench.plans.published.record import Reproduction
from iotbench.plans.record import PlanRecord
from iotbench.results import result_files
from iotbench.results.result import Result
from iotbench.store.gathered import find_gathered
from iotbench.store.lookup import paths_of


@dataclass(frozen=True, slots=True)
class RepeatedItem:
    """The common part of an item's repeats."""

    record: Path
    """The file of the plan or the reproduction."""
    setting: str
    target: str
    place: int = 0
    """Place of the setting in the plan."""
    is_search: bool = False
    """True if the setting has a search; each number tried has its own results."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Results and reproductions, with their files."""

    results: Sequence[tuple[Path, Result]]
    reproductions: Sequence[tuple[Path, Reproduction]]
    repeated: Mapping[Path, RepeatedItem] = field(default_factory=dict)
    """File of a result -> the item that it is a repeat of."""


def sources(folder: Path, names: Sequence[str]) -> Sources:
    """Return the named sources; ConfigError lists unknown, damaged or unsuitable ones.

    The file of a plan or a capacity includes the results of its sweeps.
    """
    repeated: dict[Path, RepeatedItem] = {}
    sweeps: dict[Path, None] = {}
    reproduced: list[tuple[Path, Reproduction]] = []
    for path in paths_of(folder, names):
        kind = find_gathered(path)
        record = kind.read(path) if kind else None
        if isinstance(record, Reproduction):
            reproduced.append((path, record))
        elif kind:
            sweeps |= dict.fromkeys(path.parent / file for file in kind.files(record))
            repeated |= find_repeated(path, record)
        else:
            sweeps[path] = None
    return Sources([(path, result_files.read(path)) for path in sweeps], reproduced, repeated)


def find_repeated(path: Path, record: Any) -> dict[Path, RepeatedItem]:
    """Return the items that the results of a plan or a reproduction, next to it, repeat."""
    if not isinstance(record, PlanRecord | Reproduction):
        return {}
    planned = record.plan.get("settings", ()) if isinstance(record, PlanRecord) else ()
    names = [*dict.fromkeys([*(each["name"] for each in planned),
                             *(item.setting for item in record.items)])]  # fmt: skip
    searches = {curve.setting for curve in record.curves}
    return {
        path.parent / file: RepeatedItem(
            path, item.setting, item.target, names.index(item.setting), item.setting in searches
        )
        for item in record.items
        for file in item.files
    }
