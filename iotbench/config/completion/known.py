"""Commands with a help in groups, and what is known of them without their imports.

`tools.reference` writes `commands.json`. Its commands do nothing, but complete words and show their
help; importing the real ones takes ten times as long.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import click

from iotbench.config.completion import words
from iotbench.machine.program import SCRIPT, program

HELP_OPTIONS = ["-h", "--help"]
OTHERS = "Other options"
_LAST = ("Run and output", "Kubernetes", OTHERS)


class GroupedOption(click.Option):
    """An option that belongs to a group."""

    def __init__(self, *args: Any, group: str = OTHERS, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


class Grouped(click.Command):
    """A command that lists its options in groups, and examples."""

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Return the same names in each context: click keeps the option of the first one."""
        return [*HELP_OPTIONS]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options group by group; options of every command come last."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                groups.setdefault(getattr(parameter, "group", OTHERS), []).append(record)
        for title in sorted(groups, key=lambda each: _LAST.index(each) if each in _LAST else -1):
            with formatter.section(title):
                formatter.write_dl(groups[title], col_max=24)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples with the name by which the program was called."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write_text(self.epilog.replace(f"python {SCRIPT}", program()))


@cache
def command_tree() -> click.Group:
    """Return the known commands."""
    table = words.table()
    tree = _command(None, table["commands"], table["parameters"])
    assert isinstance(tree, click.Group)
    return tree


def _command(
    name: str | None, record: Mapping[str, Any], parameters: Mapping[str, Mapping[str, Any]]
) -> click.Command:
    keys = record.get("params", ())
    about = {**record, "name": name, "params": [_parameter(parameters[key]) for key in keys]}
    if "commands" not in record:
        return Grouped(**about)
    children = record["commands"]
    about["commands"] = {each: _command(each, children[each], parameters) for each in children}
    return click.Group(**about)


def _parameter(record: Mapping[str, Any]) -> click.Parameter:
    kind = record.get("type")
    about = {
        **record,
        "type": click.Choice(kind) if isinstance(kind, list) else click.Path() if kind else None,
        "shell_complete": getattr(words, record.get("shell_complete", ""), None),
    }
    is_option = record["param_decls"][0].startswith("-")
    return GroupedOption(**about) if is_option else click.Argument(**about, required=False)


def asks_for_help(arguments: Sequence[str]) -> bool:
    """Return whether arguments ask for the help of the program, or of one command, and no more."""
    *name, last = arguments or HELP_OPTIONS[:1]
    return last in HELP_OPTIONS and len(name) < 2


def find_known(name: str) -> click.Command | None:
    """Return a command that shows its help; None for one that `tools.reference` did not write."""
    return command_tree().commands.get(name)


def commands_with(arguments: Sequence[str]) -> list[str]:
    """Return the commands that have each option in the arguments, or at least the first one."""
    options = [
        word.partition("=")[0] if word.startswith("--") else word[:2]
        for word in arguments
        if re.match("--?[a-z]", word)
    ]
    known = {
        name: {spelt for each in command.params for spelt in (*each.opts, *each.secondary_opts)}
        for name, command in command_tree().commands.items()
    }
    for asked in (options, options[:1]):
        if found := [name for name, its in known.items() if asked and its.issuperset(asked)]:
            return found
    return []
