"""`python -m simulator collector|worker`: what runs in a pod, or as a local process."""

import argparse
import asyncio
import os
import socket
import sys
from pathlib import Path
from typing import NoReturn

from simulator.errors import BenchError
from simulator.spec import load


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m simulator", description=__doc__)
    roles = parser.add_subparsers(dest="role", required=True)
    collector = roles.add_parser("collector", help="prepare, start the workers, settle, verify")
    worker = roles.add_parser("worker", help="write or ask, and report")
    for role in (collector, worker):
        role.add_argument("--spec", type=Path, required=True, help="the run's specification")
        role.add_argument("--secrets", type=Path, required=True, help="the target's credentials")
        role.add_argument("--token", type=Path, required=True, help="file with the run's token")
        role.add_argument("--parent-pipe", action="store_true", help="end with standard input")
    listen = collector.add_mutually_exclusive_group(required=True)
    listen.add_argument("--port", type=int, help="listen on this port")
    listen.add_argument("--fd", type=int, help="serve this listening socket")
    worker.add_argument("--collector", required=True, help="the collector's URL")
    worker.add_argument("--index", type=int, required=True, help="this worker's index")
    return parser.parse_args()


def _collector(arguments: argparse.Namespace) -> NoReturn:
    from simulator.collector import Collector  # noqa: PLC0415 - workers need none of it

    spec, secrets = load(arguments.spec, arguments.secrets)
    token = arguments.token.read_text().strip()
    if arguments.fd is not None:
        listener = socket.socket(fileno=arguments.fd)
    else:
        listener = socket.create_server(("", arguments.port), backlog=1024)
    collector = Collector(spec, spec.open_database(secrets), token)

    async def play() -> NoReturn:
        outcome = await collector.serve(listener, parent_pipe=arguments.parent_pipe)
        sys.stdout.flush()
        # A thread may still wait for the database, and asyncio.run would wait for that thread.
        os._exit(outcome.exit_code)

    asyncio.run(play())


def _worker(arguments: argparse.Namespace) -> int:
    from simulator.worker import CollectorClient, Worker, watch_parent  # noqa: PLC0415

    if arguments.parent_pipe:
        watch_parent()
    spec, secrets = load(arguments.spec, arguments.secrets)
    token = arguments.token.read_text().strip()
    client = CollectorClient(arguments.collector, token, arguments.index)
    worker = Worker(spec, spec.open_database(secrets), client, arguments.index)
    return 0 if worker.run() else 1


def main() -> int:
    """Play the role that the arguments name."""
    arguments = _arguments()
    try:
        return _collector(arguments) if arguments.role == "collector" else _worker(arguments)
    except BenchError as error:
        print(error, file=sys.stderr)  # noqa: T201 - the process's log
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
