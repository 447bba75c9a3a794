"""What the user says of the file, and which other options that rules out."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.files.source import SUFFIXES
from simulator.data.schema import PrimaryKey, Role
from simulator.data.workloads.base import Params
from simulator.data.workloads.file import FileParams
from simulator.errors import ConfigError

_TWICE = "every row of the file is written once"
_NOT_DRAWN = "the rows are the file's"
NOT_WITH_DATA = {
    "num_inserts": "the file says how many rows there are",
    "prefill": _TWICE,
    "steps": _TWICE,
    "workload": _NOT_DRAWN,
    "seed": _NOT_DRAWN,
    "start_time": _NOT_DRAWN,
    "devices": _NOT_DRAWN,
    "tick_ms": _NOT_DRAWN,
}
"""Options of `insert` that mean nothing with a file -> why."""
_NOT_SHOWN = {*NOT_WITH_DATA, "clean", "start_ms"}
_ONLY_WITH_DATA = ("time_column", "tags")


@dataclass(frozen=True, slots=True)
class Request:
    """A file to insert."""

    file: Path
    time_column: str | None
    tags: tuple[str, ...]
    primary_key: PrimaryKey

    def check(self) -> None:
        """Raise ConfigError for what can be told without reading the file."""
        if self.file.suffix.lower() not in SUFFIXES:
            expected = " or ".join(f"*{suffix}" for suffix in SUFFIXES)
            raise ConfigError(f"--data: {self.file}: expected {expected}")
        if not self.file.is_file():
            raise ConfigError(f"--data: {self.file}: there is no such file")


def conflicts(given: Mapping[str, Any]) -> list[str]:
    """Return which of the options that were given (name -> value) do not go together."""
    if "data" not in given:
        return [
            f"{_option(name)}: says something of a --data file, and there is none"
            for name in _ONLY_WITH_DATA
            if name in given
        ]
    problems = [
        f"{_option(name)}: {reason}; leave it out with --data"
        for name, reason in NOT_WITH_DATA.items()
        if name in given
    ]
    if not given.get("clean", True):
        problems.append(f"--no-clean: {_TWICE}; leave it out with --data")
    return problems


def described(options: Mapping[str, Any], params: Params) -> dict[str, Any]:
    """Return the options of an insert as they are shown: of a file, without those it rules out."""
    if not isinstance(params, FileParams):
        return dict(options)
    of_role = {role: [c.name for c in params.columns if c.role is role] for role in Role}
    return {
        "data": params.source,
        "rows": params.rows,
        "time_column": of_role[Role.TIME][0],
        "tags": of_role[Role.TAG],
        **{name: value for name, value in options.items() if name not in _NOT_SHOWN},
    }


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
