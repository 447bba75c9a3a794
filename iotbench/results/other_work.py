"""Other work on the machine that can have slowed down the runs of results. Pure."""

from iotbench.machine.bystanders import OtherWork
from iotbench.results.result import Result

_MUCH = 0.1
"""Part of the cores."""


def much_other_work(*results: Result, workers: int | None = None) -> OtherWork | None:
    """Return the most other work during a run; None: little, or it was not measured.

    `workers` selects the runs with that many workers; None: all.
    """
    found = [
        run.other_work
        for result in results
        for run in result.runs
        if run.other_work and run.other_work.cores >= _MUCH * result.machine.cores
        if workers is None or run.workers == workers
    ]
    return max(found, key=lambda each: each.cores, default=None)
