"""The items of a plan, each one repeat of a setting on a target, with order and ids."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iotbench.config.targets.config import Target
from iotbench.measurements.insert.workload_file import contents_of
from iotbench.plans.plan import Plan
from iotbench.plans.settings import Setting
from simulator import __version__
from simulator.errors import counted

_DIGITS = 12
_DIGEST_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Candidate:
    """A target that might be measured."""

    name: str
    module: str
    options: Mapping[str, Any]
    """Options of its entry in the configuration, and the defaults of its module."""
    node_size: str = ""
    """Size of each node of the database, from the configuration; empty: not named."""
    not_had: str = ""
    """Reason why it cannot be measured at all; empty: it answers."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A setting and a target that can be measured with it."""

    setting: Setting
    target: Target
    """Target with the options of the setting."""

    def with_number(self, number: int) -> "Pair":
        """Return the pair with a number of its setting's search."""
        return Pair(self.setting.with_number(number), self.target)

    def with_batch(self, rows: int) -> "Pair":
        """Return the pair with this batch size."""
        return Pair(self.setting.with_batch(rows), self.target)

    def format_number(self, number: int) -> str:
        """Return a number of the search as text."""
        return counted(number, "shard") if self.setting.shards else f"batches of {number:,}"


@dataclass(frozen=True, slots=True)
class Item:
    """One measurement of a pair."""

    id: str
    """Id of its sweeps: the same whenever the same plan measures the same target."""
    setting: Setting
    target: Target
    repeat: int
    """Number of the repeat, from 1."""

    @property
    def name(self) -> str:
        """Name in messages."""
        of = ""
        if self.setting.search:
            pair = Pair(self.setting, self.target)
            of = f" with {pair.format_number(self.setting.number)}"
        return f"{self.target.name}, {self.setting.name}{of}, repeat {self.repeat}"


def items_of(plan: Plan, pairs: Sequence[Pair], after: int = 0, until: int = 0) -> list[Item]:
    """Return the items in order: every other repeat backwards, so that drift affects all alike.

    The repeats are those after `after`, up to `until` or else to the setting's or plan's number.
    """
    lasts = [until or pair.setting.repeats or plan.repeats for pair in pairs]
    return [
        Item(_id(plan, pair, repeat), pair.setting, pair.target, repeat)
        for repeat in range(after + 1, max(lasts, default=0) + 1)
        for pair, last in _in_turn(repeat, [*zip(pairs, lasts, strict=True)])
        if repeat <= last
    ]


def _in_turn(repeat: int, pairs: Sequence[tuple[Pair, int]]) -> Sequence[tuple[Pair, int]]:
    return pairs if repeat % 2 else pairs[::-1]


def digest_of(plan: Plan, pairs: Sequence[Pair]) -> str:
    """Return a digest for the name of a plan's record; equal pairs give the same."""
    ids = [item.id for item in items_of(plan, pairs)]
    return hashlib.sha256(" ".join(ids).encode()).hexdigest()[:_DIGEST_DIGITS]


def _id(plan: Plan, pair: Pair, repeat: int) -> str:
    """Return the id of an item: valid in a Kubernetes name, and different if results may be."""
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
    """Return everything that results depend on; the user's files by content, not by path."""
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
