"""Measuring items one after the other, except those with results, and the verdicts of items."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from iotbench.plans.items import Item
from iotbench.plans.record import FAILED
from iotbench.results.result import Result
from iotbench.results.result_files import of_sweep
from simulator.protocol.verdict import Status


@dataclass(frozen=True, slots=True)
class MeasuredItem:
    """The results of an item's sweeps, in order."""

    results: tuple[tuple[Path | None, Result], ...] = ()
    cause: str = ""
    """Reason why a sweep could not start; a failed result has its own reason."""
    is_gone: bool = False
    """True if the database no longer answered after an earlier item failed."""

    @property
    def is_complete(self) -> bool:
        """True if every sweep of the item has been done."""
        return not self.cause and all(result.status == "done" for _, result in self.results)

    @property
    def is_interrupted(self) -> bool:
        """True if the user stopped one of its sweeps."""
        return any(result.status == "interrupted" for _, result in self.results)

    @property
    def failure(self) -> str:
        """Reason why it is not complete; empty if it is."""
        causes = (result.cause or result.status for _, result in self.results
                  if result.status != "done")  # fmt: skip
        return self.cause or next(causes, "")


Found: TypeAlias = Sequence[tuple[Item, MeasuredItem]]
"""Items in the order of their measurement, each with its results."""


def measure_items(
    items: Sequence[Item], folder: Path, measure: Callable[[Item], MeasuredItem]
) -> Iterator[tuple[Item, MeasuredItem, bool]]:
    """Yield each item with its results, and whether they were measured just now."""
    for item in items:
        earlier = complete_results(folder, item)
        yield (item, earlier, False) if earlier else (item, measure(item), True)


def complete_results(folder: Path, item: Item) -> MeasuredItem | None:
    """Return the earlier results of an item if they are complete; None otherwise.

    Later sweeps count only together with the insert before them: the next item replaces its rows.
    """
    kinds = item.setting.kinds
    found = [next(of_sweep(folder, kind, item.target.name, item.id), None) for kind in kinds]
    results = tuple(each for each in found if each)
    created = [result.created for _, result in results]
    whole = MeasuredItem(results)
    is_whole = len(results) == len(kinds) and created == sorted(created)
    return whole if is_whole and whole.is_complete else None


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
