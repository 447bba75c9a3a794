"""`contract`: test the module of a target on the user's own database."""

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import click

from iotbench.config.input.options import Opt, Options
from iotbench.config.options.basic import Command
from iotbench.config.options.choice import Choice, local_target_options
from iotbench.config.options.declared import options_of
from iotbench.machine import outfile
from iotbench.machine.program import find_shipped
from iotbench.machine.streams import confirm, say
from simulator.errors import ConfigError
from simulator.modules import MODULES

_OWN = re.compile(rb'\s*\{\s*"kind":\s*"contract",')
_EXAMPLES = """\b
Examples:
  python run.py contract --target sqlite:rooms.db
  python run.py contract --target postgresql://anna@db.example/empty --yes
"""


class _Options(Options):
    """The file to write, and the answer to the question."""

    evidence: Annotated[Path | None, Opt(metavar="FILE")] = None
    """File to write; an earlier one is replaced.  [default: contract-MODULE.json]"""
    yes: Annotated[bool, Opt("-y")] = False
    """Do not ask for confirmation."""


@click.command(cls=Command, epilog=_EXAMPLES)
@local_target_options
@options_of(_Options)
def contract(*, choice: Choice, options: _Options) -> None:
    """Test the module of a target on your own database.

    The cases are those that every module has to pass on a real server. They compare stored values,
    answers, sizes, plans and error messages with the expected ones. Each case creates tables and
    drops them. The command lists their names first, and changes nothing if a name is in use. An
    embedded engine gets temporary files instead. No case stops the server.

    The evidence is a JSON file with product, version, driver, and the outcome of each case, without
    credentials and hosts. Send it to the maintainers: it ends a draft, or shows them what to
    repair. Exit code 1: a case failed.
    """
    target = choice.expect()
    if target.module not in MODULES or not target.open().capabilities.stores:
        raise ConfigError(f"--target: there are no cases for module {target.module}")
    file = options.evidence or Path(f"contract-{target.module}.json")
    if problem := outfile.problem_with(file, _OWN):
        raise ConfigError(f"--evidence: {problem}")
    sys.path.insert(0, str(find_shipped("tests").parent))  # other packages may have `tests`, too
    trial = import_module("tests.contract.trial").TrialRun(target.module, target.options, say)
    if names := trial.take_names():
        say(f"the cases create and drop tables, and parts of tables: {', '.join(names)}")
        confirm(f"run the cases on {target.name}", yes=options.yes)
    found = trial.run()
    outfile.write(file, found.model_dump_json(indent=1) + "\n", _OWN)
    say(f"{file}: {found.server}: {found.summary}")
    click.get_current_context().exit(1 if found.problem else 0)
