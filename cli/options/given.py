"""The words of the command that runs, as its result keeps them."""

from collections.abc import Iterator
from typing import Any

import click

from cli.options.basic import ARGUMENTS
from cli.targets.config import as_kept
from simulator.modules.options import Options

_LEFT_OUT = frozenset(
    {"output", "form", "quiet", "dry_run", "junit", "result_tags", "timings", "metrics_out", "ui"}
)
"""Options that say where the result and its course go, how they are shown, and what it is called.
"""


def command_words(options: Options) -> tuple[str, ...]:
    """Return the words of the command that runs on a target with these options.

    They are what was given, not the defaults, without what is _LEFT_OUT and without credentials.
    """
    context = click.get_current_context()
    parser = context.command.make_parser(context)
    values, _, order = parser.parse_args([*context.meta[ARGUMENTS]])
    found = [str(context.info_name)]
    for parameter in dict.fromkeys(order):
        if parameter.name in values and parameter.name not in _LEFT_OUT:
            found += _words(parameter, values[parameter.name], options)
    return tuple(found)


def _words(parameter: click.Parameter, value: Any, options: Options) -> Iterator[str]:
    given = value if isinstance(value, list | tuple) else [value]
    if not isinstance(parameter, click.Option):
        yield from given
        return
    names = parameter.opts
    if parameter.is_flag:
        yield max(names if given[-1] else parameter.secondary_opts, key=len)
        return
    for each in given:
        yield max(names, key=len)
        yield _kept(parameter, str(each), options)


def _kept(parameter: click.Option, text: str, options: Options) -> str:
    """Return the value of an option; a text may have a credential in it, a number or name not."""
    if parameter.name == "extra_option":
        key, _, value = text.partition("=")
        return as_kept(key, value, options)
    is_text = isinstance(parameter.type, click.types.StringParamType | click.Path)
    return options.redact(text) if is_text and parameter.name != "target" else text
