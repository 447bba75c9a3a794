"""The verdict of an item, and of several: the worst one."""

from collections.abc import Iterable

from iotbench.plans.engine import MeasuredItem
from iotbench.plans.record import FAILED
from simulator.protocol.verdict import Status

_WORST_FIRST = (
    FAILED,
    Status.MISMATCH,
    Status.INCOMPLETE,
    Status.UNKNOWN,
    Status.UNCHECKED,
    Status.OFF,
)


def verdict_of(found: MeasuredItem) -> str:
    """Return the verdict of an item, over all its runs."""
    if not found.is_complete:
        return FAILED
    verdicts = [run.outcome.verdict for _, result in found.results for run in result.runs]
    return worst(each.status if each else Status.UNKNOWN for each in verdicts)


def worst_of(items: Iterable[MeasuredItem]) -> str:
    """Return the worst verdict of several items."""
    return worst(verdict_of(each) for each in items)


def worst(verdicts: Iterable[str]) -> str:
    """Return the worst of these verdicts."""
    found = {*verdicts}
    return next((str(each) for each in _WORST_FIRST if each in found), Status.VERIFIED.value)
