"""The worker's side of the protocol: posts messages to the collector until they arrive."""

import json
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import requests
from requests.exceptions import ChunkedEncodingError

from simulator.clock import ahead_s, now_s
from simulator.errors import RunError
from simulator.host import boot_id
from simulator.protocol.arrivals import ArrivalPart, Ticks
from simulator.protocol.folding import Folded, FoldReply, FoldRequest
from simulator.protocol.messages import (
    HEARTBEAT_S,
    HOLD_S,
    NO_COLLECTOR,
    TOKEN_HEADER,
    UID_HEADER,
    AnswerKey,
    AnswerQuestion,
    AnswerRows,
    AnswerWithRows,
    Message,
    Reply,
    Scalar,
    dump,
)

AnswerName: TypeAlias = tuple[int, str]
"""Instance and digest."""
Rows: TypeAlias = tuple[tuple[Scalar, ...], ...]

_CONNECT_S = 1.0
_LEAST_READ_S = 2.0
_TOGETHER_BYTES = 1 << 18
"""Maximum size of a message with several answers, measured by the rows in JSON alone."""
_DRIFT = 1e-4
"""Maximum rate at which the clocks of two machines may drift apart."""
_CUT_OFF = 0.8
"""Share of `silence_s` after which a worker counts as cut off, to leave time for the report."""


class CollectorClient:
    """The worker's side of the protocol."""

    def __init__(  # noqa: PLR0913
        self,
        url: str,
        token: str,
        index: int,
        *,
        appear_s: float,
        silence_s: float,
        hold_s: float = HOLD_S,
        clock: Callable[[], float],
    ) -> None:
        """Store how long, on this clock, the collector may take to appear and may be silent.

        `hold_s` is the time for which the collector holds requests.
        """
        self._url = url
        self._index = index
        self._patience_s = appear_s
        self._silence_s = silence_s
        self._read_s = hold_s + silence_s / 5
        self._clock = clock
        self._heard_s = clock()
        self._repeats = True
        self._session = requests.Session()
        self._session.headers[TOKEN_HEADER] = token
        self._session.headers[UID_HEADER] = uuid.uuid4().hex
        self._session.trust_env = False  # no proxy between worker and collector
        self.clock_offset_s = 0.0
        self._offset_ns = self._corrected_ns = 0
        self._best_round_trip_s = float("inf")

    def post(self, path: str, message: Message) -> Reply:
        """Send a message and return the reply; RunError if the collector cannot be reached."""
        sent = now_s()
        body = self._post(path, dump(message))
        try:
            reply = Reply.model_validate(body)
        except ValueError as error:
            raise RunError(
                f"the server at {self._url} is not a collector: {body!r:.200}"
            ) from error
        self._correct_clock(reply, sent, now_s())
        # The collector exists: from now on, wait no longer than for a silent one.
        self._patience_s = min(self._patience_s, self._silence_s)
        return reply

    def fold_task(self, folded: Folded | None) -> FoldReply:
        """Send the fold of a task to the collector, and ask for the next task."""
        message = FoldRequest(index=self._index, folded=folded)
        return FoldReply.model_validate(self._post("/fold", dump(message), self._silence_s))

    def repeat_nothing(self) -> None:
        """Raise an error as soon as the collector cannot be reached."""
        self._repeats = False

    def give_up(self) -> None:
        """Stop waiting for a collector that cannot be reached."""
        self._patience_s = 0.0

    def answers(self, query: str, found: Mapping[AnswerName, Rows]) -> None:
        """Send answers to the collector, except answers that the collector already has.

        A message holds several small answers, or one large answer.
        """
        keys = [AnswerKey(instance=instance, digest=digest) for instance, digest in found]
        question = AnswerQuestion(index=self._index, query=query, answers=tuple(keys))
        known = self._post("/answers/known", dump(question))["known"]
        waiting: list[AnswerWithRows] = []
        size_bytes = 0
        for key, is_known in zip(keys, known, strict=True):
            if is_known:
                continue
            rows = found[key.instance, key.digest]
            own_bytes = len(json.dumps(rows))
            if waiting and size_bytes + own_bytes > _TOGETHER_BYTES:
                self._post_answers(query, waiting)
                waiting, size_bytes = [], 0
            waiting.append(AnswerWithRows(instance=key.instance, digest=key.digest, rows=rows))
            size_bytes += own_bytes
        if waiting:
            self._post_answers(query, waiting)

    def report_parts(self, path: str, parts: Iterable[ArrivalPart]) -> None:
        """Post the parts of a report."""
        for part in parts:
            self._post(path, dump(part), self._silence_s)

    def _post_answers(self, query: str, answers: Sequence[AnswerWithRows]) -> None:
        message = AnswerRows(index=self._index, query=query, answers=tuple(answers))
        self._post("/answers", dump(message), self._silence_s)

    def _post(self, path: str, body: dict[str, Any], read_s: float = 0.0) -> Any:
        """Post a message, and retry for a while; the message may therefore arrive twice.

        On a cluster, a worker may start before the collector or before the collector's name
        resolves; the network may fail briefly; a killed collector may leave half an answer.
        """
        unanswered_s = None
        while True:
            began_s = self._clock()
            left_s = max(self._heard_s + self._patience_s - self._clock(), _LEAST_READ_S)
            try:
                response = self._session.post(
                    self._url + path,
                    json=body,
                    timeout=(_CONNECT_S, min(read_s or self._read_s, left_s)),
                )
            except (requests.ConnectionError, requests.Timeout, ChunkedEncodingError) as error:
                if not self._repeats or self._clock() - self._heard_s >= self._patience_s:
                    raise RunError(f"{NO_COLLECTOR}: {error}") from error
                timed_out = isinstance(error, requests.Timeout)
                unanswered_s = (unanswered_s or began_s) if timed_out else None
                if unanswered_s and isinstance(error, requests.ConnectTimeout):
                    self._raise_if_cut_off(unanswered_s)
                time.sleep(HEARTBEAT_S / 2)  # the collector may be away for a moment
            except requests.RequestException as error:
                raise RunError(f"the collector does not answer: {error}") from error
            else:
                self._heard_s = self._clock()
                break
        if response.status_code != requests.codes.ok:
            raise RunError(f"the collector refused {path}: {response.text}")
        try:
            return response.json()
        except ValueError as error:
            cause = f"the server at {self._url} is not a collector: {response.text[:200]!r}"
            raise RunError(cause) from error

    def _raise_if_cut_off(self, since_s: float) -> None:
        """Raise RunError if connection attempts have had no answer at all for too long.

        Before a collector starts, its machine refuses connections, or its name does not resolve.
        """
        if self._clock() - since_s >= _CUT_OFF * self._silence_s:
            raise RunError(
                f"{NO_COLLECTOR}: connections to {self._url} are not answered;"
                " a firewall or a NetworkPolicy may drop them"
            )

    def _correct_clock(self, reply: Reply, sent_s: float, received_s: float) -> None:
        """Store the clock offset of the fastest round trip; on one machine, the offset is exact.

        Processes of one machine share a monotonic clock, and read the time of day only once.
        """
        if reply.boot_id == boot_id():
            self.clock_offset_s = reply.now_s - reply.now_ns / 1e9 - ahead_s()
            return
        round_trip = received_s - sent_s
        if round_trip < self._best_round_trip_s:
            self._best_round_trip_s = round_trip
            self.clock_offset_s = reply.now_s - (sent_s + received_s) / 2
            self._corrected_ns = time.perf_counter_ns()
            self._offset_ns = reply.now_ns - self._corrected_ns + int(round_trip * 5e8)

    @property
    def ticks(self) -> Ticks:
        """Return the offset of this machine's monotonic clock from the collector's, with drift."""
        if not self._corrected_ns:
            return Ticks()
        age_ns = time.perf_counter_ns() - self._corrected_ns
        unsure_ns = int(self._best_round_trip_s * 5e8 + age_ns * _DRIFT)
        return Ticks(offset_ns=self._offset_ns, unsure_ns=unsure_ns)
