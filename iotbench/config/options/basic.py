"""Options of commands: types, groups in --help, and a report of all problems at once."""

import functools
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import click
from pydantic import Field

from iotbench.config.completion.known import Grouped, GroupedOption
from iotbench.config.input.options import Opt, Options
from iotbench.config.input.validation import describe_value
from iotbench.config.input.values import Notation
from iotbench.config.options.places import FORMS, parse_folder, parse_written
from iotbench.machine.program import SCRIPT, command_line
from simulator.errors import ConfigError

ARGUMENTS = "arguments"
"""Key of the arguments in the context of a command."""
_PROBLEMS = "problems"
_EXTRA = "Got unexpected extra argument"
FORMATS = ("table", "json", "csv")
"""Formats of results in the terminal."""
_OUTPUTS = ("output", "folder", "manifest", "page", "to", "junit", "metrics_out")
"""Options for files and folders to write."""
_Value = TypeVar("_Value")


class Unreadable(click.BadParameter):
    """An error with several problems, each with its place."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class Command(Grouped):
    """A command that reports all wrong options at once."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options; ConfigError with all problems."""
        ctx.meta[ARGUMENTS] = tuple(args)
        problems = ctx.meta[_PROBLEMS] = []
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            if not error.message.startswith(_EXTRA):
                raise
            # The argument may be a credential that was cut at a blank: the message omits it.
            more = "an argument that belongs to no option; put a value with blanks in quotes"
            raise ConfigError([*problems, more]) from error
        problems += _find_shared(ctx.params)
        if problems and not ctx.resilient_parsing:  # shell completion parses incomplete commands
            raise ConfigError(problems)
        return rest


def _find_shared(given: Mapping[str, Any]) -> list[str]:
    """Return a problem for each output file named twice; pipes and devices may be repeated."""
    found: list[str] = []
    named: dict[str, str] = {}
    for name, value in ((name, given.get(name)) for name in _OUTPUTS):
        place = os.path.realpath(value) if isinstance(value, str | Path) else ""
        option = f"--{name.replace('_', '-')}"
        if not place or (os.path.exists(place) and not os.path.isfile(place)):  # noqa: PTH110, PTH113
            continue
        if (other := named.setdefault(place, option)) != option:
            found.append(f"{option}: {value}: {other} names the same file; use another name")
    return found


class _Option(GroupedOption):
    """An option of a Command; the command collects the problems of its options."""

    def __init__(self, *args: Any, opt: Opt | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.opt = opt or Opt()

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Make the parser keep every value of the option; click keeps only the last value."""
        action = "append_const" if self.is_flag else "append"
        for names, flag in ((self.opts, True), (self.secondary_opts, False)):
            if names:
                parser.add_option(self, names, self.name, action, const=flag)

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        try:
            if isinstance(value, list) and not self.multiple:
                value = self._join(value, ctx)
            return super().process_value(ctx, value)
        except Unreadable as error:
            ctx.meta[_PROBLEMS] += error.problems
            return None
        except click.BadParameter as error:
            text = error.message.rstrip(".")
            if isinstance(error, click.MissingParameter):
                text = f"is required{_give_example(ctx.command, self)}"
            ctx.meta[_PROBLEMS].append(f"{self.opts[0]}: {text}")
            return None

    def _join(self, given: Sequence[Any], ctx: click.Context) -> Any:
        """Return the single value or, for a list, the joined values."""
        if self.is_flag:
            names = [max(self.opts if each else self.secondary_opts, key=len) for each in given]
        elif "," in self.make_metavar(ctx):
            return ",".join(given)
        else:
            names = [*map(_describe, given)]
        if (self.is_flag and len({*given}) == 1) or len(given) == 1:
            return given[0]
        raise click.BadParameter(f"is given {len(given)} times, as {' and '.join(names)}; give one")


def _give_example(command: click.Command, required: click.Option) -> str:
    """Return the first example in the command's help, and how to list the targets."""
    is_target = required.name in ("target", "targets")
    example = re.search(rf"python {SCRIPT} (.+)", command.epilog or "")
    words = shlex.split(example[1]) if example else [str(command.name), "--target", "sqlite"]
    if not example and not is_target:
        return ""
    shown = f", as in `{command_line(words)}`"
    return shown + f"; `{command_line(['targets'])}` lists the targets" * is_target


def _describe(value: str) -> str:
    """Return a value for a message; only its type if the value may contain a credential."""
    may_hold_one = any(word in value for word in (" ", "://", "="))
    return describe_value(value) if may_hold_one else repr(value)


option = functools.partial(click.option, cls=_Option)


def opt_of(each: click.Option) -> Opt:
    """Return the declaration of an option, or the default declaration if the option has none."""
    return each.opt if isinstance(each, _Option) else Opt()


class Configured(Options):
    """The configuration of a command."""

    GROUP: ClassVar[str] = "Target"

    config: Annotated[Path | None, Opt("-c")] = None
    """File with the targets.  [default: config.yaml of the current folder, or else the one that
    comes with the program]
    """


OutputFolder = Annotated[
    Path,
    Notation("path", parse_folder),
    Field(description=f"Folder of the result files, or its URL: {FORMS}."),
]
WrittenFolder = Annotated[
    Path, Notation("path", parse_written), Field(description="Folder of the result files.")
]
Format = Annotated[str, Field(alias="format", description="What to print.")]


class Parsed(click.ParamType[_Value], Generic[_Value]):
    """A value that a function parses; the function's ValueError names the expected form."""

    def __init__(self, name: str, parse: Callable[[str], _Value]) -> None:
        self.name = name
        self._parse = parse

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> _Value:
        """Return the parsed value, or the default."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return] # the default
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class ChoiceOr(click.Choice[str]):
    """A word from a choice, or another word that a function accepts."""

    def __init__(self, choices: Sequence[str], parse: Callable[[str], str]) -> None:
        super().__init__(choices)
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the parsed word."""
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class PathOf(click.Path):
    """A path that a function parses; the function's ValueError names the expected form."""

    def __init__(self, parse: Callable[[str], Path]) -> None:
        super().__init__()
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the parsed path, or the default."""
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class FileOf(click.Path):
    """The content of a file, which a function reads."""

    def __init__(self, read: Callable[[str], Any]) -> None:
        super().__init__(dir_okay=False)
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the content; Unreadable with all problems."""
        path = super().convert(value, param, ctx)
        try:
            return self._read(str(path))
        except ConfigError as error:
            raise Unreadable(error.problems) from error
