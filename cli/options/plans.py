"""The options that `run` and `reproduce` share: which targets, and only to look."""

from collections.abc import Callable
from typing import Any, TypeVar

from cli.completion.words import complete_target
from cli.options.basic import NAMES, option
from cli.options.names import replace_table_option, table_prefix_option

_Function = TypeVar("_Function", bound=Callable[..., Any])


def plan_options(group: str, default: str) -> Callable[[_Function], _Function]:
    """Add --targets, whose default is described, and others, in a group of the help text."""
    targets = option(
        "--targets",
        type=NAMES,
        shell_complete=complete_target,
        default=None,
        help=f"Targets to measure.  [default: {default}]",
        group=group,
    )
    dry_run = option(
        "--dry-run",
        is_flag=True,
        help="Print settings and rows, with time and disk space by earlier results, and do"
        " nothing.",
        group=group,
    )
    names = table_prefix_option(group), replace_table_option(group)
    return lambda command: targets(names[0](names[1](dry_run(command))))
