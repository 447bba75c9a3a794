"""The options that `run` and `reproduce` share: which targets, and what is done to them."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from cli.completion.words import complete_target
from cli.experiment.plan import Plan
from cli.options.basic import NAMES, option
from cli.options.declared import option_like
from cli.planning.options import Machine, Naming, Replacing

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What the user says about a whole plan."""

    targets: tuple[str, ...] | None
    replace_tables: tuple[str, ...]
    table_prefix: str | None
    before_run: str | None

    def applied(self, plan: Plan) -> Plan:
        """Return the plan with what holds for all of its settings."""
        return plan.prefixed(self.table_prefix).with_before_run(self.before_run)


def plan_options(group: str, default: str) -> Callable[[_Function], _Function]:
    """Add the options of PlanOptions, in a group of the help text, and --dry-run.

    `default` describes which targets are measured without --targets.
    """
    options = (
        option(
            "--targets",
            type=NAMES,
            shell_complete=complete_target,
            default=None,
            help=f"Targets to measure.  [default: {default}]",
            group=group,
        ),
        option_like(
            Machine,
            "before_run",
            help="Run this in bash on this machine before each run of inserts and queries, such as"
            " 'systemctl restart postgresql', unless a setting has a `before_run` of its own; then"
            " the target has 60 s to answer.",
            group=group,
        ),
        option_like(Naming, "table_prefix", group=group),
        option_like(Replacing, "replace_tables", group=group),
        option(
            "--dry-run",
            is_flag=True,
            help="Print settings and rows, with time and disk space by earlier results, and do"
            " nothing.",
            group=group,
        ),
    )

    def added(command: _Function) -> _Function:
        @functools.wraps(command)
        def gathered(**given: Any) -> Any:
            names = PlanOptions.__slots__
            return command(options=PlanOptions(**{n: given.pop(n) for n in names}), **given)

        decorated: Any = gathered
        for add in reversed(options):
            decorated = add(decorated)
        return cast("_Function", decorated)

    return added
