"""The command line of tests.published."""

import argparse
from pathlib import Path

import tests.published
from iotbench.config.targets.advice import SUFFIX
from simulator.errors import ConfigError, SetupError, nearest
from tests.published import DOCUMENTS, PLANS, QUESTIONS, ROWS
from tests.published.documents import measure_document
from tests.published.elsewhere import addressed
from tests.published.measuring import left, measure, publish
from tests.published.row import rows
from tests.published.table import table
from tests.published.targets import targets
from tests.servers.packages import NotInstalled

_HOURS = 2.0


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.published",
        description=tests.published.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure", help="measure what is left, or one target")
    measuring.add_argument("--only", metavar="TARGET", default="")
    measuring.add_argument("--address", metavar="TARGET=URL", action="append", default=[],
                           help="measure a target of config.yaml on a server that runs"
                           " elsewhere; the same words as of the contract suite")  # fmt: skip
    measuring.add_argument("--addresses", metavar="FILE", type=Path, help="the same from a file")
    measuring.add_argument("--document", choices=[*DOCUMENTS], help="measure a document instead")
    measuring.add_argument("--hours", type=float, default=_HOURS, help="at most so long")
    leaving = commands.add_parser("left", help="print what is done and what is left")
    for each in (measuring, leaving):
        each.add_argument("--plan", choices=[*PLANS], default=ROWS)
    commands.add_parser("publish", help="publish what is done; write tables and picture")
    commands.add_parser("table", help="print the table of all figures")
    arguments = parser.parse_args()
    match arguments.command:
        case "measure" if arguments.document:
            measure_document(arguments.document, arguments.hours)
        case "measure":
            try:
                elsewhere = addressed(arguments.address, arguments.addresses, arguments.only)
            except ConfigError as error:
                parser.error("\n".join(error.problems))
            places = elsewhere or targets()
            if arguments.plan == QUESTIONS:
                places = {name: each for name, each in places.items() if not name.endswith(SUFFIX)}
            if arguments.only and arguments.only not in places:
                parser.error(
                    f"no such target: {arguments.only} ({nearest(arguments.only, places)})"
                )
            try:
                measure(places, arguments.only, arguments.hours, arguments.plan)
            except (SetupError, NotInstalled) as error:
                raise SystemExit(f"error: {error}") from None
        case "left":
            print(left(arguments.plan), end="")
        case "publish":
            publish()
        case _:
            print(table(rows()), end="")


if __name__ == "__main__":
    main()
