"""Everything that is specific to one kind of measurement."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, ClassVar, Generic, TypeVar

from iotbench.config.input.options import Options
from iotbench.config.targets.config import Target
from iotbench.figures.pictures import Form, Over, Ranges, Showing
from iotbench.figures.rows import ALL_QUERIES, Place
from iotbench.figures.summary import Subject, Summary, summarise
from iotbench.measurements.shared.plan import PlannedRun, Wanted
from iotbench.results.metrics import connects_of
from iotbench.results.result import Result
from simulator.errors import counted
from simulator.protocol.spec import RunSpec, Work

_Options = TypeVar("_Options", bound=Options)


@dataclass(frozen=True, slots=True)
class Planned:
    """The runs of a sweep, and the options in its result."""

    runs: list[PlannedRun]
    configuration: Mapping[str, Any]
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Query that is left out -> reason."""


class Kind(ABC, Generic[_Options]):
    """The measurement, output and warnings of a command. Each kind has its own folder."""

    name: ClassVar[str]
    """Name of the command, and of the kind in results."""
    work: ClassVar[Work]
    """Work of the runs."""
    subjects: ClassVar[tuple[Subject, ...]]
    """Possible subjects of the rows of a result."""
    options: type[_Options]
    """Options of the command."""
    help: ClassVar[str] = ""
    """Help of the command."""
    examples: ClassVar[tuple[str, ...]] = ()
    """Example command lines, without the name of the program."""
    title: ClassVar[str] = ""
    """Title of the section on a page."""
    pictures: ClassVar[tuple[Over | Ranges | Form, ...]] = ()
    """Pictures of the section on a page."""

    has_worker_counts: ClassVar[bool] = True
    """True if rows of results are named by numbers of workers."""

    @property
    def writes(self) -> bool:
        """True if the measurement leaves rows in the tables."""
        return self.work.writes

    @property
    def asks(self) -> bool:
        """True if the measurement times queries."""
        return self.work.asks

    @property
    def needs_rows(self) -> bool:
        """True if the measurement needs rows that an earlier insert stored."""
        return self.work.needs_rows

    @property
    def is_measured(self) -> bool:
        """True if results have figures."""
        return any(subject.figures for subject in self.subjects)

    def subject(self, configuration: Mapping[str, Any]) -> Subject:
        """Return the subject of the rows of a result with these options."""
        return self.subjects[0]

    def summary(self, result: Result) -> Summary:
        """Return the summary of a result of this kind."""
        return summarise(self.subject(result.configuration), result.runs)

    def problems(self, options: _Options) -> list[str]:
        """Return a sentence for each option that cannot work on any target."""
        return options.problems()

    def active(self, options: _Options) -> Collection[int] | None:
        """Return the worker counts that will name rows; None: only the plan determines them."""
        return None if self.has_worker_counts else ()

    def target_problems(self, options: _Options, target: Target, *, force: bool) -> Iterable[str]:
        """Return a sentence for each option that a target cannot take, whatever rows it has."""
        return ()

    def expect(self, options: _Options, target: Target) -> None:
        """Raise an error if a target cannot be used; called before files are read."""

    @abstractmethod
    def plan(self, wanted: Wanted[_Options]) -> Planned:
        """Return the runs; ConfigError names everything that is wrong."""

    @abstractmethod
    def outline(self, planned: Sequence[PlannedRun], last: Result | None) -> Iterator[str]:
        """Yield lines about a plan; `last` is an earlier insert of the target."""

    def worker_counts(self, planned: Sequence[PlannedRun]) -> Collection[int]:
        """Return the worker counts that can name rows of the result."""
        if not self.has_worker_counts:
            return ()
        stages = {stage.workers for stage in planned[0].spec.clocking.stages}
        return stages | {len(each.spec.workers) for each in planned}

    def row_names(self, first: RunSpec) -> Iterator[str]:
        """Yield the names of the result's rows, except names that are only numbers."""
        asked, stages = tuple(first.load.queries), first.clocking.stages
        yield from asked
        yield from [ALL_QUERIES] * (len(asked) > 1)
        yield from (Place(query=n, stage=i).name for n in asked for i, _ in enumerate(stages, 1))

    def warnings(self, result: Result) -> Iterator[str]:
        """Yield reasons to doubt figures of a result."""
        yield from ()

    def remarks(self, result: Result) -> Iterator[str]:
        """Yield further lines below the table."""
        yield from ()

    def facts(self, result: Result) -> Iterator[tuple[str, str]]:
        """Yield (name, text) of facts about the measurement."""
        length_s = result.configuration.get("warmup_s")
        if length_s:
            rows = sum(run.metrics.warmup_rows for run in result.runs if run.metrics)
            workers = [worker for run in result.runs for worker in run.outcome.workers]
            runs = sum(each.warmup_runs for worker in workers for each in worker.queries)
            yield "warm-up", f"{length_s:g} s {self.warmup_text(rows, runs)}"
        yield from _list_connection_facts(result)
        yield from self.answers(result)

    def answers(self, result: Result) -> Iterator[tuple[str, str]]:
        """Yield (name, text) of the facts that options request."""
        yield from ()

    def warmup_text(self, rows: int, runs: int) -> str:
        """Return how many rows and query runs the warm-up left out."""
        found = [counted(rows, "row")] * bool(rows) + [counted(runs, "query")] * bool(runs)
        return f"before each run are in no figure above: {' and '.join(found)}"

    def showing(self, result: Result) -> Showing:
        """Return the section of a page that shows such results side by side."""
        return Showing(self.title, self.pictures)

    def describe_measured(self, result: Result) -> Iterator[str]:
        """Yield the main options, for a list of results."""
        options = result.configuration
        if workers := options.get("workers"):
            yield f"w={list_entries(workers)}"
        if stages := options.get("stages"):
            yield f"stages={stages}"
        if self.writes:
            yield f"batch={options.get('batch', 0)}"
        if steps := options.get("steps"):
            yield f"steps={steps}"
        if asked := self.asks and options.get("queries"):
            yield asked[0] if len(asked) == 1 else counted(len(asked), "query")


def list_entries(counts: object) -> str:
    """Return worker counts as text; if there are many, only the first three and the last one."""
    given: Sequence[object] = counts if isinstance(counts, list | tuple) else (counts,)
    shown = [*given[:3], "...", given[-1]] if len(given) > 5 else given
    return ",".join(map(str, shown))


def _list_connection_facts(result: Result) -> Iterator[tuple[str, str]]:
    """Yield the number of connections and the time to connect, if workers have several."""
    found = [each for run in result.runs if (each := connects_of(run.outcome.workers))]
    shared = ""
    if pool := result.configuration.get("pool"):
        callers = result.configuration["connections"]
        shared = f", {pool:,} of each worker shared by {callers:,} callers"
    for connections in dict.fromkeys(each["connections"] for each in found):
        some = [each for each in found if each["connections"] == connections]
        p50_ms = fmean(each["connect_p50_ms"] for each in some)
        p99s_ms = [each["connect_p99_ms"] for each in some]
        slow = "" if None in p99s_ms else f", {fmean(p99s_ms):.3g} ms (99th percentile)"
        text = f"{connections:,}, each opened in {p50_ms:.3g} ms (median){slow}{shared}"
        yield "connections", text
