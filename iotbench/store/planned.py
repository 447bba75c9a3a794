"""The sides of a comparison that the file of a plan names: each setting on each target."""

from pathlib import Path

from iotbench.comparison.sides import Side
from iotbench.plans.record import FAILED, PlanRecord
from iotbench.results import result_files
from iotbench.store.gathered import find_gathered
from iotbench.store.lookup import path_of
from simulator.errors import ConfigError


def find_sides(folder: Path, name: str, kind: str) -> list[Side]:
    """Return the repeats of each setting on each target; ConfigError unless there are two sides."""
    path = path_of(folder, name)
    gathered = find_gathered(path)
    record = gathered.read(path) if gathered else None
    if not isinstance(record, PlanRecord):
        raise ConfigError(
            f"{path}: expected OTHER to compare it with, or the file of a plan instead of it"
        )
    searches = {curve.setting for curve in record.curves}
    files: dict[tuple[str, str], list[Path]] = {}
    for line in record.lines:
        files[line.setting, line.target] = []
    for item in record.items:
        if item.verdict != FAILED and item.setting not in searches:
            files[item.setting, item.target] += [path.parent / each for each in item.files]
    sides = []
    for (setting, target), paths in files.items():
        results = ((each, result_files.read(each)) for each in paths)
        own = tuple((each, result) for each, result in results if result.kind == kind)
        sides += [Side(own, f"{setting} on {target}")] if own else []
    if len(sides) < 2:
        raise ConfigError(
            f"{path}: expected a setting on two targets, or two settings, with results of {kind};"
            f" got {len(sides)}"
        )
    return sides
