"""`repeat`: run the command of a result again."""

from typing import Annotated, ClassVar

import click
from pydantic import Field

from iotbench.config.completion.words import complete_result
from iotbench.config.input.options import Opt
from iotbench.config.input.values import Tag
from iotbench.config.options.basic import FORMATS, Command, Configured, WrittenFolder
from iotbench.config.options.declared import option_like, options_of
from iotbench.execution.repeating import build_repeated, list_differences, suggest_comparison
from iotbench.machine.program import command_line
from iotbench.machine.streams import print_out, say
from iotbench.measurements import subject_of
from iotbench.measurements.insert.options import Replacing
from iotbench.results.names import DEFAULT_FOLDER
from iotbench.store.lookup import path_of

_EXAMPLES = """\b
Examples:
  python run.py repeat last
  python run.py repeat last~2 --dry-run
  python run.py repeat last -- --workers 8
"""


class _Options(Configured):
    """The options that `repeat` does not take from the result."""

    GROUP: ClassVar[str] = "Other options"

    extra_option: Annotated[tuple[str, ...], Opt(metavar="KEY=VALUE")] = ()
    """Option of the target that replaces the command's, such as a credential, which no result
    holds; may be given several times.
    """
    before_run: Annotated[str | None, Opt(metavar="COMMAND")] = None
    """Command to run in bash before each run; required if the result had one, as it is never taken
    from a file. '': none.
    """
    form: Annotated[str, Field(alias="format"), Opt(choices=FORMATS)] = FORMATS[0]
    """Format of standard output; progress goes to standard error."""
    tags: Annotated[tuple[Tag, ...], Field(alias="tag")] = ()
    """Tag of the new result."""
    quiet: Annotated[bool, Opt("-q")] = False
    """Show no progress."""
    dry_run: bool = False
    """Print the command and what differs, and do nothing."""
    output: WrittenFolder = DEFAULT_FOLDER


@click.command(cls=Command, epilog=_EXAMPLES)
@click.argument("name", metavar="RESULT", shell_complete=complete_result)
@click.argument("more", metavar="[-- OPTION...]", nargs=-1, type=click.UNPROCESSED)
@options_of(_Options)
@option_like(Replacing, "replace_tables", group="Other options")
def repeat(
    *, name: str, more: tuple[str, ...], options: _Options, replace_tables: tuple[str, ...]
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
    path, output = path_of(options.output, name), options.output
    given = {
        "config": (str(options.config),) if options.config else (),
        "extra-option": options.extra_option,
        "before-run": () if options.before_run is None else (options.before_run,),
        "replace-table": replace_tables,
    }
    command = build_repeated(path, given, more)
    changed = list(list_differences(command, output))
    words = command.command.words
    own = ["--output", str(output), "--format", options.form, *["--quiet"] * options.quiet]
    own += [word for tag in options.tags for word in ("--tag", tag)]
    if options.dry_run:
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
