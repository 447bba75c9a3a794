"""Worlds: a database for one cell, how the benchmark reaches it, and how it can be disturbed."""

import contextlib
import signal
import socket
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg2
import requests

from tests.faults.processes import send
from tests.faults.proxy import Proxy
from tests.servers import Server
from tests.servers.influxdb import ORG, InfluxDb
from tests.servers.postgres import ADMIN, Postgres

Listen = Callable[[int], socket.socket]
NEIGHBOUR = "events2"
"""A table of the user's, which an insert with `--tables multiple` would need."""
_SLOW_S = 0.03


@dataclass(frozen=True)
class Counts:
    """How many rows are stored, and how many are distinct; None: there is no table."""

    rows: int | None
    distinct: int | None


class World(ABC):
    """A database, empty at first."""

    module: str
    secret = ""
    """The credential, which must appear nowhere."""

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """Return the target's options; the credential is ${FAULTS_SECRET}."""

    @abstractmethod
    def counts(self) -> Counts:
        """Count the stored rows, not through the benchmark."""

    @abstractmethod
    def neighbour(self) -> str:
        """Return what the user has stored beside, under a name that another insert would need.

        It is stored when it is first asked for.
        """

    @abstractmethod
    def slow(self) -> None:
        """Make the database slow, until `release`."""

    @abstractmethod
    def hold(self, *, reads: bool = False) -> None:
        """Let the database not answer, until `release`; SQLite answers reads unless `reads`."""

    @abstractmethod
    def release(self) -> None:
        """Let it answer again, at full speed."""

    def heal(self) -> None:
        """Undo a fault: a server that was killed runs again."""
        self.release()

    def used_by(self) -> str:
        """Return what still uses the database, or nothing."""
        return ""


class Sqlite(World):
    """A file. Another process, as it seems, writes to it now and then."""

    module = "sqlite"

    def __init__(self, folder: Path) -> None:
        self._path = folder / "bench.db"
        self._duty: tuple[float, float] | None = None
        self._excludes = False
        self._changed = threading.Event()
        self._neighbour: threading.Thread | None = None

    def options(self) -> dict[str, Any]:
        return {"path": str(self._path)}

    def counts(self) -> Counts:
        if not self._path.exists():
            return Counts(None, None)
        with contextlib.closing(sqlite3.connect(self._path, timeout=10)) as connection:
            try:
                ((rows,),) = connection.execute("SELECT count(*) FROM events")
                keys = "SELECT DISTINCT device_id, timestamp FROM events"
                ((distinct,),) = connection.execute(f"SELECT count(*) FROM ({keys})")
            except sqlite3.OperationalError as error:
                if "no such table" in str(error):
                    return Counts(None, None)
                raise
            return Counts(rows, distinct)

    def neighbour(self) -> str:
        with contextlib.closing(sqlite3.connect(self._path, timeout=30)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            try:
                return repr(connection.execute(f"SELECT * FROM {NEIGHBOUR}").fetchall())
            except sqlite3.OperationalError:
                connection.execute(f"CREATE TABLE {NEIGHBOUR} AS SELECT 7 AS mine")
                return repr(connection.execute(f"SELECT * FROM {NEIGHBOUR}").fetchall())

    def used_by(self) -> str:
        if not self._path.exists():
            return ""
        with contextlib.closing(sqlite3.connect(self._path, timeout=5)) as connection:
            try:
                connection.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                return f"the SQLite file: {error}"
        return ""

    def slow(self) -> None:
        self._occupy(0.05, 0.03)

    def hold(self, *, reads: bool = False) -> None:
        self._excludes = reads
        self._occupy(0.05, 0.0)

    def release(self) -> None:
        self._duty = None
        self._changed.set()
        if self._neighbour:
            self._neighbour.join()
        self._neighbour = None

    def _occupy(self, locked_s: float, free_s: float) -> None:
        self._duty = locked_s, free_s
        if self._neighbour is None:
            self._changed.clear()
            ready = threading.Event()
            self._neighbour = threading.Thread(target=self._lock, args=(ready,), daemon=True)
            self._neighbour.start()
            ready.wait(5)

    def _lock(self, ready: threading.Event) -> None:
        connection = sqlite3.connect(self._path, timeout=30, isolation_level=None)
        try:
            if self._excludes:
                connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA journal_mode = WAL")
            while duty := self._duty:
                locked_s, free_s = duty
                connection.execute("BEGIN IMMEDIATE")
                ready.set()
                while self._duty and not self._duty[1]:
                    self._changed.wait(0.05)
                self._changed.wait(locked_s)
                connection.execute("ROLLBACK")
                self._changed.wait(free_s)
        finally:
            ready.set()
            connection.close()


class Served(World):
    """A database of a real server, reached through a proxy."""

    def __init__(self, server: Server, database: str, listen: Listen) -> None:
        self.server, self._database = server, database
        self.proxy = Proxy(server.port(), listen)

    def slow(self) -> None:
        self.proxy.delay_s = _SLOW_S

    def hold(self, *, reads: bool = False) -> None:
        self.proxy.hold()

    def release(self) -> None:
        self.proxy.release()

    def heal(self) -> None:
        send(self.processes(), signal.SIGCONT)
        self.proxy.drop()
        self.proxy.release()
        self.server.start()
        self.proxy.accept_again()

    def processes(self) -> list[psutil.Process]:
        """Return the server's processes."""
        return self.server.processes()

    def used_by(self) -> str:
        open_now = self.proxy.connections
        return f"{open_now} connections to the database" if open_now else ""


class PostgresWorld(Served):
    """A database of a PostgreSQL server."""

    module = "postgres"

    def __init__(self, server: Postgres, database: str, listen: Listen) -> None:
        super().__init__(server, database, listen)
        self.secret = server.password

    def options(self) -> dict[str, Any]:
        where = f"host=127.0.0.1 port={self.proxy.port} dbname={self._database} user={ADMIN}"
        return {"connection_string": where, "password": "${FAULTS_SECRET}"}

    def counts(self) -> Counts:
        assert isinstance(self.server, Postgres)
        where = self.server.connection_string(self._database)
        connection = psycopg2.connect(where, password=self.secret, connect_timeout=10)
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT to_regclass('events')")
                if cursor.fetchone() == (None,):
                    return Counts(None, None)
                keys = "SELECT DISTINCT device_id, timestamp FROM events"
                cursor.execute(f"SELECT (SELECT count(*) FROM events), count(*) FROM ({keys}) AS k")
                rows, distinct = cursor.fetchall()[0]
                return Counts(rows, distinct)
        finally:
            connection.close()

    def neighbour(self) -> str:
        assert isinstance(self.server, Postgres)
        where = self.server.connection_string(self._database)
        connection = psycopg2.connect(where, password=self.secret, connect_timeout=10)
        connection.autocommit = True
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT to_regclass(%s)", (NEIGHBOUR,))
                if cursor.fetchone() == (None,):
                    cursor.execute(f"CREATE TABLE {NEIGHBOUR} AS SELECT 7 AS mine")
                cursor.execute(f"SELECT *, '{NEIGHBOUR}'::regclass::oid FROM {NEIGHBOUR}")
                return repr(cursor.fetchall())
        finally:
            connection.close()


class InfluxWorld(Served):
    """A bucket of an InfluxDB server."""

    module = "influxdb"

    def __init__(self, server: InfluxDb, database: str, listen: Listen) -> None:
        super().__init__(server, database, listen)
        self.secret = server.token

    def options(self) -> dict[str, Any]:
        return {
            "url": f"http://127.0.0.1:{self.proxy.port}",
            "org": ORG,
            "token": "${FAULTS_SECRET}",
            "prefix": f"{self._database}_",
        }

    def counts(self) -> Counts:
        assert isinstance(self.server, InfluxDb)
        asked = (
            f'from(bucket: "{self._database}_events") |> range(start: 1970-01-01T00:00:00Z, '
            "stop: 2200-01-01T00:00:00Z) "
            '|> filter(fn: (r) => r._field == "temperature") |> group() |> count()'
        )
        answer = requests.post(
            f"{self.server.url}/api/v2/query?org={ORG}",
            data=asked,
            headers={
                "Authorization": f"Token {self.secret}",
                "Content-Type": "application/vnd.flux",
                "Accept": "application/csv",
            },
            timeout=30,
        )
        if answer.status_code == 404:
            return Counts(None, None)
        answer.raise_for_status()
        lines = [line.split(",") for line in answer.text.strip().splitlines()]
        points = int(lines[1][-1]) if len(lines) > 1 else 0
        return Counts(points, points)  # a point replaces its double

    def neighbour(self) -> str:
        assert isinstance(self.server, InfluxDb)
        name, there = f"{self._database}_{NEIGHBOUR}", f"{self.server.url}/api/v2/buckets"
        headers = {"Authorization": f"Token {self.secret}"}
        found = requests.get(f"{there}?name={name}", headers=headers, timeout=30).json()
        if not found.get("buckets"):
            orgs = requests.get(
                f"{self.server.url}/api/v2/orgs?org={ORG}", headers=headers, timeout=30
            )
            body = {"name": name, "orgID": orgs.json()["orgs"][0]["id"], "retentionRules": []}
            requests.post(there, json=body, headers=headers, timeout=30).raise_for_status()
            found = requests.get(f"{there}?name={name}", headers=headers, timeout=30).json()
        return str(found["buckets"][0]["id"])


SERVED: dict[str, tuple[str, type[Served]]] = {
    "postgres": ("postgres", PostgresWorld),
    "influxdb": ("influxdb", InfluxWorld),
}
"""Target -> its server's name, and its world."""


@contextlib.contextmanager
def world_of(
    target: str, folder: Path, server: Callable[[str], Server], listen: Listen
) -> Iterator[World]:
    """Make the world of one cell, and remove it."""
    if target == "sqlite":
        made: World = Sqlite(folder)
        try:
            yield made
        finally:
            made.release()
        return
    name, kind = SERVED[target]
    running = server(name)
    with running.database() as database:
        served = kind(running, database, listen)
        try:
            yield served
        finally:
            served.heal()
            served.proxy.close()
