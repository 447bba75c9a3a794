"""An item of a plan, measured: an ordinary sweep of inserts, and one of queries on its rows."""

from dataclasses import dataclass
from pathlib import Path

from cli import plan, results
from cli.cluster.options import ClusterOptions
from cli.commands.common import Sweep, carried_out
from cli.commands.stored import Stored
from cli.commands.sweeps import insert_sweep, query_sweep
from cli.config import Target
from cli.experiment.engine import Measured
from cli.experiment.items import Item
from cli.experiment.plan import Setting
from cli.host.interrupts import Interrupts
from cli.insert_options import generator_params, target_problems
from cli.plan import PlannedRun
from cli.results import Result
from simulator.errors import BenchError, Interrupted


def insert_of(
    setting: Setting, target: Target, output: Path, timeout_s: float = 0.0, sweep_id: str = ""
) -> tuple[Sweep, list[PlannedRun]]:
    """Return the insert of a setting, beginning now; ConfigError if the target cannot take it."""
    now_ms = int(results.now_utc().timestamp() * 1000)
    options = setting.insert.options(target.open().capabilities, now_ms, timeout_s)
    params = generator_params(options)
    before = Stored(plan.empty_dataset(options, params), complete=True)
    return insert_sweep(target, output, options, params, before, sweep_id=sweep_id)


def refusal_of(setting: Setting, target: Target, *, force: bool) -> str:
    """Return why a target cannot be measured with a setting, found without I/O; empty: it can."""
    options = setting.insert.options(target.open().capabilities, 0, 0.0)
    problems = target_problems(options, target, force=force)
    if problems:
        return "; ".join(problems)
    try:
        _, planned = insert_of(setting, target, Path())
        if setting.query:
            stored = Stored(planned[-1].spec.after, complete=True)
            query_sweep(target, Path(), setting.query.options(0.0), stored, force=force)
    except BenchError as error:
        return "; ".join(str(error).splitlines())
    return ""


@dataclass(frozen=True, slots=True)
class Measuring:
    """How items are measured: what does not depend on the item."""

    output: Path
    interrupts: Interrupts
    """Of all items: whether the user has asked to stop."""
    cluster: ClusterOptions
    timeout_s: float
    """Of one run; 0: no limit."""
    force: bool
    quiet: bool

    def measure(self, item: Item) -> Measured:
        """Measure an item; a sweep that failed or was interrupted is the last one."""
        found: tuple[tuple[Path | None, Result], ...] = ()
        try:
            planned = insert_of(item.setting, item.target, self.output, self.timeout_s, item.id)
            found = (self._carried_out(*planned),)
            manifest = found[0][1].manifest
            if item.setting.query and manifest and found[0][1].status == "done":
                stored = Stored(manifest.dataset, manifest.complete)
                options = item.setting.query.options(self.timeout_s)
                sweep = query_sweep(
                    item.target, self.output, options, stored,
                    force=self.force, sweep_id=item.id, quiet=True,
                )  # fmt: skip
                found += (self._carried_out(*sweep),)
        except Interrupted:
            raise
        except BenchError as error:
            return Measured(found, cause="; ".join(str(error).splitlines()))
        return Measured(found)

    def _carried_out(self, sweep: Sweep, planned: list[PlannedRun]) -> tuple[Path | None, Result]:
        with carried_out(sweep, planned, self.cluster, self.interrupts, quiet=self.quiet):
            return sweep.file.path, sweep.result
