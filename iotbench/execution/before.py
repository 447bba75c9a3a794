"""The command of --before-run: the user's own, before each run of a sweep, such as a restart."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from iotbench.config.options.cluster import ClusterOptions
from iotbench.config.targets.config import Target
from iotbench.execution.facts import STOPPED
from iotbench.execution.shell import Shell
from iotbench.machine.interrupts import Interrupts
from iotbench.machine.streams import say

Before = Callable[[], str]
"""Called before each run; returns why it cannot start."""


@dataclass(frozen=True, slots=True)
class BeforeRun:
    """The command in bash before each run of a sweep."""

    command: str
    environment: Mapping[str, str] = field(repr=False)
    """That of the command line, with the variables that hold credentials."""

    def of(  # noqa: PLR0913
        self,
        target: Target,
        log: Path,
        cluster: ClusterOptions,
        interrupts: Interrupts,
        *,
        stack: ExitStack,
        quiet: bool,
    ) -> Before:
        """Return what runs it, and waits until the target answers again."""
        shell = Shell([target], log, self.environment, cluster, interrupts, stack=stack)
        shown = shell.redact(self.command)

        def before() -> str:
            if not quiet:
                say(f"before the run: {shown}", err=True)
            ran = shell.run(self.command, stops=True)
            if interrupts.requested:
                return STOPPED
            if ran.problem:
                lines = f": {ran.last_lines}" if ran.last_lines else ""
                return f"--before-run: {ran.problem}{lines}; see {log}"
            reason = shell.silence()
            if not reason or reason == STOPPED:
                return reason
            return f"--before-run: done, and the target does not answer: {reason}; see {log}"

        return before
