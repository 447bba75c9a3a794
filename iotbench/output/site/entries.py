"""The figures of one target that a reader compares between databases."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median

from iotbench.comparison.statistics import precision
from iotbench.config.targets.advice import SUFFIX
from iotbench.figures.figures import FigureValue
from iotbench.figures.verdicts import describe_result, verdict_of
from iotbench.measurements import summary_of
from iotbench.output.page.measured import PageResult
from iotbench.results.result import Result
from simulator.modules.evidence import Kill, evidence
from simulator.protocol.events import Server
from simulator.protocol.verdict import Status

RATE = "rows_per_s"
WAIT = "avg_ms"
PROMISES = (
    "a loss of power",
    "a crash of the server",
    "neither, or not known",
)
"""Failures that an acknowledged row survives; compare only rows with the same promise."""
LEAST_RUNS = 5
"""Minimum number of runs for a median, a mean and an interval."""


def promise_of(module: str, server: Server | None) -> int:
    """Return the index in PROMISES of what acknowledged rows survive."""
    if server and server.durable:
        return 0
    survived_kill = evidence(module).kill is Kill.ALL_KEPT
    return 1 if server and server.durable is False and survived_kill else 2


def product_of(server: Server | None) -> str:
    """Return the product and edition that a server reports, such as FerretDB for MongoDB."""
    version = re.sub(r"( \(.*\))+$", "", server.version) if server else "unknown"
    licence = server.settings.get("timescaledb.license", "") if server else ""
    return version + {"apache": ", Apache edition", "timescale": ", Community"}.get(licence, "")


def choose_fastest(rates: Iterable[Sequence[float]]) -> Sequence[float]:
    """Return the rates of the setting with the fastest first run, without that run.

    The best of several means would be biased upwards. A single setting, or a single run, has no
    such choice.
    """
    settings = [*rates]
    chosen = max(settings, key=lambda each: each[0], default=())
    return chosen[1:] if len(settings) > 1 < len(chosen) else chosen


@dataclass(frozen=True)
class Entry:
    """A target with its results."""

    target: str
    results: Sequence[PageResult]

    @property
    def page(self) -> str:
        """File of its page."""
        return self.results[0].page

    @property
    def first(self) -> Result:
        """Its first result."""
        return self.results[0].result

    @property
    def is_advised(self) -> bool:
        """True if the settings are those that the vendor advises."""
        return self.target.endswith(SUFFIX)

    @cached_property
    def server(self) -> Server | None:
        """Facts about the server; None: unknown."""
        return next((each.result.server for each in self.results if each.result.server), None)

    @property
    def product(self) -> str:
        """Product and edition; the name of the target if the server is unknown."""
        return product_of(self.server) if self.server else self.target

    @cached_property
    def promise(self) -> int:
        """Index in PROMISES."""
        return promise_of(self.first.module, self.server)

    @cached_property
    def inserts(self) -> Mapping[str, PageResult]:
        """Setting -> result of its inserts, without searches and the inserts of queried rows."""
        queried = {setting_of(each) for each in self.results if each.result.kind == "query"}
        return {
            setting_of(each): each
            for each in self.results
            if each.result.kind == "insert"
            and not (each.repeated and (each.repeated.is_search or setting_of(each) in queried))
        }

    def rates(self, workload: str) -> Mapping[str, Sequence[float]]:
        """Return setting -> rate of each repeat or run, of all inserts of a workload."""
        found = {
            setting: list_rates(each)
            for setting, each in self.inserts.items()
            if each.result.dataset.workload == workload
        }
        return {setting: rates for setting, rates in found.items() if rates}

    @cached_property
    def waits(self) -> Mapping[str, tuple[PageResult, Mapping[str, FigureValue]]]:
        """Workload and setting -> result of the queries, and query -> its wait."""
        found = {}
        for each in self.results:
            if each.result.kind == "query":
                rows = sorted(each.summary.rows, key=lambda row: -(row.place.workers or 0))
                waits = {row.place.query: row.figures[WAIT] for row in rows if WAIT in row.figures}
                known = {name: wait for name, wait in waits.items() if name is not None}
                found[f"{each.result.dataset.workload} {setting_of(each)}"] = (each, known)
        return found

    @cached_property
    def bytes_per_row(self) -> Mapping[str, float]:
        """Workload -> mean size of a row, without runs of a fixed time."""
        results = [
            result
            for each in self.results
            if each.result.kind == "insert"
            for result in each.results
            if not result.configuration.get("duration_s")
        ]
        workloads = dict.fromkeys(result.dataset.workload for result in results)
        sizes = {name: list_sizes(results, name) for name in workloads}
        return {name: bytes_per_row(found) for name, found in sizes.items() if found}

    @property
    def verdict(self) -> str:
        """The worst verdict of its results, for display."""
        worst = min(self.results, key=lambda each: _find_rank(each.result))
        return describe_result(worst.result)


def setting_of(each: PageResult) -> str:
    """Return the setting of a plan, or the options in which a result differs from others."""
    if each.repeated:
        return each.repeated.setting
    return each.label.removeprefix(each.result.target).lstrip(", ") or each.about


def list_sizes(results: Iterable[Result], workload: str) -> Mapping[int, Sequence[int]]:
    """Return rows of each set of a workload -> its sizes after compaction, in bytes."""
    found: dict[int, list[int]] = {}
    for each in results:
        for run in each.runs:
            if each.dataset.workload == workload and run.outcome.size_bytes and run.metrics:
                found.setdefault(run.metrics.rows, []).append(run.outcome.size_bytes)
    return found


def bytes_per_row(sizes: Mapping[int, Sequence[int]]) -> float:
    """Return the mean size of a row.

    Two sets of rows give the slope, in which the space allocated for every table cancels out.
    """
    least, most = min(sizes), max(sizes)
    added = most - least or most
    return (fmean(sizes[most]) - (fmean(sizes[least]) if least < most else 0.0)) / added


def describe_values(
    values: Sequence[float], write: Callable[[float], str] = "{:,.0f}".format
) -> str:
    """Return the median and the mean of values with its precision; of few values, the extremes."""
    if len(values) < LEAST_RUNS:
        ends = dict.fromkeys(map(write, (min(values), max(values))))
        return f"{' to '.join(ends)} ({len(values)})"
    within = f"mean {write(fmean(values))} ±{precision(values) or 0:.0%}"
    return f"{write(median(values))}, {within} ({len(values)})"


def list_rates(each: PageResult) -> list[float]:
    """Return the rate of each repeat, or of each run at the place of the headline."""
    if each.is_repeated:
        parts: Iterable[Result] = each.results
    else:
        parts = _list_runs(each)
    rows = (summary_of(part).headline for part in parts)
    return [row.figures[RATE].value for row in rows if row and RATE in row.figures]


def _list_runs(each: PageResult) -> Iterator[Result]:
    row = each.summary.headline
    for run in each.done:
        if row and row.place.workers in (None, run.workers):
            yield each.result.model_copy(update={"runs": [run]})


def _find_rank(result: Result) -> int:
    verdict = verdict_of(result)
    order = [*Status]
    return order.index(Status(verdict)) if verdict in order else -1
