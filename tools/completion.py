"""The table of commands, options and queries for help and completion."""

import json
from inspect import cleandoc
from itertools import count
from typing import Any, ClassVar

import click

from iotbench.commands.main import commands
from iotbench.measurements.insert.checks import generator_params
from iotbench.measurements.insert.options import Insert
from iotbench.measurements.insert.plan import empty_dataset
from simulator.data.reader import DatasetReader
from simulator.data.workloads import GENERATORS


class Table:
    """Records of commands; a parameter that several commands share is stored once."""

    _KEPT: ClassVar = ("nargs", "multiple", "is_flag", "group")

    def __init__(self) -> None:
        self.parameters: dict[str, dict[str, Any]] = {}

    def record(self, command: click.Command) -> dict[str, Any]:
        """Return a command as the arguments of click's constructors."""
        ctx = click.Context(command, info_name=command.name)
        found = {
            "help": cleandoc(command.help or ""),
            "epilog": command.epilog,
            "context_settings": command.context_settings,
            "params": [self._key(each, ctx) for each in command.params],
        }
        if isinstance(command, click.Group):
            found["commands"] = {name: self.record(each) for name, each in command.commands.items()}
        return {name: value for name, value in found.items() if value}

    def _key(self, parameter: click.Parameter, ctx: click.Context) -> str:
        """Return the key of a parameter: its name, numbered if another parameter has that name."""
        record, name = self._describe_parameter(parameter, ctx), str(parameter.name)
        keys = (f"{name}-{number}" if number > 1 else name for number in count(1))
        return next(key for key in keys if self.parameters.setdefault(key, record) == record)

    def _describe_parameter(self, parameter: click.Parameter, ctx: click.Context) -> dict[str, Any]:
        record = parameter.get_help_record(ctx)
        completer = getattr(parameter, "_custom_shell_complete", None)
        names = [parameter.name]
        if isinstance(parameter, click.Option):
            names = ["/".join([parameter.opts[0], *parameter.secondary_opts]), *parameter.opts[1:]]
            names.append(parameter.name)
        found = {
            "param_decls": names,
            "help": record[1] if record else "",
            "metavar": "" if getattr(parameter, "is_flag", False) else parameter.make_metavar(ctx),
            "shell_complete": completer and completer.__name__,
            **{name: getattr(parameter, name, None) for name in self._KEPT},
        }
        if isinstance(parameter.type, click.Choice):
            found["type"] = [str(choice) for choice in parameter.type.choices]
        elif isinstance(parameter.type, click.Path):
            found["type"] = "path"
        return {name: value for name, value in found.items() if value}


def completion_table() -> str:
    """Return the table as JSON."""
    plain = (Insert(workload=name).options() for name in GENERATORS)
    empty = (empty_dataset(options, generator_params(options)) for options in plain)
    types = {name for each in empty for name in DatasetReader(each).query_types(aligned=False)}
    table = Table()
    found = {
        "commands": table.record(commands),
        "parameters": table.parameters,
        "queries": sorted(types),
    }
    return json.dumps(found).replace('{"', '\n{"') + "\n"
