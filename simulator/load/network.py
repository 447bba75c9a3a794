"""The network between a worker and its database, which is cut or made slow at times (--fault)."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from simulator.errors import SetupError
from simulator.modules.addresses import all_addresses, redirected, unrelayed
from simulator.modules.base import Database
from simulator.protocol.messages import MOST_NETWORK_FAULTS, Span
from simulator.protocol.spec import PlannedFault, Weather


class Network:
    """A relay that all connections of a worker pass, and when it cuts them or makes them slow.

    Without a fault there is no relay. `close` ends it.
    """

    def __init__(self, database: Database, fault: PlannedFault | None) -> None:
        """Start the relay; SetupError if the database cannot be reached through one."""
        self.database = database
        self._fault = fault = fault if fault and fault.network else None
        self._over = threading.Event()
        self._done: list[tuple[int, int]] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        if fault:
            safe = ["-P"] * sys.flags.safe_path  # a folder of the user's may have a json.py
            self._relay = subprocess.Popen(
                [sys.executable, *safe, "-m", "simulator.load.relay"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
            try:
                self.database = self._through_relay(database)
            except BaseException:
                self.close()
                raise

    def _through_relay(self, database: Database) -> Database:
        """Return the database as it is reached through the relay."""
        if reason := unrelayed(database.options):
            raise SetupError(f"--fault: {reason}")
        servers = all_addresses(database.options)
        self._write(json.dumps(servers))
        answer = _pipe(self._relay.stdout).readline()
        if not answer:
            raise SetupError(
                "--fault: the relay before the database did not start:"
                f" exit code {self._relay.wait()}"
            )
        places = dict(zip(servers, map(tuple, json.loads(answer)), strict=True))
        return type(database)(redirected(database.options, places))

    def begin(self) -> None:
        """The measured part begins now."""
        if self._fault and not self._thread.is_alive():
            self._thread.start()

    def _run(self) -> None:
        with suppress(BrokenPipeError):  # the relay is gone, and with it every connection
            self._follow()

    def _follow(self) -> None:
        """Cut the network, or make it slow, at its times."""
        fault, began_ns = self._fault, time.perf_counter_ns()
        assert fault
        assert fault.network
        for instant_s in fault.instants_s[:MOST_NETWORK_FAULTS]:
            left_s = instant_s - (time.perf_counter_ns() - began_ns) / 1e9
            if self._over.wait(max(left_s, 0.0)):
                return
            since_ns = time.perf_counter_ns()
            self._write(fault.network.model_dump_json())
            self._over.wait(fault.lasts_s)
            self._write(Weather().model_dump_json())
            self._done.append((since_ns, time.perf_counter_ns()))

    def faults(self, instant_s: Callable[[int], float]) -> tuple[Span, ...]:
        """Return when the network was cut or slow, by the collector's clock."""
        return tuple(
            Span(began_s=instant_s(began_ns), ended_s=instant_s(ended_ns))
            for began_ns, ended_ns in self._done
        )

    def watch(self, stop: Callable[[str], object]) -> None:
        """Call `stop` with the cause if the relay ends before its time."""
        if self._fault:
            threading.Thread(target=self._wait, args=(stop,), daemon=True).start()

    def _wait(self, stop: Callable[[str], object]) -> None:
        code = self._relay.wait()
        if not self._over.is_set():
            stop(f"--fault: the relay before the database is gone: exit code {code}")

    def _write(self, line: str) -> None:
        stream = _pipe(self._relay.stdin)
        stream.write(f"{line}\n".encode())
        stream.flush()

    def close(self) -> None:
        """End the relay; what it still cuts is over."""
        self._over.set()
        if self._fault:
            if self._thread.is_alive():
                self._thread.join()
            _pipe(self._relay.stdin).close()
            self._relay.wait()
            _pipe(self._relay.stdout).close()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream
    return stream
