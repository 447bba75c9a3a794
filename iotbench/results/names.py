"""Facts in the names of result files: time, kind, target and id."""

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
"""Names of results that gather many sweeps."""


@dataclass(frozen=True, slots=True)
class ResultName:
    """A result file, with the facts in its name."""

    path: Path
    id: str
    kind: str
    """Kind of the measurement, or one of reproduce, plan and capacity."""
    target: str
    """Target; empty for a result that gathers sweeps."""
    created: datetime | None
    """Time of creation; None for a result that gathers sweeps."""

    @property
    def is_sweep(self) -> bool:
        """True if it is the result of one sweep."""
        return self.created is not None


def parse_name(path: Path) -> ResultName | None:
    """Return the facts in a file's name; None if it is not the name of a result file."""
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
    """Return the id in a file's name; None if it is not the name of a result file."""
    found = parse_name(path)
    return found.id if found else None


def results_in(folder: Path) -> Iterator[ResultName]:
    """Yield the results in a folder or archive: sweeps, the newest first, then the others."""
    for path in sorted(find_files(folder, "[0-9]*.json"), reverse=True):
        if found := parse_name(path):
            yield found
    for path in sorted(find_files(folder, "[a-z]*.json")):
        if found := parse_name(path):
            yield found
