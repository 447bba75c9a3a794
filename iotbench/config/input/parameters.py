"""The parameters of workloads as options of `insert`."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from pydantic.fields import FieldInfo

from iotbench.config.input.quantities import (
    parse_count,
    parse_duration_s,
    parse_instant_ms,
    parse_number,
)
from simulator.data.workloads import GENERATORS
from simulator.data.workloads.base import MillisecondNotation


def parameters() -> dict[str, tuple[FieldInfo, tuple[str, ...]]]:
    """Return parameter -> its field, and the workloads that have it."""
    found: dict[str, tuple[FieldInfo, tuple[str, ...]]] = {}
    for name, cls in GENERATORS.items():
        for field, info in cls.params_model.model_fields.items():
            first, names = found.get(field, (info, ()))
            found[field] = first, (*names, name)
    return found


def list_meanings(field: str) -> Iterator[tuple[FieldInfo, tuple[str, ...]]]:
    """Yield each meaning of a parameter, with the workloads that share the meaning."""
    found = [
        (name, info)
        for name, cls in GENERATORS.items()
        if (info := cls.params_model.model_fields.get(field))
    ]
    while found:
        first = found[0][1]
        alike = [name for name, info in found if _describe(info) == _describe(first)]
        yield first, tuple(alike)
        found = [(name, info) for name, info in found if name not in alike]


def _describe(info: FieldInfo) -> tuple[str | None, Any]:
    return info.description, info.default


def option_of(field: str) -> str:
    """Return the option of a parameter."""
    return f"--{word_of(field).replace('_', '-')}"


def word_of(field: str) -> str:
    """Return the key of a parameter in files, without `_ms`, because users write durations."""
    info, _ = parameters()[field]
    if is_end(field):
        return "end"
    return field.removesuffix("_ms") if find_notation(info) else field


def parse_parameter(field: str, value: Any) -> Any:
    """Return the value of a parameter in the user's notation; ValueError if it is invalid.

    An end is returned as an instant in ms since 1970.
    """
    if is_end(field):
        return parse_instant_ms(str(value))
    info, _ = parameters()[field]
    if find_notation(info) is MillisecondNotation.DURATION:
        return round(parse_duration_s(str(value)) * 1000)
    kinds = {info.annotation, *get_args(info.annotation)}
    if isinstance(value, str) and kinds & {int, float}:
        return parse_count(value) if int in kinds else parse_number(value)
    return value


def unparse_parameter(field: str, value: Any) -> Any:
    """Return a parameter's value in the notation that `parse_parameter` reads."""
    return format_parameter(field, value, 0) if find_notation(parameters()[field][0]) else value


def find_notation(info: FieldInfo) -> MillisecondNotation | None:
    """Return the notation of a parameter in milliseconds; None for other parameters."""
    return next((item for item in info.metadata if isinstance(item, MillisecondNotation)), None)


def is_end(field: str) -> bool:
    """Return whether a parameter is a duration that users write as the instant of its end."""
    return find_notation(parameters()[field][0]) is MillisecondNotation.END


def format_parameter(field: str, value: Any, start_ms: int) -> str:
    """Return the value of a parameter in the user's notation.

    `start_ms`: start of a duration that users write as the instant of its end.
    """
    match find_notation(parameters()[field][0]):
        case MillisecondNotation.DURATION:
            return f"{value / 1000:g}s"
        case MillisecondNotation.END:
            return instant(start_ms + value)
    return str(value)


def instant(since_1970_ms: int) -> str:
    """Return an instant in the user's notation."""
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=since_1970_ms)
    except OverflowError:
        return f"{since_1970_ms} ms after 1970"
    precision = "milliseconds" if since_1970_ms % 1000 else "seconds"
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")
