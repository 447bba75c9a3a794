"""Checks of stored rows as rows: what was expected, and what was found."""

from collections.abc import Iterator, Sequence

from iotbench.figures.rows import Place, Row
from iotbench.results.result import RunRecord
from simulator.protocol.verdict import Status

_STATUS = {True: Status.VERIFIED, False: Status.MISMATCH, None: Status.UNKNOWN}


def rows_by_check(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield a row for each check of each run."""
    for run in runs:
        for check in run.outcome.verdict.checks if run.outcome.verdict else ():
            status = _STATUS[check.ok].value
            place = Place(check=check.name)
            yield Row(place, 1, {}, status, expected=check.expected, found=check.found)
