"""Whether other work on the machine can have slowed down the runs of results. Pure."""

from cli.host.bystanders import OtherWork
from cli.results.result import Result

_MUCH = 0.1
"""Part of the cores."""


def much_other_work(*results: Result) -> OtherWork | None:
    """Return the most that others did beside a run; None: little, or it was not measured."""
    found = [
        run.other_work
        for result in results
        for run in result.runs
        if run.other_work and run.other_work.cores >= _MUCH * result.machine.cores
    ]
    return max(found, key=lambda each: each.cores, default=None)
