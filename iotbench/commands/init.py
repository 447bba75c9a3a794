"""`init`: write a configuration to start with."""

from pathlib import Path

import click

from iotbench.config.input.options import Options
from iotbench.config.input.quantities import parse_names
from iotbench.config.input.values import Names
from iotbench.config.options.basic import Command
from iotbench.config.options.declared import options_of
from iotbench.config.targets.config import FILE, load
from iotbench.config.targets.starter import starter
from iotbench.machine import outfile
from iotbench.machine.program import command_line
from iotbench.machine.streams import can_ask, say

_EXAMPLES = """\b
Examples:
  python run.py init
  python run.py init --targets sqlite,postgresql://anna@localhost/bench bench.yaml
  python run.py init --targets postgres,questdb cluster.yaml
"""


class _Options(Options):
    """The targets of the configuration."""

    targets: Names = ()
    """URLs of servers and files; or targets of the configuration that comes with the program, or
    modules, which mean a database on a cluster.  [default: sqlite; on a terminal, it asks]
    """


@click.command(cls=Command, epilog=_EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path), default=FILE)
@options_of(_Options)
def init(*, file: Path, options: _Options) -> None:
    """Write a configuration to start with.

    FILE is config.yaml by default; a file that exists is never overwritten. Comments list every
    option of the targets, and editors with a YAML language server complete and check them. `init`
    creates the folders of databases that are files on this machine.
    """
    text, names = starter(options.targets or _ask())
    outfile.write(file, text, None)
    say(f"wrote {file}: {', '.join(names)}")
    loaded = load(file)
    paths = (Path(loaded.targets[each]["path"]) for each in names if "path" in loaded.targets[each])
    for folder in sorted({path.parent for path in paths if not path.parent.exists()}):
        folder.mkdir(parents=True, exist_ok=True)
        say(f"created folder {folder}")
    for name in names:
        if loaded.runner_of(name) == "kubernetes" and (urls := loaded.module_of(name).urls):
            say(
                f"{name} is for pods of a cluster; for your own server, name {urls[0]} in --targets"
            )
    named = [] if file == Path(FILE) else ["--config", str(file)]
    say(f"next: `{command_line(['check', '--target', names[0], *named])}`")


def _ask() -> tuple[str, ...]:
    """Return the targets that the user enters at a terminal; without a terminal, sqlite."""
    if not can_ask():
        return ("sqlite",)
    say("Targets: sqlite, duckdb, or URLs such as postgresql://anna@localhost/bench", err=True)
    return parse_names(click.prompt("Separated by commas", default="sqlite", err=True))
