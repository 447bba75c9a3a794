"""`--metrics-out FILE`: lines in order of time, sorted for OpenMetrics at the end of the sweep."""

from contextlib import suppress
from pathlib import Path
from typing import Self, TextIO

from iotbench.machine import outfile
from iotbench.machine.streams import say
from iotbench.output.live.samples import exposition, lines_of
from iotbench.output.terminal.course import SweepMoment
from iotbench.results.result import Result
from iotbench.store.openmetrics import OWN
from simulator.errors import ConfigError


class MetricsFile:
    """The metrics of a sweep in a file, which is replaced if it exists."""

    def __init__(self, path: Path, result: Result) -> None:
        self._path = path
        self._result = result
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        try:
            self._file = self._path.open("w", encoding="utf-8")
        except OSError as error:
            self._fail(error)
        return self

    def take(self, moment: SweepMoment) -> None:
        """Append the metrics of a sample."""
        lines = lines_of(moment, self._result)
        if self._file and lines:
            try:
                self._file.write("".join(f"{line}\n" for line in lines))
                self._file.flush()
            except OSError as error:
                self._fail(error)

    def __exit__(self, *_: object) -> None:
        if not self._file:
            return
        try:
            self._file.close()
            lines = self._path.read_text(encoding="utf-8").splitlines()
            outfile.write(self._path, exposition(lines), OWN)
        except (OSError, ConfigError) as failed:
            self._fail(failed)

    def _fail(self, error: OSError | ConfigError) -> None:
        """Stop writing: the run continues without its metrics."""
        file, self._file = self._file, None
        with suppress(OSError):  # unflushed lines
            if file:
                file.close()
        reason = error.strerror or error if isinstance(error, OSError) else error
        say(f"warning: --metrics-out: {self._path}: {reason}", err=True)


def problem_with(path: Path) -> str:
    """Return why metrics cannot be written to a path; empty if they can."""
    if path.exists() and not path.is_file() and not path.is_dir():
        return f"{path}: is a pipe or device, expected a regular file"
    return outfile.problem_with(path, OWN)
