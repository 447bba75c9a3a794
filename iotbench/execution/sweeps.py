"""A sweep of a kind of measurement, ready to run: for commands, and for plans of many of them."""

from pathlib import Path
from typing import Any

from iotbench.config.input.options import Options
from iotbench.config.targets.config import Target
from iotbench.execution.launch import Sweep, start
from iotbench.machine.owner import user_at_host
from iotbench.machine.streams import say
from iotbench.measurements.insert.kind import Rows
from iotbench.measurements.shared.kind import Kind, Wanted
from iotbench.measurements.shared.plan import PlannedRun, StoredBefore


def sweep_of(  # noqa: PLR0913
    kind: Kind[Any],
    target: Target,
    output: Path,
    options: Options,
    stored: StoredBefore,
    *,
    rows: Rows | None = None,
    sweep_id: str = "",
    force: bool = False,
    quiet: bool = True,
) -> tuple[Sweep, list[PlannedRun]]:
    """Return a sweep on the rows of `stored`; ConfigError if it cannot run.

    Say which queries are left out, unless `quiet`.
    """
    ranges = stored.dataset.ranges if kind.needs_rows else ()
    dataset = stored.dataset.model_copy(update={"ranges": ranges})
    sweep = start(kind.name, target, output, dataset, sweep_id)
    planned = kind.plan(
        Wanted(
            sweep.result.sweep_id, target, options, stored,
            by=user_at_host(), force=force, rows=rows,
        )
    )  # fmt: skip
    for name, problem in planned.left_out.items() if not quiet else ():
        say(f"query {name} is left out: {problem}", err=True)
    sweep.result.configuration = dict(planned.configuration)
    return sweep, planned.runs
