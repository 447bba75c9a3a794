"""The command as stored in a result, and the options that `repeat` takes from the command."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from iotbench.config.options.basic import ARGUMENTS, ChoiceOr, Parsed, opt_of
from iotbench.config.targets.config import as_kept
from iotbench.config.targets.urls import is_url
from iotbench.results import kinds
from iotbench.results.command import GivenCommand
from simulator.errors import ConfigError, counted
from simulator.modules.contract import Options

_MEASURING = (*kinds.NAMES, "capacity")
_MOST_WORDS = 10_000
_SHOWN = 5
_ADDRESS = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*:/")


def build_given_command(options: Options) -> GivenCommand:
    """Return the running command on a target with these options, as a result stores it.

    It contains the options that were given, without credentials and options for presentation.
    """
    context = click.get_current_context()
    return _parse(context, str(context.info_name), context.meta[ARGUMENTS], options)


def parse(words: Sequence[str], of: str) -> GivenCommand:
    """Return the command in a command line; ConfigError if the command measures nothing.

    `of`: origin of the words, for messages.
    """
    if len(words) > _MOST_WORDS:
        raise ConfigError(f"{of}: holds a command of {len(words):,} words; no command has so many")
    name = words[0]
    context = click.Context(_find_command(name, of), info_name=name)
    try:
        return _parse(context, name, words[1:])
    except click.UsageError as error:
        raise ConfigError(f"{of}: its command cannot be read: {error.format_message()}") from error


def _find_command(name: str, of: str) -> click.Command:
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
    """Return the command in a list of words as a result stores it.

    `options`: options of the target, which redact credentials.
    """
    values, more, order = context.command.make_parser(context).parse_args([*words])
    if more:
        raise click.UsageError("it has an argument that belongs to no option", context)
    found: dict[str, bool | tuple[str, ...]] = {}
    for each in dict.fromkeys(order):
        if not isinstance(each, click.Option) or (options and not opt_of(each).stored):
            continue
        value = values[str(each.name)]
        texts = value if isinstance(value, list | tuple) else [value]
        if each.is_flag:
            found[_find_name(each)] = bool(texts[-1])
        elif options:
            found[_find_name(each)] = tuple(_redact(each, str(text), options) for text in texts)
        else:
            found[_find_name(each)] = tuple(map(str, texts))
    return GivenCommand(name=name, options=found)


def _find_name(option: click.Option) -> str:
    return max(option.opts, key=len).removeprefix("--")


def _redact(option: click.Option, text: str, options: Options) -> str:
    """Return an option's value as a result stores it, with credentials redacted."""
    if option.name == "extra_option":
        key, _, value = text.partition("=")
        return as_kept(key, value, options)
    if isinstance(option.type, click.Path) or (
        isinstance(option.type, ChoiceOr) and text not in option.type.choices
    ):  # `repeat` may run in another folder
        text = str(Path(text).absolute()) if Path(text).exists() else text
    is_text = isinstance(option.type, click.types.StringParamType | click.Path)
    return options.redact_command(text) if is_text and option.name != "target" else text


def divide(stored: GivenCommand | tuple[str, ...], of: str) -> tuple[GivenCommand, GivenCommand]:
    """Return the options that `repeat` takes from a stored command, and the options to give again.

    A result may be a stranger's, so `repeat` takes only options that describe the measurement. It
    takes no option that runs something, that names an address, a configuration or an output, or
    that permits an otherwise refused action. ConfigError if the command has no such option.
    """
    command = stored if isinstance(stored, GivenCommand) else parse(stored, of)
    known = {key: each for each in _find_command(command.name, of).params
             if isinstance(each, click.Option) for key in _list_keys(each)}  # fmt: skip
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
        if opt_of(option).consents:
            continue
        is_taken = opt_of(option).stored and repeats(option)
        is_address = is_url if option.name == "target" else _ADDRESS.match
        if not isinstance(value, bool) and any(map(is_address, value)):
            is_taken = False
        (kept if is_taken else left)[_find_name(option)] = value
    return GivenCommand(name=command.name, options=kept), GivenCommand(
        name=command.name, options=left
    )


def _list_keys(option: click.Option) -> list[str]:
    return [each.removeprefix("--") for each in option.opts if each.startswith("--")]


def repeats(option: click.Option) -> bool:
    """Return whether `repeat` takes an option: by default, a number, flag or choice."""
    declared = opt_of(option).repeats
    if declared is not None:
        return declared
    is_choice = isinstance(option.type, click.Choice) and not isinstance(option.type, ChoiceOr)
    return is_choice or option.is_flag or isinstance(option.type, Parsed)


def merge(command: GivenCommand, given: GivenCommand) -> GivenCommand:
    """Return a command in which some options are replaced by the given options."""
    options: Mapping[str, Any] = {**command.options, **given.options}
    return GivenCommand(name=command.name, options=dict(options))
