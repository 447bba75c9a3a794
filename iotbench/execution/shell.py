"""Runs the user's commands in bash, with their output in a log."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import yaml

from iotbench.config.options.choice import ClusterOptions
from iotbench.config.targets.config import Target
from iotbench.execution.collector import wait_for_answer
from iotbench.execution.kubernetes.wire import kubectl_flags
from iotbench.machine.interrupts import STOPPED, Interrupts
from iotbench.machine.scratch import scratch_folder
from iotbench.machine.streams import say
from simulator.redaction import hide_urls

_LONGEST_S = 1800.0
"""Maximum duration of one command."""
_POLL_S = 0.05
_GRACE_S = 5.0
_LAST_LINES = 5
_WHEN_CLOSED = 'read -r; exec /bin/bash -euo pipefail -c "$1" < /dev/null'
"""Script that runs a command when standard input ends, which also happens if this program dies."""


@dataclass(frozen=True, slots=True)
class Ran:
    """The outcome of a command."""

    problem: str = ""
    """Reason of the failure; empty if the command succeeded."""
    output: tuple[str, ...] = ()
    """Lines of the output, without credentials."""

    @property
    def last_lines(self) -> str:
        """Last lines of the output, joined into one line."""
        return " | ".join(self.output[-_LAST_LINES:])


class Shell:
    """Runs commands in bash, and redacts the targets' credentials in all output."""

    def __init__(  # noqa: PLR0913
        self,
        targets: Sequence[Target],
        log: Path,
        environment: Mapping[str, str],
        cluster: ClusterOptions,
        interrupts: Interrupts,
        *,
        stack: ExitStack,
        folder: Path = Path(),
    ) -> None:
        """Prepare a shell for `targets`, which are of one database.

        The shell waits for answers from the first target. Closing `stack` removes temporary files.
        """
        self._targets = targets
        self._log = log
        self._given = environment
        self._cluster = cluster
        self._interrupts = interrupts
        self._stack = stack
        self._folder = folder
        self._environment: dict[str, str] | None = None

    def run(self, command: str, *, stops: bool) -> Ran:
        """Run a command; with `stops`, end the command when the user asks to stop."""
        try:
            return self.later(command).now(stops=stops)
        except OSError as error:
            return Ran(f"{error.filename}: {error.strerror}")

    def later(self, command: str) -> "Later":
        """Return a command to run later; the command also runs if this program dies."""
        return Later(self, command, self._variables(), self._folder)

    def wait_for_answer(self) -> str:
        """Wait until the database answers.

        Return the reason if the database does not answer, or if the user has asked to stop.
        """
        return wait_for_answer(self._targets[0], self._cluster, self._interrupts)

    def before_run(self, command: str, *, quiet: bool) -> str:
        """Run the --before-run command and wait for the target; return why no run can start."""
        if not quiet:
            say(f"before the run: {hide_urls(self.redact(command))}", err=True)
        ran = self.run(command, stops=True)
        if self._interrupts.requested:
            return STOPPED
        if ran.problem:
            lines = f": {ran.last_lines}" if ran.last_lines else ""
            return f"--before-run: {ran.problem}{lines}; see {self._log}"
        reason = self.wait_for_answer()
        if not reason or reason == STOPPED:
            return reason
        return f"--before-run: done, and the target does not answer: {reason}; see {self._log}"

    def redact(self, text: str) -> str:
        """Return a text without credentials."""
        for target in self._targets:
            text = target.options.redact(text)
        return text

    def wait_for(self, process: subprocess.Popen[bytes], *, stops: bool) -> str:
        """Wait for a command to end; return why the wait was given up, or nothing."""
        deadline_s = time.monotonic() + _LONGEST_S
        while process.poll() is None:
            if stops and self._interrupts.requested:
                return STOPPED
            if time.monotonic() > deadline_s:
                return f"not done after {_LONGEST_S:g} s"
            time.sleep(_POLL_S)  # a signal does not end `Popen.wait`
        return ""

    def add_to_log(self, command: str, output: IO[bytes]) -> str:
        """Add a command and its output to the log; return the output, without credentials."""
        output.seek(0)
        text = self.redact(output.read().decode(errors="replace"))
        added = f"$ {hide_urls(self.redact(command))}\n{text}"
        with self._log.open("a", encoding="utf-8") as log:
            log.write(added if added.endswith("\n") else f"{added}\n")
        return text

    def _variables(self) -> Mapping[str, str]:
        if self._environment is None:
            target = self._targets[0]
            self._environment = {**self._given}
            if target.runner == "kubernetes":
                folder = self._stack.enter_context(scratch_folder("commands"))
                file = _kubeconfig(target, self._cluster, folder, self._environment)
                self._environment["KUBECONFIG"] = str(file)
        return self._environment


class Later:
    """A command in a separate process, which begins once its standard input is closed."""

    def __init__(
        self, shell: Shell, command: str, variables: Mapping[str, str], folder: Path
    ) -> None:
        self._shell, self._command = shell, command
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `now`
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", _WHEN_CLOSED, "later", command],
            stdin=subprocess.PIPE,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=variables,
            start_new_session=True,  # Ctrl-C is for the command line
        )

    def now(self, *, stops: bool) -> Ran:
        """Run the command; with `stops`, end it when the user asks to stop."""
        process, command = self._process, self._command
        assert process.stdin
        process.stdin.close()
        with self._output as output:
            try:
                ended = self._shell.wait_for(process, stops=stops)
            finally:
                _end(process)
                text = self._shell.add_to_log(command, output)
        problem = ""
        if ended or process.returncode:
            found = f"`{command}`: {ended or f'exit code {process.returncode}'}"
            problem = self._shell.redact(found)
        return Ran(problem, tuple(text.splitlines()))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a running command and its children; do not end the children of an ended command."""
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
    """Write a kubeconfig with only the chosen context, in the namespace of the benchmark's pods.

    With this file, kubectl in the user's commands finds cluster and namespace without options.
    """
    words = ["kubectl", "config", "view", "--raw", "--minify", "--flatten", "--output=yaml"]
    words += kubectl_flags(options)
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    content = yaml.safe_load(done.stdout) or {}
    for each in content.get("contexts") or ():
        each["context"]["namespace"] = options.namespace or target.namespace
    file = folder / "kubeconfig"
    file.touch(mode=0o600)
    file.write_text(yaml.safe_dump(content))
    return file
