"""`--metrics-out`: writes the metrics of sweeps to a file or a server."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol, Self, TextIO

from iotbench.machine import outfile
from iotbench.machine.streams import say
from iotbench.output.live.push import OTLP, MetricsPush, TextMetricsSender, url_problem
from iotbench.output.live.samples import FAMILIES, SeriesValue, family_of, values_of
from iotbench.output.terminal.course import SweepMoment
from iotbench.results.result import Result
from iotbench.store.openmetrics import END, OWN, PREFIX
from simulator.errors import ConfigError

_URL = (
    f"a file, or a URL such as http://host:8428/api/v1/import/prometheus or {OTLP}+http://host:4318"
)


class Writer(Protocol):
    """A destination of metrics; it neither fails nor blocks."""

    def add(self, values: Sequence[SeriesValue]) -> None:
        """Write the values of a sample."""


class SweepMetrics:
    """Live output that writes the metrics of one sweep."""

    def __init__(self, writer: Writer, result: Result) -> None:
        self._writer, self._result = writer, result

    def take(self, moment: SweepMoment) -> None:
        """Write the metrics of a moment."""
        self._writer.add(values_of(moment, self._result))


def format_metrics(lines: Sequence[str]) -> str:
    """Return lines in the order of OpenMetrics: by metric, by labels, and by time."""
    found: dict[str, dict[str, list[str]]] = {name: {} for name in FAMILIES}
    for line in lines:
        name, _, rest = line.partition("{")
        labels = rest.rpartition("}")[0]
        found[family_of(name)].setdefault(labels, []).append(line)
    texts = []
    for name, series in found.items():
        if series:
            about = FAMILIES[name]
            texts.append(f"# TYPE {PREFIX}_{name} {about.type}")
            if name.endswith("_seconds"):
                texts.append(f"# UNIT {PREFIX}_{name} seconds")
            texts.append(f"# HELP {PREFIX}_{name} {about.meaning}")
            texts += [line for own in series.values() for line in own]
    return "\n".join([*texts, END]) + "\n"


class MetricsFile:
    """Writes metrics to a file, and sorts the file for OpenMetrics at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        try:
            self._file = self._path.open("w", encoding="utf-8")
        except OSError as error:
            self._fail(error)
        return self

    def add(self, values: Sequence[SeriesValue]) -> None:
        """Append the values of a sample."""
        if self._file and values:
            try:
                self._file.write("".join(f"{value}\n" for value in values))
                self._file.flush()
            except OSError as error:
                self._fail(error)

    def __exit__(self, *_: object) -> None:
        if not self._file:
            return
        try:
            self._file.close()
            lines = self._path.read_text(encoding="utf-8").splitlines()
            outfile.write(self._path, format_metrics(lines), OWN)
        except (OSError, ConfigError) as failed:
            self._fail(failed)

    def _fail(self, error: OSError | ConfigError) -> None:
        """Stop writing the metrics; the run continues."""
        file, self._file = self._file, None
        with suppress(OSError):  # unflushed lines
            if file:
                file.close()
        reason = error.strerror or error if isinstance(error, OSError) else error
        say(f"warning: --metrics-out: {self._path}: {reason}", err=True)


@contextmanager
def open_writer(place: str) -> Iterator[Writer]:
    """Yield a writer of metrics to a file, a URL or an OTLP receiver."""
    if _is_otlp(place):
        from iotbench.output.live import otlp  # noqa: PLC0415 - of an extra, and slow to load

        opened: MetricsFile | MetricsPush = MetricsPush(otlp.OtlpSender(place))
    else:
        opened = (
            MetricsPush(TextMetricsSender(place)) if "://" in place else MetricsFile(Path(place))
        )
    with opened:
        yield opened


def _is_otlp(place: str) -> bool:
    return place == OTLP or place.startswith(f"{OTLP}+")


def problem_with(place: str) -> str:
    """Return why metrics cannot be written to a file or sent to a URL; empty if they can."""
    if _is_otlp(place):
        from iotbench.output.live import otlp  # noqa: PLC0415 - of an extra, and slow to load

        return otlp.problem_with(place)
    if "://" in place:
        return url_problem(place, _URL)
    path = Path(place)
    if path.exists() and not path.is_file() and not path.is_dir():
        return f"{path}: is a pipe or device, expected a regular file"
    return outfile.problem_with(path, OWN)
