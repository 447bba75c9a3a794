"""`insert`: how fast rows are acknowledged."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iotbench.config.input.quantities import format_time
from iotbench.config.targets.config import Target
from iotbench.figures.pictures import Form, Showing
from iotbench.figures.summary import Subject
from iotbench.measurements.insert import plan
from iotbench.measurements.insert.checks import option_problems
from iotbench.measurements.insert.figures import LEVEL, STAGE, WORKERS
from iotbench.measurements.insert.options import InsertOptions
from iotbench.measurements.insert.warnings import writing_warnings
from iotbench.measurements.shared.faults import fault_facts
from iotbench.measurements.shared.kind import Kind, Planned
from iotbench.measurements.shared.plan import PlannedRun, Recorded, Wanted, estimate_s
from iotbench.results.result import Result
from simulator.data.dataset import Dataset
from simulator.data.reader import DatasetReader
from simulator.data.schema import Role
from simulator.data.workloads.base import Params
from simulator.data.workloads.declared import DeclaredParams
from simulator.data.workloads.file import FileParams, FileReading
from simulator.errors import counted
from simulator.modules.contract import Database
from simulator.protocol.messages import WARMUP
from simulator.protocol.spec import RunSpec, Work
from simulator.protocol.verdict import VerifyMode

_NOT_SHOWN = {
    "num_inserts", "prefill", "steps", "workload", "seed", "start_ms", "clean", "limit",
}  # fmt: skip
"""Options that do not apply to rows of a file."""


class Rows(ABC):
    """Rows to insert, and methods that check, verify and describe them."""

    @property
    def recorded(self) -> Recorded | None:
        """Records that the workers send; None: the workers draw and encode rows."""
        return None

    @abstractmethod
    def empty(self, options: InsertOptions) -> Dataset:
        """Return the dataset without any rows."""

    @abstractmethod
    def level(self, options: InsertOptions, database: Database) -> VerifyMode:
        """Return the verification level; ConfigError if the rows do not allow this level."""

    @abstractmethod
    def expect(self, planned: Sequence[PlannedRun], wanted: Wanted[InsertOptions]) -> None:
        """Raise ConfigError if a run has no rows, or the target cannot store the rows."""

    @abstractmethod
    def describe(self, spec: RunSpec, wanted: Wanted[InsertOptions]) -> dict[str, Any]:
        """Return the options for the result; `spec` is the specification of the first run."""


@dataclass(frozen=True, slots=True)
class DrawnRows(Rows):
    """Rows of a workload, which the workers draw and encode."""

    params: Params

    def empty(self, options: InsertOptions) -> Dataset:
        return plan.empty_dataset(options, self.params)

    def level(self, options: InsertOptions, database: Database) -> VerifyMode:
        return plan.verification(options, database)

    def expect(self, planned: Sequence[PlannedRun], wanted: Wanted[InsertOptions]) -> None:
        names, target = wanted.options.replace_tables, wanted.target
        plan.expect_rows(planned)
        plan.expect_needed(names, planned[0].spec.dataset, target.open())
        plan.expect_storable(planned, target)

    def describe(self, spec: RunSpec, wanted: Wanted[InsertOptions]) -> dict[str, Any]:
        options, reader = wanted.options, DatasetReader(spec.dataset)
        return {
            **_format_options(options.describe(has_end=reader.sizes is not None), self.params),
            "mixes_tables": plan.mixes_tables(wanted.target.open(), reader, options.mode),
            "runs": 1 if options.steps else options.repeats,
            "verify": spec.verify.value,
        }


class InsertKind(Kind[InsertOptions]):
    """Rows are inserted, one worker count after the other."""

    name = "insert"
    work = Work.INSERT
    subjects = (WORKERS, LEVEL, STAGE)
    options = InsertOptions
    pictures = (Form.GROWTH, Form.FIGURES, Form.DISTRIBUTION, Form.SIZES)

    def subject(self, configuration: Mapping[str, Any]) -> Subject:
        """Return what distinguishes the result's rows: worker counts, steps or stages."""
        if configuration.get("steps"):
            return LEVEL
        return STAGE if configuration.get("stages") else WORKERS

    def problems(self, options: InsertOptions) -> list[str]:
        return option_problems(options)

    def expect(self, options: InsertOptions, target: Target) -> None:
        plan.verification(options, target.open())

    def plan(self, wanted: Wanted[InsertOptions]) -> Planned:
        rows = wanted.rows
        assert isinstance(rows, Rows)
        level = rows.level(wanted.options, wanted.target.open())
        planned = list(plan.insert_runs(wanted, level, rows.recorded))
        rows.expect(planned, wanted)
        return Planned(planned, rows.describe(planned[0].spec, wanted))

    def outline(self, planned: Sequence[PlannedRun], last: Result | None) -> Iterator[str]:
        first = planned[0].spec
        yield f"{batches_text(first)}; primary key: {first.dataset.primary_key}"
        yield f"verification after each run: {first.verify}"
        seconds = estimate_s(planned, last)
        if last is None or seconds is None:
            yield "duration: unknown, because there is no earlier insert with this batch size"
        else:
            yield f"duration: about {format_time(seconds)}, at the speed of {last.created:%F}"

    def row_names(self, first: RunSpec) -> Iterator[str]:
        yield from ()

    def warnings(self, result: Result) -> Iterator[str]:
        yield from writing_warnings(result)

    def showing(self, result: Result) -> Showing:
        return Showing(f"Inserts {self.subject(result.configuration).over}", self.pictures)

    def remarks(self, result: Result) -> Iterator[str]:
        """Yield the rates according to the formula of the published benchmark."""
        rows = self.summary(result).rows
        rates = ((row.place, row.value("rows_per_s_reference")) for row in rows)
        found = [f"{rate:,.0f} ({place})" for place, rate in rates if rate is not None]
        if found:
            formula = "rows/s by the published formula (rows / mean duration of the workers)"
            yield f"{formula}: {', '.join(found)}"

    def warmup_text(self, rows: int, runs: int) -> str:
        return (
            f"before each run is measured: {counted(rows, 'row')} in all, stored and verified, and"
            " left out of every figure above"
        )

    def facts(self, result: Result) -> Iterator[tuple[str, str]]:
        yield from super().facts(result)
        if most_s := result.configuration.get("warmup_until_steady_s"):
            yield from (("warm-up", text) for text in _describe_warmups(result, most_s))
        if evenness := [*self._list_evenness(result)]:
            yield "workers", "; ".join(evenness)

    def answers(self, result: Result) -> Iterator[tuple[str, str]]:
        yield from fault_facts(result)

    def _list_evenness(self, result: Result) -> Iterator[str]:
        """Yield the share of time in which all workers sent rows, and the evenness of the rates."""
        for row in self.summary(result).rows:
            if "overlap" in row.figures and "evenness" in row.figures:
                overlap, evenness = row.figures["overlap"].value, row.figures["evenness"].value
                at = f"level {row.place.level:,}: " if row.place.level is not None else ""
                yield (
                    f"{at}all {row.place.workers} sending in {overlap:.0%} of the time, the slowest"
                    f" at {evenness:.0%} of the fastest one's rows/s"
                )


def _describe_warmups(result: Result, most_s: float) -> Iterator[str]:
    """Yield the time until the rate was steady, and the number of runs without a steady rate."""
    runs = [run for run in result.runs if run.metrics]
    rows = sum(run.metrics.warmup_rows for run in runs if run.metrics)
    steady_s = [run.outcome.phases_s[WARMUP] for run in runs if run.outcome.steady]
    if steady_s:
        lengths = dict.fromkeys(f"{each:.0f} s" for each in (min(steady_s), max(steady_s)))
        yield (
            f"{' to '.join(lengths)} until the rate was steady: {counted(rows, 'row')} in all,"
            " stored and verified, and left out of every figure above"
        )
    if len(steady_s) < len(runs):
        yield (
            f"{len(runs) - len(steady_s)} of {counted(len(runs), 'run')} had no steady rate within"
            f" {most_s:g} s, and were measured from then on"
        )


def batches_text(spec: RunSpec) -> str:
    """Return the size of batches and the rate of rows, in words."""
    limit = spec.clocking.rows_per_s
    by_stage = any(stage.rate_per_s for stage in spec.clocking.stages)
    rate = "by stage" if by_stage else f"{limit:,.0f} rows/s" if limit else "no limit"
    batch = f"{spec.batch_rows:,} rows" if spec.batch_rows > 1 else "single rows"
    return f"batch: {batch}; rate: {rate}"


def _format_options(options: Mapping[str, Any], params: Params) -> dict[str, Any]:
    """Return the options of an insert for display, except options that do not apply to the rows."""
    if not isinstance(params, FileParams):
        shown = {name: value for name, value in options.items() if value is not None}
        if isinstance(params, DeclaredParams):
            return {**shown, "declared": params.digest}
        return {**shown, **params.model_dump(mode="json")}
    of_role = {role: [c.name for c in params.columns if c.role is role] for role in Role}
    given = params.model_dump(mode="json", include={*FileReading.model_fields} - {"tags"})
    usual = FileReading().model_dump(mode="json")
    reading = {name: value for name, value in given.items() if value != usual[name]}
    return {
        "data": params.source,
        "rows": params.rows,
        **reading,
        "time_column": of_role[Role.TIME][0],
        "tags": of_role[Role.TAG],
        **{name: value for name, value in options.items() if name not in _NOT_SHOWN},
    }


KIND = InsertKind()
