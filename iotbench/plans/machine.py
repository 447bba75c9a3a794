"""The machine that an experiment was measured on: its hardware, and other work on it. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from iotbench.plans.engine import MeasuredItem
from iotbench.plans.record import ItemRecord
from simulator.errors import counted


def hardware_of(*found: MeasuredItem) -> dict[str, int]:
    """Return processor, cores and memory -> how many results of local workers are of them."""
    results = (result for each in found for _, result in each.results)
    return dict(Counter(each.machine.hardware for each in results if each.runner == "local"))


def warnings_of(hardware: Mapping[str, int], items: Sequence[ItemRecord]) -> Iterator[str]:
    """Yield warnings of mixed hardware, and of targets disturbed by other work."""
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
            f"warning: {target}: other work took a tenth of the cores or more beside"
            f" {counted(len(own), 'item')}, at most {max(own, key=lambda each: each.cores)}, so"
            " rates may be lower than without it; remove their result files, which have this"
            " warning, and run the same command again"
        )
