"""A source of the rows of an insert."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from iotbench.config.options.choice import TargetRun
from iotbench.config.targets.config import Target
from iotbench.measurements.insert.checks import target_problems
from iotbench.measurements.insert.kind import Rows
from iotbench.measurements.insert.options import InsertOptions
from iotbench.rows.files.request import FileRows, conflicts
from iotbench.rows.recorded.request import place_problems
from simulator.errors import ConfigError
from simulator.protocol.records import Scanned
from simulator.protocol.spec import RunSpec

Scan: TypeAlias = Callable[[Target, RunSpec, str], Scanned | None]
"""Scans a file, given a name for messages, in a pod; returns None after a dry run.

Only pods mount volume claims.
"""


@dataclass
class Source(ABC):
    """The rows that the options name; `check` comes before `open`."""

    file: FileRows
    given: Mapping[str, Any]
    """Options as the user gave them, by name."""
    run: TargetRun
    scan: Scan
    workload: ClassVar[str | None] = None
    """Workload of the rows; None: the options name it."""

    def conflicts(self) -> list[str]:
        """Return a message for each conflict among the given options."""
        return conflicts(self.given)

    def check(self, options: InsertOptions, target: Target | None) -> Iterator[str]:
        """Yield what is wrong with the rows, and why the target cannot take them."""
        if target:
            yield from target_problems(options, target, force=self.run.force)
            for place in self.file.data:
                yield from place_problems(
                    place, self.file.manifest, self.file.data_format, target.runner
                )
        try:
            self.find(options)
        except ConfigError as error:
            yield from error.problems

    @abstractmethod
    def find(self, options: InsertOptions) -> None:
        """Find the rows without reading them; ConfigError with everything that is wrong."""

    @abstractmethod
    def open(self, options: InsertOptions, target: Target) -> AbstractContextManager[Rows | None]:
        """Return a context in which the rows are available; None: a dry run printed the reader."""
