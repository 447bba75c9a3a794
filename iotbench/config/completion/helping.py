"""The help of a command: what it does, its options in groups, and examples.

The table has the help of every command too, so that `--help` does not wait for their imports.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import click

from iotbench.config.completion import words
from iotbench.machine.program import SCRIPT, program

HELP_OPTIONS = ["-h", "--help"]
Sections: TypeAlias = Sequence[tuple[str, Sequence[tuple[str, str]]]]
"""Title -> options, each with its meaning."""


class Helping(click.Command, ABC):
    """A command with a help in sections."""

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Return the same names in each context: click keeps the option of the first one."""
        return [*HELP_OPTIONS]

    @abstractmethod
    def sections(self, ctx: click.Context) -> Sections:
        """Return the options in their groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options group by group."""
        for title, options in self.sections(ctx):
            with formatter.section(title):
                formatter.write_dl(options, col_max=24)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples with the name by which the program was called."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write_text(self.epilog.replace(f"python {SCRIPT}", program()))


class _Known(Helping):
    """A command of which the help is known, and nothing else."""

    def __init__(self, name: str, record: Mapping[str, Any]) -> None:
        super().__init__(name, help=record["help"], epilog=record["epilog"])
        self._record = record

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the words after the name."""
        return [*self._record["usage"]]

    def sections(self, ctx: click.Context) -> Sections:
        """Return the sections of the table."""
        return [(title, [*map(tuple, options)]) for title, options in self._record["sections"]]


def help_record_of(command: Helping) -> dict[str, Any]:
    """Return the help of a command as a record of the table."""
    ctx = click.Context(command, info_name=command.name)
    return {
        "help": command.help,
        "usage": command.collect_usage_pieces(ctx),
        "sections": command.sections(ctx),
        "epilog": command.epilog,
    }


def find_known_help(name: str, arguments: Sequence[str]) -> click.Command | None:
    """Return a command that shows its help, if the arguments ask for no more and it is known."""
    if [*arguments] not in ([name, option] for option in HELP_OPTIONS):
        return None
    record = words.table().get("help", {}).get(name)  # a command of another kind has none
    return _Known(name, record) if record else None
