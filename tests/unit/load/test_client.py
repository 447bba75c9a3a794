"""A worker and its collector over a real connection: one that breaks, comes late, or is refused."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from simulator.clock import OwnClock
from simulator.control.script import Script
from simulator.control.workers import coordinator
from simulator.control.workers.coordinator import Coordinator
from simulator.control.workers.endpoints import application, server_of
from simulator.control.workers.gate import Gate
from simulator.data.ranges import lane_range
from simulator.errors import RunError
from simulator.host import boot_id
from simulator.load import client as client_module
from simulator.load.client import CollectorClient
from simulator.load.faults.network import Network
from simulator.load.worker import Worker
from simulator.modules.null import Null, NullOptions
from simulator.protocol.messages import (
    MOST_ANSWERS,
    SILENCE_S,
    TOKEN_HEADER,
    Heartbeat,
    Known,
    Reply,
    digest_of,
    dump,
)
from simulator.protocol.spec import InsertTask
from tests import ROOT
from tests.pods import mount
from tests.unit.specs import dataset, run_spec

BEAT = Heartbeat(index=0, phase="insert", rows=7)
CAUSE = "stopped by SIGTERM"


# --- posts --------------------------------------------------------------------------------------


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append((self.path, self.headers[TOKEN_HEADER], json.loads(body)))
        if self.server.drops:
            self.server.drops -= 1
            self.close_connection = True
            return
        status, content = self.server.answer()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.server.halves:
            self.server.halves -= 1
            content = content[: len(content) // 2]
            self.close_connection = True
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    """A collector that says that all is well, and drops or halves some answers first."""

    daemon_threads = True

    def __init__(self, *, drops=0, halves=0, listens=True):
        super().__init__(("127.0.0.1", 0), Handler, bind_and_activate=listens)
        if not listens:
            self.server_bind()  # nobody else gets the port meanwhile
        self.heard = []
        self.drops, self.halves = drops, halves
        self.status, self.content = 200, None
        self.clock_s, self.boot_id = 0.0, boot_id()

    def answer(self):
        elsewhere = self.boot_id != boot_id()  # with a monotonic clock of its own
        now_ns = time.perf_counter_ns() + elsewhere * int(self.clock_s * 1e9)
        reply = Reply(now_s=time.time() + self.clock_s, now_ns=now_ns, boot_id=self.boot_id)
        return self.status, self.content or json.dumps(dump(reply)).encode()

    @contextmanager
    def serving(self):
        thread = threading.Thread(target=self.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            self.server_close()
            thread.join()


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    """Ask again soon."""
    monkeypatch.setattr(client_module, "HEARTBEAT_S", 0.05)


@pytest.fixture
def server():
    with Server().serving() as made:
        yield made


@pytest.fixture
def client_of():
    with ExitStack() as stack:

        def make(port, appear_s=10.0, index=0, silence_s=SILENCE_S, clock=time.monotonic):
            made = CollectorClient(
                f"http://127.0.0.1:{port}",
                "token",
                index,
                appear_s=appear_s,
                silence_s=silence_s,
                clock=clock,
            )
            stack.callback(made._session.close)
            return made

        yield make


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def test_a_message_comes_with_the_runs_token(server, client_of):
    reply = client_of(server.server_port).post("/heartbeat", BEAT)

    assert (reply.go, reply.stop) == (True, None)
    assert server.heard == [("/heartbeat", "token", dump(BEAT))]


def test_no_proxy_comes_between(server, client_of, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("no_proxy", "")

    assert client_of(server.server_port, 0.0).post("/heartbeat", BEAT).go


def test_a_collector_that_comes_late_is_waited_for(client_of):
    server = Server(listens=False)
    with ExitStack() as stack:
        came = threading.Event()

        def come():
            time.sleep(0.3)
            server.server_activate()
            stack.enter_context(server.serving())
            came.set()

        threading.Thread(target=come).start()
        reply = client_of(server.server_port).post("/heartbeat", BEAT)
        assert came.wait(10)

    assert reply.go


def test_a_message_whose_connection_breaks_is_sent_again(server, client_of):
    server.drops, server.halves = 1, 1

    assert client_of(server.server_port).post("/heartbeat", BEAT).go
    assert [body for _, _, body in server.heard] == [dump(BEAT)] * 3


def test_a_collector_that_never_comes_is_waited_for_as_long_as_it_may_take(client_of):
    began = time.monotonic()
    client = client_of(free_port(), appear_s=0.3)

    with pytest.raises(RunError, match="the collector cannot be reached: "):
        client.post("/heartbeat", BEAT)

    assert 0.3 <= time.monotonic() - began < 60


def test_a_collector_that_was_there_is_missed_sooner(client_of):
    with Server().serving() as server:
        client = client_of(server.server_port, appear_s=600.0, silence_s=0.2)
        client.post("/heartbeat", BEAT)
        client._session.close()
    began = time.monotonic()

    with pytest.raises(RunError, match="cannot be reached"):
        client.post("/heartbeat", BEAT)

    assert time.monotonic() - began < 60


def test_time_in_which_this_process_stood_still_is_no_silence(client_of):
    """Requests time out during a pause; only what the own clock counts is silence."""
    now = [0.0]
    with Server().serving() as server:
        client = client_of(server.server_port, appear_s=600.0, silence_s=0.2, clock=lambda: now[0])
        client.post("/heartbeat", BEAT)
        client._session.close()
    threading.Timer(0.6, lambda: now.__setitem__(0, 1.0)).start()
    began = time.monotonic()

    with pytest.raises(RunError, match="cannot be reached"):
        client.post("/heartbeat", BEAT)

    assert time.monotonic() - began >= 0.5


def test_a_collector_that_takes_messages_and_does_not_answer_is_silent(client_of, monkeypatch):
    monkeypatch.setattr(client_module, "_LEAST_READ_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as stopped:
        began = time.monotonic()
        client = client_of(stopped.getsockname()[1], appear_s=0.6, silence_s=0.5)

        with pytest.raises(RunError, match="cannot be reached"):
            client.post("/heartbeat", BEAT)

    assert 0.6 <= time.monotonic() - began < 60


def test_a_network_that_drops_everything_is_not_waited_for(client_of):
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        port = full.getsockname()[1]
        first = socket.create_connection(("127.0.0.1", port))  # the kernel drops further ones
        with first, pytest.raises(RunError, match="a firewall or a NetworkPolicy"):
            client_of(port, appear_s=600.0, silence_s=0.5).post("/heartbeat", BEAT)


def test_a_refusal_is_not_asked_again(server, client_of):
    server.status, server.content = 409, b"worker 0 is already registered"

    with pytest.raises(
        RunError, match="the collector refused /heartbeat: worker 0 is already registered"
    ):
        client_of(server.server_port).post("/heartbeat", BEAT)

    assert len(server.heard) == 1


@pytest.mark.parametrize("content", [b"<html>", b"{}", b"[]"])
def test_an_answer_that_is_not_of_a_collector_is_an_error(server, client_of, content):
    server.content = content

    with pytest.raises(RunError):
        client_of(server.server_port).post("/heartbeat", BEAT)


def test_a_worker_may_give_up_while_it_waits(client_of):
    client = client_of(free_port(), appear_s=600.0)
    threading.Timer(0.2, client.give_up).start()

    with pytest.raises(RunError, match="cannot be reached"):
        client.post("/heartbeat", BEAT)


def test_on_one_machine_only_what_the_time_of_day_was_at_the_start_differs(server, client_of):
    """The clock was set by 100 s between the starts of the collector and of the worker."""
    server.clock_s = 100.0
    client = client_of(server.server_port)

    client.post("/heartbeat", BEAT)

    assert client.clock_offset_s == pytest.approx(100.0, abs=1e-3)


def test_another_machines_clock_is_corrected_by_the_fastest_reply(server, client_of):
    server.boot_id, server.clock_s = "another", 100.0
    client = client_of(server.server_port)
    client.post("/heartbeat", BEAT)
    first = client.clock_offset_s
    client._best_round_trip_s = 0.0
    server.clock_s = 900.0
    client.post("/heartbeat", BEAT)

    assert first == pytest.approx(100.0, abs=0.5)
    assert client.clock_offset_s == first


def test_ticks_of_another_machine_are_within_what_is_unsure(server, client_of):
    client = client_of(server.server_port)
    client.post("/heartbeat", BEAT)
    same = client.ticks
    server.boot_id, server.clock_s = "another", 100.0
    client.post("/heartbeat", BEAT)
    first = client.ticks
    time.sleep(0.01)
    later = client.ticks

    assert (same.offset_ns, same.unsure_ns) == (0, 0)
    assert abs(first.offset_ns - 100 * 10**9) <= first.unsure_ns < 10**9
    assert later.offset_ns == first.offset_ns
    assert later.unsure_ns > first.unsure_ns


# --- answers ------------------------------------------------------------------------------------


class Comparing(Server):
    """A collector that has every third instance's answer."""

    def answer(self):
        *_, (_, _, body) = self.heard
        known = tuple(not each["instance"] % 3 for each in body["answers"])
        return 200, Known(known=known).model_dump_json().encode()


def test_many_answers_are_two_messages_and_known_ones_are_not_sent(client_of):
    answers = {(n, digest_of(((n,),))): ((n,),) for n in range(MOST_ANSWERS)}
    with Comparing(drops=1).serving() as server:
        client_of(server.server_port).answers("q", answers)

    (asked, _, first), (again, _, repeated), (sent, _, body) = server.heard
    assert (asked, again, sent) == ("/answers/known", "/answers/known", "/answers")
    assert first == repeated
    assert [each["instance"] for each in first["answers"]] == [*range(MOST_ANSWERS)]
    assert [(each["instance"], each["rows"]) for each in body["answers"]] == [
        (n, [[n]]) for n in range(MOST_ANSWERS) if n % 3
    ]


def test_large_answers_are_sent_one_by_one(client_of, monkeypatch):
    monkeypatch.setattr(client_module, "_TOGETHER_BYTES", 100)
    rows = {n: (("x" * n,),) for n in (20, 40, 200, 10, 1)}
    with Comparing().serving() as server:
        client_of(server.server_port).answers(
            "q", {(n, digest_of(each)): each for n, each in rows.items()}
        )

    sent = [[each["instance"] for each in body["answers"]] for _, _, body in server.heard[1:]]
    assert sent == [[20, 40], [200], [10, 1]]


# --- a worker and its collector -----------------------------------------------------------------


def spec_of(workers, rows_per_s=0.0):
    plans = tuple(
        InsertTask(timed=(lane_range(i, 0, 1_000_000),), prefill=(lane_range(i, 0, 1000),))
        for i in range(workers)
    )
    return run_spec(
        dataset=dataset(parts=workers),
        workers=plans,
        mode="batch",
        batch_rows=100,
        rows_per_s=rows_per_s,
    )


class Served:
    """A coordinator behind a real server, with its tables ready."""

    def __init__(self, workers):
        self.run = Coordinator(workers)
        gate = Gate(self.run, Script.of(spec_of(workers), Null(NullOptions())))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self._server = server_of(application(gate, "token"), workers)
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self):
        async def serve():
            self.run.tables_ready.set()
            await self._server.serve(sockets=[self.listener])

        asyncio.run(serve())

    def close(self):
        self._server.should_exit = self._server.force_exit = True
        self._thread.join()
        self.listener.close()

    def waited_for(self, condition):
        deadline = time.monotonic() + 20
        while not condition(self.run):
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.fixture
def served(monkeypatch):
    monkeypatch.setattr(coordinator, "hold_s", lambda _: 0.1)
    with ExitStack() as stack:

        def make(workers):
            made = Served(workers)
            stack.callback(made.close)
            return made

        yield make


def a_worker(client_of, port, spec, index=0, appear_s=10.0):
    client = client_of(port, appear_s, index)
    return Worker(spec, client, index, OwnClock(), Network(Null(NullOptions()), None))


def running(made, answers):
    thread = threading.Thread(target=lambda: answers.append(made.run()))
    thread.start()
    return thread


def is_inserting(run):
    return 0 in run.beats and run.beats[0].phase == "insert" and run.beats[0].rows


def test_a_worker_that_is_stopped_at_the_barrier_reports_why(served, client_of):
    collector, answers = served(2), []
    made = a_worker(client_of, collector.port, spec_of(2))
    thread = running(made, answers)
    collector.waited_for(lambda run: run.count_waiting("insert") == 1)

    made.stop(CAUSE)
    thread.join(10)

    assert answers == [False]
    assert collector.run.reports[0].error == CAUSE
    assert collector.run.reports[0].rows == 0


def test_a_worker_that_is_stopped_and_whose_collector_is_gone_ends_soon(served, client_of):
    collector, messages = served(1), []

    def run():
        try:
            made.run()
        except RunError as error:
            messages.append(str(error))

    made = a_worker(client_of, collector.port, spec_of(1, rows_per_s=10_000))
    thread = threading.Thread(target=run)
    thread.start()
    collector.waited_for(is_inserting)
    collector.close()

    made.stop(CAUSE)
    began = time.monotonic()
    thread.join(10)

    assert time.monotonic() - began < 60
    assert messages
    assert "cannot be reached" in messages[0]


@pytest.fixture
def process_of(tmp_path):
    """A worker as it runs in a pod."""
    with ExitStack() as stack:

        def start(port, spec):
            words = [
                *mount(tmp_path, spec.model_dump_json()),
                f"--collector=http://127.0.0.1:{port}",
                "--index=0",
            ]
            process = subprocess.Popen(
                [sys.executable, "-m", "simulator", "worker", *words],
                stderr=subprocess.PIPE,
                text=True,
                cwd=ROOT,
                env={**os.environ, "NODE_NAME": "node7"},
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield start


def test_sigterm_ends_a_workers_process_with_its_report(served, process_of):
    collector = served(1)
    process = process_of(collector.port, spec_of(1, rows_per_s=10_000))
    collector.waited_for(is_inserting)

    process.send_signal(signal.SIGTERM)

    assert process.wait(10) == 1
    report = collector.run.reports[0]
    assert report.error.startswith("stopped by SIGTERM: its pod was deleted or evicted")
    assert report.rows > 0
    assert report.node == "node7"
    assert process.stderr.read() == ""


def test_sigterm_ends_a_workers_process_that_waits_for_its_collector(process_of):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = process_of(listener.getsockname()[1], spec_of(1))
        listener.settimeout(20)
        listener.accept()[0].close()

    process.send_signal(signal.SIGTERM)

    assert process.wait(10) == 1
    assert "the collector cannot be reached" in process.stderr.read()
