"""The options that all commands with a plan share."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar, cast

from pydantic import Field

from iotbench.config.input.options import Opt, Options
from iotbench.config.input.values import Names, Seconds
from iotbench.config.options.choice import Reach, RunOptions, reach_options
from iotbench.config.options.declared import option_like, options_of
from iotbench.measurements.insert.options import Naming, Replacing
from iotbench.measurements.shared.options import MachineOptions
from iotbench.plans.plan import Plan
from simulator.errors import ConfigError

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Measured(Options):
    """The targets of a plan."""

    targets: Names = ()


class PlanRun(RunOptions):
    """Options for running a plan."""

    GROUP: ClassVar[str] = "Run and output"

    form: Annotated[str, Field(alias="format"), Opt(choices=("table", "json"))] = "table"
    stop_after_s: Seconds = 0.0
    """Begin no item that is expected to end later than this after the start, such as 2h; the same
    command continues where it stopped. 0: no limit.
    """
    dry_run: bool = False
    """Print settings and rows, with time and disk space from earlier results, and do nothing."""


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Options for a whole plan, and for reaching the targets of the plan."""

    targets: tuple[str, ...] | None
    reach: Reach
    replace_tables: tuple[str, ...]
    table_prefix: str | None
    before_run: str | None

    def apply_to(self, plan: Plan) -> Plan:
        """Return the plan with the options that apply to all settings."""
        return plan.add_prefix(self.table_prefix).with_before_run(self.before_run)


def plan_options(group: str, default: str) -> Callable[[_Function], _Function]:
    """Add the options of PlanOptions and PlanRun, in a group of the help text.

    `default` describes which targets are measured without --targets.
    """
    options = (
        option_like(
            _Measured, "targets", help=f"Targets to measure.  [default: {default}]", group=group
        ),
        option_like(
            MachineOptions,
            "before_run",
            help="Command to run in bash on this machine before each run of inserts and queries,"
            " such as 'systemctl restart postgresql', unless a setting has its own `before_run`;"
            " the target then has 60 s to answer.",
            group=group,
        ),
        option_like(Naming, "table_prefix", group=group),
        option_like(Replacing, "replace_tables", group=group),
    )

    def decorate(command: _Function) -> _Function:
        @functools.wraps(command)
        def gather(**given: Any) -> Any:
            options = PlanOptions(**{name: given.pop(name) for name in PlanOptions.__slots__})
            if problems := options.reach.cluster.problems():
                raise ConfigError(problems)
            return command(options=options, **given)

        decorated: Any = reach_options(options_of(PlanRun, "run")(gather))
        for add in reversed(options):
            decorated = add(decorated)
        return cast("_Function", decorated)

    return decorate
