"""The configuration of a bundle: the measured targets, and commands that use the targets."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from iotbench.config.input.parameters import instant
from iotbench.measurements import kind_of
from iotbench.results.command import GivenCommand
from iotbench.results.result import Result
from simulator.redaction import HIDDEN

FILE = "config.yaml"
_REPLACED = ("config", "extra-option", "target", "dataset", "runner", "namespace")
"""Options of a command that the configuration or folder of the bundle replaces."""
_FILES = ("data", "manifest")
_START = ("start-time", "data")
"""Options that determine the start of the rows of an insert."""


class Targets:
    """The targets of results, with one entry for each set of options."""

    def __init__(self, found: Sequence[tuple[Path, Result]]) -> None:
        self._entries: dict[str, dict[str, Any]] = {}
        self._names: dict[Path, str] = {}
        self.variables: dict[str, str] = {}
        """Environment variable -> description of the option that takes a credential from it."""
        for path, result in found:
            self._names[path] = self._add(result)
        spaces = {result.ran_on.get("namespace", "") for _, result in found} - {""}
        self._namespace = min(spaces) if len(spaces) == 1 else ""

    def _add(self, result: Result) -> str:
        own = {query.name: query.statement for query in result.queries if query.tuned}
        for number in range(1, len(self._entries) + 2):
            name = result.target if number == 1 else f"{result.target}-{number}"
            entry = self._make_entry(name, result)
            known = self._entries.get(name, entry)
            queries = {"queries": known.get("queries", {}) | own}
            if known | queries == entry | queries:
                self._entries[name] = entry | (queries if queries["queries"] else {})
                return name
        raise AssertionError

    def _make_entry(self, name: str, result: Result) -> dict[str, Any]:
        options = {key: value for key, value in result.target_options.items() if value is not None}
        for key, value in options.items():
            if value == HIDDEN:
                variable = re.sub(r"\W", "_", f"{name}_{key}").upper()
                variable = f"_{variable}" if variable[0].isdigit() else variable
                self.variables[variable] = f"{key} of target {name}"
                options[key] = f"${{{variable}}}"
        return {"module": result.module, "runner": result.runner, **options}

    def text(self) -> str:
        """Return the configuration as YAML."""
        space = {"namespace": self._namespace} if self._namespace else {}
        return yaml.safe_dump({**space, "targets": self._entries}, sort_keys=False, width=10_000)

    def command(self, path: Path, result: Result) -> list[str]:
        """Return the words of the command that repeats a result with this configuration."""
        if not isinstance(result.command, GivenCommand):
            return []
        own = result.command.without(_REPLACED).options
        options = {"config": (FILE,), "target": (self._names[path],), **own}
        begins = {*_START} & {*own} or own.get("clean") is False
        if not kind_of(result).needs_rows and not begins:
            options["start-time"] = (instant(result.dataset.start_ms),)
        for name in {*_FILES} & {*own}:
            options[name] = tuple(Path(each).name for each in result.command.values(name))
        return [*GivenCommand(name=result.command.name, options=options).words]


def left_out(left: GivenCommand) -> list[str]:
    """Return the words of options that are neither in the bundle nor replaced by it."""
    return [*left.without(_REPLACED).words[1:]]
