"""The hardware that an experiment was measured on, which may differ after an interruption. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping

from cli.experiment.engine import Measured
from simulator.errors import counted


def hardware_of(*found: Measured) -> dict[str, int]:
    """Return processor, cores and memory -> how many results of local workers are of them."""
    results = (result for each in found for _, result in each.results)
    return dict(Counter(each.machine.hardware for each in results if each.runner == "local"))


def warnings_of(hardware: Mapping[str, int]) -> Iterator[str]:
    """Yield a warning if there are several."""
    if len(hardware) > 1:
        where = "; ".join(f"{name} ({counted(n, 'result')})" for name, n in hardware.items())
        yield (
            f"warning: measured on different hardware, so rates differ for that alone: {where};"
            " measure all of it on one machine, into an empty folder (--output)"
        )
