"""The command that runs, as its result keeps it; and what `repeat` takes from a stored one."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from iotbench.config.options.basic import ARGUMENTS, ChoiceOr, Parsed, repeats_of
from iotbench.config.targets.config import as_kept
from iotbench.config.targets.urls import is_url
from iotbench.results import kinds
from iotbench.results.command import GivenCommand
from simulator.errors import ConfigError, counted
from simulator.modules.contract import Options

_LEFT_OUT = frozenset(
    {
        "output",
        "form",
        "quiet",
        "dry_run",
        "junit",
        "result_tags",
        "timings",
        "verbose",
        "metrics_out",
        "ui",
    }
)
"""Options about the place, name and presentation of the result and its progress."""
_CONSENTS = frozenset({"force", "keep", "replace_tables"})
"""Options by which a person allows what is otherwise refused: never kept, and not asked for."""
_MEASURING = (*kinds.NAMES, "capacity")
_MOST_WORDS = 10_000
_SHOWN = 5
_ADDRESS = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*:/")


def build_given_command(options: Options) -> GivenCommand:
    """Return the command that runs on a target with these options.

    It has what was given, not the defaults, without what is _LEFT_OUT and without credentials.
    """
    context = click.get_current_context()
    return _parse(context, str(context.info_name), context.meta[ARGUMENTS], options)


def parse(words: Sequence[str], of: str) -> GivenCommand:
    """Return the command that words mean; ConfigError if it is not a measurement.

    The parser of the command reads them. `of` names their origin in messages.
    """
    if len(words) > _MOST_WORDS:
        raise ConfigError(f"{of}: holds a command of {len(words):,} words, which none has")
    name = words[0]
    context = click.Context(_command_of(name, of), info_name=name)
    try:
        return _parse(context, name, words[1:])
    except click.UsageError as error:
        raise ConfigError(f"{of}: its command cannot be read: {error.format_message()}") from error


def _command_of(name: str, of: str) -> click.Command:
    if name not in _MEASURING:
        raise ConfigError(
            f"{of}: its command is {name[:40]!r}, which measures nothing; expected one of"
            f" {', '.join(_MEASURING)}"
        )
    group = click.get_current_context().find_root().command
    assert isinstance(group, click.Group)
    return group.commands[name]


def _parse(
    context: click.Context, name: str, words: Sequence[str], options: Options | None = None
) -> GivenCommand:
    """Return the options that words give; with a target's options, those that a result keeps."""
    values, more, order = context.command.make_parser(context).parse_args([*words])
    if more:
        raise click.UsageError("it has an argument that belongs to no option", context)
    found: dict[str, bool | tuple[str, ...]] = {}
    for each in dict.fromkeys(order):
        if not isinstance(each, click.Option) or (options and each.name in _LEFT_OUT):
            continue
        value = values[str(each.name)]
        texts = value if isinstance(value, list | tuple) else [value]
        if each.is_flag:
            found[_key(each)] = bool(texts[-1])
        elif options:
            found[_key(each)] = tuple(_keep(each, str(text), options) for text in texts)
        else:
            found[_key(each)] = tuple(map(str, texts))
    return GivenCommand(name=name, options=found)


def _key(option: click.Option) -> str:
    return max(option.opts, key=len).removeprefix("--")


def _keep(option: click.Option, text: str, options: Options) -> str:
    """Return the value of an option; a text may have a credential in it, a number or name not."""
    if option.name == "extra_option":
        key, _, value = text.partition("=")
        return as_kept(key, value, options)
    if isinstance(option.type, click.Path) or (
        isinstance(option.type, ChoiceOr) and text not in option.type.choices
    ):  # the command may be repeated in another folder
        text = str(Path(text).absolute()) if Path(text).exists() else text
    is_text = isinstance(option.type, click.types.StringParamType | click.Path)
    return options.redact(text) if is_text and option.name != "target" else text


def divide(command: GivenCommand, of: str) -> tuple[GivenCommand, GivenCommand]:
    """Return what `repeat` takes from a stored command, and what must be given again.

    A result may be a stranger's. Only options that measure are taken: none that runs something,
    names what is reached, configured or overwritten, or allows what is refused otherwise.
    ConfigError if the command has no such options.
    """
    known = {key: each for each in _command_of(command.name, of).params
             if isinstance(each, click.Option) for key in _keys(each)}  # fmt: skip
    wrong = [key for key, value in command.options.items()
             if key not in known or known[key].is_flag != isinstance(value, bool)]  # fmt: skip
    if wrong:
        names = ", ".join(repr(key[:40]) for key in wrong[:_SHOWN])
        more = f" and {counted(len(wrong) - _SHOWN, 'more')}" if len(wrong) > _SHOWN else ""
        raise ConfigError(f"{of}: {command.name} has no such options: {names}{more}")
    kept: dict[str, Any] = {}
    left: dict[str, Any] = {}
    for key, value in command.options.items():
        option = known[key]
        if option.name in _CONSENTS:
            continue
        is_taken = option.name not in _LEFT_OUT and repeats(option)
        is_taken = is_taken and not _is_address(option, value)
        (kept if is_taken else left)[_key(option)] = value
    return GivenCommand(name=command.name, options=kept), GivenCommand(
        name=command.name, options=left
    )


def _keys(option: click.Option) -> list[str]:
    return [each.removeprefix("--") for each in option.opts if each.startswith("--")]


def repeats(option: click.Option) -> bool:
    """Return whether `repeat` takes an option's value: by default a number, flag or choice."""
    declared = repeats_of(option)
    if declared is not None:
        return declared
    is_choice = isinstance(option.type, click.Choice) and not isinstance(option.type, ChoiceOr)
    return is_choice or option.is_flag or isinstance(option.type, Parsed)


def _is_address(option: click.Option, value: Any) -> bool:
    found = is_url if option.name == "target" else _ADDRESS.match
    return not isinstance(value, bool) and any(map(found, value))


def merge(command: GivenCommand, given: GivenCommand) -> GivenCommand:
    """Return a command with some options replaced by the given ones."""
    options: Mapping[str, Any] = {**command.options, **given.options}
    return GivenCommand(name=command.name, options=dict(options))
