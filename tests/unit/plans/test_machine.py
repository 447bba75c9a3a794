"""What the machine of an experiment did besides is in its items, and in the report."""

from pathlib import Path

from iotbench.config.targets.config import Target
from iotbench.machine.bystanders import OtherWork
from iotbench.plans.items import MeasuredItem, Pair, items_of
from iotbench.plans.lines import hardware_of, item_records, warnings_of
from iotbench.plans.plan import Plan
from simulator.modules.sqlite import SqliteOptions
from tests.unit.output.terminal import made

PLAN = Plan.model_validate(
    {"name": "tiny", "repeats": 3, "settings": [{"name": "plain", "insert": {"workload": "slim"}}]}
)
TARGET = Target("lite", "sqlite", "local", SqliteOptions(), {})
BESIDE = (OtherWork(cores=0.1, busiest={}), OtherWork(cores=1.5, busiest={"make": 1.5}), None)


def test_items_beside_other_work_are_counted_with_the_most():
    found = []
    for item, work in zip(items_of(PLAN, [Pair(PLAN.settings[0], TARGET)]), BESIDE, strict=True):
        run = made.run().model_copy(update={"other_work": work})
        found.append((item, MeasuredItem(((Path("x.json"), made.result([run], cores=8)),))))
    records = item_records(found)
    hardware = hardware_of(*(each for _, each in found))

    assert [each.other_work for each in records] == [None, BESIDE[1], None]
    (warning,) = warnings_of(hardware, records)
    assert "lite: other work took a tenth of the cores or more during 1 item" in warning
    assert "at most 1.50 cores: make 1.50," in warning
    assert [*warnings_of(hardware, records[:1])] == []
