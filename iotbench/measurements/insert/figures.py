"""Figures of inserts: a row for each worker count, step or stage."""

from collections.abc import Iterator, Sequence

from iotbench.figures.figures import figures_of
from iotbench.figures.rows import Place, Row
from iotbench.figures.summary import Subject
from iotbench.figures.verdicts import level_of, worst
from iotbench.results.latency import Latency, merge
from iotbench.results.metrics import InsertMetrics
from iotbench.results.result import RunRecord
from iotbench.results.timed import InsertStage, Timed, time_stage


def rows_by_workers(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield a row for each worker count, in the order of the runs."""
    for count in dict.fromkeys(run.workers for run in runs):
        yield _row(Place(workers=count), [run for run in runs if run.workers == count])


def rows_by_level(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield a row for each step; each run is one step."""
    for run in runs:
        yield _row(Place(level=run.level, workers=run.workers), [run])


def _row(place: Place, runs: Sequence[RunRecord]) -> Row:
    figures, verdict = figures_of(list_timed_inserts(runs)), worst(runs).value
    return Row(place, len(runs), figures, verdict, level=level_of(runs))


def list_timed_inserts(runs: Sequence[RunRecord]) -> list[Timed]:
    """Return the timed parts of the runs that inserted rows."""
    return [Timed(run.metrics, merge(run.outcome.workers)) for run in runs if run.metrics]


def rows_by_stage(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield a row for each stage; all runs have the same stages."""
    for number, stage in enumerate(runs[0].stages if runs else ()):
        place = Place(stage=number + 1, workers=stage.workers)
        times = ([s for w in run.outcome.workers for s in w.stages] for run in runs)
        parts = [part for each in times if (part := time_stage(each, number, asked=False))]
        if parts:
            verdict, level = worst(runs).value, level_of(runs)
            yield Row(place, len(parts), figures_of(parts), verdict, level=level)
        else:
            yield Row(place, 0, {}, "no row was inserted")


_RATE = "rows_per_s"
WORKERS = Subject(
    "workers", "Workers", rows_by_workers,
    sources=(InsertMetrics, Latency), listed_by=_RATE, judged_by=_RATE,
    over="over workers", last_row="With the most workers",
)  # fmt: skip
LEVEL = Subject(
    "level", "Level", rows_by_level,
    sources=(InsertMetrics, Latency), listed_by=_RATE, judged_by=_RATE,
    over="over fill level", last_row="With the most rows in the tables",
)  # fmt: skip
STAGE = Subject(
    "stage", "Stage", rows_by_stage,
    sources=(InsertStage, Latency), listed_by=_RATE, judged_by=_RATE,
    over="by stage", last_row="In the last stage",
)  # fmt: skip
