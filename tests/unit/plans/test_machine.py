"""What the machine of an experiment did besides is in its items, and in the report."""

from iotbench.machine.bystanders import OtherWork
from iotbench.plans.items import items_of
from iotbench.plans.lines import hardware_of, item_records, warnings_of
from tests.unit.output.terminal import made
from tests.unit.plans.made import measured, pairs_of, plan_of

PLAN = plan_of("plain", repeats=3)
BESIDE = (OtherWork(cores=0.1, busiest={}), OtherWork(cores=1.5, busiest={"make": 1.5}), None)


def test_items_beside_other_work_are_counted_with_the_most():
    runs = (made.run().model_copy(update={"other_work": work}) for work in BESIDE)
    found = [*zip(items_of(PLAN, pairs_of(PLAN)), map(measured, runs), strict=True)]
    records = item_records(found)
    hardware = hardware_of(*(each for _, each in found))

    assert [each.other_work for each in records] == [None, BESIDE[1], None]
    (warning,) = warnings_of(hardware, records)
    assert "lite: other work took a tenth of the cores or more during 1 item" in warning
    assert "at most 1.50 cores: make 1.50," in warning
    assert [*warnings_of(hardware, records[:1])] == []
