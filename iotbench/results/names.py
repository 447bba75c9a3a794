"""Facts in the names of result files: time, kind, target and ID."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from iotbench.results.kinds import NAMES
from iotbench.results.packed import find_files

DEFAULT_FOLDER = Path("results")
_SWEEP = re.compile(
    rf"(\d{{8}})T(\d{{6}})(\d{{3}})Z-({'|'.join(NAMES)})-(.+)-([0-9a-f]{{4}})\.json"
)
_GATHERED = re.compile(r"(reproduce|plan|capacity)-.+-[0-9a-f]{4,8}\.json")
"""Names of results that contain several sweeps."""


@dataclass(frozen=True, slots=True)
class ResultName:
    """A result file, with the facts in the file's name."""

    path: Path
    id: str
    kind: str
    """Kind of the measurement, or one of reproduce, plan and capacity."""
    target: str
    """Name of the target; empty for a result that contains several sweeps."""
    created: datetime | None
    """Time of creation; None for a result that contains several sweeps."""

    @property
    def is_sweep(self) -> bool:
        """True if the file is the result of a single sweep."""
        return self.created is not None


def parse_name(path: Path) -> ResultName | None:
    """Return the facts in a file's name; None if no result file has such a name."""
    if sweep := _SWEEP.fullmatch(path.name):
        day, time, ms, kind, target, end = sweep.groups()
        try:
            created = datetime.fromisoformat(f"{day}T{time}.{ms}").replace(tzinfo=UTC)
        except ValueError:
            return None
        return ResultName(path, f"{day}-{time}-{end}", kind, target, created)
    if gathered := _GATHERED.fullmatch(path.name):
        return ResultName(path, path.stem, gathered[1], "", None)
    return None


def id_of(path: Path) -> str | None:
    """Return the ID in a file's name; None if no result file has such a name."""
    found = parse_name(path)
    return found.id if found else None


def results_in(folder: Path) -> Iterator[ResultName]:
    """Yield the results in a folder or archive: sweeps, the newest first, then other results."""
    for path in sorted(find_files(folder, "[0-9]*.json"), reverse=True):
        if found := parse_name(path):
            yield found
    for path in sorted(find_files(folder, "[a-z]*.json")):
        if found := parse_name(path):
            yield found
