"""Options of a command from a model of options; the command receives an instance of the model."""

import functools
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

import click
from click.core import ParameterSource

from iotbench.config.completion.words import complete_query, complete_target
from iotbench.config.input.options import DeclaredField, Options
from iotbench.config.input.parameters import (
    find_notation,
    format_parameter,
    is_end,
    list_meanings,
    option_of,
    parameters,
    parse_parameter,
)
from iotbench.config.options.basic import ChoiceOr, FileOf, Parsed, PathOf, option

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Model = TypeVar("_Model", bound=Options)
_COMPLETED = {"types": complete_query, "target": complete_target, "targets": complete_target}
_PARAMS = "params"
"""Field that holds the parameters of the workload; each parameter is an option."""


def options_of(model: type[Options], name: str = "options") -> Callable[[_Function], _Function]:
    """Add the options of a model; the command receives an instance as argument `name`.

    An option that was not given has the model's default, and is missing in `model_fields_set`.
    """
    shown = _select_shown(model)
    drawn = [*parameters()] if _PARAMS in model.model_fields else []

    def decorate(command: _Function) -> _Function:
        @functools.wraps(command)
        def build(**given: Any) -> Any:
            values = {field: given.pop(field) for field in (*(e.field for e in shown), *drawn)}
            return command(**{name: instance(model, values)}, **given)

        decorated: Any = build
        for add in reversed([*map(_make_option, shown), *map(_make_parameter, drawn)]):
            decorated = add(decorated)
        return cast("_Function", decorated)

    return decorate


def _select_shown(model: type[_Model]) -> list[DeclaredField]:
    return [each for each in model.declare().values() if not each.opt.inner]


def instance(model: type[_Model], values: Mapping[str, Any]) -> _Model:
    """Return an instance of the model with the values given to the running command."""
    found = _list_given({each.field: values[each.field] for each in _select_shown(model)})
    if _PARAMS in model.model_fields:
        params = _list_given({field: values[field] for field in parameters()})
        found |= {_PARAMS: params} if params else {}
    return model(**found)


def _list_given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values given on the command line."""
    source = click.get_current_context().get_parameter_source
    return {n: v for n, v in values.items() if source(n) is ParameterSource.COMMANDLINE}


def option_like(model: type[Options], field: str, **changes: Any) -> Callable[..., Any]:
    """Return a model's field as an option of another command.

    `changes`: properties to replace, such as the help or the group.
    """
    return _make_option(model.declare()[field], **changes)


def _make_option(each: DeclaredField, **changes: Any) -> Callable[..., Any]:
    names = [*each.names, each.field]
    about: dict[str, Any] = {
        "help": each.help, "group": each.group, "opt": each.opt, **changes
    }  # fmt: skip
    if each.is_flag and each.info.get_default():
        names[0] = f"{names[0]}/--no-{names[0].removeprefix('--')}"
    if each.is_flag:
        return option(*names, is_flag=True, default=each.info.get_default(), **about)
    return option(
        *names,
        type=_choose_type(each),
        required=each.info.is_required(),
        multiple=each.is_repeated,
        metavar=each.opt.metavar,
        shell_complete=_COMPLETED.get(each.field),
        **about,
    )


def _choose_type(each: DeclaredField) -> click.ParamType[Any]:
    if each.notation and each.choices:
        return ChoiceOr(each.choices, each.notation.parse)
    if each.notation and each.notation.is_file:
        return FileOf(each.notation.parse)
    if each.notation and each.kind is Path:
        return PathOf(each.notation.parse)
    if each.notation:
        return Parsed(each.notation.name, each.notation.parse)
    if each.choices:
        return click.Choice(each.choices)
    if each.kind is Path:
        return click.Path(path_type=Path, dir_okay=each.opt.metavar != "FILE")
    return click.STRING


def _make_parameter(field: str) -> Callable[..., Any]:
    return option(
        option_of(field),
        field,
        group="Generated rows",
        type=_choose_parameter_type(field),
        default=None,
        help=_write_help(field),
    )


def _write_help(field: str) -> str:
    """Return the help of a parameter, with its meaning and default for each workload."""
    found: list[str] = []
    last = ""
    for info, names in list_meanings(field):
        text = info.description or field
        sentence = f"{text[0].upper()}{text[1:]}."
        default = (
            "" if info.default is None else f"; default: {_format_default(field, info.default)}"
        )
        found += [sentence] if sentence != last else []
        found.append(f"[{', '.join(names)}{default}]")
        last = sentence
    return "  ".join(found)


def _choose_parameter_type(field: str) -> click.ParamType[Any]:
    info, _ = parameters()[field]
    kinds = [info.annotation, *get_args(info.annotation)]
    choices = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, StrEnum)]
    if choices:
        return click.Choice([item.value for item in choices[0]])
    name = "count" if int in kinds else "number"
    if find_notation(info):
        name = "instant" if is_end(field) else "duration"
    return Parsed(name, functools.partial(parse_parameter, field))


def _format_default(field: str, default: Any) -> str:
    if is_end(field):
        return f"{default / 3_600_000:g}h after the start"
    return format_parameter(field, default, 0)
