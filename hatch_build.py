"""The package's dependencies are those of the requirements files: hatchling reads them here."""

from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Requirements(MetadataHookInterface):
    """Fills in the dynamic fields of [project]."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the dependencies, and those of the databases that run inside a worker."""
        root = Path(self.root)
        metadata["dependencies"] = _read(root / "requirements.txt")
        metadata["optional-dependencies"] = {"embedded": _read(root / "requirements-embedded.txt")}


def _read(path: Path) -> list[str]:
    found = []
    for line in path.read_text().splitlines():
        requirement = line.partition("#")[0].strip()
        if requirement.startswith("-r "):
            found += _read(path.parent / requirement.removeprefix("-r ").strip())
        elif requirement and not requirement.startswith("-"):  # -c constrains, and adds nothing
            found.append(requirement)
    return found
