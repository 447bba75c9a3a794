"""The options that `run` and `reproduce` share: which targets, and only to look."""

from collections.abc import Callable
from typing import Any, TypeVar

from cli.completion.words import complete_target
from cli.options.basic import NAMES, before_run_option, option
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
    table_prefix, replace_table = table_prefix_option(group), replace_table_option(group)
    before_run = before_run_option(
        help="Run this in bash on this machine before each run of inserts and queries, such as"
        " 'systemctl restart postgresql', unless a setting has a `before_run` of its own; then the"
        " target has 60 s to answer.",
        group=group,
    )

    def added(command: _Function) -> _Function:
        return targets(before_run(table_prefix(replace_table(dry_run(command)))))

    return added
