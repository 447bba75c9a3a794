"""Messages about invalid values, in plain words.

A message shows numbers, booleans and empty values. It shows only the type of any other value, which
may be a misplaced credential. It shows an unknown key only if the key is spelt like an option.
"""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from simulator.errors import counted
from simulator.redaction import HIDDEN

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


_KEY = re.compile(r"[a-z]+(?:[_-][a-z]+)*")
_LONGEST_KEY = 30


def describe_value(value: Any) -> str:
    """Return a value for a message; only its type if the value may be a credential."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case str():
            return f"text of {counted(len(value), 'character')}" if value else "an empty text"
        case list() | tuple():
            return f"a list of {counted(len(value), 'item')}" if value else "an empty list"
        case dict():
            return f"a mapping of {counted(len(value), 'key')}" if value else "an empty mapping"
        case _:
            return f"a {type(value).__name__}"


def format_key(key: Any) -> str:
    """Return an unknown key for a message; the key is hidden unless it is spelt like an option."""
    text = str(key) if isinstance(key, str | bool | None) else ""
    if text in ("True", "False", "None"):
        return text.lower()
    return text if len(text) <= _LONGEST_KEY and _KEY.fullmatch(text) else HIDDEN


def problems_of(
    error: ValidationError, fields: Mapping[str, FieldInfo], values: Mapping[str, Any]
) -> list[tuple[str, str, str]]:
    """Return (kind, key, sentence) of each problem, without the values of credentials."""
    found = []
    for item in error.errors(include_url=False, include_input=False):
        key = str(item["loc"][0]) if item["loc"] else ""
        field = fields.get(key)
        secret = field is None or SecretStr in (
            field.annotation,
            *getattr(field.annotation, "__args__", ()),
        )
        got = "" if secret or key not in values else f", got {describe_value(values[key])}"
        found.append((item["type"], key, sentence_of(item, got)))
    return found


def sentence_of(item: ErrorDetails, got: str) -> str:
    """Return a sentence about a wrong value.

    `got`: end of the sentence, which shows the value.
    """
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
