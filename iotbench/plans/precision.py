"""The precision of a setting's mean rate on a target, and the repeats that it needs. Pure."""

from collections.abc import Sequence

from iotbench.comparison.statistics import precision
from iotbench.plans.engine import Found, MeasuredItem
from iotbench.plans.items import Item, Pair
from iotbench.plans.measures import measures_of
from iotbench.plans.plan import Plan
from iotbench.plans.record import PlanLine

RATE = "rows_per_s"


def unsure(plan: Plan, group: Sequence[Pair], found: Found) -> list[Pair]:
    """Return the pairs of a group with a mean rate that is less precise than the plan asks.

    Pairs with a failed last repeat, or without any measurement, are left out.
    """
    if plan.until_within is None:
        return []
    own: dict[tuple[str, str], list[tuple[Item, MeasuredItem]]] = {}
    for item, each in found:
        own.setdefault((item.setting.name, item.target.name), []).append((item, each))
    unsure_ones = []
    for pair in group:
        items = own.get((pair.setting.name, pair.target.name), [])
        if pair.setting.search or pair.setting.repeats or not items:
            continue
        last, each = max(items, key=lambda entry: entry[0].repeat)
        if each.is_complete and not _is_known([one for _, one in items], plan.until_within):
            unsure_ones.append(Pair(last.setting, last.target))
    return unsure_ones


def within_of(line: PlanLine) -> float | None:
    """Return how well the mean rate of a line is known; None with fewer than two repeats."""
    return precision(line.measures.get(RATE, ()))


def _is_known(own: Sequence[MeasuredItem], wanted: float) -> bool:
    measures = [measures_of(result for _, result in each.results)
                for each in own if each.is_complete]  # fmt: skip
    found = precision([each[RATE] for each in measures if RATE in each])
    return found is not None and found <= wanted
