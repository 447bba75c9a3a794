"""A real database server for the tests: its folder, start, stop and crash."""

import contextlib
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import psutil

from tests.servers import packages

_LOG_TAIL = 3000


@dataclass(frozen=True)
class Program:
    """One process of a server."""

    name: str
    command: Sequence[str | Path]
    ready: Callable[[], object]
    """Returns if the process is ready, and raises otherwise."""
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_signal: signal.Signals = signal.SIGTERM


class Server(ABC):
    """A server in a temporary folder, on free ports of the loopback interface, as an unprivileged
    user. A context manager that leaves nothing behind.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    """What is fetched; name and version make the name of the cache folder."""
    targets: ClassVar[Sequence[str]] = ()
    """Targets of config.yaml that the command line is tested with on this server."""
    advised: ClassVar[bool] = True
    """True if it is the product whose vendor advises settings for its targets."""
    ready_s: ClassVar[float] = 60
    """Time limit for the start of each process, on a busy machine."""
    stop_s: ClassVar[float] = 30
    java_options = "-XX:-UsePerfData"

    def __init__(self) -> None:
        self.home = self.installed()
        """Folder of the programs."""
        self.folder = Path()
        """Its temporary folder: data, configuration, logs."""
        self._ports: dict[str, int] = {}
        self.first_port: int | None = None
        """Its ports are this one and the following; None: free ones."""
        self.disk: Path | None = None
        """Where its temporary folder is; None: where all are."""
        self._running: dict[str, tuple[Program, subprocess.Popen[bytes]]] = {}

    # --- what a server defines

    @classmethod
    @abstractmethod
    def build(cls, folder: Path) -> None:
        """Fetch the programs into an empty folder, their final place (see packages.py)."""

    def prepare(self) -> None:  # noqa: B027  # some servers make their data themselves
        """Create data and configuration in `self.folder` before the first start."""

    @abstractmethod
    def programs(self) -> Iterable[Sequence[Program]]:
        """Yield groups of processes; the processes of a group start together.

        At every start, the next group is requested once the previous one is ready, so a generator
        can act between two groups.
        """

    @abstractmethod
    def options(self, database: str) -> dict[str, Any]:
        """Return the module's options that reach a database of `self.database`."""

    @contextlib.contextmanager
    def database(self) -> Iterator[str]:
        """Yield the name of a new empty database, or of what separates tests on this server.

        It is dropped at the end, unless the test has stopped the server.
        """
        name = new_name()
        self.create_database(name)
        try:
            yield name
        finally:
            if self.running:
                self.drop_database(name)

    def create_database(self, name: str) -> None:  # noqa: B027  # a name may be enough
        """Create a database, keyspace, bucket, ...; nothing where names separate tests."""

    def drop_database(self, name: str) -> None:  # noqa: B027
        """Drop it with its contents."""

    def environment(self) -> dict[str, str]:
        """Return environment variables for all processes."""
        return {}

    # --- its programs

    @classmethod
    def install(cls) -> None:
        """Fetch the programs, unless they are installed."""
        packages.install(cls.name, cls.version, cls.build)

    @classmethod
    def installed(cls) -> Path:
        """Return the folder of the programs; NotInstalled names the command that fetches them."""
        return packages.installed(cls.name, cls.version)

    # --- its life

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix=f"bench-{self.name}-", dir=self.disk))
        (self.folder / "tmp").mkdir()
        try:
            self.give(self.folder)
            self.prepare()
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

    @property
    def running(self) -> bool:
        """True if any process is running."""
        return any(process.poll() is None for _, process in self._running.values())

    def processes(self) -> list[psutil.Process]:
        """Return its living processes, with those that they started."""
        alive = [process for _, process in self._running.values() if process.poll() is None]
        return [member for process in alive for member in _family(process)]

    def start(self) -> None:
        """Start what is not running, on the same ports and data; return once all is ready."""
        if not self.running:  # otherwise files may vanish meanwhile
            self.give(self.folder)
        for group in self.programs():
            started = [program for program in group if not self._runs(program.name)]
            for program in started:
                self._launch(program)
            for program in started:
                self._wait_ready(program)

    def stop(self) -> None:
        """Stop the processes in reverse order, by SIGTERM and after a while by SIGKILL."""
        for name in reversed(list(self._running)):
            program, process = self._running.pop(name)
            family = _family(process)
            process.send_signal(program.stop_signal)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(self.stop_s)
            self._kill(process, family)  # remaining child processes

    def kill(self, *names: str) -> None:
        """Kill the named processes, or all, with their children, as in a crash."""
        for name in names or list(self._running):
            _, process = self._running.pop(name)
            self._kill(process, _family(process))

    @contextlib.contextmanager
    def paused(self, name: str) -> Iterator[None]:
        """Stop one process for a while (SIGSTOP)."""
        _, process = self._running[name]
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)  # until its last thread has stopped
        try:
            yield
        finally:
            process.send_signal(signal.SIGCONT)

    def _kill(self, process: subprocess.Popen[bytes], family: Sequence[psutil.Process]) -> None:
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
        process.wait(self.stop_s)
        deadline = time.monotonic() + self.stop_s
        while not all(map(_has_ended, family)) and time.monotonic() < deadline:
            time.sleep(0.01)

    def restart(self) -> None:
        """Stop and start the server, on the same ports and data."""
        self.stop()
        self.start()

    # --- for subclasses

    def port(self, purpose: str = "") -> int:
        """Return a free port for a purpose, the same at every call."""
        if purpose not in self._ports:
            number = self.first_port and self.first_port + len(self._ports)
            self._ports[purpose] = number or free_port(self._ports.values())
        return self._ports[purpose]

    @property
    def url(self) -> str:
        """The URL of a server with one port for HTTP."""
        return f"http://127.0.0.1:{self.port()}"

    def write(self, name: str, content: str) -> Path:
        """Write a file into the server's folder, readable by the server only."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(content)
        self.give(self.folder)
        return path

    def give(self, folder: Path) -> None:
        """Give files to the user who runs the server."""
        if os.geteuid() == 0:
            user = unprivileged_user()
            owner = pwd.getpwnam(user).pw_uid
            for path, folders, files in os.walk(folder):
                for each in (Path(path, name) for name in ("", *folders, *files)):
                    # A running server may remove files meanwhile.
                    with contextlib.suppress(FileNotFoundError):
                        if each.stat().st_uid != owner:
                            shutil.chown(each, user)

    def call(
        self,
        command: Sequence[str | Path],
        *,
        environment: Mapping[str, str] | None = None,
        stdin: str = "",
    ) -> str:
        """Run a program as the server's user; RuntimeError with its output if it fails."""
        self.give(self.folder)
        done = subprocess.run(
            unprivileged(command, signal.SIGKILL),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env=self._environment(environment or {}),
        )
        if done.returncode:
            text = (done.stdout + done.stderr)[-_LOG_TAIL:]
            raise RuntimeError(f"{self.name}: {command[0]} failed ({done.returncode}):\n{text}")
        return done.stdout

    def log(self, name: str) -> Path:
        """Return the log file of a process."""
        return self.folder / f"{name}.log"

    # --- processes

    def _runs(self, name: str) -> bool:
        return name in self._running and self._running[name][1].poll() is None

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of a process, without that of the tests."""
        kept = {n: os.environ[n] for n in ("PATH", "JAVA_HOME") if n in os.environ}
        temporary = self.folder / "tmp"
        folders = {
            "HOME": str(self.folder),
            "TMPDIR": str(temporary),
            "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={temporary} {self.java_options}",
        }
        return {**kept, **folders, "LANG": "C.UTF-8", **self.environment(), **more}

    def _launch(self, program: Program) -> None:
        with self.log(program.name).open("ab") as log:
            process = subprocess.Popen(
                unprivileged(program.command, program.stop_signal),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=self._environment(program.environment),
                start_new_session=True,  # Ctrl-C at the terminal is for the tests only
            )
        self._running[program.name] = program, process

    def _wait_ready(self, program: Program) -> None:
        _, process = self._running[program.name]
        deadline = time.monotonic() + self.ready_s
        while True:
            try:
                program.ready()
            except Exception as error:
                if process.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.05)
                    continue
                ended = process.poll()
                why = f"not ready within {self.ready_s:g} s" if ended is None else f"ended: {ended}"
                log = self.log(program.name).read_text(errors="replace")[-_LOG_TAIL:]
                text = f"{self.name}: {program.name} did not start ({why}): {error}\n{log}"
                raise RuntimeError(text) from error
            return


def _family(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    try:
        parent = psutil.Process(process.pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _has_ended(process: psutil.Process) -> bool:
    """Return whether nothing is left of a process; its new parent may take a while to reap it.

    Its main thread may end before the others, which hold its sockets.
    """
    try:
        return process.status() == psutil.STATUS_ZOMBIE and process.num_threads() == 1
    except psutil.NoSuchProcess:
        return True


def free_port(taken: Iterable[int] = ()) -> int:
    """Return a port that is free on all addresses of this machine.

    It is below the range of client ports, so that no outgoing connection takes it while its server
    is down.
    """
    while True:
        port = random.randint(15_000, 30_000)
        if port not in taken:
            with contextlib.suppress(OSError):
                open_port(port)
                return port


def open_port(port: int) -> None:
    """Raise unless a server could listen on a port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("", port))


def new_name() -> str:
    """Return a name for a database that no other test has."""
    return f"test_{uuid.uuid4().hex[:12]}"


def unprivileged_user() -> str:
    """Return the user who runs servers if the tests run as root, which most servers refuse."""
    known = {line.split(":")[0] for line in Path("/etc/passwd").read_text().splitlines()}
    return "postgres" if "postgres" in known else "nobody"


def unprivileged(command: Sequence[str | Path], death: signal.Signals) -> list[str]:
    """Return a command that runs another one unprivileged, and ends with this process."""
    wrapper = ["setpriv", f"--pdeathsig={death.name.removeprefix('SIG')}"]
    if os.geteuid() == 0:
        user = unprivileged_user()
        group = subprocess.run(["id", "-g", user], capture_output=True, text=True, check=True)
        wrapper += [f"--reuid={user}", f"--regid={group.stdout.strip()}", "--clear-groups"]
    return [*wrapper, *map(str, command)]


def listens(port: int, host: str = "127.0.0.1") -> None:
    """Raise unless a process listens on a port."""
    socket.create_connection((host, port), timeout=2).close()


def answers(url: str) -> bytes:
    """Return the answer of a URL; raise unless it is a success."""
    with urllib.request.urlopen(url, timeout=2) as reply:
        return bytes(reply.read())
