"""An item of a plan, measured: an ordinary sweep of inserts, and one of queries on its rows."""

from dataclasses import dataclass
from pathlib import Path

from cli import plan, results
from cli.cluster.options import ClusterOptions
from cli.commands.common import Sweep, carried_out
from cli.commands.stored import Stored
from cli.commands.sweeps import insert_sweep, query_sweep
from cli.experiment.engine import Measured
from cli.experiment.items import Item
from cli.insert_options import generator_params
from cli.plan import PlannedRun
from cli.results import Result
from simulator.errors import BenchError, Interrupted


@dataclass(frozen=True, slots=True)
class Measuring:
    """How items are measured: what does not depend on the item."""

    output: Path
    cluster: ClusterOptions
    timeout_s: float
    """Of one run; 0: no limit."""
    force: bool
    quiet: bool

    def measure(self, item: Item) -> Measured:
        """Measure an item; a sweep that failed or was interrupted is the last one."""
        found: tuple[tuple[Path | None, Result], ...] = ()
        try:
            found = (self._carried_out(*self._insert(item)),)
            manifest = found[0][1].manifest
            if item.setting.query and manifest and found[0][1].status == "done":
                stored = Stored(manifest.dataset, manifest.complete)
                found += (self._carried_out(*self._query(item, stored)),)
        except Interrupted:
            raise
        except BenchError as error:
            return Measured(found, cause="; ".join(str(error).splitlines()))
        return Measured(found)

    def _insert(self, item: Item) -> tuple[Sweep, list[PlannedRun]]:
        key = item.target.open().capabilities.default_key
        now_ms = int(results.now_utc().timestamp() * 1000)
        options = item.setting.insert.options(key, now_ms, self.timeout_s)
        params = generator_params(options)
        before = Stored(plan.empty_dataset(options, params), complete=True)
        return insert_sweep(item.target, self.output, options, params, before, sweep_id=item.id)

    def _query(self, item: Item, stored: Stored) -> tuple[Sweep, list[PlannedRun]]:
        assert item.setting.query
        options = item.setting.query.options(self.timeout_s)
        return query_sweep(
            item.target, self.output, options, stored, force=self.force, sweep_id=item.id
        )

    def _carried_out(self, sweep: Sweep, planned: list[PlannedRun]) -> tuple[Path | None, Result]:
        with carried_out(sweep, planned, self.cluster, quiet=self.quiet):
            return sweep.file.path, sweep.result
