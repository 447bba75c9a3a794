"""The commands without their code: names, options and choices, written by `cli.reference`.

To complete a word, click needs no more than that; importing the commands takes many times longer.
"""

from collections.abc import Callable, Mapping
from textwrap import shorten
from typing import Any

import click
from click.shell_completion import CompletionItem

from cli.completion.words import complete_query, complete_result, complete_target

_Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
_WORDS: Mapping[str, _Complete] = {
    each.__name__: each for each in (complete_target, complete_result, complete_query)
}
_LONGEST_HELP = 72


def described(command: click.Command, parent: click.Context | None = None) -> dict[str, Any]:
    """Return a command as a record of the table."""
    found: dict[str, Any] = {"help": command.get_short_help_str(_LONGEST_HELP)}
    context = click.Context(command, parent, **command.context_settings)
    found["parameters"] = [_parameter(each) for each in (*command.params, _help(context))]
    if isinstance(command, click.Group):
        found["commands"] = {
            name: described(each, context) for name, each in command.commands.items()
        }
    return found


def _help(context: click.Context) -> click.Option:
    """Return the option `--help`; a command keeps that of its first use, perhaps without -h."""
    about = "Show this message and exit."
    return click.Option(context.help_option_names, is_flag=True, help=about)


def _parameter(parameter: click.Parameter) -> dict[str, Any]:
    record: dict[str, Any] = {"name": parameter.name, "nargs": parameter.nargs}
    kind = parameter.type
    if isinstance(kind, click.Choice):
        record["choices"] = [str(choice) for choice in kind.choices]
    elif isinstance(kind, click.Path):
        record["path"] = True
    own = getattr(parameter, "_custom_shell_complete", None)
    if own is not None and own.__name__ in _WORDS:
        record["words"] = own.__name__
    if isinstance(parameter, click.Option):
        record["options"] = [*parameter.opts]
        record["off"] = [*parameter.secondary_opts]
        record["is_flag"] = parameter.is_flag
        record["multiple"] = parameter.multiple
        record["help"] = shorten(parameter.help or "", _LONGEST_HELP, placeholder=" ...")
    return {key: value for key, value in record.items() if value not in ([], False, "")}


def skeleton(record: Mapping[str, Any], name: str | None = None) -> click.Command:
    """Return a command that can be completed, and does nothing."""
    parameters = [_read(each) for each in record["parameters"]]
    about = {"name": name, "params": parameters, "help": record["help"], "add_help_option": False}
    if "commands" not in record:
        return click.Command(**about)
    commands = {name: skeleton(each, name) for name, each in record["commands"].items()}
    return click.Group(**about, commands=commands)


def _read(record: Mapping[str, Any]) -> click.Parameter:
    kind: Any = click.STRING
    if "choices" in record:
        kind = click.Choice(record["choices"])
    elif record.get("path"):
        kind = click.Path()
    words: Any = _WORDS.get(record.get("words", ""))
    if "options" not in record:
        return click.Argument(
            [record["name"]], nargs=record["nargs"], required=False, type=kind, shell_complete=words
        )
    if record.get("is_flag"):
        names = "/".join([record["options"][0], *record.get("off", [])])
        return click.Option(
            [names, *record["options"][1:], record["name"]], is_flag=True, help=record.get("help")
        )
    return click.Option(
        [*record["options"], record["name"]],
        type=kind,
        multiple=record.get("multiple", False),
        help=record.get("help"),
        shell_complete=words,
    )
