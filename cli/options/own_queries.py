"""`--queries FILE`: the user's own queries."""

import functools
from pathlib import Path

import click

from cli.options.basic import option
from cli.planning.own_queries import OPTION

queries_option = functools.partial(
    option,
    OPTION,
    "queries_file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help="Ask the queries of your own in this YAML file (docs/own-queries.md): instead of the"
    " workload's, or beside those of --types. Their answers are not checked against the truth.",
)
