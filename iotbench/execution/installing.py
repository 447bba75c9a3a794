"""Installs the database of a target for the items of a plan, and always removes the database."""

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from iotbench.config.options.choice import ClusterOptions
from iotbench.execution.collector import explain_silence
from iotbench.execution.shell import Shell
from iotbench.machine import outfile
from iotbench.machine.interrupts import STOPPED, Interrupts
from iotbench.machine.program import state_folder
from iotbench.machine.streams import say
from iotbench.plans.installing import Installation
from iotbench.plans.items import Pair
from iotbench.plans.record import InstallRecord
from simulator.errors import Interrupted

_THERE = re.compile(r"[\w.-]+/[\w.:-]+|[a-z0-9][a-z0-9.-]*")
"""Pattern of a line that names an object of Kubernetes or a release of helm."""
_UNKNOWN_KIND = re.compile("doesn't have a resource type|no matches for kind|mapping not found")
_OWN_LOG = re.compile(rb"\$ ")
Ready = Callable[[], str]
"""Installs the database of the next item if necessary; returns why it cannot be used, or
nothing."""


def usable() -> str:
    """Return nothing, because a database that the plan does not install can be used."""
    return ""


@dataclass(frozen=True, slots=True)
class Installing:
    """The installation of a plan's targets."""

    installations: Mapping[str, Installation]
    output: Path
    name: str
    """Name of the plan's record, without the file extension."""
    interrupts: Interrupts
    cluster: ClusterOptions
    environment: Mapping[str, str]
    """Environment of the commands: this program's environment, and variables with credentials."""
    quiet: bool
    records: list[InstallRecord] = field(default_factory=list)
    """Records of the installations, in chronological order."""

    @contextmanager
    def group(self, pairs: Sequence[Pair]) -> Iterator[Ready]:
        """Yield a function that installs the group's database; remove the database at the end."""
        found = self.installations.get(pairs[0].target.name)
        if found is None:
            yield usable
            return
        with ExitStack() as stack:
            database = _Database(self, found, pairs, stack)
            try:
                yield database.ready
            finally:
                database.remove()


class _Database:
    """The database of a target."""

    def __init__(
        self, how: Installing, found: Installation, pairs: Sequence[Pair], stack: ExitStack
    ) -> None:
        self._how = how
        self._found = found
        targets = self._targets = [pair.target for pair in pairs]
        self._shown = found.redact(targets)
        self._log = how.output / f"{how.name}-{found.target}.log"
        self._mark = _find_mark(how.output, found)
        self._shell = Shell(
            targets, self._log, how.environment, how.cluster, how.interrupts,
            stack=stack, folder=found.folder,
        )  # fmt: skip
        self._record: InstallRecord | None = None

    def ready(self) -> str:
        """Install the database at the first call; return at each call why it cannot be used."""
        if self._record is None:
            outfile.expect_own(self._log, _OWN_LOG)
            self._log.unlink(missing_ok=True)
            if self._mark.exists():
                self._say("was left by a command line that was killed; it is removed first")
                self._run_all()
            began_s = time.monotonic()
            cause = self._explain_taken()
            if not cause:
                self._mark.parent.mkdir(parents=True, exist_ok=True)
                self._mark.touch()
                self._say(f"installing; log: {self._log}")
                cause = self._install()
            self._record = InstallRecord(
                target=self._found.target,
                install=self._shown.install,
                remove=self._shown.remove,
                log=self._log.name,
                seconds=round(time.monotonic() - began_s, 3),
                cause=cause,
            )
        return self._record.cause

    def _explain_taken(self) -> str:
        """Return why installing is refused: `remove` would remove objects that already exist."""
        found: list[str] = []
        for look in self._found.looks:
            ran = self._shell.run(look, stops=True)
            there = [line for line in ran.output if _THERE.fullmatch(line)]
            found += there
            if ran.problem and not there and not any(map(_UNKNOWN_KIND.search, ran.output)):
                return f"not installed: {ran.problem}: {ran.last_lines}; see {self._log}"
        target = self._targets[0]
        if not found and target.runner == "local" and not target.open().capabilities.embedded:
            answers = not explain_silence(target, self._how.cluster)
            found += ["a server that answers"] * answers
        if not found:
            return ""
        return (
            f"not installed: already present, and not from this program: {', '.join(found)};"
            " leave `install` out to measure it as it is, or remove it first"
        )

    def _install(self) -> str:
        for command in self._found.install:
            if self._how.interrupts.requested:
                return STOPPED
            if problem := self._shell.run(command, stops=True).problem:
                return f"not installed: {problem}; see {self._log}"
        reason = self._shell.wait_for_answer()
        if not reason or reason == STOPPED:
            return reason
        return f"installed, and does not answer: {reason}; see {self._log}"

    def remove(self) -> None:
        """Remove the database if this command line, or a killed one, has installed it."""
        left = ""
        if self._mark.exists():
            self._say("removing")
            left = self._run_all()
            if left:
                self._say(f"warning: may not be removed: {left}; see {self._log}", always=True)
            else:
                self._mark.unlink(missing_ok=True)
        if self._record:
            self._how.records.append(self._record.model_copy(update={"left": left}))

    def _run_all(self) -> str:
        """Run all commands that remove the database, even if one fails; return the failures."""
        problems = []
        for number, command in enumerate(self._found.remove):
            try:
                problems.append(self._shell.run(command, stops=False).problem)
            except Interrupted:
                for each in self._shown.remove[number:]:
                    self._say(f"not removed; run: {each}", always=True)
                raise
        return "; ".join(filter(None, problems))

    def _say(self, text: str, *, always: bool = False) -> None:
        if always or not self._how.quiet:
            say(f"{self._found.target}: {text}", err=True)


def _find_mark(output: Path, found: Installation) -> Path:
    """Return the path of the file that exists while a target is installed.

    The file is in the user's state folder: in a folder of results, a copy of the file would remove
    databases that other users installed.
    """
    known = json.dumps([str(output.resolve()), found.target, *found.remove])
    return state_folder() / "installed" / hashlib.sha256(known.encode()).hexdigest()[:32]
