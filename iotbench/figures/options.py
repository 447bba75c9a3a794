"""Options of commands that choose figures."""

from collections.abc import Callable
from typing import Any

from iotbench.config.options.basic import Parsed, option
from iotbench.figures.figures import parse_percentile


def percentile_option(verb: str) -> Callable[[Any], Any]:
    """Return the option --percentile of a command, with the verb of its help text."""
    return option(
        "--percentile",
        "percentiles",
        type=Parsed("name", parse_percentile),
        multiple=True,
        metavar="NAME",
        help=f"{verb} this percentile as well, such as p90_ms or p99.99_ms, if every run has enough"
        " samples for it; may be given several times.",
    )
