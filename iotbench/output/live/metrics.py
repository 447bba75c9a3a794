"""`--metrics-out`: writes the metrics of a sweep in OpenMetrics to a file or a server."""

import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self, TextIO
from urllib.parse import urlsplit

from iotbench.figures.figures import FIGURES
from iotbench.figures.rows import ALL_QUERIES
from iotbench.machine import outfile
from iotbench.machine.streams import say
from iotbench.output.terminal.course import SweepMoment
from iotbench.results.result import Result
from iotbench.store.openmetrics import END, OWN, PREFIX, labels_of, metric_of
from simulator.errors import ConfigError
from simulator.protocol.events import AskedSample, SampleEvent
from simulator.redaction import hide_urls

if TYPE_CHECKING:
    import requests

_EVERY_S = 1.0
_ANSWER_S = 2.0
_LONGEST_PAUSE_S = 30.0
_KEPT = 3600
"""Maximum number of samples that wait for a server; older samples are dropped."""
_TYPE = "text/plain; version=0.0.4"
_SHOWN_CHARACTERS = 200
_GATEWAY = "/metrics/job"
"""Path of a Pushgateway, which rejects timestamps and keeps one value of each series."""


class _Family(NamedTuple):
    type: str
    meaning: str


_NOW = [name for name in FIGURES if name in SampleEvent.model_fields and name != "rows"]
"""Names of figures known during a run: current rates, and latencies of the last 5 s."""
FAMILIES: Mapping[str, _Family] = {
    "rows": _Family("counter", "Rows acknowledged in this phase of the run."),
    "queries": _Family("counter", "Timed runs of the query that is asked now; all of a mixed run."),
    **{metric_of(name)[0]: _Family("gauge", f"Now: {FIGURES[name].meaning}") for name in _NOW},
    "errors": _Family("counter", "Failed attempts to send batches."),
    "retried": _Family("counter", "Batches that were sent again."),
    "uncertain_rows": _Family("gauge", "Rows of unknown outcome."),
    "active_workers": _Family("gauge", "Workers that work in the present stage."),
    "sweep_left_seconds": _Family("gauge", "Estimated time until the sweep ends."),
}
"""Name of a metric without the prefix -> family of the metric."""


@dataclass(frozen=True, slots=True)
class SeriesValue:
    """A value of a series at one time."""

    series: str
    """Name of the series with its labels."""
    value: float
    at_s: float

    def __str__(self) -> str:
        return f"{self.series} {self.value!r} {self.at_s:.3f}"

    @property
    def now(self) -> str:
        """Line for the value, without the timestamp."""
        return f"{self.series} {self.value!r}"


def lines_of(moment: SweepMoment, result: Result) -> list[SeriesValue]:
    """Return the metrics of a moment; empty if the event of the moment is not a sample."""
    sample = moment.event
    if not isinstance(sample, SampleEvent):
        return []
    common = {
        "target": result.target,
        "sweep": result.sweep_id,
        "run": str(moment.number),
        "workers": str(moment.workers),
        "phase": sample.phase,
    }
    parts: list[tuple[str, Iterable[tuple[str, float]]]] = [(sample.query, _list_values(sample))]
    if sample.asked:
        parts.append((ALL_QUERIES, _list_asked(sample.asked)))
    if sample.active is not None:
        parts.append((sample.query, [("active_workers", sample.active)]))
    if moment.sweep_left_s is not None:
        parts.append((sample.query, [("sweep_left_seconds", round(moment.sweep_left_s, 1))]))
    return [
        SeriesValue(f"{PREFIX}_{name}{labels_of({**common, **named})}", value, sample.at_s)
        for query, values in parts
        for named in [{"query": query} if query else {}]
        for name, value in values
    ]


def _list_values(sample: SampleEvent) -> Iterator[tuple[str, float]]:
    """Yield the values of the workers that write, or of the workers that run the current query."""
    if sample.query:
        yield from _list_asked(sample)
        return
    yield "rows_total", sample.rows
    yield "errors_total", sample.errors
    yield "retried_total", sample.retried
    yield "uncertain_rows", sample.uncertain_rows
    yield from _list_now(sample, without="queries_per_s")


def _list_asked(sample: SampleEvent | AskedSample) -> Iterator[tuple[str, float]]:
    yield "queries_total", sample.runs
    yield from _list_now(sample, without="rows_per_s")


def _list_now(sample: SampleEvent | AskedSample, *, without: str) -> Iterator[tuple[str, float]]:
    """Yield the known figures of a sample, except the rate named in `without`."""
    for name in _NOW:
        value = getattr(sample, name, None)
        if value is not None and name != without:
            metric, factor = metric_of(name)
            yield metric, value * factor


def format_metrics(lines: Sequence[str]) -> str:
    """Return lines in the order of OpenMetrics: by metric, by labels, and by time."""
    found: dict[str, dict[str, list[str]]] = {name: {} for name in FAMILIES}
    for line in lines:
        name, _, rest = line.partition("{")
        family = name.removeprefix(f"{PREFIX}_").removesuffix("_total")
        labels = rest.rpartition("}")[0]
        found[family].setdefault(labels, []).append(line)
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
    """Writes the metrics of a sweep to a file, and sorts the file for OpenMetrics at the end."""

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


class MetricsPush:
    """Sends the metrics of a sweep to a URL by POST once a second, from a separate thread.

    If the server does not answer, one warning is printed, and the metrics are sent later.
    """

    def __init__(self, url: str, result: Result) -> None:
        self._url = url
        self._result = result
        self._is_gateway = _GATEWAY in urlsplit(url).path
        self._waiting: deque[list[SeriesValue]] = deque(maxlen=1 if self._is_gateway else _KEPT)
        self._over = threading.Event()
        self._warned = False
        self._refused = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def take(self, moment: SweepMoment) -> None:
        """Queue the metrics of a sample."""
        if lines := lines_of(moment, self._result):
            self._waiting.append(lines)

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(2 * _ANSWER_S)

    def _run(self) -> None:
        import requests  # noqa: PLC0415 - only a push needs it, and it is slow to load

        pause_s = _EVERY_S
        with requests.Session() as session:
            while not self._over.wait(pause_s):
                sent = self._push(session)
                pause_s = _EVERY_S if sent else min(2 * pause_s, _LONGEST_PAUSE_S)
            self._push(session)

    def _push(self, session: "requests.Session") -> bool:
        """Send waiting metrics; return False if the next attempt should wait longer."""
        batch = list(self._waiting)
        if not batch or self._refused:
            return True
        lines = (line for sample in batch for line in sample)
        body = "".join(f"{line.now if self._is_gateway else line}\n" for line in lines)
        try:
            answer = session.post(
                self._url, body.encode(), headers={"Content-Type": _TYPE}, timeout=_ANSWER_S,
                allow_redirects=False,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            self._warn(f"no answer ({type(error).__name__})")
            return False
        if answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self._warn(f"status {answer.status_code}")
            return False
        if answer.status_code >= HTTPStatus.MULTIPLE_CHOICES:
            self._refused = True
            said = " ".join(answer.text[:_SHOWN_CHARACTERS].split())
            self._warn(f"refused with status {answer.status_code}: {said}")
            return True
        sent = {id(sample) for sample in batch}
        while self._waiting and id(self._waiting[0]) in sent:  # newer metrics stay
            self._waiting.popleft()
        return True

    def _warn(self, cause: str) -> None:
        if not self._warned:
            self._warned = True
            say(
                f"warning: --metrics-out: {hide_urls(self._url)}: {cause}; the run goes on",
                err=True,
            )


def metrics_output(place: str, result: Result) -> AbstractContextManager[MetricsFile | MetricsPush]:
    """Return a context that writes the metrics of a sweep to a file or a URL."""
    return MetricsPush(place, result) if "://" in place else MetricsFile(Path(place), result)


def problem_with(place: str) -> str:
    """Return why metrics cannot be written to a file or sent to a URL; empty if they can."""
    if "://" in place:
        return _check_url(place)
    path = Path(place)
    if path.exists() and not path.is_file() and not path.is_dir():
        return f"{path}: is a pipe or device, expected a regular file"
    return outfile.problem_with(path, OWN)


def _check_url(url: str) -> str:
    expected = "expected a file, or a URL such as http://host:8428/api/v1/import/prometheus"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return f"{expected}, got a URL that is not well-formed"
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        return f"{expected}, got {hide_urls(url)}"
    if parts.username or parts.password:
        return (
            f"{hide_urls(url)}: others can read a password on a command line; put it into ~/.netrc"
            " (or the file that NETRC names)"
        )
    return ""
