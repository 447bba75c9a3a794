"""The options of commands: their types, their groups in --help, and all problems at once."""

import functools
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args

import click
from pydantic.fields import FieldInfo

from cli.completion.words import complete_query
from cli.host.program import SCRIPT, program
from cli.input.parameters import meanings, option_of, parameters, written
from cli.input.quantities import (
    parse_bytes,
    parse_count,
    parse_counts,
    parse_duration_s,
    parse_instant,
    parse_mix,
    parse_number,
    parse_share,
)
from cli.planning import insert_options
from cli.planning.stages import parse_stages
from cli.results.result import TAG as TAG_PATTERN
from simulator.data.workloads import GENERATORS
from simulator.data.workloads.base import Written
from simulator.errors import ConfigError
from simulator.protocol.verdict import VerifyMode

ARGUMENTS = "arguments"
"""Where a command's context keeps its arguments, as they were given."""
_PROBLEMS = "problems"
_EXTRA = "Got unexpected extra argument"
_OTHERS = "Other options"
_LAST = ("Run and output", "Kubernetes", _OTHERS)
_Value = TypeVar("_Value")


class Command(click.Command):
    """A command that reports all unusable options at once and lists its options in groups."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options; ConfigError with everything that is wrong with them."""
        ctx.meta[ARGUMENTS] = tuple(args)
        problems = ctx.meta[_PROBLEMS] = []
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            if not error.message.startswith(_EXTRA):
                raise
            # It may be a credential that was cut at a blank, so it is not repeated.
            more = "an argument that belongs to no option; put a value with blanks in quotes"
            raise ConfigError([*problems, more]) from error
        if problems and not ctx.resilient_parsing:  # that of shell completion
            raise ConfigError(problems)
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options group by group; those of every command come last."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record:
                groups.setdefault(getattr(parameter, "group", _OTHERS), []).append(record)
        for title in sorted(groups, key=lambda title: _LAST.index(title) if title in _LAST else -1):
            with formatter.section(title):
                formatter.write_dl(groups[title], col_max=24)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples with the name by which the program was called."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write_text(self.epilog.replace(f"python {SCRIPT}", program()))


class _Option(click.Option):
    """An option of a Command: it belongs to a group and collects what is wrong with its value."""

    def __init__(self, *args: Any, group: str = _OTHERS, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        try:
            return super().process_value(ctx, value)
        except click.BadParameter as error:
            ctx.meta[_PROBLEMS].append(_sentence(self, error))
            return None


def _sentence(option: click.Option, error: click.BadParameter) -> str:
    if isinstance(error, click.MissingParameter):
        return f"{option.opts[0]}: is required"
    return f"{option.opts[0]}: {error.message.rstrip('.')}"


option = functools.partial(click.option, cls=_Option)


config_option = option(
    "--config",
    "-c",
    group="Target",
    type=click.Path(path_type=Path),
    default=None,
    help="File with the targets.  [default: config.yaml of the current folder, or else the one that"
    " comes with the program]",
)

output_option = option(
    "--output",
    type=click.Path(path_type=Path),
    default="results",
    show_default=True,
    help="Folder of the result files.",
)

dataset_option = functools.partial(
    option,
    "--dataset",
    type=click.Path(path_type=Path),
    default=None,
    help="Result file of the insert.  [default: the target's last insert in --output, or in the"
    " database]",
)

resources_option = functools.partial(
    option,
    "--resources",
    is_flag=True,
    help="Measure CPU, load and memory of machine, client and server during each run, and while"
    " nothing runs before and after it.",
)


class Parsed(click.ParamType[_Value], Generic[_Value]):
    """A value that one function parses; the text of its ValueError is what was expected."""

    def __init__(self, name: str, parse: Callable[[str], _Value]) -> None:
        self.name = name
        self._parse = parse

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> _Value:
        """Return the parsed value; the default as it is."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return] # the default
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def parse_tables(text: str) -> int:
    """Return a number of tables, which may be given by its name."""
    try:
        return insert_options.TABLES.get(text) or parse_count(text)
    except ValueError:
        names = ", ".join(insert_options.TABLES)
        raise ValueError(f"expected {names} or a number of tables, got {text!r}") from None


def _names(text: str) -> tuple[str, ...]:
    names = tuple(word.strip() for word in text.split(","))
    if not all(names):
        raise ValueError(f"expected names separated by commas, got {text!r}")
    return names


def _tag(text: str) -> str:
    if not re.fullmatch(TAG_PATTERN, text):
        raise ValueError(
            f"expected up to 40 letters, digits, '.', '_', '-', ':' and '+', got {text!r}"
        )
    return text


def _moment(text: str) -> datetime:
    """Return an instant, which may be given by how long ago it was."""
    try:
        return datetime.now(UTC) - timedelta(seconds=parse_duration_s(text))
    except ValueError:
        pass
    try:
        return parse_instant(text)
    except ValueError:
        raise ValueError(
            f"expected how long ago, such as 7d or 12h, or an instant such as 2026-11-01, got"
            f" {text!r}"
        ) from None


COUNT = Parsed("count", parse_count)
TAG = Parsed("tag", _tag)
MOMENT = Parsed("duration|instant", _moment)
BYTES = Parsed("bytes", parse_bytes)
COUNTS = Parsed("n,n-m,...", parse_counts)
NUMBER = Parsed("number", parse_number)
SHARE = Parsed("share", parse_share)
MIX = Parsed("insert=n,query=n", parse_mix)
TABLES = Parsed("n", parse_tables)
STAGES = Parsed("n:duration,...", parse_stages)
DURATION_S = Parsed("duration", parse_duration_s)
INSTANT = Parsed("instant", parse_instant)
NAMES = Parsed("a,b,...", _names)
VERIFICATION = click.Choice([mode.value for mode in VerifyMode if mode is not VerifyMode.ROWS])
"""How the rows of an insert are verified."""
_DURATION_MS = Parsed("duration", lambda text: round(parse_duration_s(text) * 1000))
_INSTANT_MS = Parsed("instant", lambda text: round(parse_instant(text).timestamp() * 1000))


drop_caches_option = functools.partial(
    option,
    "--drop-caches",
    is_flag=True,
    help="Drop this machine's file caches before each run, if the server is here and this user may;"
    " the result says whether they were.",
)

types_option = functools.partial(
    option,
    "--types",
    "queries",
    type=NAMES,
    shell_complete=complete_query,
    default=None,
    help="Queries to ask; a name may be a pattern such as '*-host-1-hr'.  [default: all]",
)

align_option = functools.partial(
    option,
    "--align",
    is_flag=True,
    help="Let random windows of time begin at a multiple of the query's interval.",
)

before_run_option = functools.partial(
    option,
    "--before-run",
    default=None,
    metavar="COMMAND",
    help="Run this in bash on this machine before each run, such as 'systemctl restart postgresql';"
    " then the target has 60 s to answer. If the command fails, no run follows.",
)
retry_option = functools.partial(
    option,
    "--retry-for",
    type=DURATION_S,
    default=0.0,
    show_default=True,
    help="For how long a worker tries a refused batch again, with pauses of up to 2 s, and a lost"
    " connection, such as 30m; rows whose outcome is unknown are never sent twice. 0: five times,"
    " and a connection for some seconds.",
)
batch_option = functools.partial(
    option,
    "--batch",
    type=COUNT,
    default=0,
    show_default=True,
    help="Rows per batch; 0: one row at a time, each acknowledged separately.",
)

_drawn = functools.partial(option, group="Generated rows")
_GENERATOR_OPTIONS = (
    _drawn(
        "--workload",
        type=click.Choice(list(GENERATORS)),
        default="iot",
        show_default=True,
        help="Generator of the rows.",
    ),
    _drawn("--seed", type=COUNT, default=1, show_default=True, help="Seed of the generator."),
    _drawn(
        "--start-time",
        "--start",
        type=INSTANT,
        default=None,
        help="Time of the first row, such as 2026-11-01T00:00:00Z; without an offset in UTC."
        "  [default: now]",
    ),
)


def generator_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which rows are generated: workload, seed, start, parameters.

    A parameter that is not given is None.
    """
    for field, (info, _) in reversed(parameters().items()):
        command = option(
            option_of(field),
            field,
            group="Generated rows",
            type=_type_of(info),
            default=None,
            help=_help_of(field),
        )(command)
    for add in reversed(_GENERATOR_OPTIONS):
        command = add(command)
    return command


def _help_of(field: str) -> str:
    """Return the help of a parameter, whose meaning and default may depend on the workload."""
    found: list[str] = []
    last = ""
    for info, names in meanings(field):
        sentence = _sentence_of(info.description or field)
        default = "" if info.default is None else f"; default: {_as_written(info)}"
        found += [sentence] if sentence != last else []
        found.append(f"[{', '.join(names)}{default}]")
        last = sentence
    return "  ".join(found)


def _sentence_of(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _type_of(info: FieldInfo) -> click.ParamType[Any]:
    kinds = [kind for kind in (info.annotation, *get_args(info.annotation)) if kind is not None]
    if written(info) is Written.DURATION:
        return _DURATION_MS
    if written(info) is Written.END:
        return _INSTANT_MS
    if int in kinds:
        return COUNT
    choices = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, StrEnum)]
    return click.Choice([item.value for item in choices[0]]) if choices else NUMBER


def _as_written(info: FieldInfo) -> str:
    match written(info):
        case Written.DURATION:
            return f"{info.default / 1000:g}s"
        case Written.END:
            return f"{info.default / 3_600_000:g}h after the start"
    return str(info.default)
