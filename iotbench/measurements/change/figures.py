"""Figures of changes: a row for each change, and a row for inserts during the changes."""

from collections.abc import Iterator, Sequence

from iotbench.figures.figures import figures_of
from iotbench.figures.rows import INSERTS, Place, Row
from iotbench.figures.summary import Subject
from iotbench.figures.verdicts import level_of, worst
from iotbench.measurements.insert.figures import list_timed_inserts
from iotbench.results.latency import Latency
from iotbench.results.metrics import InsertMetrics
from iotbench.results.result import RunRecord
from iotbench.results.timed import ChangeMetrics, time_change
from simulator.protocol.messages import DELETION


def rows_by_change(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield a row for each change of each run, and for inserts during the changes."""
    for run in runs:
        verdict, reports = worst([run]).value, run.outcome.workers
        if writers := sum(not report.changes for report in reports):
            place = Place(load=INSERTS, workers=writers)
            yield Row(
                place, 1, figures_of(list_timed_inserts([run])), verdict, level=level_of([run])
            )
        for name in dict.fromkeys(each.name for report in reports for each in report.changes):
            times = [each for report in reports for each in report.changes if each.name == name]
            corrected = sum(each.rows for each in times)
            rows = run.outcome.deleted_rows if name == DELETION else corrected
            figures = figures_of([time_change(times, rows)])
            place = Place(change=name, workers=len(times))
            yield Row(place, 1, figures, verdict, level=level_of([run]))


CHANGE = Subject(
    "change", "Change", rows_by_change,
    sources=(InsertMetrics, ChangeMetrics, Latency), listed_by="rows_per_s",
    judged_by="rows_per_s", is_named=True,
)  # fmt: skip
