"""Sends the metrics of sweeps to a server, once a second, from a separate thread."""

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from iotbench.machine.streams import say
from iotbench.output.live.samples import SeriesValue
from simulator.redaction import hide_urls

if TYPE_CHECKING:
    import requests

OTLP = "otlp"
"""Prefix of the place of an OTLP receiver."""
ANSWER_S = 2.0
_EVERY_S = 1.0
_LONGEST_PAUSE_S = 30.0
_TYPE = "text/plain; version=0.0.4"
_SHOWN_CHARACTERS = 200
_GATEWAY = "/metrics/job"
"""Path of a Pushgateway, which rejects timestamps and keeps one value of each series."""


class MetricsSender(ABC):
    """Sends values to a server in the server's format."""

    url: str
    kept = 3600
    """Maximum number of samples that wait for the server; older samples are dropped."""

    @abstractmethod
    def send(self, values: Sequence[SeriesValue]) -> "requests.Response":
        """Send values; OSError or ValueError without an answer."""

    def find_rejected(self, answer: "requests.Response") -> str:
        """Return what a server that accepted the request did not store; empty if it stored all."""
        return ""

    def redact(self, text: str) -> str:
        """Return a text of the server without credentials."""
        return text


class TextMetricsSender(MetricsSender):
    """Sends values in the text format of Prometheus."""

    def __init__(self, url: str) -> None:
        import requests  # noqa: PLC0415 - only a push needs it, and it is slow to load

        self.url = url
        self._is_gateway = _GATEWAY in urlsplit(url).path
        self.kept = 1 if self._is_gateway else self.kept
        self._session = requests.Session()

    def send(self, values: Sequence[SeriesValue]) -> "requests.Response":
        body = "".join(f"{each.now if self._is_gateway else each}\n" for each in values)
        return self._session.post(
            self.url, body.encode(), headers={"Content-Type": _TYPE}, timeout=ANSWER_S,
            allow_redirects=False,
        )  # fmt: skip


class MetricsPush:
    """Sends samples to a server until the sweeps end.

    If the server does not answer, one warning is printed, and the samples are sent later.
    """

    def __init__(self, sender: MetricsSender) -> None:
        self._sender = sender
        self._waiting: deque[Sequence[SeriesValue]] = deque(maxlen=sender.kept)
        self._over = threading.Event()
        self._warned = False
        self._refused = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def add(self, values: Sequence[SeriesValue]) -> None:
        """Queue the values of a sample."""
        if values:
            self._waiting.append(values)

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(2 * ANSWER_S)
        if self._waiting and not self._refused:
            self._say(f"the last {len(self._waiting)} samples were not sent")

    def _run(self) -> None:
        pause_s = _EVERY_S
        while not self._over.wait(pause_s):
            sent = self._push()
            pause_s = _EVERY_S if sent else min(2 * pause_s, _LONGEST_PAUSE_S)
        self._push()

    def _push(self) -> bool:
        """Send waiting samples; return False if the next attempt should wait longer."""
        batch = list(self._waiting)
        if not batch or self._refused:
            return True
        try:
            answer = self._sender.send([value for sample in batch for value in sample])
        except (OSError, ValueError) as error:
            self._warn(f"no answer ({type(error).__name__})")
            return False
        code = answer.status_code
        if code >= HTTPStatus.INTERNAL_SERVER_ERROR or code == HTTPStatus.TOO_MANY_REQUESTS:
            self._warn(f"status {code}")
            return False
        if code >= HTTPStatus.MULTIPLE_CHOICES:
            self._refused = True
            self._warn(f"refused with status {code}: {self._shorten(answer.text)}")
            return True
        if rejected := self._sender.find_rejected(answer):
            self._warn(self._shorten(rejected))
        sent = {id(sample) for sample in batch}
        while self._waiting and id(self._waiting[0]) in sent:  # newer samples stay
            self._waiting.popleft()
        return True

    def _shorten(self, text: str) -> str:
        return " ".join(self._sender.redact(text)[:_SHOWN_CHARACTERS].split())

    def _warn(self, cause: str) -> None:
        if not self._warned:
            self._warned = True
            self._say(f"{cause}; the run goes on")

    def _say(self, text: str) -> None:
        say(f"warning: --metrics-out: {hide_urls(self._sender.url)}: {text}", err=True)


def url_problem(url: str, expected: str, *, may_hold_password: bool = False) -> str:
    """Return why nothing can be sent to a URL; empty if it can."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return f"expected {expected}, got a URL that is not well-formed"
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        return f"expected {expected}, got {hide_urls(url)}"
    if (parts.username or parts.password) and not may_hold_password:
        return (
            f"{hide_urls(url)}: others can read a password on a command line; put it into ~/.netrc"
            " (or the file that NETRC names)"
        )
    return ""
