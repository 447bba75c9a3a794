"""Measures an item of a plan: an insert, then the sweeps on the inserted rows."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from iotbench.config.options.choice import Reach, RunOptions
from iotbench.config.targets.config import Target
from iotbench.execution.launch import carry_out, sweep_of
from iotbench.execution.runners import meter_for
from iotbench.execution.sweep import Sweep
from iotbench.machine.interrupts import Interrupts
from iotbench.measurements import kind_named
from iotbench.measurements.insert import plan
from iotbench.measurements.insert.checks import generator_params, target_problems
from iotbench.measurements.insert.kind import DrawnRows
from iotbench.output.live.outputs import LiveOutput
from iotbench.plans.items import Item, MeasuredItem
from iotbench.plans.options import PlanOptions, PlanRun
from iotbench.plans.settings import Setting, build_command
from iotbench.results import result_files
from iotbench.results.result import Manifest, Result
from simulator.errors import BenchError, Interrupted


class TimeLimit:
    """The time limit of a command, counted from the start of the command; 0 means no limit."""

    def __init__(self, limit_s: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._limit_s = clock, limit_s
        self._began_s = clock()
        self._longest_s = 0.0
        """Duration of the longest measured item."""
        self.left = 0
        """Number of items that were not begun."""

    def allows(self, item: Item) -> bool:
        """Return whether an item would end in time if it took as long as the longest item."""
        if not self._limit_s:
            return True
        insert = item.setting.inserting
        needed_s = max(insert.warm_s + insert.timed_s, self._longest_s)
        is_in_time = self._clock() - self._began_s + needed_s <= self._limit_s
        self.left += not is_in_time
        return is_in_time

    def note(self, seconds: float) -> None:
        """Record the duration of an item."""
        self._longest_s = max(self._longest_s, seconds)


def insert_of(
    setting: Setting,
    target: Target,
    run: RunOptions,
    *,
    sweep_id: str = "",
    replace_tables: tuple[str, ...] = (),
) -> Sweep:
    """Return the insert of a setting, starting now; ConfigError if the target cannot run it.

    `replace_tables` names tables for all settings; the insert gets only the names that it needs.
    """
    database = target.open()
    options = setting.inserting.options(database.capabilities, result_files.now_ms())
    rows = DrawnRows(generator_params(options))
    before = Manifest.of(rows.empty(options), complete=True)
    needed = plan.list_needed_names(before.dataset, database)
    replaced = tuple(name for name in replace_tables if name in needed)
    options = options.model_copy(update={"replace_tables": replaced})
    return sweep_of(
        kind_named("insert"), target, run, options, before, rows=rows, sweep_id=sweep_id
    )


def refusal_of(setting: Setting, target: Target, run: RunOptions) -> str:
    """Return why a target cannot be measured with a setting; empty if it can. Does no I/O."""
    if setting.insert is None:
        return ""
    options = setting.insert.options(target.open().capabilities)
    if problems := target_problems(options, target, force=run.force):
        return "; ".join(problems)
    try:
        insert = insert_of(setting, target, run)
        stored = Manifest.of(insert.runs[-1].spec.after, complete=True)
        for name, asked in setting.asked.items():
            kind = kind_named(name)
            if not (kind.writes and setting.insert.timed_s):  # else the rows are not known yet
                sweep_of(kind, target, run, asked.options(), stored)
            elif problems := [*kind.target_problems(asked.options(), target, force=run.force)]:
                return "; ".join(problems)
    except BenchError as error:
        return "; ".join(str(error).splitlines())
    return ""


@dataclass(frozen=True, slots=True)
class ItemMeasuring:
    """Measures items; its fields are the parameters that all items share."""

    run: RunOptions
    reach: Reach
    interrupts: Interrupts
    """The user's requests to stop."""
    replace_tables: tuple[str, ...] = ()
    """Foreign tables that the program may drop."""
    limit: TimeLimit = field(default_factory=TimeLimit)
    """Time limit after which no item begins."""
    stored: Mapping[str, Manifest] = field(default_factory=dict)
    """Target -> stored rows of the target, for settings without an insert."""
    outputs_of: Callable[[Result], tuple[LiveOutput, ...]] = lambda _: ()
    """Returns the live outputs of a sweep."""

    @classmethod
    def of(
        cls,
        run: PlanRun,
        options: PlanOptions,
        interrupts: Interrupts,
        outputs_of: Callable[[Result], tuple[LiveOutput, ...]] = lambda _: (),
    ) -> "ItemMeasuring":
        """Return the parameters from the options of a command."""
        limit = TimeLimit(run.stop_after_s)
        return cls(
            run, options.reach, interrupts, options.replace_tables, limit, outputs_of=outputs_of
        )

    def measure(self, item: Item) -> MeasuredItem:
        """Measure the sweeps of an item until one fails or is interrupted."""
        found: tuple[tuple[Path | None, Result], ...] = ()
        stored = self.stored.get(item.target.name)
        try:
            for kind in item.setting.sweeps:
                sweep = self._plan(item, kind, stored)
                sweep.result.command = build_command(
                    item.setting, kind, item.target, self._list_given(item.target)
                )
                meter = None
                if item.setting.resources:  # without permission, the result has the reason
                    cluster = self.reach.cluster
                    meter = meter_for(item.target, item.id, cluster, required=False)
                with carry_out(
                    sweep, self.reach, self.interrupts,
                    quiet=self.run.quiet, meter=meter, outputs=self.outputs_of(sweep.result),
                ):  # fmt: skip
                    pass
                found += ((sweep.file.path, sweep.result),)
                if kind == "insert":
                    stored = sweep.result.manifest
                if not stored or sweep.result.status != "done":
                    break
        except Interrupted:
            raise
        except BenchError as error:
            return MeasuredItem(found, cause="; ".join(str(error).splitlines()))
        return MeasuredItem(found)

    def _plan(self, item: Item, kind: str, stored: Manifest | None) -> Sweep:
        """Return a sweep of an item; a sweep after the insert uses the `stored` rows."""
        if kind == "insert":
            return insert_of(
                item.setting, item.target, self.run,
                sweep_id=item.id, replace_tables=self.replace_tables,
            )  # fmt: skip
        assert stored
        options = item.setting.asked[kind].options()
        return sweep_of(kind_named(kind), item.target, self.run, options, stored, sweep_id=item.id)

    def _list_given(self, target: Target) -> dict[str, object]:
        """Return the options of this command that also apply to an item's sweeps."""
        config, timeout_s = self.reach.config, self.run.timeout_s
        return {
            **({"config": str(config)} if config else {}),
            **(self.reach.cluster.where() if target.runner == "kubernetes" else {}),
            **({"timeout": f"{timeout_s:g}s"} if timeout_s else {}),
        }
