"""Forecasts and measures the items of a plan, for all commands that run one."""

import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from iotbench.config.options.choice import RunOptions
from iotbench.execution.collector import READY_S, wait_for_answer
from iotbench.execution.installing import Installing, Ready, usable
from iotbench.execution.measure import ItemMeasuring, insert_of, refusal_of
from iotbench.execution.roster import Refused, Roster, name_refused
from iotbench.machine.machine import this_machine
from iotbench.machine.streams import say, width_of
from iotbench.plans.forecast import forecast, forecast_text
from iotbench.plans.installing import groups_of
from iotbench.plans.items import (
    Found,
    Item,
    MeasuredItem,
    Pair,
    complete_results,
    items_of,
    measure_items,
)
from iotbench.plans.lines import find_imprecise, hardware_of, item_records, lines_of
from iotbench.plans.plan import Plan
from iotbench.plans.record import InstallRecord, PlanRecord, Status
from iotbench.plans.searches import all_pairs, curves, first_pairs, keep_best, next_pairs
from iotbench.plans.tables import absences
from iotbench.results import result_files
from simulator import __version__
from simulator.errors import counted


def forecast_of(title: str, plan: Plan, roster: Roster, run: RunOptions) -> str:
    """Return the forecast of a plan, estimated from earlier results in its folder."""
    names = {pair.target.name for pair in roster.pairs}
    inserts = result_files.inserts
    earlier = {name: [result for _, result in inserts(run.output, name)] for name in names}
    known = [
        (item, each)
        for item in items_of(plan, all_pairs(roster.pairs))
        if (each := complete_results(run.output, item))
    ]
    found = []
    for pair in all_pairs(roster.pairs, known):
        planned = insert_of(pair.setting, pair.target, run).runs
        items = items_of(plan, [pair])
        measured_before = sum(complete_results(run.output, item) is not None for item in items)
        found.append(
            forecast(pair, planned, earlier[pair.target.name], len(items), measured_before)
        )
    return forecast_text(title, plan, found, roster.left_out, width_of(sys.stdout))


def measure_all(
    plan: Plan,
    roster: Roster,
    measuring: ItemMeasuring,
    find_unsettled: Callable[[Found, Refused], Collection[tuple[str, str]]] | None = None,
    installing: Installing | None = None,
) -> tuple[list[tuple[Item, MeasuredItem]], Status, dict[tuple[str, str], str]]:
    """Measure the items that have no result; return all results, and the refused pairs.

    What is left out is printed first. A search measures round after round, since each round depends
    on the one before. In the end, `find_unsettled` names each (setting, target) to repeat twice as
    often, up to the limit of the plan.
    """
    for line in absences(roster.left_out):
        _say(measuring, line)
    rounds = _Rounds(plan, roster, measuring)
    if rounds.measure_groups(installing) and rounds.settle(find_unsettled):
        return rounds.found, "done", rounds.refused
    if left := measuring.limit.left:
        text = f"--stop-after: the time is over; left to measure: at least {counted(left, 'item')}"
        _say(measuring, f"{text}; the same command continues")
    return rounds.found, "interrupted", rounds.refused


def plan_record(
    plan: Plan,
    roster: Roster,
    measured: tuple[Found, Status, Refused],
    written: Mapping[str, Any] | None = None,
    installs: tuple[InstallRecord, ...] = (),
) -> PlanRecord:
    """Return the record of a measured plan.

    `written` is the plan as the record shows it, and `installs` are the installations of its
    targets.
    """
    found, status, refused = measured
    return PlanRecord(
        **record_fields(found, status, refused),
        name=plan.name,
        lines=lines_of(keep_best(found)),
        not_had=roster.not_had,
        plan=dict(written or plan.model_dump(mode="json", by_alias=True)),
        installs=installs,
    )


def record_fields(found: Found, status: Status, refused: Refused) -> dict[str, Any]:
    """Return the fields that the records of plans and reproductions have in common."""
    created = sorted(result.created for _, each in found for _, result in each.results)
    return {
        "program_version": __version__,
        "machine": this_machine(),
        "hardware": hardware_of(*(each for _, each in found)),
        "status": status,
        "first": created[0] if created else None,
        "last": created[-1] if created else None,
        "items": item_records(found),
        "curves": tuple(curves(found)),
        "refused": name_refused(refused),
    }


class _Rounds:
    """Measures the items of a plan, round by round.

    Methods return False if the user has interrupted the measurement, or its time is over.
    """

    def __init__(self, plan: Plan, roster: Roster, measuring: ItemMeasuring) -> None:
        self._plan, self._pairs, self._measuring = plan, roster.pairs, measuring
        self.found: list[tuple[Item, MeasuredItem]] = []
        self.refused = {**roster.refused}

    def measure_groups(self, installing: Installing | None) -> bool:
        """Measure the pairs in groups; each group has its own installed database."""
        groups = groups_of(self._pairs, installing.installations if installing else {})
        for number, group in enumerate(groups, 1):
            later = [pair for following in groups[number:] for pair in following]
            with installing.group(group) if installing else nullcontext(usable) as ready:
                if not self._measure_group(group, ready, len(items_of(self._plan, later))):
                    return False
        return True

    def settle(
        self, find_unsettled: Callable[[Found, Refused], Collection[tuple[str, str]]] | None
    ) -> bool:
        """Repeat the pairs that are not settled, twice as often in each round."""
        done, most = self._plan.repeats, self._plan.until_settled or 0
        while find_unsettled and done < most:
            if not (wanted := find_unsettled(self.found, self.refused)):
                break
            until = min(2 * done, most)
            pairs = [
                pair
                for pair in self._pairs
                if (pair.setting.name, pair.target.name) in wanted and not pair.setting.search
            ]
            if not self._measure_round(items_of(self._plan, pairs, done, until), usable):
                return False
            done = until
        return True

    def _measure_group(self, group: Sequence[Pair], ready: Ready, later: int) -> bool:
        """Measure the items and searches of a group, then repeat imprecise pairs."""
        plan, refusal = self._plan, partial(refusal_of, run=self._measuring.run)
        pairs = first_pairs(group)
        while pairs:
            if not self._measure_round(items_of(plan, pairs), ready, later):
                return False
            pairs = next_pairs(group, self.found, refusal, self.refused)
        for done in range(plan.repeats, plan.most_repeats):
            again = items_of(plan, find_imprecise(plan, group, self.found), done, done + 1)
            if not self._measure_round(again, ready, later):
                return False
        return True

    def _measure_round(self, items: list[Item], ready: Ready, later: int = 0) -> bool:
        """Measure the items that have no result, and add all results.

        `ready` makes the database usable; `later` is the number of items in later groups.
        """
        measuring, found = self._measuring, self.found
        total = len(found) + len(items) + later

        def measure(item: Item) -> MeasuredItem:
            if not measuring.limit.allows(item):
                return MeasuredItem()
            began_s = time.monotonic()
            cause = ready()
            missing = MeasuredItem(cause=cause) if cause else self._find_gone(item)
            if missing and measuring.interrupts.requested:
                return missing
            _say(measuring, f"[{len(found) + 1}/{total}] {item.name}")
            done = missing or measuring.measure(item)
            measuring.limit.note(time.monotonic() - began_s)
            return done

        for item, each, is_new in measure_items(items, measuring.run.output, measure):
            if each.is_interrupted or (measuring.interrupts.requested and not each.results):
                return False
            if not each.results and not each.cause:  # not begun, since the time is over
                continue
            found.append((item, each))
            if not is_new:
                here = this_machine().hardware
                others = ", ".join(name for name in hardware_of(each) if name != here)
                where = f" on other hardware: {others}" if others else ""
                _say(measuring, f"[{len(found)}/{total}] {item.name}: measured before{where}")
            if measuring.interrupts.requested:
                return False
        return not measuring.limit.left

    def _find_gone(self, item: Item) -> MeasuredItem | None:
        """Return a result for an item that cannot begin as its database is lost; otherwise None.

        A database is only checked after a failed item; it gets some time to answer again, once.
        """
        name, measuring = item.target.name, self._measuring
        own = (each for earlier, each in reversed(self.found) if earlier.target.name == name)
        last = next(own, None)
        if last and last.is_gone:
            return last
        if not last or not last.failure:
            return None
        _say(measuring, f"checking {name}, which has {READY_S:g} s to answer")
        reason = wait_for_answer(item.target, measuring.reach.cluster, measuring.interrupts)
        if not reason:
            return None
        return MeasuredItem(cause=f"not begun, the database is gone: {reason}", is_gone=True)


def _say(measuring: ItemMeasuring, text: str) -> None:
    if not measuring.run.quiet:
        say(text, err=True)
