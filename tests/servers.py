"""Real database servers for the tests, out of Debian's packages.

Each server lives in a temporary folder of its own, on a free port of the loopback interface, as an
unprivileged user, and is stopped by the process id that started it.

    python tests/servers.py install    installs what is missing (as root)
    python tests/servers.py run        runs a PostgreSQL until Ctrl-C and prints how to reach it
"""

import contextlib
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import psutil
import psycopg2

READY_S = 60
STOP_S = 30
ADMIN = "bench"


_HOW_TO_INSTALL = (
    "the tests need a PostgreSQL server: run `python tests/servers.py install` as root on Debian, "
    "or put PostgreSQL's initdb and postgres on the PATH"
)


class NotInstalled(Exception):
    """A server's programs are not on this machine; the text says what to do."""


class Postgres:
    """A PostgreSQL server; a context manager that leaves nothing behind.

    Passwords are asked for (scram-sha-256) on every way in, and text is sorted by language, not by
    bytes, so that what holds here also holds on servers with other defaults than ours.
    """

    def __init__(self, **settings: str) -> None:
        """Take settings of the server, as in `max_connections="50"`."""
        self._settings = settings
        self._programs = postgres_programs()
        self._process: subprocess.Popen[bytes] | None = None
        self.password = secrets.token_urlsafe(12)
        self.port = 0
        self.folder = Path()

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="bench-pg-"))
        try:
            self._initialise()
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the server and remove its files."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _initialise(self) -> None:
        password_file = self.folder / "password"
        password_file.touch(mode=0o600)
        password_file.write_text(self.password)
        if os.geteuid() == 0:
            for path in (self.folder, password_file):
                shutil.chown(path, unprivileged_user())
        command = [
            str(self._programs / "initdb"),
            f"--pgdata={self.folder / 'data'}",
            f"--username={ADMIN}",
            f"--pwfile={password_file}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--no-sync",
            "--locale=C",
        ]
        if postgres_version(self._programs) >= 15:  # earlier ones have no database-wide ICU
            command += ["--locale-provider=icu", "--icu-locale=en"]
        done = subprocess.run(
            _unprivileged(command), capture_output=True, text=True, check=False, cwd="/"
        )
        password_file.unlink()
        if done.returncode:
            raise RuntimeError(f"initdb failed:\n{done.stdout}{done.stderr}")

    def start(self) -> None:
        """Start the server and return once it takes connections."""
        self.port = self.port or free_port()
        settings = {
            "port": str(self.port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(self.folder),
            "shared_buffers": "128MB",
            "max_wal_size": "2GB",
            **self._settings,
        }
        command = [str(self._programs / "postgres"), "-D", str(self.folder / "data")]
        command += [item for pair in settings.items() for item in ("-c", "=".join(pair))]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                _unprivileged(command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,  # a Ctrl-C at the terminal is for the tests alone
            )
        self._wait_ready()

    @property
    def _log(self) -> Path:
        return self.folder / "server.log"

    def _wait_ready(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + READY_S
        while True:
            try:
                psycopg2.connect(self.connection_string(), password=self.password).close()
            except psycopg2.OperationalError as error:
                if self._process.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.05)
                    continue
                log = self._log.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"PostgreSQL did not start: {error}\n{log}") from error
            return

    def stop(self) -> None:
        """Stop the server: politely (SIGINT, a fast shutdown), and after a while by SIGKILL."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._process = None

    def kill(self) -> None:
        """Kill the server with all its processes, as a crash does; `start` recovers."""
        if self._process is None:
            return
        family = [psutil.Process(self._process.pid)]
        family += family[0].children(recursive=True)
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.wait(STOP_S)
        deadline = time.monotonic() + STOP_S
        while not all(map(_has_ended, family)) and time.monotonic() < deadline:
            time.sleep(0.01)
        self._process = None

    def restart(self) -> None:
        """Stop and start the server, on the same port."""
        self.stop()
        self.start()

    def connection_string(self, database: str = "postgres", user: str = ADMIN) -> str:
        """Return how to reach a database, without the password."""
        return f"host=127.0.0.1 port={self.port} dbname={database} user={user}"

    def execute(self, *statements: str, database: str = "postgres") -> None:
        """Run statements as the administrator."""
        connection = psycopg2.connect(self.connection_string(database), password=self.password)
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
        finally:
            connection.close()

    @contextlib.contextmanager
    def database(self) -> Iterator[str]:
        """Give the name of a new database, which is dropped in the end."""
        name = f"test_{uuid.uuid4().hex[:12]}"
        self.execute(f"CREATE DATABASE {name}")
        try:
            yield name
        finally:
            if self._process is not None:  # a test that stopped the server leaves nothing to drop
                self.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _has_ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE  # its new parent may take a while
    except psutil.NoSuchProcess:
        return True


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def unprivileged_user() -> str:
    """Return the user who runs a server when we are root, which PostgreSQL refuses to be."""
    known = {line.split(":")[0] for line in Path("/etc/passwd").read_text().splitlines()}
    return "postgres" if "postgres" in known else "nobody"


def _unprivileged(command: list[str]) -> list[str]:
    """Return a command that runs another one without rights, and never longer than ourselves."""
    wrapper = ["setpriv", "--pdeathsig=INT"]
    if os.geteuid() == 0:
        user = unprivileged_user()
        group = subprocess.run(["id", "-g", user], capture_output=True, text=True, check=True)
        wrapper += [f"--reuid={user}", f"--regid={group.stdout.strip()}", "--clear-groups"]
    return [*wrapper, *command]


def postgres_programs() -> Path:
    """Return the folder of the newest PostgreSQL on this machine."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if found:
        return max(found, key=postgres_version)
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).resolve().parent
    raise NotInstalled(_HOW_TO_INSTALL)


def postgres_version(programs: Path) -> int:
    """Return the major version of the PostgreSQL in a folder of programs."""
    told = subprocess.run(
        [programs / "postgres", "--version"], capture_output=True, text=True, check=True
    )
    (major,) = re.findall(r"\(PostgreSQL\) (\d+)", told.stdout)
    return int(major)


def install() -> None:
    """Install what is missing from Debian's packages; needs root only if something is missing."""
    with contextlib.suppress(NotInstalled):
        postgres_programs()
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise NotInstalled(_HOW_TO_INSTALL)
    _apt("update")
    listed = subprocess.run(
        ["apt-cache", "search", "--names-only", r"^postgresql-[0-9]+$"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    newest = max(int(version) for version in re.findall(r"^postgresql-(\d+)", listed, re.MULTILINE))
    # Debian's package otherwise makes and starts a server of its own beside the tests' one.
    quiet = Path("/etc/postgresql-common/createcluster.d/no-main-cluster.conf")
    quiet.parent.mkdir(parents=True, exist_ok=True)
    quiet.write_text("create_main_cluster = false\n")
    _apt("install", "-y", "--no-install-recommends", f"postgresql-{newest}")


def _apt(*arguments: str) -> None:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "-qq", *arguments], check=True, env=environment)


def run() -> None:
    """Run a server until Ctrl-C."""
    with Postgres() as server, contextlib.suppress(KeyboardInterrupt):
        reach = server.connection_string()
        print(f"connection_string='{reach} password={server.password}'", flush=True)
        signal.pause()


if __name__ == "__main__":
    commands = {"install": install, "run": run}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        sys.exit(f"usage: python tests/servers.py {'|'.join(commands)}")
    try:
        commands[sys.argv[1]]()
    except NotInstalled as error:
        sys.exit(str(error))
