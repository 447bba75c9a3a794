"""The user's description of a file of records, and the options that the file excludes."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from iotbench.config.input.parameters import option_of, parameters
from iotbench.machine.inputs import read_bytes
from iotbench.rows.files.request import STANDARD_INPUT, ReadingOptions
from simulator.data.schema import PrimaryKey
from simulator.data.workloads.file import OnError
from simulator.errors import ConfigError
from simulator.protocol.records import (
    MOST_MANIFEST_BYTES,
    VOLUME_FOLDER,
    FileManifest,
    RecordFormat,
)


def beside(file: Path) -> Path:
    """Return the default path of a file's manifest."""
    return file.with_name(f"{file.name}.json")


def read(path: Path) -> FileManifest:
    """Return the manifest in a file; ConfigError if the file is not a manifest."""
    return FileManifest.parse(read_bytes(path, MOST_MANIFEST_BYTES), str(path))


_PREFIX = "claim:"
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_MOST_CHARACTERS = 253


@dataclass(frozen=True, slots=True)
class VolumeFile:
    """A file in a volume claim."""

    claim: str
    path: str
    """Path below the claim's root."""

    def __str__(self) -> str:
        return f"{_PREFIX}{self.claim}/{self.path}"

    @property
    def in_pods(self) -> str:
        """Path of the file in pods."""
        return f"{VOLUME_FOLDER}/{self.path}"

    @property
    def manifest(self) -> "VolumeFile":
        """Place of the file's manifest."""
        return VolumeFile(self.claim, f"{self.path}.json")


def in_volume(file: Path | None) -> bool:
    """Return whether the user names a file in a volume claim."""
    return str(file or "").startswith(_PREFIX)


def volume_file(file: Path, option: str) -> VolumeFile:
    """Return the file that the user names; ConfigError if the name is not valid."""
    claim, _, path = str(file).removeprefix(_PREFIX).partition("/")
    parts = PurePosixPath(path).parts
    if not _NAME.fullmatch(claim) or len(claim) > _MOST_CHARACTERS or not parts or ".." in parts:
        raise ConfigError(
            f"{option}: {file}: expected {_PREFIX}NAME/PATH: the name of a PersistentVolumeClaim,"
            " and the path of a file in it, without `..`"
        )
    return VolumeFile(claim, str(PurePosixPath(*parts)).lstrip("/"))


_TWICE = "every record of the file is sent once"
_TYPED = "the columns of the file are those of a workload"
_NEVER = {
    "--prefill": _TWICE,
    "--steps": _TWICE,
    "--tables": "the records name their table",
    "--tables-by": "the records name their table",
    "--table-prefix": "the records name their table",
    "--split": "each worker sends one part of the file",
    "--import": "the records of the file are sent in batches",
    "--fault": "which rows a file leaves is not known before its end",
    **{
        each.names[0]: _TYPED
        for field, each in ReadingOptions.declare().items()
        if field != "on_error"
    },
}
"""Option of `insert` that does not apply to a file of records -> reason."""
_IN_MANIFEST = (
    "--workload", "--seed", "--start-time", "--num-inserts", "--out-of-order",
    *map(option_of, parameters()),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecordsRequest:
    """A file of records to insert."""

    file: Path
    form: RecordFormat
    manifest: Path | None
    skip: bool = False
    """True if damaged records are left out."""
    clean: bool = False
    """True if existing tables are replaced; otherwise existing tables are refused."""

    @property
    def is_standard_input(self) -> bool:
        """True if the records come from standard input."""
        return str(self.file) == STANDARD_INPUT

    @property
    def volume(self) -> VolumeFile | None:
        """The file, if it is in a volume claim."""
        return volume_file(self.file, "--data") if in_volume(self.file) else None

    @property
    def name(self) -> str:
        """Name of the file in messages."""
        return "standard input" if self.is_standard_input else str(self.file)

    @property
    def manifest_file(self) -> Path | None:
        """Path of the manifest on this machine; None if there is none."""
        if self.manifest or self.is_standard_input:
            return None if in_volume(self.manifest) else self.manifest
        if in_volume(self.file):
            return None
        path = beside(self.file)
        return path if path.exists() else None

    @property
    def manifest_volume(self) -> VolumeFile | None:
        """Place of the manifest in a volume claim, where the manifest need not exist."""
        if self.manifest:
            return volume_file(self.manifest, "--manifest") if in_volume(self.manifest) else None
        return self.volume.manifest if self.volume else None


def place_problems(file: Path, manifest: Path | None, form: str | None, runner: str) -> list[str]:
    """Return why a runner cannot insert a file from this place, each reason with a remedy."""
    problems: list[str] = []
    if not in_volume(file):
        problems += _local_problems(form, runner)
        if in_volume(manifest):
            problems.append(
                f"--manifest: {manifest}: --data is not in a volume claim; copy it here"
            )
        return problems
    if runner == "local":
        problems.append(
            f"--data: {file}: only pods mount volume claims; use --runner kubernetes, or a file of"
            " this machine"
        )
    named = {}
    for option, path in {"--data": file, "--manifest": manifest}.items():
        if path and in_volume(path):
            try:
                named[volume_file(path, option).claim] = path
            except ConfigError as error:
                problems += error.problems
    if len(named) > 1:
        problems.append(
            f"--manifest: {manifest}: pods mount one volume claim, that of --data; copy it there,"
            " or name a file of this machine"
        )
    return problems


def _local_problems(form: str | None, runner: str) -> list[str]:
    if runner == "local":
        return []
    what = "convert it with `prepare`, copy the folder" if form is None else "copy it"
    remedy = f"{what} to a volume claim and name it claim:NAME/PATH, or use --runner local"
    return [f"--data: pods cannot read a file of this machine; {remedy}"]


def record_conflicts(given: Mapping[str, Any]) -> list[str]:
    """Return a message for each conflict among the given options (name -> value)."""
    problems = [
        f"{name}: {reason}; leave it out with --data-format"
        for name, reason in _NEVER.items()
        if name in given
    ]
    if "--data" not in given:
        problems.append("--data-format: needs a file, or - for standard input; name it with --data")
    if not given.get("--clean", True):
        problems.append(f"--no-clean: {_TWICE}; leave it out with --data-format")
    if given.get("--primary-key") == PrimaryKey.CLIENT:
        problems.append("--primary-key client: the records have no id; use another key")
    if given.get("--on-error") in (OnError.TEXT, OnError.NULL):
        problems.append(
            f"--on-error {given['--on-error']}: records are sent as they are; use stop or skip"
        )
    return problems


def list_repeated(given: Mapping[str, Any]) -> list[str]:
    """Return a message for each given option that the manifest already determines."""
    return [
        f"{name}: the manifest of the file has it; leave it out"
        for name in _IN_MANIFEST
        if name in given
    ]


def describes(manifest: FileManifest, file: Path) -> bool:
    """Return whether a file has the content that a manifest describes."""
    from iotbench.rows.files.source import digest_of  # noqa: PLC0415 - loads pyarrow

    with suppress(ConfigError):  # it is damaged, and so differs
        return digest_of(file, file.name) == manifest.sha256
    return False
