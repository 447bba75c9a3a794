"""Commands with grouped help, and copies of all commands for completion and help.

The copies are read from `commands.json`, which `tools.reference` writes, because importing the real
commands takes ten times as long.
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
_FEW = 12
_FIRST = (
    "--target", "--workers", "--insert-workers", "--query-workers", "--batch", "--num-inserts",
    "--duration", "--runs", "--workload", "--data", "--types", "--mix", "--correct",
    "--delete-oldest", "--of", "--slo", "--targets", "--dry-run", "--verbose",
)  # fmt: skip
"""Options in the short help of a large command, in the order of the help."""
_LAST = ("Run and output", "Kubernetes", OTHERS)


class GroupedOption(click.Option):
    """An option in a group of the help."""

    def __init__(self, *args: Any, group: str = OTHERS, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


class Grouped(click.Command):
    """A command with a full help, in which options are grouped (--help), and a short help (-h)."""

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Return only --help, since `get_params` adds -h."""
        return HELP_OPTIONS[1:]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, including the option for the short help."""
        short = GroupedOption(
            HELP_OPTIONS[:1], is_flag=True, is_eager=True, expose_value=False, hidden=True,
            callback=self._show_short,
        )  # fmt: skip
        return [*super().get_params(ctx), short]

    def _show_short(self, ctx: click.Context, _option: click.Parameter, asked: bool) -> None:  # noqa: FBT001 - click calls it
        if asked and not ctx.resilient_parsing:
            click.echo(self.format_short(ctx), color=ctx.color)
            ctx.exit()

    def format_short(self, ctx: click.Context) -> str:
        """Return the help with the most important options, or with all options if they are few."""
        options = [each for each in self.params if isinstance(each, click.Option)]
        first = [each for name in _FIRST for each in options if name in each.opts]
        if len(options) <= _FEW or not first:
            return self.get_help(ctx)
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text((self.help or "").partition("\n\n")[0])
        with formatter.section("First options"):
            records = (each.get_help_record(ctx) for each in first)
            formatter.write_dl([each for each in records if each], col_max=24)
        self.format_epilog(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(f"All {len(options)} options: `{program()} {self.name} --help`")
        return formatter.getvalue().rstrip("\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by group; the groups that every command has come last."""
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
    tree = _make_command(None, table["commands"], table["parameters"])
    assert isinstance(tree, click.Group)
    return tree


def _make_command(
    name: str | None, record: Mapping[str, Any], parameters: Mapping[str, Mapping[str, Any]]
) -> click.Command:
    keys = record.get("params", ())
    about = {**record, "name": name, "params": [_make_parameter(parameters[key]) for key in keys]}
    if "commands" not in record:
        return Grouped(**about)
    children = record["commands"]
    about["commands"] = {each: _make_command(each, children[each], parameters) for each in children}
    return click.Group(**about)


def _make_parameter(record: Mapping[str, Any]) -> click.Parameter:
    kind = record.get("type")
    about = {
        **record,
        "type": click.Choice(kind) if isinstance(kind, list) else click.Path() if kind else None,
        "shell_complete": getattr(words, record.get("shell_complete", ""), None),
    }
    is_option = record["param_decls"][0].startswith("-")
    return GroupedOption(**about) if is_option else click.Argument(**about, required=False)


def asks_for_help(arguments: Sequence[str]) -> bool:
    """Return whether the arguments only ask for the help of the program or of one command."""
    *name, last = arguments or HELP_OPTIONS[:1]
    return last in HELP_OPTIONS and len(name) < 2


def find_known(name: str) -> click.Command | None:
    """Return the copy of a command; None if there is no such command."""
    return command_tree().commands.get(name)


def commands_with(arguments: Sequence[str]) -> list[str]:
    """Return the commands that have all options in the arguments.

    If there are no such commands, return the commands that have the first option.
    """
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
