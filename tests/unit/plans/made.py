"""Plans of a few settings, targets without servers, and items that took a given time."""

from pathlib import Path

from iotbench.config.targets.config import Target
from iotbench.plans.items import MeasuredItem, Pair
from iotbench.plans.plan import Plan
from simulator.modules.sqlite import SqliteOptions
from tests.unit.output.terminal import made


def plan_of(*settings, **fields):
    """Return a plan; a setting is a name, or keys in addition to an insert of iot."""
    given = ({"name": each} if isinstance(each, str) else each for each in settings)
    inserts = [{"insert": {"workload": "iot"}, **each} for each in given]
    return Plan.model_validate({"name": "tiny", **fields, "settings": inserts})


def target(name="lite", **options):
    return Target(name, "sqlite", "local", SqliteOptions(**options), {})


def pairs_of(plan, *targets):
    return [Pair(setting, each) for each in targets or (target(),) for setting in plan.settings]


def finished(seconds, name="x", **changes):
    """Return a measured item whose insert of 1,000 rows took this time."""
    return measured(made.timed(seconds), name=name, **changes)


def measured(*runs, name="x", **changes):
    return MeasuredItem(((Path(f"{name}.json"), made.result([*runs], **changes)),))
