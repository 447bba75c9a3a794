"""Finds the repeats of a sweep in a folder of results, and in its folders."""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from iotbench.comparison.sides import Side, is_repeat, list_unusable
from iotbench.results import result_files
from iotbench.results.names import ResultName, results_in
from iotbench.results.packed import list_folders
from iotbench.results.result import Result
from iotbench.store.gathered import parts_of
from simulator.errors import ConfigError


@dataclass(frozen=True, slots=True)
class RepeatedSweeps:
    """The repeats of a sweep."""

    sides: tuple[Side, ...]
    """The repeats, the oldest first, named by their IDs; the repeats of one plan are one side."""
    left_out: tuple[str, ...]
    """Paths of other results that may be repeats, each with the reason."""


def find_repeats(folder: Path, base: Result, since: datetime | None = None) -> RepeatedSweeps:
    """Return the results that repeat a sweep, in a folder or archive, or in folders in it.

    A copy of a result counts once.
    """
    found: dict[tuple[Path, str], list[tuple[ResultName, Result]]] = defaultdict(list)
    known: set[tuple[str, datetime]] = set()
    left_out = []
    for place in list_folders(folder):
        names = [*results_in(place)]
        plans = _find_plans(names)
        for name in names:
            if (name.kind, name.target) != (base.kind, base.target):
                continue
            if since and name.created and name.created < since:
                continue
            try:
                result = result_files.read(name.path)
            except ConfigError as error:
                left_out.append(str(error))
                continue
            sweep = result.sweep_id, result.created
            if sweep in known or not is_repeat(base, result):
                continue
            known.add(sweep)
            if reasons := [*list_unusable(result)]:
                left_out.append(f"{name.path}: {reasons[0]}")
                continue
            found[place, plans.get(name.path.name, name.id)].append((name, result))
    sides = []
    for each in found.values():
        each.sort(key=lambda item: item[1].created)
        paths = tuple((name.path, result) for name, result in each)
        sides.append(Side(paths, each[0][0].id))
    return RepeatedSweeps(
        tuple(sorted(sides, key=lambda side: side.first.created)), tuple(left_out)
    )


def find_newest(folder: Path) -> Path:
    """Return the file of the newest sweep, or of its plan; ConfigError if there is no result."""
    sweeps = [name for place in list_folders(folder) for name in results_in(place)]
    newest = max((name for name in sweeps if name.created), key=_created, default=None)
    if not newest:
        raise ConfigError(f"{folder}: neither this folder nor a folder in it has results")
    place = newest.path.parent
    plan = _find_plans(results_in(place)).get(newest.path.name)
    return place / f"{plan}.json" if plan else newest.path


def _created(name: ResultName) -> float:
    return name.created.timestamp() if name.created else 0.0


def _find_plans(names: Iterable[ResultName]) -> dict[str, str]:
    """Return name of a sweep's file -> ID of the result that gathers the sweep."""
    plans: dict[str, str] = {}
    for name in names:
        if not name.is_sweep:
            with suppress(ConfigError):  # a damaged file gathers nothing
                plans |= {part.file: part.part_of for part in parts_of(name.path) if part.file}
    return plans
