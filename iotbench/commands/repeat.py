"""`repeat`: run the command of a result again."""

from pathlib import Path

import click

from iotbench.config.completion.words import complete_result
from iotbench.config.options.basic import (
    FORMATS,
    TAG,
    Command,
    config_option,
    format_option,
    option,
    output_option,
)
from iotbench.config.options.declared import option_like
from iotbench.execution.repeating import build_repeated, list_differences, suggest_comparison
from iotbench.machine.program import command_line
from iotbench.machine.streams import print_out, say
from iotbench.measurements import subject_of
from iotbench.measurements.insert.options import Replacing
from iotbench.measurements.shared.options import MachineOptions
from iotbench.store.lookup import path_of

_EXAMPLES = """\b
Examples:
  python run.py repeat last
  python run.py repeat last~2 --dry-run
  python run.py repeat last -- --workers 8
"""


@click.command(cls=Command, epilog=_EXAMPLES)
@click.argument("name", metavar="RESULT", shell_complete=complete_result)
@click.argument("more", metavar="[-- OPTION...]", nargs=-1, type=click.UNPROCESSED)
@config_option
@option(
    "--extra-option",
    multiple=True,
    metavar="KEY=VALUE",
    help="Option of the target that replaces the command's, such as a credential, which no result"
    " holds; may be given several times.",
)
@option_like(
    MachineOptions,
    "before_run",
    group="Other options",
    help="Command to run in bash before each run; required if the result had one, as it is never"
    " taken from a file. '': none.",
)
@format_option(FORMATS, "What to print on standard output; progress goes to standard error.")
@option_like(Replacing, "replace_tables", group="Other options")
@option("--tag", "tags", multiple=True, type=TAG, help="Word to find the new result by.")
@option("--quiet", "-q", is_flag=True, help="Show no progress.")
@option("--dry-run", is_flag=True, help="Print the command and what differs, and do nothing.")
@output_option
def repeat(  # noqa: PLR0913
    *,
    name: str,
    more: tuple[str, ...],
    config: Path | None,
    extra_option: tuple[str, ...],
    replace_tables: tuple[str, ...],
    before_run: str | None,
    form: str,
    tags: tuple[str, ...],
    quiet: bool,
    dry_run: bool,
    output: Path,
) -> None:
    """Run the command of a result again.

    RESULT is a result file, an id or its beginning, last, or last~1 for the result before it. The
    result holds the command, without credentials. `repeat` first lists changes since then: options
    of the target, versions, the machine, and the rows that queries ask about. The new result is
    written to --output, and the last line is the command that compares it with RESULT.

    A result may come from a stranger. `repeat` takes only the measurement from the file: no command
    to run, no configuration or option of the target, no address, no file to write, no fault and no
    permission. Give such options again, or change others: options of `repeat` as listed here, all
    others after a --.

    For `run` and `reproduce` it prints the command that measures everything again.
    """
    path = path_of(output, name)
    given = {
        "config": (str(config),) if config else (),
        "extra-option": extra_option,
        "before-run": () if before_run is None else (before_run,),
        "replace-table": replace_tables,
    }
    command = build_repeated(path, given, more)
    changed = list(list_differences(command, output))
    words = command.command.words
    own = ["--output", str(output), "--format", form, *(["--quiet"] if quiet else [])]
    own += [word for tag in tags for word in ("--tag", tag)]
    if dry_run:
        print_out("".join(f"{line}\n" for line in (command_line(words), *changed)))
        return
    say(command_line(words), err=True)
    for line in changed:
        say(f"not as it was: {line}", err=True)
    here = click.get_current_context()
    group = here.find_root().command
    assert isinstance(group, click.Group)
    again = group.commands[words[0]]
    code = 0
    with again.make_context(words[0], [*words[1:], *own], here.parent) as context:
        try:
            again.invoke(context)
        except click.exceptions.Exit as end:
            code = end.exit_code
    if not code and command.result and subject_of(command.result).figures:
        say(f"compare both: `{suggest_comparison(path, name, output)}`", err=True)
    here.exit(code)
