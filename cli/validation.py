"""What is wrong with a validated value, in plain words instead of the library's."""

import reprlib
from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

_EXPECTED = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "text",
    "list": "a list",
    "dict": "a mapping",
    "mapping": "a mapping",
}
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}


def shown(value: Any) -> str:
    """Return a value for a message, shortened where it is long."""
    return "nothing" if value is None else f"{type(value).__name__} {reprlib.repr(value)}"


def problems_of(
    error: ValidationError, fields: Mapping[str, FieldInfo], values: Mapping[str, Any]
) -> list[tuple[str, str, str]]:
    """Return (kind, key, sentence) of each problem; the values of credentials are left out."""
    found = []
    for item in error.errors(include_url=False, include_input=False):
        key = str(item["loc"][0]) if item["loc"] else ""
        field = fields.get(key)
        secret = field is None or SecretStr in (
            field.annotation,
            *getattr(field.annotation, "__args__", ()),
        )
        got = "" if secret or key not in values else f", got {reprlib.repr(values[key])}"
        found.append((item["type"], key, _sentence(item, got)))
    return found


def _sentence(item: ErrorDetails, got: str) -> str:
    kind, context = item["type"], item.get("ctx", {})
    if kind == "missing":
        return "is required"
    if kind in _BOUNDS:
        words, key = _BOUNDS[kind]
        return f"must be {words} {context[key]}{got}"
    if kind in ("literal_error", "enum"):
        return f"expected {context['expected']}{got}"
    expected = _EXPECTED.get(kind.partition("_")[0])
    if expected and kind.endswith(("_type", "_parsing", "_from_float", "_parsing_size")):
        return f"expected {expected}{got}"
    return item["msg"].removeprefix("Value error, ")
