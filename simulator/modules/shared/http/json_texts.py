"""The user's own queries in JSON; their answers have named columns.

A text in quotes that is exactly "{name}" is replaced by the value, with its type.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from simulator.data.own_query import PLACEHOLDER, Instant, TextQuery, placeholders
from simulator.errors import nearest
from simulator.modules.contract import TextLanguage


class JsonTexts(TextLanguage):
    """JSON over one table."""

    given_names: frozenset[str] = frozenset()
    """Names that an answer may have although no text and no column shows them."""

    def problem(self, text: str, columns: Collection[str] = ()) -> str:
        """Return why a text is not JSON that reads and answers with these columns."""
        try:
            content = parse(text)
        except ValueError as error:
            return f"expected JSON, in which a parameter stands in quotes: {error}"
        return (
            _parameter_problem(content)
            or self.content_problem(content)
            or super().problem(text, columns)
            or self._column_problem(content, columns)
        )

    def content_problem(self, content: Any) -> str:
        """Return why a text's content is not a query that only reads; empty if it is."""
        raise NotImplementedError

    def instant(self, value: int) -> Any:
        """Return an instant as documents have it; here as a number in the table's unit."""
        return value

    def fill_values(self, text: str, query: TextQuery) -> Any:
        """Return a text's content, with the values of an instance."""
        values = {
            name: self.instant(value.value) if isinstance(value, Instant) else value
            for name, value in query.values.items()
        }
        return self.fill_parameters(parse(text), {**self.places, **values})

    def fill_parameters(self, content: Any, values: dict[str, Any]) -> Any:
        """Return a content in which parameters are values."""
        match content:
            case dict():
                return {key: self.fill_parameters(each, values) for key, each in content.items()}
            case list():
                return [self.fill_parameters(each, values) for each in content]
            case str() if found := PLACEHOLDER.fullmatch(content):
                return values[found[1]]
            case _:
                return content

    def _column_problem(self, content: Any, columns: Collection[str]) -> str:
        names = {*strings(content), *self.given_names}
        names |= {column.name for column in self.table.columns}
        for name in columns:
            if not self.can_name(name, names):
                known = sorted(each for each in names if not placeholders(each))
                return f"has no name {name!r}, which is one of the columns ({nearest(name, known)})"
        return ""

    def can_name(self, column: str, names: Collection[str]) -> bool:
        """Return whether an answer can have a column, if these names are in the text."""
        return column in names


def parse(text: str) -> Any:
    """Return the content of JSON; ValueError if it is invalid, or has a key twice."""
    return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)


def strings(content: Any) -> Iterator[str]:
    """Yield every key and every text in quotes."""
    match content:
        case dict():
            for key, each in content.items():
                yield key
                yield from strings(each)
        case list():
            for each in content:
                yield from strings(each)
        case str():
            yield content


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key {twice!r} is there twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _parameter_problem(content: Any) -> str:
    for text in strings(content):
        for name in sorted(placeholders(text)):
            if not PLACEHOLDER.fullmatch(text):
                return f"{{{name}}} is a part of {text!r}; it must be all that is in the quotes"
    return _key_problem(content)


def _key_problem(content: Any) -> str:
    """Return a key of an object that is a parameter; empty if none is."""
    children = content if isinstance(content, list) else []
    if isinstance(content, dict):
        children = [*content.values()]
        for key in content:
            if placeholders(key):
                return f"{key} is a key; a parameter is a value"
    return next(filter(None, map(_key_problem, children)), "")
