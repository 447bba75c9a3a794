"""What is published of a target, read from its plan's record and result files."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from cli.experiment.record import PlanLine, PlanRecord
from cli.report.numbers import significant
from cli.results.result import Result
from cli.results.result_files import read
from cli.targets.advice import SUFFIX
from simulator.modules.evidence import Reached, evidence
from simulator.protocol.events import ServerFacts
from tests.published import FOLDER
from tests.published.elsewhere import ANOTHER_MACHINE, THIS_MACHINE
from tests.published.records import published

RATE = "rows_per_s"
PROMISES = (
    "a loss of power",
    "a crash of the server",
    "neither, or not known",
)
"""What an acknowledged row survives: rows of different promises are not compared."""
PREALLOCATED = {"questdb": "files grow by 16 MiB for each column"}
"""Module -> why its bytes a row are more than the rows need."""
BATCHES_OF_1000, SINGLE_ROWS = "batches-of-1000", "single-rows"
OF_BATCHES = ("workers-1", "workers-2", "workers-4", BATCHES_OF_1000)
_EARLIER = {"batches": BATCHES_OF_1000}
"""Settings of earlier plans -> their present names."""


@dataclass(frozen=True)
class Row:
    """What is published of a target."""

    record: PlanRecord

    @cached_property
    def lines(self) -> Mapping[str, PlanLine]:
        """Setting -> what its repeats measured."""
        named = {_EARLIER.get(line.setting, line.setting): line for line in self.record.lines}
        return {name: line for name, line in named.items() if line.repeats}

    @cached_property
    def inserts(self) -> Sequence[Result]:
        """The results of its inserts."""
        files = (FOLDER / file for item in self.record.items for file in item.files)
        return [each for each in map(read, files) if each.kind == "insert"]

    @property
    def target(self) -> str:
        """The name of its target."""
        return self.record.lines[0].target

    @cached_property
    def server(self) -> ServerFacts | None:
        """What the server reported."""
        return next((run.outcome.server for each in self.inserts for run in each.runs
                     if run.outcome.server), None)  # fmt: skip

    @property
    def is_advised(self) -> bool:
        """Whether it has the settings that its vendor advises, not those of its installation."""
        return self.target.endswith(SUFFIX)

    @property
    def product(self) -> str:
        """The product as its server reports it, and its edition: FerretDB is not MongoDB."""
        version = re.sub(r"( \(.*\))+$", "", self.server.version) if self.server else "unknown"
        licence = self.server.settings.get("timescaledb.license", "") if self.server else ""
        return version + {"apache": ", Apache edition", "timescale": ", Community"}.get(licence, "")

    @cached_property
    def hardware(self) -> str:
        """Processor, cores and memory of the machine; of several, if it was measured on several."""
        return " and ".join(sorted({each.machine.hardware for each in self.inserts}))

    @property
    def machine_of_server(self) -> str:
        """Where a server ran that the tests did not start; empty: they started it."""
        tags = {tag for each in self.inserts for tag in each.tags}
        if ANOTHER_MACHINE in tags:
            return "another machine than the workers"
        return "the machine of the workers" if THIS_MACHINE in tags else ""

    @property
    def note(self) -> str:
        """What the evidence says of a server of this version that was reached by its address."""
        version = self.server.version if self.server else ""
        records = evidence(self.inserts[0].module).real
        alike = (each for each in records if each.server == version)
        return next((each.note for each in alike if each.reached is Reached.ADDRESS), "")

    @cached_property
    def promise(self) -> int:
        """What an acknowledged row survives: the place in PROMISES."""
        if self.server and self.server.durable:
            return 0
        survived_kill = evidence(self.inserts[0].module).kill == "all kept"
        return 1 if self.server and self.server.durable is False and survived_kill else 2

    @cached_property
    def fastest(self) -> Sequence[float]:
        """The rates of the batches that have the highest mean, which rows are sorted by."""
        return max((rates for name in OF_BATCHES if (rates := self.rates(name))),
                   key=fmean, default=(0.0,))  # fmt: skip

    def rates(self, setting: str) -> Sequence[float]:
        """Return the rates of the repeats of a setting."""
        line = self.lines.get(setting)
        return line.measures.get(RATE, ()) if line else ()

    def batch(self) -> str:
        """Return the size of a batch that the search found best."""
        return next((f", batches of {each.best:,}" for each in self.record.curves), "")

    def waits_of_iot(self) -> str:
        """Return the least and the greatest mean wait of the queries of `iot`."""
        return self._waits("iot-queries", BATCHES_OF_1000)  # where earlier plans asked them

    def waits_of_cpu(self) -> str:
        """Return the least and the greatest mean wait of the queries of `cpu`."""
        return self._waits("cpu-queries")

    def _waits(self, *settings: str) -> str:
        line = next((self.lines[name] for name in settings if name in self.lines), None)
        found = line.measures.items() if line else ()
        waits = [fmean(values) for name, values in found if name.startswith("avg_ms ")]
        return f"{significant(min(waits))} to {significant(max(waits))}" if waits else "-"

    def bytes_per_row(self) -> str:
        """Return the size of a row after compaction, of full doubles where they were measured."""
        line = self.lines.get("cpu-queries") or self.lines.get(BATCHES_OF_1000)
        values = line.measures.get("bytes_per_row", ()) if line else ()
        if not values:
            return "-"
        mark = "*" if self.inserts[0].module in PREALLOCATED else ""
        return f"{significant(fmean(values))}{mark}"

    def set_size(self) -> str:
        """Return how large the largest set was, and how often it holds the server's cache."""
        sizes = [run.outcome.size_bytes or 0 for each in self.inserts for run in each.runs]
        if not max(sizes, default=0):
            return "-"
        cache = self.server.buffer_bytes if self.server else None
        often = f", {max(sizes) / cache:.1f} x its cache" if cache else ""
        return f"{max(sizes) / 1e6:,.0f} MB{often}"


def rows() -> list[Row]:
    """Return what is published, by promise, and within each the fastest first."""
    records = (record for _, record in published().values())
    found = [Row(record) for record in records if any(line.repeats for line in record.lines)]
    return sorted(found, key=lambda row: (row.promise, -fmean(row.fastest)))
