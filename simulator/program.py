"""The entry point of collector and workers: arguments, and errors as text with an exit code."""

import argparse
import importlib
import os
import queue
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, NoReturn

from simulator.clock import OwnClock
from simulator.errors import BenchError
from simulator.forks import fork, supervise
from simulator.host import (
    FORK_SERVER,
    allow_open_files,
    continue_without_parent,
    keep_freed_memory,
)
from simulator.modules import open_database
from simulator.modules.contract import Database
from simulator.protocol.messages import TERMINATED, hold_s
from simulator.protocol.run_input import ParentPipe, RunInput, input_from_files
from simulator.redaction import RedactedStream
from simulator.rotation import Rotation

_LOADED_BY_RUNS = (
    "asyncio",
    "simulator.control.collector",
    "simulator.control.journal",
    "simulator.load.client",
    "simulator.load.faults.network",
    "simulator.load.worker",
)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m simulator", description="The collector or a worker of one run."
    )
    roles = parser.add_subparsers(dest="role", required=True)
    collector = roles.add_parser("collector", help="prepare, start the workers, compact, verify")
    worker = roles.add_parser("worker", help="insert or query, and report")
    server = roles.add_parser(FORK_SERVER, help="fork both, as messages on standard input ask")
    server.add_argument("sweep", nargs="?", help="ID of the sweep, for those who list processes")
    for role in (collector, worker):
        role.add_argument(
            "--spec", type=Path, help="the run's specification; without it, read standard input"
        )
        role.add_argument("--secrets", type=Path, help="folder of its secrets")
    listen = collector.add_mutually_exclusive_group(required=True)
    listen.add_argument("--port", type=int, help="listen on this port")
    listen.add_argument("--fd", type=int, help="serve this listening socket")
    collector.add_argument("--journal", type=int, help="open file; another collector continues it")
    worker.add_argument("--collector", required=True, help="the collector's URL")
    worker.add_argument("--index", type=int, required=True, help="this worker's index")
    arguments = parser.parse_args()
    if arguments.role == FORK_SERVER:
        return arguments
    if (arguments.spec is None) != (arguments.secrets is None):
        parser.error("--spec, --secrets: give both, or neither to read standard input")
    return arguments


@dataclass(frozen=True, slots=True)
class _Process:
    """The state that a collector and a worker have in common after the start."""

    given: RunInput
    database: Database
    parent: ParentPipe | None
    """Pipe from the command line; None in a pod."""
    clock: OwnClock


def _run_collector(
    process: _Process, arguments: argparse.Namespace, journal: BinaryIO | None
) -> NoReturn:
    import asyncio

    from simulator.control.collector import Collector
    from simulator.control.journal import Journal

    allow_open_files()
    Rotation(process.database, process.given.credential_files).follow()
    if arguments.fd is not None:
        listener = socket.socket(fileno=arguments.fd)
    else:
        listener = socket.create_server(("", arguments.port), backlog=1024)
    given = process.given
    collector = Collector(
        given.spec, process.database, given.token, process.clock, Journal(journal)
    )

    async def serve() -> NoReturn:
        outcome = await collector.serve(listener, process.parent)
        # A thread may still be waiting for the database; asyncio.run would wait for it.
        os._exit(outcome.exit_code)

    asyncio.run(serve())


def _run_worker(process: _Process, arguments: argparse.Namespace) -> int:
    from simulator.load.client import CollectorClient
    from simulator.load.faults.network import Network
    from simulator.load.worker import Worker

    given, clock = process.given, process.clock
    client = CollectorClient(
        arguments.collector,
        given.token,
        arguments.index,
        appear_s=given.spec.appear_s,
        silence_s=given.spec.silence_s,
        hold_s=hold_s(len(given.spec.workers)),
        clock=clock,
    )
    with closing(Network(process.database, given.spec.fault)) as network:
        Rotation(process.database, given.credential_files, network.renew).follow()
        worker = Worker(given.spec, client, arguments.index, clock, network)
        network.watch(worker.stop)
        if process.parent:
            process.parent.listen(worker.stop, lambda: os._exit(1))
        # PID 1 of a container ignores SIGTERM unless it has a handler.
        on_sigterm(partial(worker.stop, TERMINATED))
        return 0 if worker.run() else 1


def load() -> None:
    """Import the modules that most runs need, once for all forks."""
    for name in _LOADED_BY_RUNS:
        importlib.import_module(name)


def on_sigterm(act: Callable[[], None]) -> None:
    """Call `act` on the first SIGTERM, in a separate thread.

    A signal handler interrupts the main thread, which may hold a lock that `act` needs.
    """
    received: queue.SimpleQueue[int] = queue.SimpleQueue()  # put() is safe in a signal handler
    signal.signal(signal.SIGTERM, lambda number, _: received.put(number))

    def wait() -> None:
        received.get()
        act()

    threading.Thread(target=wait, daemon=True).start()


def play() -> int:
    """Run as the collector or as a worker, depending on the arguments; return the exit code."""
    arguments = _parse_arguments()
    if arguments.role == FORK_SERVER:
        load()
        role = fork(socket.socket(fileno=0))
        if role is None:
            return 0
        sys.argv[1:] = role
        arguments = _parse_arguments()
    if arguments.role != "collector":
        return _play(arguments)
    if arguments.spec:
        return supervise(partial(_play, arguments))
    journal = arguments.journal
    return _play(arguments, None if journal is None else os.fdopen(journal, "r+b"))


def _play(arguments: argparse.Namespace, journal: BinaryIO | None = None) -> int:
    keep_freed_memory()
    database = None
    try:
        parent = None if arguments.spec else ParentPipe()
        if parent:
            continue_without_parent()
            given = parent.read_input()
        else:
            given = input_from_files(arguments.spec, arguments.secrets)
        opened = open_database(given.spec.module, given.spec.options, given.credentials)
        database = opened

        def redact(text: str) -> str:
            return opened.options.redact(text)  # a rotation replaces the options

        # Drivers warn, and threads end with tracebacks, without asking us.
        sys.stderr = RedactedStream(sys.stderr, redact)
        with OwnClock() as clock:
            process = _Process(given, database, parent, clock)
            if arguments.role == "collector":
                _run_collector(process, arguments, journal)
            return _run_worker(process, arguments)
    except BenchError as error:
        message, code = str(error), error.exit_code
    except Exception:  # noqa: BLE001 - it goes to the process's log, without credentials
        message, code = traceback.format_exc(), 1
    print(database.options.redact(message) if database else message, file=sys.stderr)  # noqa: T201
    return code
