"""The items of a plan: one setting on one target, once. Order and ids follow from the plan."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cli.config import Target
from cli.experiment.plan import Plan, Setting
from simulator import __version__

_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Candidate:
    """A target that might be measured."""

    name: str
    module: str
    options: Mapping[str, Any]
    """Of its entry in the configuration, and the defaults of its module."""
    not_had: str = ""
    """Why it cannot be measured at all; empty: it answers."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A setting and a target that can be measured with it."""

    setting: Setting
    target: Target
    """With the options of the setting."""


@dataclass(frozen=True, slots=True)
class Item:
    """One measurement of a pair."""

    id: str
    """Of its sweeps: the same whenever the same plan measures the same target."""
    setting: Setting
    target: Target
    repeat: int
    """1, 2, ..."""

    @property
    def name(self) -> str:
        """What is measured, for people."""
        return f"{self.target.name}, {self.setting.name}, repeat {self.repeat}"


def items_of(plan: Plan, pairs: Sequence[Pair]) -> list[Item]:
    """Return the items in order: every other repeat backwards, so that drift affects all alike."""
    return [
        Item(_id(plan, pair, repeat), pair.setting, pair.target, repeat)
        for repeat in range(1, plan.repeats + 1)
        for pair in (pairs if repeat % 2 else reversed(pairs))
    ]


def _id(plan: Plan, pair: Pair, repeat: int) -> str:
    """Return an id that is a valid part of a Kubernetes name, and differs if a result might."""
    target = pair.target
    content = [
        __version__,
        pair.setting.model_dump(mode="json"),
        [target.name, target.module, target.runner, target.namespace],
        {key: str(value) for key, value in target.options.public().items()},
        dict(target.tuned),
        repeat,
    ]
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return f"{plan.name}-{digest[:_DIGITS]}"
