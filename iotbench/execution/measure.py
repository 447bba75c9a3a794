"""Measuring an item of a plan: an insert sweep, then the sweeps on its rows."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iotbench.config.options.choice import ClusterOptions
from iotbench.config.targets.config import Target
from iotbench.execution.launch import carry_out, sweep_of
from iotbench.execution.runners import meter_for
from iotbench.execution.sweep import Sweep
from iotbench.machine.interrupts import Interrupts
from iotbench.measurements import kind_named
from iotbench.measurements.change.options import Change
from iotbench.measurements.insert import plan
from iotbench.measurements.insert.checks import generator_params, target_problems
from iotbench.measurements.insert.kind import DrawnRows
from iotbench.measurements.insert.options import Insert
from iotbench.measurements.query.options import Mixed, Query
from iotbench.measurements.shared.plan import StoredBefore
from iotbench.plans.engine import MeasuredItem
from iotbench.plans.items import Item
from iotbench.plans.options import PlanOptions, PlanRun
from iotbench.plans.settings import Setting, build_asked_command, insert_command
from iotbench.results import result_files
from iotbench.results.result import Result
from simulator.errors import BenchError, Interrupted


class TimeLimit:
    """The time limit of a command, from its beginning; 0: none."""

    def __init__(self, limit_s: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        """Store the limit and its clock, and start."""
        self._clock, self._limit_s = clock, limit_s
        self._began_s = clock()
        self._longest_s = 0.0
        """Duration of the longest measured item."""
        self.left = 0
        """Items that were not begun."""

    def allows(self, item: Item) -> bool:
        """Return whether an item ends in time if it takes as long as the longest one."""
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


def insert_of(  # noqa: PLR0913
    setting: Setting,
    target: Target,
    output: Path,
    *,
    timeout_s: float = 0.0,
    sweep_id: str = "",
    replace_tables: tuple[str, ...] = (),
) -> Sweep:
    """Return the insert of a setting, beginning now; ConfigError if the target cannot take it.

    `replace_tables`: names of all settings, of which the insert gets those that it needs.
    """
    database = target.open()
    options = setting.inserting.options(database.capabilities, result_files.now_ms(), timeout_s)
    rows = DrawnRows(generator_params(options))
    before = StoredBefore(rows.empty(options), complete=True)
    needed = plan.list_needed_names(before.dataset, database)
    replaced = tuple(name for name in replace_tables if name in needed)
    options = options.model_copy(update={"replace_tables": replaced})
    return sweep_of(
        kind_named("insert"), target, output, options, before, rows=rows, sweep_id=sweep_id
    )


def refusal_of(setting: Setting, target: Target, *, force: bool) -> str:
    """Return why a target cannot be measured with a setting, without I/O; empty: it can."""
    if setting.insert is None:
        return ""
    options = setting.insert.options(target.open().capabilities, 0, 0.0)
    problems = target_problems(options, target, force=force)
    if problems:
        return "; ".join(problems)
    try:
        planned = insert_of(setting, target, Path())
        stored = StoredBefore(planned.runs[-1].spec.after, complete=True)
        for name, asked in setting.asked.items():
            kind = kind_named(name)
            if not (kind.writes and setting.insert.duration_s):  # else the rows are not known yet
                sweep_of(kind, target, Path(), asked.options(0.0), stored, force=force)
    except BenchError as error:
        return "; ".join(str(error).splitlines())
    return ""


@dataclass(frozen=True, slots=True)
class ItemMeasuring:
    """The parameters that all items share."""

    output: Path
    interrupts: Interrupts
    """Interrupts of all items: whether the user has asked to stop."""
    cluster: ClusterOptions
    timeout_s: float
    """Timeout of one run; 0: no limit."""
    force: bool
    quiet: bool
    config: Path | None = None
    """The file with the targets, if one was given."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment of commands before runs: the command line's, with all credentials."""
    replace_tables: tuple[str, ...] = ()
    """Foreign tables that the program may drop, of all items."""
    limit: TimeLimit = field(default_factory=TimeLimit)
    """Time limit after which no item begins."""
    stored: Mapping[str, StoredBefore] = field(default_factory=dict)
    """Target -> the rows that it holds, for settings without an insert."""

    @classmethod
    def of(
        cls,
        run: PlanRun,
        options: PlanOptions,
        interrupts: Interrupts,
        environment: Mapping[str, str],
    ) -> "ItemMeasuring":
        """Return the parameters from the options of a command."""
        reach = options.reach
        return cls(
            run.output, interrupts, reach.cluster, run.timeout_s, run.force, run.quiet,
            reach.config, environment, options.replace_tables, TimeLimit(run.stop_after_s),
        )  # fmt: skip

    def measure(self, item: Item) -> MeasuredItem:
        """Measure an item; stop after a sweep that failed or was interrupted."""
        found: tuple[tuple[Path | None, Result], ...] = ()
        given = self._list_given(item.target)
        stored = self.stored.get(item.target.name)
        try:
            if item.setting.insert:
                found = (self._insert(item, item.setting.insert, given),)
                manifest = found[0][1].manifest
                stored = StoredBefore(manifest.dataset, manifest.complete) if manifest else None
            for name, asked in item.setting.asked.items():
                if not stored or (found and found[-1][1].status != "done"):
                    break
                sweep = sweep_of(
                    kind_named(name), item.target, self.output, asked.options(self.timeout_s),
                    stored, sweep_id=item.id, force=self.force,
                )  # fmt: skip
                sweep.result.command = build_asked_command(
                    item.setting, asked, item.target, given, self.timeout_s
                )
                found += (self._carry_out(item, sweep, asked),)
        except Interrupted:
            raise
        except BenchError as error:
            return MeasuredItem(found, cause="; ".join(str(error).splitlines()))
        return MeasuredItem(found)

    def _insert(
        self, item: Item, insert: Insert, given: Mapping[str, Any]
    ) -> tuple[Path | None, Result]:
        sweep = insert_of(
            item.setting,
            item.target,
            self.output,
            timeout_s=self.timeout_s,
            sweep_id=item.id,
            replace_tables=self.replace_tables,
        )
        sweep.result.command = insert_command(item.setting, item.target, given, self.timeout_s)
        return self._carry_out(item, sweep, insert)

    def _list_given(self, target: Target) -> dict[str, Any]:
        """Return the options of this command that also apply to an item's sweeps."""
        config = {"config": str(self.config)} if self.config else {}
        return {**config, **(self.cluster.where() if target.runner == "kubernetes" else {})}

    def _carry_out(
        self, item: Item, sweep: Sweep, setting: Insert | Query | Mixed | Change
    ) -> tuple[Path | None, Result]:
        sweep = sweep.on(setting, self.environment)
        meter = None
        if item.setting.resources:  # without permission, the result has the reason
            meter = meter_for(item.target, item.id, self.cluster, required=False)
        with carry_out(sweep, self.cluster, self.interrupts, quiet=self.quiet, meter=meter):
            return sweep.file.path, sweep.result
