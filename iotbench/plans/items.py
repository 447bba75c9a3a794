"""The items of a plan: their order, IDs, results and verdicts.

An item is one repeat of a setting on a target.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from iotbench.config.targets.config import Target
from iotbench.measurements.insert.workload_file import contents_of
from iotbench.plans.plan import Plan
from iotbench.plans.record import FAILED
from iotbench.plans.settings import Setting
from iotbench.results.result import Result
from iotbench.results.result_files import of_sweep
from simulator import __version__
from simulator.protocol.verdict import Status

_DIGITS = 12
_DIGEST_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Candidate:
    """A target that might be measured."""

    name: str
    module: str
    options: Mapping[str, Any]
    """Options of the target in the configuration, and defaults of the target's module."""
    node_size: str = ""
    """Size of each node of the database, from the configuration; empty: not given."""
    not_had: str = ""
    """Reason why the target cannot be measured; empty: the target answers."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A setting and a target that can be measured with it."""

    setting: Setting
    target: Target
    """Target with the options of the setting."""

    def with_number(self, number: int) -> "Pair":
        """Return the pair with a number from the search of the setting."""
        return Pair(self.setting.with_number(number), self.target)


@dataclass(frozen=True, slots=True)
class Item:
    """One measurement of a pair."""

    id: str
    """ID of the item's sweeps; the same plan gives the same ID to the same item."""
    setting: Setting
    target: Target
    repeat: int
    """Number of the repeat, from 1."""

    @property
    def name(self) -> str:
        """Name of the item in messages."""
        of = ""
        if self.setting.search:
            of = f" with {self.setting.format_number(self.setting.number)}"
        return f"{self.target.name}, {self.setting.name}{of}, repeat {self.repeat}"


def items_of(plan: Plan, pairs: Sequence[Pair], after: int = 0, until: int = 0) -> list[Item]:
    """Return the items in order; every other repeat is reversed, so that drift affects all alike.

    The repeats begin after number `after`. They end with number `until`, or else with the number of
    repeats of the setting or the plan.
    """
    lasts = [(pair, until or pair.setting.repeats or plan.repeats) for pair in pairs]
    return [
        Item(_make_id(plan, pair, repeat), pair.setting, pair.target, repeat)
        for repeat in range(after + 1, max((last for _, last in lasts), default=0) + 1)
        for pair, last in (lasts if repeat % 2 else lasts[::-1])
        if repeat <= last
    ]


def digest_of(plan: Plan, pairs: Sequence[Pair]) -> str:
    """Return a digest for the name of a plan's record; equal pairs have equal digests."""
    ids = [item.id for item in items_of(plan, pairs)]
    return hashlib.sha256(" ".join(ids).encode()).hexdigest()[:_DIGEST_DIGITS]


def _make_id(plan: Plan, pair: Pair, repeat: int) -> str:
    """Return the ID of an item, valid in Kubernetes names and different if results may differ."""
    target, setting = pair.target, pair.setting
    content = [
        __version__,
        _list_dependencies(setting),
        [target.name, target.module, target.runner, target.namespace],
        {key: str(value) for key, value in target.options.public().items()},
        dict(target.tuned),
        repeat,
    ]
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return f"{plan.name}-{digest[:_DIGITS]}"


def _list_dependencies(setting: Setting) -> dict[str, Any]:
    """Return everything that affects results, with the content of the user's files."""
    unset = {"shards", "batches", "batch_of", "repeats"}
    unset |= {name for name in ("mixed", "change") if name not in setting.asked}
    found = setting.model_dump(mode="json", by_alias=True, exclude=unset)
    for asked in filter(None, (found["query"], found.get("mixed"))):
        if own := asked.pop("queries"):
            asked["own"] = own["queries"]
    if not setting.insert:
        return found
    for option in filter(None, (found["insert"]["setup"], found["insert"]["teardown"])):
        del option["path"]
    if declared := contents_of(setting.insert.workload):
        found["insert"]["workload"] = declared
    return found


@dataclass(frozen=True, slots=True)
class MeasuredItem:
    """The results of an item's sweeps, in order."""

    results: tuple[tuple[Path | None, Result], ...] = ()
    cause: str = ""
    """Reason why a sweep could not start; results of failed sweeps have separate reasons."""
    is_gone: bool = False
    """True if the database no longer answered after an earlier item failed."""

    @property
    def is_complete(self) -> bool:
        """True if all sweeps of the item are done."""
        return not self.cause and all(result.status == "done" for _, result in self.results)

    @property
    def is_interrupted(self) -> bool:
        """True if the user interrupted a sweep of the item."""
        return any(result.status == "interrupted" for _, result in self.results)

    @property
    def failure(self) -> str:
        """Reason why the item is not complete; empty if the item is complete."""
        causes = (result.cause or result.status for _, result in self.results
                  if result.status != "done")  # fmt: skip
        return self.cause or next(causes, "")


Found: TypeAlias = Sequence[tuple[Item, MeasuredItem]]
"""Items in the order of their measurement, each with its results."""


def measure_items(
    items: Sequence[Item], folder: Path, measure: Callable[[Item], MeasuredItem]
) -> Iterator[tuple[Item, MeasuredItem, bool]]:
    """Yield each item with its results, and whether the results were measured just now."""
    for item in items:
        earlier = complete_results(folder, item)
        yield (item, earlier, False) if earlier else (item, measure(item), True)


def complete_results(folder: Path, item: Item) -> MeasuredItem | None:
    """Return the earlier results of an item if they are complete; None otherwise.

    Sweeps after an insert count only together with the insert, because the next item replaces the
    rows of the insert.
    """
    kinds = item.setting.sweeps
    found = [next(of_sweep(folder, kind, item.target.name, item.id), None) for kind in kinds]
    results = tuple(each for each in found if each)
    created = [result.created for _, result in results]
    whole = MeasuredItem(results)
    is_whole = len(results) == len(kinds) and created == sorted(created)
    return whole if is_whole and whole.is_complete else None


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
    """Return the worst of the verdicts."""
    found = {*verdicts}
    return next((str(each) for each in (FAILED, *Status) if each in found), Status.VERIFIED.value)
