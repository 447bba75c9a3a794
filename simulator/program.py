"""The entry of collector and workers: arguments, and errors as text with an exit code."""

import argparse
import asyncio
import os
import queue
import resource
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

from simulator.errors import BenchError
from simulator.modules import open_database
from simulator.modules.base import Database
from simulator.protocol.spec import RunSpec, read_secrets, read_spec


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m simulator", description="The collector or a worker of one run."
    )
    roles = parser.add_subparsers(dest="role", required=True)
    collector = roles.add_parser("collector", help="prepare, start the workers, settle, verify")
    worker = roles.add_parser("worker", help="insert or query, and report")
    for role in (collector, worker):
        role.add_argument("--spec", type=Path, required=True, help="the run's specification")
        role.add_argument("--secrets", type=Path, required=True, help="folder of its secrets")
        role.add_argument(
            "--parent-pipe", action="store_true", help="exit when standard input is closed"
        )
    listen = collector.add_mutually_exclusive_group(required=True)
    listen.add_argument("--port", type=int, help="listen on this port")
    listen.add_argument("--fd", type=int, help="serve this listening socket")
    worker.add_argument("--collector", required=True, help="the collector's URL")
    worker.add_argument("--index", type=int, required=True, help="this worker's index")
    return parser.parse_args()


def _collector(arguments: argparse.Namespace, spec: RunSpec, database: Database) -> NoReturn:
    from simulator.control.collector import Collector

    _allow_many_connections()
    token, _ = read_secrets(arguments.secrets)
    if arguments.fd is not None:
        listener = socket.socket(fileno=arguments.fd)
    else:
        listener = socket.create_server(("", arguments.port), backlog=1024)
    collector = Collector(spec, database, token)

    async def serve() -> NoReturn:
        outcome = await collector.serve(listener, parent_pipe=arguments.parent_pipe)
        sys.stdout.flush()
        # A thread may still be waiting for the database; asyncio.run would wait for it.
        os._exit(outcome.exit_code)

    asyncio.run(serve())


def _allow_many_connections() -> None:
    """Allow two connections to each of many hundred workers."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _worker(arguments: argparse.Namespace, spec: RunSpec, database: Database) -> int:
    from simulator.load.client import CollectorClient
    from simulator.load.worker import Worker, watch_parent

    if arguments.parent_pipe:
        watch_parent()
    token, _ = read_secrets(arguments.secrets)
    client = CollectorClient(arguments.collector, token, arguments.index, spec.appear_s)
    worker = Worker(spec, database, client, arguments.index)
    # PID 1 of a container ignores SIGTERM unless it has a handler.
    cause = "stopped by SIGTERM: its pod was deleted or evicted, or its process terminated"
    on_sigterm(partial(worker.stop, cause))
    return 0 if worker.run() else 1


def on_sigterm(act: Callable[[], None]) -> None:
    """Call `act` on the first SIGTERM, in a thread of its own.

    A signal handler interrupts the main thread, which may hold a lock that `act` needs.
    """
    received: queue.SimpleQueue[int] = queue.SimpleQueue()  # put() is safe in a signal handler
    signal.signal(signal.SIGTERM, lambda number, _: received.put(number))

    def wait() -> None:
        received.get()
        act()

    threading.Thread(target=wait, daemon=True).start()


def play() -> int:
    """Run as the collector or a worker, as the arguments ask; return the exit code."""
    arguments = _arguments()
    database = None
    try:
        _, secrets = read_secrets(arguments.secrets)
        spec = read_spec(arguments.spec)
        database = open_database(spec.module, spec.options, secrets)
        if arguments.role == "collector":
            _collector(arguments, spec, database)
        return _worker(arguments, spec, database)
    except BenchError as error:
        message, code = str(error), error.exit_code
    except Exception:  # noqa: BLE001 - it goes to the process's log, without credentials
        message, code = traceback.format_exc(), 1
    print(database.options.redact(message) if database else message, file=sys.stderr)  # noqa: T201
    return code
