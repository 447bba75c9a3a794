"""What the user says about a file of records, and which other options that rules out."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.parameters import option_of, parameters
from cli.records.manifest import beside
from simulator.data.records import RecordFormat
from simulator.data.schema import PrimaryKey
from simulator.data.workloads.file import OnError

STANDARD_INPUT = "-"
_TWICE = "every record of the file is sent once"
_TYPED = "the columns of the file are those of a workload"
_NEVER = {
    "prefill": _TWICE,
    "steps": _TWICE,
    "tables": "the records name their table",
    "tables_by": "the records name their table",
    "split": "each worker sends one part of the file",
    **dict.fromkeys(("time_column", "tags", "delimiter", "time_format"), _TYPED),
}
"""Options of `insert` that mean nothing with a file of records -> why."""
_IN_MANIFEST = ("workload", "seed", "start_time", "num_inserts", *parameters())


@dataclass(frozen=True, slots=True)
class Request:
    """A file of records to insert."""

    file: Path
    form: RecordFormat
    manifest: Path | None
    skip: bool
    """Whether records that are damaged are left out."""

    @property
    def is_standard_input(self) -> bool:
        """Whether the records come from standard input."""
        return str(self.file) == STANDARD_INPUT

    @property
    def name(self) -> str:
        """How messages name the file."""
        return "standard input" if self.is_standard_input else str(self.file)

    @property
    def manifest_file(self) -> Path | None:
        """Where the manifest is; None if there is none."""
        if self.manifest or self.is_standard_input:
            return self.manifest
        path = beside(self.file)
        return path if path.exists() else None


def conflicts(given: Mapping[str, Any]) -> list[str]:
    """Return which of the given options (name -> value) do not go together."""
    problems = [
        f"{_option(name)}: {reason}; leave it out with --data-format"
        for name, reason in _NEVER.items()
        if name in given
    ]
    if "data" not in given:
        problems.append("--data-format: needs a file, or - for standard input; name it with --data")
    if not given.get("clean", True):
        problems.append(f"--no-clean: {_TWICE}; leave it out with --data-format")
    if given.get("primary_key") == PrimaryKey.CLIENT.value:
        problems.append("--primary-key client: the records have no id; use another key")
    if given.get("on_error") in (OnError.TEXT.value, OnError.NULL.value):
        problems.append(
            f"--on-error {given['on_error']}: records are sent as they are; use stop or skip"
        )
    return problems


def repeated(given: Mapping[str, Any]) -> list[str]:
    """Return the given options that repeat or contradict a manifest."""
    return [
        f"{_option(name)}: the manifest of the file has it; leave it out"
        for name in _IN_MANIFEST
        if name in given
    ]


def _option(name: str) -> str:
    return option_of(name) if name in parameters() else f"--{name.replace('_', '-')}"
