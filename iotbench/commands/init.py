"""`init`: write a configuration to start with."""

from collections.abc import Sequence
from pathlib import Path

import click

from iotbench.config.completion.words import complete_target
from iotbench.config.options.basic import NAMES, Command, option
from iotbench.config.targets.config import FILE, load
from iotbench.config.targets.starter import starter
from iotbench.machine import outfile
from iotbench.machine.program import command_line
from iotbench.machine.streams import say

_EXAMPLES = """\b
Examples:
  python run.py init
  python run.py init --targets sqlite,postgres,questdb bench.yaml
"""


@click.command(cls=Command, epilog=_EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path), default=FILE)
@option(
    "--targets",
    type=NAMES,
    shell_complete=complete_target,
    default="sqlite",
    show_default=True,
    help="Targets of the configuration that comes with the program, or modules.",
)
def init(*, file: Path, targets: tuple[str, ...]) -> None:
    """Write a configuration to start with.

    FILE is config.yaml by default; a file that exists is never overwritten. Comments list every
    option of the targets, and editors with a YAML language server complete and check them. The
    folders of databases that are files here are created.
    """
    text, names = starter(targets)
    outfile.write(file, text, None)
    say(f"wrote {file}: {', '.join(names)}")
    for folder in _folders(file, names):
        folder.mkdir(parents=True, exist_ok=True)
        say(f"created folder {folder}")
    named = [] if file == Path(FILE) else ["--config", str(file)]
    say(f"next: `{command_line(['check', '--target', names[0], *named])}`")


def _folders(file: Path, names: Sequence[str]) -> list[Path]:
    """Return the folders that embedded databases need for their files, and that do not exist."""
    entries = load(file).targets
    paths = (Path(entries[name]["path"]) for name in names if "path" in entries[name])
    return sorted({path.parent for path in paths if not path.parent.exists()})
