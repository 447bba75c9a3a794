"""`doctor`: check whether this machine and the targets are ready for a first run."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import click

from iotbench.config.completion.words import complete_target
from iotbench.config.health import Finding, machine_findings
from iotbench.config.input.options import Opt, Options
from iotbench.config.options.basic import Command, Format, WrittenFolder
from iotbench.config.options.choice import Choice, Reach, reach_options
from iotbench.config.options.declared import options_of
from iotbench.config.targets.config import load_for
from iotbench.config.targets.urls import is_url, name_of
from iotbench.execution.collector import target_facts
from iotbench.machine.program import command_line
from iotbench.machine.streams import print_out, say
from iotbench.results.names import DEFAULT_FOLDER
from simulator.errors import BenchError, ConfigError, Interrupted


class _Options(Options):
    """The output, and the folder of results to check."""

    form: Annotated[Format, Opt(choices=("table", "json"))] = "table"
    output: WrittenFolder = DEFAULT_FOLDER


@click.command(cls=Command)
@click.argument("targets", nargs=-1, metavar="[TARGET...]", shell_complete=complete_target)
@reach_options
@options_of(_Options)
def doctor(*, targets: tuple[str, ...], reach: Reach, options: _Options) -> None:
    """Check this machine, and targets, for a first run.

    TARGET is a target of the configuration, a module, which means its first target, or a URL.

    Each line is ok, or a problem with its remedy. `doctor` checks packages, configuration, folders,
    memory and clock; for each TARGET, as `check` does, the packages of its module, the connection
    and permissions; on a cluster also helm and the image. Exit code 2: there is a problem.
    """
    found = []
    for each in _findings(targets, reach, options.output):
        found.append(each)
        if options.form == "table":
            state = "ok" if each.ok else "problem"
            remedy = f"; {each.remedy}" if each.remedy and not each.ok else ""
            say(f"{state:8} {each.name:13} {each.text}{remedy}")
    if options.form == "json":
        print_out(json.dumps([asdict(each) for each in found], indent=1) + "\n")
    click.get_current_context().exit(0 if all(each.ok for each in found) else 2)


def _findings(targets: tuple[str, ...], reach: Reach, output: Path) -> Iterator[Finding]:
    machine = list(machine_findings(output, reach.config))
    yield from machine
    if any(each.name == "configuration" and not each.ok for each in machine):
        return
    loaded = load_for(targets, reach.config)[0] if targets else None
    for name in dict.fromkeys(targets):
        known = name if is_url(name) or not loaded else loaded.of_module(name)
        yield from _target_findings(Choice(known, reach))


def _target_findings(choice: Choice) -> Iterator[Finding]:
    """Yield the facts that `check` shows about a target, and at the end the target's problem."""
    try:
        target = choice.expect()
        if target.runner == "kubernetes":
            kubectl = shutil.which("kubectl") or "not found; only the guides in dbinstall/ use it"
            yield Finding(f"{target.name}: kubectl", kubectl)
        for name, text in target_facts(target, choice.reach.cluster):
            yield Finding(f"{target.name}: {name}", text)
    except Interrupted:
        raise
    except BenchError as error:
        name = name_of(choice.target) if is_url(choice.target) else choice.target
        yield Finding(name, str(error).removeprefix(f"{name}: "), _elsewhere(choice), ok=False)


def _elsewhere(choice: Choice) -> str:
    """Return a remedy that needs no cluster; empty if there is none."""
    try:
        loaded, (name,) = load_for([choice.target], choice.reach.config)
        module, runner = loaded.module_of(name), choice.reach.runner or loaded.runner_of(name)
    except ConfigError:
        return ""
    if runner != "kubernetes" or not module.urls:
        return ""
    return f"or name a server: `{command_line(['doctor', module.urls[0]])}`"
