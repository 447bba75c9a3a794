"""Measures one rate after another to find the capacity of inserts, queries or mixed loads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from iotbench.comparison.thresholds import EXIT_CODE, Threshold
from iotbench.config.options.choice import Reach, RunOptions
from iotbench.config.options.given import build_given_command
from iotbench.config.targets.config import Target
from iotbench.execution.launch import carry_out, sweep_of
from iotbench.figures.rows import INSERTS, Row
from iotbench.figures.verdicts import worst
from iotbench.machine.interrupts import Interrupts
from iotbench.machine.machine import this_machine
from iotbench.machine.streams import say
from iotbench.measurements import kind_named, summary_of
from iotbench.measurements.insert.kind import DrawnRows
from iotbench.plans.capacity import (
    Bounds,
    Capacity,
    Of,
    RateRecord,
    Trial,
    findings,
    next_rate,
    rate_record,
)
from iotbench.results import result_files
from iotbench.results.result import Manifest, Result
from simulator import __version__
from simulator.errors import UnverifiableError

_FEWEST = 20
"""Minimum number of batches or answers of each worker in a repeat, at the lowest rate."""


@dataclass
class RateMeasuring:
    """Measures rates of an insert, of each type of query, or of a mixed load on one target."""

    kind: str
    """Kind of the sweeps, each of which measures one rate."""
    target: Target
    run: RunOptions
    reach: Reach
    objectives: tuple[Threshold, ...]
    """Objectives, all of which a repeat has to meet."""
    repeats: int
    options: Any
    """Options of the runs, including a duration."""
    stored: Manifest
    """Rows stored before the first rate; an insert begins each rate with empty tables instead."""
    rows: DrawnRows | None = None
    """Rows that an insert writes."""

    @property
    def of(self) -> Of:
        """The operations that a rate counts."""
        return Of.INSERTS if self.kind == "insert" else Of.QUERIES

    @property
    def lowest_per_s(self) -> float:
        """The lowest rate at which a repeat has enough batches or answers for a percentile."""
        options = self.options
        workers = options.query_workers if self.kind == "mixed" else options.workers[0]
        each = options.batch_rows if self.kind == "insert" else 1
        return float(_FEWEST * workers * each / options.duration_s)

    def about(self) -> str:
        """Describe in a sentence what will be measured."""
        bounds = " and ".join(each.text for each in self.objectives)
        return (
            f"capacity of {self.target.name} for {self.of}: {bounds}; each rate {self.repeats}"
            f" times for {self.options.duration_s:g} s, first without a schedule, then 6 to 14"
            " rates"
        )

    def at(
        self, rate: float, sweep_id: str, interrupts: Interrupts
    ) -> Iterator[tuple[Path, Result]]:
        """Measure a rate `repeats` times; a rate of 0 means without a schedule.

        A sweep of queries has no repeats, so several sweeps are run. A mixed load continues the
        rows of the previous load.
        """
        own = "query_rate" if self.kind == "mixed" else "rate"
        options = self.options.model_copy(update={own: rate})
        sweeps = self.repeats if self.kind == "query" else 1
        for number in range(1, sweeps + 1):
            name = f"{sweep_id}-{number}" if self.kind == "query" else sweep_id
            sweep = sweep_of(
                kind_named(self.kind), self.target, self.run, options, self.stored,
                rows=self.rows, sweep_id=name,
            )  # fmt: skip
            with carry_out(sweep, self.reach, interrupts, quiet=self.run.quiet):
                found = sweep.file.path or self.run.output, sweep.result
            if self.kind == "mixed" and sweep.result.manifest:
                self.stored = sweep.result.manifest
            yield found

    def trials(self, result: Result) -> Iterator[Trial]:
        """Yield a trial for each run of a result; a run of queries has a row for each type."""
        for run in result.runs:
            summary = summary_of(result.model_copy(update={"runs": [run]}))
            asked = [row for row in summary.rows if row.place.load != INSERTS and row.figures]
            workers = run.outcome.workers
            unsent = sum(each.unsent for each in workers)
            if self.kind != "insert":
                unsent = sum(times.unsent for each in workers for times in each.queries)
            if self.kind == "mixed":
                yield self._summarise(summary.every, summary.totals or asked, unsent)
            else:
                yield self._summarise(asked, asked, unsent)

    def _summarise(self, rows: Sequence[Row], answers: Sequence[Row], unsent: int) -> Trial:
        """Return the trial of a run.

        `rows` decide whether the objectives are met, and the slowest of `answers` is the rate.
        """
        rate = "rows_per_s" if self.kind == "insert" else "queries_per_s"

        def figures(name: str) -> list[float]:
            return [_find_value(row, name) or 0.0 for row in answers]

        return Trial(
            per_s=min(figures(rate), default=0.0),
            p50_ms=max(figures("p50_ms"), default=0.0),
            p99_ms=max(figures("p99_ms"), default=0.0),
            client_share=max(figures("client_share"), default=0.0),
            met=all(_keeps(objective, rows) for objective in self.objectives),
            sends=min((row.figures["p50_ms"].n for row in answers), default=0),
            unsent=unsent,
        )


def _keeps(objective: Threshold, rows: Sequence[Row]) -> bool:
    """Return whether an objective applies to at least one row, and all these rows meet it."""
    about = [row for row in rows if objective.is_about(row.place)]
    values = [value for row in about if (value := _find_value(row, objective.figure)) is not None]
    return bool(values) and all(map(objective.is_reached, values))


def _find_value(row: Row, figure: str) -> float | None:
    """Return the value of a figure; for a percentile of too few samples, return the maximum."""
    return row.value("max_ms" if figure in row.withheld else figure)


def search_capacity(task: RateMeasuring, tolerance: float, interrupts: Interrupts) -> Capacity:
    """Measure one rate after another until the capacity is known or a run fails."""
    created = result_files.now_utc()
    sweep_id = result_files.new_id(created)
    found: list[tuple[Path, Result]] = []
    rates: list[RateRecord] = []
    unscheduled: tuple[float, ...] = ()
    rate: float | None = 0.0
    number = 0
    while rate is not None:
        if not task.run.quiet:
            say(f"[{number}] {f'{rate:,.0f} {task.of.unit}' if rate else 'no schedule'}", err=True)
        trials: list[Trial] = []
        for path, result in task.at(rate, f"{sweep_id}-{number}", interrupts):
            found.append((path, result))
            if _has_failed(result):
                break
            trials += task.trials(result)
        if _has_failed(found[-1][1]):
            break
        if rate:
            rates.append(rate_record(rate, trials))
        else:
            unscheduled = tuple(trial.per_s for trial in trials)
        rate = next_rate(Bounds(fmean(unscheduled), task.lowest_per_s, tolerance), rates)
        number += 1
    last, said = found[-1][1], findings(rates)
    verdict = worst([run for _, result in found for run in result.runs])
    status, cause = last.status, last.cause
    if status == "done" and _has_failed(last):
        status, cause = "failed", f"the rows or answers of a run are not right: {verdict.value}"
    return Capacity(
        program_version=__version__,
        sweep_id=sweep_id,
        created=created,
        status="failed" if status == "running" else status,
        cause=cause,
        target=task.target.name,
        module=task.target.module,
        of=task.of,
        objective=tuple(each.text for each in task.objectives),
        configuration={**last.configuration, "rate": None, "tolerance": tolerance},
        command=build_given_command(task.target.options),
        machine=this_machine(),
        unscheduled_per_s=unscheduled,
        **said,
        verdict=verdict.value,
        files=tuple(path.name for path, _ in found),
        exit_code=last.exit_code if _has_failed(last) or said["holds_per_s"] else EXIT_CODE,
    )


def _has_failed(result: Result) -> bool:
    """Return whether a sweep failed; unverifiable answers (--queries) are not a failure."""
    return result.status != "done" or result.exit_code not in (0, UnverifiableError.exit_code)
