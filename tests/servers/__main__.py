"""Manages servers by hand: list, install, run."""

import argparse
import contextlib
import shlex
import signal
import sys

from tests.servers import SERVERS, NotInstalled, named
from tests.servers.packages import BuildFailed


def listed() -> None:
    """Print every server and the folder of its programs."""
    for name, server in SERVERS.items():
        try:
            where = str(server.installed())
        except NotInstalled as error:
            where = str(error)
        print(f"{name:<22}{server.version:<12}{where}")


def run(name: str) -> None:
    """Run a server until Ctrl-C."""
    with SERVERS[name]() as server, server.database() as database:
        for option, value in server.options(database).items():
            print(f"--extra-option {shlex.quote(f'{option}={value}')}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="all servers, and what is installed")
    install = commands.add_parser("install", help="fetch servers; quick and all name many")
    install.add_argument("names", nargs="+", metavar="NAME")
    commands.add_parser("run", help="run one until Ctrl-C").add_argument("name", choices=SERVERS)
    arguments = parser.parse_args()
    try:
        if arguments.command == "list":
            listed()
        elif arguments.command == "run":
            run(arguments.name)
        else:
            for name in named(",".join(arguments.names)):
                SERVERS[name].install()
    except (NotInstalled, BuildFailed, ValueError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
