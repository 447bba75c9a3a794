"""The published row of a target, from the record of its plan and its results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import fmean, median

from iotbench.config.targets.advice import SUFFIX
from iotbench.figures.numbers import significant
from iotbench.output.site.entries import (
    RATE,
    bytes_per_row,
    choose_fastest,
    list_sizes,
    product_of,
    promise_of,
)
from iotbench.plans.record import PlanLine, PlanRecord
from iotbench.results.result import Result
from iotbench.results.result_files import read
from simulator.modules.evidence import Reached, evidence
from simulator.protocol.events import Server
from tests.published import ARCHIVE
from tests.published.elsewhere import ANOTHER_MACHINE, THIS_MACHINE
from tests.published.records import published

PREALLOCATED = {"questdb": "files grow by 16 MiB for each column"}
"""Module -> reason why its files are larger than its rows."""
BATCHES_OF_1000, SINGLE_ROWS = "batches-of-1000", "single-rows"
_HUMPS_APART = 0.1
"""Minimum distance of two speeds, as a share of the median."""
OF_BATCHES = ("workers-1", "workers-2", "workers-4", BATCHES_OF_1000)
_EARLIER = {"batches": BATCHES_OF_1000}
"""Settings of earlier plans -> their present names."""


@dataclass(frozen=True)
class Row:
    """The published row of a target."""

    record: PlanRecord

    @cached_property
    def lines(self) -> Mapping[str, PlanLine]:
        """Setting -> the measures of its repeats."""
        named = {_EARLIER.get(line.setting, line.setting): line for line in self.record.lines}
        return {name: line for name, line in named.items() if line.repeats}

    @cached_property
    def inserts(self) -> Sequence[Result]:
        """The results of its inserts."""
        files = (ARCHIVE / file for item in self.record.items for file in item.files)
        return [each for each in map(read, files) if each.kind == "insert"]

    @property
    def target(self) -> str:
        """The name of its target."""
        return self.record.lines[0].target

    @cached_property
    def server(self) -> Server | None:
        """Facts about the server; None: unknown."""
        return next((run.outcome.server for each in self.inserts for run in each.runs
                     if run.outcome.server), None)  # fmt: skip

    @property
    def is_advised(self) -> bool:
        """True if the settings are those that the vendor advises."""
        return self.target.endswith(SUFFIX)

    @property
    def product(self) -> str:
        """The product and edition that the server reports, such as FerretDB for MongoDB."""
        return product_of(self.server)

    @cached_property
    def hardware(self) -> str:
        """Processor, cores and memory of each machine that measured it."""
        return " and ".join(sorted({each.machine.hardware for each in self.inserts}))

    @property
    def machine_of_server(self) -> str:
        """Machine of a server that the tests did not start; empty: they started it."""
        tags = {tag for each in self.inserts for tag in each.tags}
        if ANOTHER_MACHINE in tags:
            return "another machine than the workers"
        return "the machine of the workers" if THIS_MACHINE in tags else ""

    @property
    def note(self) -> str:
        """Note in the evidence of a server of this version that was reached by its address."""
        version = self.server.version if self.server else ""
        records = evidence(self.inserts[0].module).real
        alike = (each for each in records if each.server == version)
        return next((each.note for each in alike if each.reached is Reached.ADDRESS), "")

    @cached_property
    def promise(self) -> int:
        """Index in PROMISES."""
        return promise_of(self.inserts[0].module, self.server)

    @cached_property
    def fastest(self) -> Sequence[float]:
        """The rates of the setting with the fastest first run, without that run."""
        return choose_fastest([rates for name in OF_BATCHES if (rates := self.rates(name))])

    @property
    def speed(self) -> float:
        """The median of `fastest`, by which rows are sorted."""
        return median(self.fastest or (0.0,))

    def is_tied_with(self, other: "Row") -> bool:
        """Return whether runs of both rows overlap, so that their order means nothing."""
        mine, others = self.fastest or (0.0,), other.fastest or (0.0,)
        return min(mine) <= max(others) and min(others) <= max(mine)

    def rates(self, setting: str) -> Sequence[float]:
        """Return the rates of the repeats of a setting."""
        line = self.lines.get(setting)
        return line.measures.get(RATE, ()) if line else ()

    def batch(self) -> str:
        """Return the batch size that the search found best, as text."""
        return next((f", batches of {each.best:,}" for each in self.record.curves), "")

    def waits_of_iot(self) -> str:
        """Return the shortest and longest mean wait of the queries of `iot`, and the repeats."""
        return self._waits("iot-queries", BATCHES_OF_1000)  # where earlier plans asked them

    def waits_of_cpu(self) -> str:
        """Return the same for the queries of `cpu`."""
        return self._waits("cpu-queries")

    def _waits(self, *settings: str) -> str:
        line = next((self.lines[name] for name in settings if name in self.lines), None)
        found = line.measures.items() if line else ()
        waits = {fmean(own): len(own) for name, own in found if name.startswith("avg_ms ")}
        if not waits:
            return "-"
        ends = f"{significant(min(waits))} to {significant(max(waits))}"
        return f"{ends} ({min(waits.values())})"

    def bytes_per_row(self) -> str:
        """Return the mean size of a row of `cpu` after compaction, and the number of inserts."""
        if not (sizes := self._sizes):
            return "-"
        mark = "*" if self.inserts[0].module in PREALLOCATED else ""
        return f"{significant(bytes_per_row(sizes))}{mark} ({min(map(len, sizes.values()))})"

    @cached_property
    def _sizes(self) -> Mapping[int, Sequence[int]]:
        return list_sizes(self.inserts, "cpu")

    @property
    def rows_of_sizes(self) -> int:
        """Rows of the only set of `cpu`, or the difference of two sets; 0: no set."""
        return max(self._sizes) - min(self._sizes) or max(self._sizes) if self._sizes else 0

    def set_size(self) -> str:
        """Return the size of the largest set, also as a multiple of the server's cache."""
        sizes = [run.outcome.size_bytes or 0 for each in self.inserts for run in each.runs]
        if not max(sizes, default=0):
            return "-"
        cache = self.server.buffer_bytes if self.server else None
        often = f", {max(sizes) / cache:.1f} x its cache" if cache else ""
        return f"{max(sizes) / 1e6:,.0f} MB{often}"


def rows() -> list[Row]:
    """Return the published rows by promise, the fastest first."""
    records = (record for _, record in published().values())
    found = [Row(record) for record in records if any(line.repeats for line in record.lines)]
    return sorted(found, key=lambda row: (row.promise, -row.speed))


def has_two_humps(rates: Sequence[float]) -> bool:
    """Return whether runs have two speeds: several on each side of a gap wider than either side.

    The gap is at least a tenth of the median.
    """
    known = sorted(rates)
    return any(
        after - before >= _HUMPS_APART * median(known)
        and after - before > max(before - known[0], known[-1] - after)
        for before, after in [*pairwise(known)][1:-1]
    )
