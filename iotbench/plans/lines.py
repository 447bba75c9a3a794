"""Computes the lines of a plan's record from the results of its items. Pure."""

from iotbench.plans.engine import Found
from iotbench.plans.measures import measures_of
from iotbench.plans.record import ItemRecord, PlanLine
from iotbench.plans.verdicts import verdict_of, worst_of
from iotbench.results.result import much_other_work


def item_records(found: Found) -> tuple[ItemRecord, ...]:
    """Return what became of each item."""
    return tuple(
        ItemRecord(
            id=item.id,
            target=item.target.name,
            setting=item.setting.name,
            repeat=item.repeat,
            verdict=verdict_of(each),
            cause=each.failure,
            other_work=much_other_work(*(result for _, result in each.results)),
            exit_code=each.results[-1][1].exit_code if each.results else 0,
            files=tuple(path.name for path, _ in each.results if path),
        )
        for item, each in found
    )


def lines_of(found: Found) -> tuple[PlanLine, ...]:
    """Return what the repeats of each setting on each target measured."""
    keys = {(item.setting.name, item.target.name) for item, _ in found}
    settings = dict.fromkeys(item.setting.name for item, _ in found)
    targets = dict.fromkeys(item.target.name for item, _ in found)
    places = ((setting, target) for setting in settings for target in targets)
    return tuple(_line(*place, found) for place in places if place in keys)


def _line(setting: str, target: str, found: Found) -> PlanLine:
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
    )
