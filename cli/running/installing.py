"""The database of a target, installed for the items of a plan, and removed whatever happens."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import yaml

from cli.cluster.options import ClusterOptions
from cli.experiment.installing import Installation
from cli.experiment.items import Pair
from cli.experiment.record import InstallRecord
from cli.host.interrupts import Interrupts
from cli.host.scratch import scratch_folder
from cli.host.streams import say
from cli.running.roster import silence
from cli.targets.config import Target
from simulator.errors import Interrupted

_LONGEST_S = 1800.0
"""Of one command."""
_READY_S = 60.0
"""Longest time until an installed database answers; the commands themselves wait longer."""
_POLL_S = 0.05
_GRACE_S = 5.0
_STOPPED = "stopped by the user"

Ready = Callable[[], str]
"""Installs the database of the next item unless it is installed; returns why it is not there."""


@dataclass(frozen=True, slots=True)
class Installing:
    """How the targets of a plan are installed."""

    installations: Mapping[str, Installation]
    output: Path
    name: str
    """Of the plan's record, without the ending."""
    interrupts: Interrupts
    cluster: ClusterOptions
    environment: Mapping[str, str]
    """Of the commands: that of the command line, with the variables that hold credentials."""
    quiet: bool
    records: list[InstallRecord] = field(default_factory=list)
    """Of what was installed, in order."""

    @contextmanager
    def group(self, pairs: Sequence[Pair]) -> Iterator[Ready]:
        """Within this context the items of a group are measured; then its database is removed."""
        found = self.installations.get(pairs[0].target.name)
        if found is None:
            yield lambda: ""
            return
        with ExitStack() as stack:
            database = _Database(self, found, pairs, stack)
            try:
                yield database.ready
            finally:
                database.remove()


class _Database:
    """The database of one target."""

    def __init__(
        self, how: Installing, found: Installation, pairs: Sequence[Pair], stack: ExitStack
    ) -> None:
        self._how = how
        self._found = found
        self._targets = [pair.target for pair in pairs]
        self._shown = found.redacted(self._targets)
        self._stack = stack
        self._log = how.output / f"{how.name}-{found.target}.log"
        self._mark = how.output / f".{found.target}.installed"
        self._environment: dict[str, str] | None = None
        self._record: InstallRecord | None = None

    def ready(self) -> str:
        """Install the database, once; return why it cannot be used, the same each time."""
        if self._record is None:
            self._log.unlink(missing_ok=True)
            if self._mark.exists():
                self._say("was left by a command line that was killed; it is removed first")
                self._run_all()
            began_s = time.monotonic()
            self._mark.touch()
            self._say(f"installing; log: {self._log}")
            cause = self._installed()
            self._record = InstallRecord(
                target=self._found.target,
                install=self._shown.install,
                remove=self._shown.remove,
                log=self._log.name,
                seconds=round(time.monotonic() - began_s, 3),
                cause=cause,
            )
        return self._record.cause

    def _installed(self) -> str:
        for command in self._found.install:
            if self._how.interrupts.requested:
                return _STOPPED
            if problem := self._run(command, stops=True):
                return f"not installed: {problem}; see {self._log}"
        deadline_s = time.monotonic() + _READY_S
        while not self._how.interrupts.requested:
            try:
                reason = silence(self._targets[0], self._how.cluster)
            except Interrupted:
                self._how.interrupts.requested = True
                break
            if not reason:
                return ""
            if time.monotonic() > deadline_s:
                return f"installed, and does not answer: {reason}; see {self._log}"
            time.sleep(_POLL_S)
        return _STOPPED

    def remove(self) -> None:
        """Remove what was installed, by this command line or by one that was killed."""
        if self._record is None and not self._mark.exists():
            return
        self._say("removing")
        left = self._run_all()
        if left:
            self._say(f"warning: may not be removed: {left}; see {self._log}", always=True)
        else:
            self._mark.unlink(missing_ok=True)
        if self._record:
            self._how.records.append(self._record.model_copy(update={"left": left}))

    def _run_all(self) -> str:
        """Remove the database, also after a command that failed; return what failed."""
        problems = []
        for number, command in enumerate(self._found.remove):
            try:
                problems.append(self._run(command, stops=False))
            except Interrupted:
                for each in self._shown.remove[number:]:
                    self._say(f"not removed; run: {each}", always=True)
                raise
        return "; ".join(filter(None, problems))

    def _run(self, command: str, *, stops: bool) -> str:
        """Run a command; return why it failed. With `stops`, it ends when the user asks to stop."""
        try:
            variables = self._variables()
        except OSError as error:
            return f"{error.filename}: {error.strerror}"
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                ["/bin/bash", "-euo", "pipefail", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self._found.folder,
                env=variables,
                start_new_session=True,  # Ctrl-C is for the command line
            )
            try:
                ended = self._waited(process, stops=stops)
            finally:
                _end(process)
                self._write(command, output)
        if not ended and not process.returncode:
            return ""
        return self._redact(f"`{command}`: {ended or f'exit code {process.returncode}'}")

    def _waited(self, process: subprocess.Popen[bytes], *, stops: bool) -> str:
        """Wait for a command; return why it was not waited for to its end."""
        deadline_s = time.monotonic() + _LONGEST_S
        while process.poll() is None:
            if stops and self._how.interrupts.requested:
                return _STOPPED
            if time.monotonic() > deadline_s:
                return f"not done after {_LONGEST_S:g} s"
            time.sleep(_POLL_S)
        return ""

    def _write(self, command: str, output: IO[bytes]) -> None:
        """Add a command and its output to the log, without credentials."""
        output.seek(0)
        text = self._redact(f"$ {command}\n{output.read().decode(errors='replace')}")
        with self._log.open("a", encoding="utf-8") as log:
            log.write(text if text.endswith("\n") else f"{text}\n")

    def _redact(self, text: str) -> str:
        for target in self._targets:
            text = target.options.redact(text)
        return text

    def _variables(self) -> Mapping[str, str]:
        if self._environment is None:
            target = self._targets[0]
            self._environment = {**self._how.environment}
            if target.runner == "kubernetes":
                folder = self._stack.enter_context(scratch_folder("install"))
                file = _kubeconfig(target, self._how.cluster, folder, self._environment)
                self._environment["KUBECONFIG"] = str(file)
        return self._environment

    def _say(self, text: str, *, always: bool = False) -> None:
        if always or not self._how.quiet:
            say(f"{self._found.target}: {text}", err=True)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command that is still running, with its children; of one that has ended they stay."""
    for number, within_s in ((signal.SIGTERM, _GRACE_S), (signal.SIGKILL, None)):
        if process.poll() is not None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(within_s)


def _kubeconfig(
    target: Target, options: ClusterOptions, folder: Path, environment: Mapping[str, str]
) -> Path:
    """Write a kubeconfig of the chosen context alone, in whose namespace the benchmark's pods run.

    The commands have no options for cluster and namespace: both are those that kubectl finds.
    """
    words = ["kubectl", "config", "view", "--raw", "--minify", "--flatten", "--output=yaml"]
    words += [f"--kubeconfig={options.kubeconfig}"] if options.kubeconfig else []
    words += [f"--context={options.context}"] if options.context else []
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    content = yaml.safe_load(done.stdout) or {}
    for each in content.get("contexts") or ():
        each["context"]["namespace"] = options.namespace or target.namespace
    file = folder / "kubeconfig"
    file.touch(mode=0o600)
    file.write_text(yaml.safe_dump(content))
    return file
