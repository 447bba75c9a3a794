"""Contents of a plan that can do harm, and need the trust of the user."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from iotbench.config.options.given import divide
from iotbench.config.targets.urls import is_url
from iotbench.plans.plan import Plan
from iotbench.results.command import GivenCommand
from simulator.errors import ConfigError


def expect_trust(path: Path, plan: Plan) -> None:
    """Raise ConfigError, which names all contents of the plan that need trust."""
    if found := list_risks(plan):
        raise ConfigError(
            [
                f"{path}: contains more than measurements; read it, then add --trust",
                *(f"{path}: {each}" for each in found),
            ]
        )


def list_risks(plan: Plan) -> list[str]:
    """Return as texts, each once, what a stranger's plan could do harm with.

    These are commands, addresses, options of targets, statements, files and faults: what `repeat`
    does not take from a result, either.
    """
    return [*dict.fromkeys(_find_risks(plan))]


def _find_risks(plan: Plan) -> Iterator[str]:
    for target in plan.targets:
        if is_url(target.name):
            yield f"target {target.name}"
        if target.install is not None or target.remove is not None:
            yield f"target {target.name}: install, remove"
    for setting in plan.settings:
        for kind, options in {"insert": setting.inserting, **setting.asked}.items():
            _, left = divide(GivenCommand(name=kind, options=options.stored()), setting.name)
            for name in left.options:
                yield f"{kind} {shlex.join(left.words_of(name))}"
        for names in (setting.options, *setting.modules.values()):
            yield from (f"option {name} of a target" for name in names)
