"""A file in a volume claim of the cluster, as the user names it: claim:NAME/PATH."""

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from simulator.errors import ConfigError
from simulator.protocol.records import VOLUME_FOLDER

_PREFIX = "claim:"
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_MOST_CHARACTERS = 253


@dataclass(frozen=True, slots=True)
class VolumeFile:
    """A file in a volume claim."""

    claim: str
    path: str
    """Below the claim's root."""

    def __str__(self) -> str:
        return f"{_PREFIX}{self.claim}/{self.path}"

    @property
    def in_pods(self) -> str:
        """Path of the file in pods."""
        return f"{VOLUME_FOLDER}/{self.path}"

    @property
    def manifest(self) -> "VolumeFile":
        """The place of its manifest."""
        return VolumeFile(self.claim, f"{self.path}.json")


def in_volume(file: Path | None) -> bool:
    """Return whether the user names a file in a volume claim."""
    return str(file or "").startswith(_PREFIX)


def volume_file(file: Path, option: str) -> VolumeFile:
    """Return the file that the user names; ConfigError if it cannot be one."""
    claim, _, path = str(file).removeprefix(_PREFIX).partition("/")
    parts = PurePosixPath(path).parts
    if not _NAME.fullmatch(claim) or len(claim) > _MOST_CHARACTERS or not parts or ".." in parts:
        raise ConfigError(
            f"{option}: {file}: expected {_PREFIX}NAME/PATH: the name of a PersistentVolumeClaim,"
            " and the path of a file in it, without `..`"
        )
    return VolumeFile(claim, str(PurePosixPath(*parts)).lstrip("/"))
