"""The commands without their code: `commands.json`, which `tools.reference` writes.

click completes words with no more than that; importing the commands takes ten times as long.
"""

from collections.abc import Mapping
from textwrap import shorten
from typing import Any

import click

from iotbench.config.completion import words

_LONGEST_HELP = 72


def record_of(command: click.Command) -> dict[str, Any]:
    """Return a command as a record of the table: arguments of click's constructors."""
    record: dict[str, Any] = {
        "help": command.get_short_help_str(_LONGEST_HELP),
        "params": [_parameter_record(parameter) for parameter in command.params],
    }
    if command.context_settings:
        record["context_settings"] = command.context_settings
    if isinstance(command, click.Group):
        record["commands"] = {name: record_of(child) for name, child in command.commands.items()}
    return record


def _parameter_record(parameter: click.Parameter) -> dict[str, Any]:
    record: dict[str, Any] = {"param_decls": [parameter.name], "nargs": parameter.nargs}
    if isinstance(parameter, click.Option):
        names = [*parameter.opts, parameter.name]
        names[0] = "/".join([parameter.opts[0], *parameter.secondary_opts])
        record = {
            "param_decls": names,
            "help": shorten(parameter.help or "", _LONGEST_HELP, placeholder=" ..."),
            **{key: True for key in ("is_flag", "multiple") if getattr(parameter, key)},
        }
    if isinstance(parameter.type, click.Choice):
        record["type"] = [str(choice) for choice in parameter.type.choices]
    elif isinstance(parameter.type, click.Path):
        record["type"] = "path"
    completer = getattr(parameter, "_custom_shell_complete", None)
    if completer is not None:
        record["shell_complete"] = completer.__name__
    return record


def command_tree() -> click.Command:
    """Return commands that can be completed, and do nothing."""
    return _command(None, words.table()["commands"])


def _command(name: str | None, record: Mapping[str, Any]) -> click.Command:
    about = {**record, "name": name, "params": [_parameter(each) for each in record["params"]]}
    if "commands" not in record:
        return click.Command(**about)
    children = {child: _command(child, found) for child, found in record["commands"].items()}
    return click.Group(**{**about, "commands": children})


def _parameter(record: Mapping[str, Any]) -> click.Parameter:
    kind = record.get("type")
    about = {
        **record,
        "type": click.Choice(kind) if isinstance(kind, list) else click.Path() if kind else None,
        "shell_complete": getattr(words, record.get("shell_complete", ""), None),
    }
    return click.Option(**about) if "help" in record else click.Argument(**about, required=False)
