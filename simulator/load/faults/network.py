"""Cuts or slows down the network between a worker and its database at given times (--fault)."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO

from simulator.errors import SetupError
from simulator.load.faults.outages import FaultSpells
from simulator.modules.contract import Address, Database, all_addresses, explain_unrelayed, redirect
from simulator.protocol.spec import PlannedFault, Weather


class Network:
    """A relay that cuts or slows down all connections of a worker at given times.

    Without a fault there is no relay. `close` ends the relay.
    """

    def __init__(self, database: Database, fault: PlannedFault | None) -> None:
        """Start the relay; SetupError if the database cannot be reached through a relay."""
        self.database = self._direct = database
        self._places: dict[Address, Address] = {}
        """Server -> address at which the relay accepts connections to the server."""
        self.spells: FaultSpells | None = None
        """Cuts or delays the network at the times of the fault."""
        if fault and (weather := fault.network):
            self.spells = FaultSpells(
                fault, lambda: self._write(weather), lambda: self._write(Weather())
            )
            safe = ["-P"] * sys.flags.safe_path  # a folder of the user's may have a json.py
            self._relay = subprocess.Popen(
                [sys.executable, *safe, "-m", "simulator.load.faults.relay"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
            try:
                self.database = self._redirect(database)
            except BaseException:
                self.close()
                raise

    def _redirect(self, database: Database) -> Database:
        if reason := explain_unrelayed(database.options):
            raise SetupError(f"--fault: {reason}")
        servers = all_addresses(database.options)
        self._write_line(json.dumps(servers))
        answer = _pipe(self._relay.stdout).readline()
        if not answer:
            raise SetupError(
                "--fault: the relay before the database did not start:"
                f" exit code {self._relay.wait()}"
            )
        self._places = dict(zip(servers, map(tuple, json.loads(answer)), strict=True))
        return type(database)(redirect(database.options, self._places))

    def renew(self) -> None:
        """Use rotated credentials; the relay's address replaces an address among them."""
        options = self._direct.options
        if self.spells and {*all_addresses(options)} <= {*self._places}:
            self.database.options = redirect(options, self._places)

    def watch(self, stop: Callable[[str], object]) -> None:
        """Call `stop` with the cause if the relay ends too early."""
        if self.spells:
            threading.Thread(target=self._wait, args=(self.spells, stop), daemon=True).start()

    def _wait(self, spells: FaultSpells, stop: Callable[[str], object]) -> None:
        code = self._relay.wait()
        if not spells.over.is_set():
            stop(f"--fault: the relay before the database is gone: exit code {code}")

    def _write(self, weather: Weather) -> None:
        """Change the weather, and wait until the change takes effect."""
        self._write_line(weather.model_dump_json())
        if not _pipe(self._relay.stdout).readline():
            raise BrokenPipeError

    def _write_line(self, line: str) -> None:
        stream = _pipe(self._relay.stdin)
        stream.write(f"{line}\n".encode())
        stream.flush()

    def close(self) -> None:
        """End the relay, and a fault that still lasts."""
        if self.spells:
            self.spells.close()
            _pipe(self._relay.stdin).close()
            self._relay.wait()
            _pipe(self._relay.stdout).close()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream
    return stream
