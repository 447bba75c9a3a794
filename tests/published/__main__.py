"""The command line of tests.published."""

import argparse

import tests.published
from tests.published.measuring import left, measure, publish, targets
from tests.published.table import table

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
    measuring.add_argument("--only", metavar="TARGET", choices=["", *targets()], default="")
    measuring.add_argument("--hours", type=float, default=_HOURS, help="at most so long")
    commands.add_parser("left", help="print what is done and what is left")
    commands.add_parser("publish", help="publish what is done; write table and picture")
    commands.add_parser("table", help="print the README's table")
    arguments = parser.parse_args()
    match arguments.command:
        case "measure":
            measure(arguments.only, arguments.hours)
        case "left":
            print(left(), end="")
        case "publish":
            publish()
        case _:
            print(table(), end="")


if __name__ == "__main__":
    main()
