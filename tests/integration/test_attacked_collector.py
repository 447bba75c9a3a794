"""A real collector whose port is attacked with and without the token of the run."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from simulator import __version__
from simulator.protocol.events import Outcome, parse_event
from tests import ROOT
from tests.pods import mount
from tests.unit.specs import run_spec

UID = "0123456789abcdef" * 2
PART = b" " * 65536
MOST_GROWTH_BYTES = 20 << 20
SLOW = 200
SPEC = run_spec(
    workers=[{"task": "insert", "timed": [{"start": 0, "stop": 20_000}]}],
    mode="batch",
    batch_rows=1000,
    verify="none",
).model_dump(mode="json")


class Collector:
    """A collector process, and the means to attack it."""

    def __init__(self, folder: Path, stack: ExitStack, spec: dict[str, Any] = SPEC) -> None:
        self._options = mount(folder, json.dumps(spec))
        self._stack = stack
        self.errors = folder / "errors"
        with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
            self.port = listener.getsockname()[1]
            self.process = self._start(
                ["collector", f"--fd={listener.fileno()}"], listener.fileno()
            )
        self.token = (folder / "secrets" / "token").read_text()

    def _start(self, role: list[str], keep_fd: int | None = None) -> subprocess.Popen[str]:
        with self.errors.open("a") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "simulator", *role, *self._options],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=ROOT,
                pass_fds=() if keep_fd is None else (keep_fd,),
            )
        self._stack.enter_context(process)
        self._stack.callback(process.kill)
        return process

    @property
    def memory_bytes(self) -> int:
        return int(psutil.Process(self.process.pid).memory_info().rss)

    def connect(self) -> socket.socket:
        made = self._stack.enter_context(socket.create_connection(("127.0.0.1", self.port)))
        made.settimeout(20)
        return made

    def head(self, path: str, *, token: str | None = None, more: str = "") -> bytes:
        """The head of a POST, by default with the token."""
        lines = [
            f"POST {path} HTTP/1.1",
            "Host: collector",
            f"X-Run-Token: {self.token if token is None else token}",
            f"X-Worker-Uid: {UID}",
        ]
        return ("\r\n".join([*lines, *more.splitlines()]) + "\r\n\r\n").encode()

    def post(self, path: str, body: bytes = b"{}", token: str | None = None) -> int:
        """Post a body on a connection of its own; return the status."""
        made = self.connect()
        made.sendall(self.head(path, token=token, more=f"Content-Length: {len(body)}") + body)
        return status_of(made)

    def post_large(self, path: str, size_bytes: int, *, chunked: bool = False) -> int:
        """Post a body that is too large; return the status."""
        made = self.connect()
        length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {size_bytes}"
        made.sendall(self.head(path, more=length))
        for _ in range(size_bytes // len(PART)):
            made.sendall(b"%x\r\n%s\r\n" % (len(PART), PART) if chunked else PART)
        if chunked:
            made.sendall(b"0\r\n\r\n")
        return status_of(made)

    def finish(self) -> Outcome:
        """Run the worker; return the outcome of the run."""
        self._start(["worker", f"--collector=http://127.0.0.1:{self.port}", "--index=0"])
        return self.outcome()

    def outcome(self) -> Outcome:
        """Wait for the outcome of the run."""
        assert self.process.stdout
        *_, last = (parse_event(line)[1] for line in self.process.stdout)
        assert isinstance(last, Outcome)
        return last


def status_of(made: socket.socket) -> int:
    line = b""
    while b"\r\n" not in line:
        part = made.recv(4096)
        if not part:
            return 0
        line += part
    return int(line.split()[1])


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    with ExitStack() as stack:
        made = Collector(tmp_path, stack)
        for _ in range(20):  # everything is loaded
            assert made.post("/heartbeat") == 400
        yield made


def is_as_before(collector: Collector, before_bytes: int) -> None:
    """The collector has kept nothing, and the run succeeds."""
    assert collector.memory_bytes - before_bytes < MOST_GROWTH_BYTES
    outcome = collector.finish()
    assert (outcome.status, outcome.reports) == ("done", 1)
    assert collector.errors.read_text() == ""


def test_large_bodies_are_dropped(collector: Collector) -> None:
    before = collector.memory_bytes

    assert collector.post_large("/report", 300 << 20) == 413
    assert collector.post_large("/answers", 300 << 20, chunked=True) == 413
    is_as_before(collector, before)


def test_a_large_body_without_the_token_is_dropped_or_cut_off(collector: Collector) -> None:
    before = collector.memory_bytes
    collector.token = "wrong"

    with suppress(ConnectionError):  # it may not take longer than a few seconds
        assert collector.post_large("/report", 200 << 20) == 403
    is_as_before(collector, before)


def test_slow_connections_do_not_stop_the_run(collector: Collector) -> None:
    before = collector.memory_bytes
    for number in range(SLOW):
        made = collector.connect()
        head = collector.head("/report", token="" if number % 2 else None, more="Content-Length: 9")
        made.sendall(head[: None if number % 4 > 1 else -10] + b"{" * (number % 4 > 1))

    is_as_before(collector, before)


def test_endless_headers_are_refused(collector: Collector) -> None:
    before = collector.memory_bytes
    made = collector.connect()
    made.sendall(b"POST /report HTTP/1.1\r\n")
    sent = 0
    with suppress(ConnectionError):
        while sent < 64 << 20:
            made.sendall(b"X-Header: %s\r\n" % (b"x" * 1000))
            sent += 1000

    assert sent < 64 << 20
    is_as_before(collector, before)


def test_pipelined_garbage_ends_its_connection_only(collector: Collector) -> None:
    before = collector.memory_bytes
    beat = json.dumps({"index": 0, "phase": "start"}).encode()
    right = collector.head("/heartbeat", more=f"Content-Length: {len(beat)}") + beat
    for rest in (right * 1000, b"\x00\xff" * 1000, b"GET / HTTP/1.1\r\n" * 1000, right[:-1] * 500):
        made = collector.connect()
        with suppress(ConnectionError):
            made.sendall(right + rest)
            assert status_of(made) == 409

    is_as_before(collector, before)


def test_memory_does_not_grow_with_messages_that_take_much_to_parse(collector: Collector) -> None:
    mib = 1 << 20
    expensive = [
        (b"[" * mib, 400),
        (b'{"index":0,"rows_by_second":[%s1]}' % (b"[]," * (mib // 3 - 20)), 400),
        (b'{"index":0,"rows_by_second":[%s1]}' % (b"1," * (mib // 2 - 20)), 409),
        (b'{"index":0,"error":"%s"}' % (b"\\u0000" * (mib // 6 - 20)), 409),
        (b"{%s}" % b",".join(b'"%d":1' % number for number in range(90_000)), 400),
    ]
    first = collector.memory_bytes
    for body, status in expensive:
        assert collector.post("/report", body) == status
    before = collector.memory_bytes
    for body, status in expensive * 4:
        assert collector.post("/report", body) == status

    assert before - first < 4 * MOST_GROWTH_BYTES
    is_as_before(collector, before)


def test_a_worker_that_brings_back_nonsense_changes_nothing(tmp_path: Path) -> None:
    held = SPEC["dataset"] | {"ranges": [{"start": 1 << 40, "stop": (1 << 40) + 120_000_000}]}
    messages = [
        ("/register", {"index": 0, "version": __version__}, 200),
        ("/barrier", {"index": 0, "barrier": "insert"}, 200),
        ("/report", {"index": 0, "rows": 20_000}, 200),
        ("/fold", {"index": 0}, 200),
        ("/fold", {"index": 0, "folded": {"number": 77, "content": ""}}, 409),
        ("/fold", {"index": 0, "folded": {"number": 0, "content": "e30K" * (1 << 20)}}, 409),
        ("/fold", {"index": 0, "folded": {"number": 0, "content": "A" * (7 << 20)}}, 400),
    ]
    with ExitStack() as stack:
        made = Collector(tmp_path, stack, SPEC | {"verify": "counts", "dataset": held})
        for path, message, status in messages:
            assert made.post(path, json.dumps(message).encode()) == status, message
        outcome = made.outcome()

        assert (outcome.status, outcome.reports, made.errors.read_text()) == ("done", 1, "")
