"""The common part of commands that run a plan: the forecast, and measuring all items."""

import functools
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeAlias

from iotbench.execution.facts import READY_S, wait_for_answer
from iotbench.execution.installing import Installing, Ready, usable
from iotbench.execution.measure import ItemMeasuring, insert_of, refusal_of
from iotbench.execution.roster import Roster
from iotbench.machine.machine import this_machine
from iotbench.machine.streams import say, width_of
from iotbench.plans.engine import Found, MeasuredItem, complete_results, measure_items
from iotbench.plans.forecast import forecast, forecast_text
from iotbench.plans.installing import groups_of
from iotbench.plans.items import Item, Pair, items_of
from iotbench.plans.lines import find_imprecise, hardware_of, item_records
from iotbench.plans.plan import Plan
from iotbench.plans.record import Status
from iotbench.plans.searches import all_pairs, curves, first_pairs, next_pairs
from iotbench.results import result_files
from simulator import __version__
from simulator.errors import counted

Refused: TypeAlias = Mapping[tuple[str, str], str]


def forecast_of(title: str, plan: Plan, roster: Roster, output: Path) -> str:
    """Return the forecast of a plan, based on the speed of earlier results in a folder."""
    names = {pair.target.name for pair in roster.pairs}
    earlier = {name: [result for _, result in result_files.inserts(output, name)] for name in names}
    known = [
        (item, each)
        for item in items_of(plan, all_pairs(roster.pairs))
        if (each := complete_results(output, item))
    ]
    found = []
    for pair in all_pairs(roster.pairs, known):
        _, planned = insert_of(pair.setting, pair.target, output)
        items = items_of(plan, [pair])
        measured_before = sum(complete_results(output, item) is not None for item in items)
        found.append(
            forecast(pair, planned, earlier[pair.target.name], len(items), measured_before)
        )
    not_had = {each.name: each.not_had for each in roster.candidates if each.not_had}
    refused = {f"{target}, {name}": why for (name, target), why in roster.refused.items()}
    return forecast_text(title, plan, found, {**not_had, **refused}, width_of(sys.stdout))


def all_measured(
    plan: Plan,
    roster: Roster,
    measuring: ItemMeasuring,
    unsettled: Callable[[Found, Refused], Collection[tuple[str, str]]] | None = None,
    installing: Installing | None = None,
) -> tuple[list[tuple[Item, MeasuredItem]], Status, dict[tuple[str, str], str]]:
    """Measure the items that have no result; return all results, and the refused pairs.

    A search measures round after round, as each round follows from the one before. In the end,
    `unsettled` names each (setting, target) to repeat twice as often, up to the plan's limit.
    """
    found: list[tuple[Item, MeasuredItem]] = []
    refused = {**roster.refused}
    groups = groups_of(roster.pairs, installing.installations if installing else {})
    for number, group in enumerate(groups, 1):
        later = [pair for following in groups[number:] for pair in following]
        with installing.group(group) if installing else nullcontext(usable) as ready:
            whole = _measure_group(
                plan, group, found, refused, measuring, ready, len(items_of(plan, later))
            )
        if not whole:
            _say_left(measuring)
            return found, "interrupted", refused
    done, most = plan.repeats, plan.until_settled or 0
    while unsettled and done < most and (wanted := unsettled(found, refused)):
        until = min(2 * done, most)
        pairs = [
            pair
            for pair in roster.pairs
            if (pair.setting.name, pair.target.name) in wanted and not pair.setting.search
        ]
        if not _measure_round(items_of(plan, pairs, done, until), found, measuring, usable):
            _say_left(measuring)
            return found, "interrupted", refused
        done = until
    return found, "done", refused


def record_fields(found: Found, status: Status) -> dict[str, Any]:
    """Return the fields that records of plans and of reproductions have in common."""
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
    }


def _say_left(measuring: ItemMeasuring) -> None:
    if left := measuring.limit.left:
        text = f"--stop-after: the time is over; left to measure: at least {counted(left, 'item')}"
        _say(measuring, f"{text}; the same command goes on")


def _measure_group(  # noqa: PLR0913, PLR0917
    plan: Plan,
    group: Sequence[Pair],
    found: list[tuple[Item, MeasuredItem]],
    refused: dict[tuple[str, str], str],
    measuring: ItemMeasuring,
    ready: Ready,
    later: int,
) -> bool:
    """Measure the items of a group, round by round; return whether all are measured."""
    refusal = functools.partial(refusal_of, force=measuring.force)
    pairs = first_pairs(group)
    while pairs:
        if not _measure_round(items_of(plan, pairs), found, measuring, ready, later):
            return False
        pairs = next_pairs(group, found, refusal, refused)
    for done in range(plan.repeats, plan.most_repeats):
        again = items_of(plan, find_imprecise(plan, group, found), done, done + 1)
        if not _measure_round(again, found, measuring, ready, later):
            return False
    return True


def _measure_round(
    items: list[Item],
    found: list[tuple[Item, MeasuredItem]],
    measuring: ItemMeasuring,
    ready: Ready,
    later: int = 0,
) -> bool:
    """Measure items without a result and add all results; return whether all are measured.

    `ready` makes the database usable; `later`: number of items in later groups.
    """
    total = len(found) + len(items) + later

    def announce(item: Item) -> MeasuredItem:
        if not measuring.limit.allows(item):
            return MeasuredItem()
        began_s = time.monotonic()
        cause = ready()
        missing = MeasuredItem(cause=cause) if cause else _missing(item, found, measuring)
        if missing and measuring.interrupts.requested:
            return missing
        _say(measuring, f"[{len(found) + 1}/{total}] {item.name}")
        done = missing or measuring.measure(item)
        measuring.limit.note(time.monotonic() - began_s)
        return done

    for item, each, is_new in measure_items(items, measuring.output, announce):
        if each.is_interrupted or (measuring.interrupts.requested and not each.results):
            return False
        if not each.results and not each.cause:  # not begun, since the time is over
            continue
        found.append((item, each))
        if not is_new:
            where = _elsewhere(each)
            _say(measuring, f"[{len(found)}/{total}] {item.name}: measured before{where}")
        if measuring.interrupts.requested:
            return False
    return not measuring.limit.left


def _elsewhere(each: MeasuredItem) -> str:
    """Return a note on the other hardware of earlier results; empty if there is none."""
    here = this_machine().hardware
    others = [name for name in hardware_of(each) if name != here]
    return f" on other hardware: {', '.join(others)}" if others else ""


def _missing(item: Item, found: Found, measuring: ItemMeasuring) -> MeasuredItem | None:
    """Return why an item is not begun: the database has been gone since the item before failed.

    The database has some time to come back, once.
    """
    name = item.target.name
    last = next((each for earlier, each in reversed(found) if earlier.target.name == name), None)
    if last and last.is_gone:
        return last
    if not last or not last.failure:
        return None
    _say(measuring, f"checking {name}, which has {READY_S:g} s to answer")
    reason = wait_for_answer(item.target, measuring.cluster, measuring.interrupts)
    if not reason:
        return None
    return MeasuredItem(cause=f"not begun, the database is gone: {reason}", is_gone=True)


def _say(measuring: ItemMeasuring, text: str) -> None:
    if not measuring.quiet:
        say(text, err=True)
