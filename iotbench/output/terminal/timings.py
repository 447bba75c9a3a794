"""The time of a sweep: the seconds of each phase of each run, as a table."""

from collections.abc import Iterator

from rich.table import Table

from iotbench.machine.tables import new_table
from iotbench.results.result import Result, RunRecord
from simulator.errors import counted

_REST = "start,\nend"
"""Time outside all phases: start and end of processes or pods."""


def timings_of(result: Result) -> Table | None:
    """Return the table; None if no run has ended."""
    runs = [run for run in result.runs if run.took_s is not None]
    if not runs:
        return None
    names = [*dict.fromkeys(name for run in runs for name in run.outcome.phases_s)]
    table = new_table(title="seconds", title_justify="left", show_footer=len(runs) > 1)
    table.add_column("Run", footer="all")
    for place, title in enumerate([_REST, *names, "all"]):
        every = [[*_seconds(run, names)][place] for run in runs]
        table.add_column(
            title, justify="right", vertical="bottom", overflow="fold",
            footer=_format(sum(each or 0.0 for each in every)),
        )  # fmt: skip
    for run in runs:
        at = f"{counted(run.workers, 'worker')}, {run.run}"
        table.add_row(at, *map(_format, _seconds(run, names)))
    return table


def _seconds(run: RunRecord, names: list[str]) -> Iterator[float | None]:
    """Yield the columns of a run: what is in no phase, each phase, and all of it."""
    phases, took_s = run.outcome.phases_s, run.took_s or 0.0
    yield max(took_s - sum(phases.values()), 0.0)
    yield from (phases.get(name) for name in names)
    yield took_s


def _format(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:,.2f}"
