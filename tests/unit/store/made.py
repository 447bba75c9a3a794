"""A folder of results."""

from datetime import UTC, datetime, timedelta

from iotbench.machine.machine import this_machine
from iotbench.plans.record import PlanRecord
from iotbench.results import result_files
from tests.unit.output.terminal import made

FIRST = datetime(2026, 11, 23, 2, 50, 10, 123_000, tzinfo=UTC)


def store(folder, number, *, found=None, **changes):
    """Store a result that was made so many minutes after the first one."""
    created = FIRST + timedelta(minutes=number)
    fields = {"created": created, "sweep_id": f"{created:%Y%m%d-%H%M%S}-{number:04x}"}
    result = (found or made.result([made.run()])).model_copy(update=fields | changes)
    path = result_files.path_of(folder, result)
    result_files.write(path, result)
    return path


def id_of(number):
    return f"{FIRST + timedelta(minutes=number):%Y%m%d-%H%M%S}-{number:04x}"


def timed():
    """Return a result whose only row has the waits of some batches."""
    waits = made.histogram(1, 2, 3)
    return made.result([made.run(made.outcome(made.worker(0, latency=waits)))])


def plan_of(items, **changes):
    """Return the record of a plan with these items."""
    fields = {"name": "tiny", "plan": {}, "first": None, "last": None, "curves": ()}
    return PlanRecord(
        program_version="1", machine=this_machine(), status="done", items=items, lines=(),
        not_had={}, refused={}, **fields | changes,
    )  # fmt: skip
