"""Lines and warnings of a plan's record, computed from the results of its items. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from iotbench.comparison.statistics import precision
from iotbench.figures.verdicts import level_of
from iotbench.plans.items import Found, Item, MeasuredItem, Pair, verdict_of, worst_of
from iotbench.plans.measures import measures_of
from iotbench.plans.plan import Plan
from iotbench.plans.record import ItemRecord, PlanLine
from iotbench.results.result import much_other_work
from simulator.errors import counted
from simulator.protocol.verdict import VerifyMode


def item_records(found: Found) -> tuple[ItemRecord, ...]:
    """Return the record of each item."""
    return tuple(
        ItemRecord(
            id=item.id,
            target=item.target.name,
            setting=item.setting.name,
            repeat=item.repeat,
            verdict=verdict_of(each),
            verify=_find_level([each]),
            cause=each.failure,
            other_work=much_other_work(*(result for _, result in each.results)),
            exit_code=each.results[-1][1].exit_code if each.results else 0,
            files=tuple(path.name for path, _ in each.results if path),
        )
        for item, each in found
    )


def lines_of(found: Found) -> tuple[PlanLine, ...]:
    """Return a line for each setting on each target, with the measures of its repeats."""
    keys = {(item.setting.name, item.target.name) for item, _ in found}
    settings = dict.fromkeys(item.setting.name for item, _ in found)
    targets = dict.fromkeys(item.target.name for item, _ in found)
    places = ((setting, target) for setting in settings for target in targets)
    return tuple(_summarise(*place, found) for place in places if place in keys)


def _summarise(setting: str, target: str, found: Found) -> PlanLine:
    own = [
        each for item, each in found if (item.setting.name, item.target.name) == (setting, target)
    ]
    whole = [each for each in own if each.is_complete]
    measured = [measures_of(result for _, result in each.results) for each in whole]
    names = dict.fromkeys(name for measures in measured for name in measures)
    return PlanLine(
        setting=setting,
        target=target,
        repeats=len(whole),
        measures={name: tuple(m[name] for m in measured if name in m) for name in names},
        verdict=worst_of(own),
        verify=_find_level(own),
    )


def _find_level(found: Sequence[MeasuredItem]) -> VerifyMode | None:
    return level_of(run for each in found for _, result in each.results for run in result.runs)


def hardware_of(*found: MeasuredItem) -> dict[str, int]:
    """Return hardware (processor, cores and memory) -> number of results of local workers."""
    results = (result for each in found for _, result in each.results)
    return dict(Counter(each.machine.hardware for each in results if each.runner == "local"))


def warnings_of(hardware: Mapping[str, int], items: Sequence[ItemRecord]) -> Iterator[str]:
    """Yield a warning about different hardware, and one for each target disturbed by other work."""
    if len(hardware) > 1:
        where = "; ".join(f"{name} ({counted(n, 'result')})" for name, n in hardware.items())
        yield (
            f"warning: measured on different hardware, so rates differ for that alone: {where};"
            " measure all of it on one machine, into an empty folder (--output)"
        )
    disturbed = [item for item in items if item.other_work]
    for target in dict.fromkeys(item.target for item in disturbed):
        own = [item.other_work for item in disturbed if item.target == target and item.other_work]
        yield (
            f"warning: {target}: other work took a tenth of the cores or more during"
            f" {counted(len(own), 'item')}, at most {max(own, key=lambda each: each.cores)}, so"
            " rates may be lower than without it; remove the result files with this warning, and"
            " run the same command again"
        )


RATE = "rows_per_s"


def find_imprecise(plan: Plan, group: Sequence[Pair], found: Found) -> list[Pair]:
    """Return the pairs of a group that have a mean rate less precise than the plan requires.

    Pairs with a failed last repeat, or without any measurement, are left out.
    """
    if plan.until_within is None:
        return []
    own: dict[tuple[str, str], list[tuple[Item, MeasuredItem]]] = {}
    for item, each in found:
        own.setdefault((item.setting.name, item.target.name), []).append((item, each))
    imprecise = []
    for pair in group:
        items = own.get((pair.setting.name, pair.target.name), [])
        if pair.setting.search or pair.setting.repeats or not items:
            continue
        last, each = max(items, key=lambda entry: entry[0].repeat)
        measures = [measures_of(result for _, result in one.results)
                    for _, one in items if one.is_complete]  # fmt: skip
        within = precision([one[RATE] for one in measures if RATE in one])
        if each.is_complete and (within is None or within > plan.until_within):
            imprecise.append(Pair(last.setting, last.target))
    return imprecise


def within_of(line: PlanLine) -> float | None:
    """Return the precision of the mean rate of a line; None with fewer than two repeats."""
    return precision(line.measures.get(RATE, ()))
