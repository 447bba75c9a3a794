"""`--metrics-out URL`: metrics pushed to a server, from a separate thread, once a second.

A server that does not answer costs one warning. Missed metrics are sent once it answers again.
"""

import threading
from collections import deque
from http import HTTPStatus
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from iotbench.machine.streams import say
from iotbench.output.live.samples import SeriesValue, lines_of
from iotbench.output.terminal.course import SweepMoment
from iotbench.results.result import Result

if TYPE_CHECKING:
    import requests

_EVERY_S = 1.0
_ANSWER_S = 2.0
_LONGEST_PAUSE_S = 30.0
_KEPT = 3600
"""Most samples that wait for a server; older ones are dropped."""
_TYPE = "text/plain; version=0.0.4"
_SHOWN_CHARACTERS = 200
_GATEWAY = "/metrics/job"
"""Path of a Pushgateway, which refuses times and keeps only the newest value of a series."""


class MetricsPush:
    """The metrics of a sweep, sent to a URL by POST."""

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
        """Queue the metrics of a sample to be sent soon."""
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
        """Send waiting metrics; return whether to send the next ones soon."""
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
                f"warning: --metrics-out: {format_url(self._url)}: {cause}; the run goes on",
                err=True,
            )


def format_url(url: str) -> str:
    """Return a URL without parts that may be credentials: user, password, query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def problem_with(url: str) -> str:
    """Return why nothing can be pushed to a URL; empty if it is well-formed."""
    expected = "expected a file, or a URL such as http://host:8428/api/v1/import/prometheus"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return f"{expected}, got a URL that is not well-formed"
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        return f"{expected}, got {format_url(url)}"
    if parts.username or parts.password:
        return (
            f"{format_url(url)}: others can read a password on a command line; put it into ~/.netrc"
            " (or the file that NETRC names)"
        )
    return ""
