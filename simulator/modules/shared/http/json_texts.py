"""A user's own queries in JSON, with answers that name their columns.

A quoted text that is exactly "{name}" is replaced by the value, with its type.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from simulator.data.own_query import PLACEHOLDER, Instant, TextQuery, placeholders
from simulator.errors import nearest
from simulator.modules.contract import TextLanguage


class JsonTexts(TextLanguage):
    """JSON over one table."""

    given_names: frozenset[str] = frozenset()
    """Names that an answer may contain in addition to names in the text and names of columns."""

    def problem(self, text: str, columns: Collection[str] = ()) -> str:
        try:
            content = parse(text)
        except ValueError as error:
            return f"expected JSON, in which a parameter stands in quotes: {error}"
        return (
            _find_misplaced(content)
            or self.content_problem(content)
            or super().problem(text, columns)
            or self._column_problem(content, columns)
        )

    def content_problem(self, content: Any) -> str:
        """Return why a text's content is not a query that only reads, or ""."""
        raise NotImplementedError

    def instant(self, value: int) -> Any:
        """Return an instant as it is stored: by default, a number in the table's unit."""
        return value

    def fill_values(self, text: str, query: TextQuery) -> Any:
        """Return a text's content with the values of an instance."""
        values = {
            name: self.instant(value.value) if isinstance(value, Instant) else value
            for name, value in query.values.items()
        }
        return self.fill_parameters(parse(text), {**self.places, **values})

    def fill_parameters(self, content: Any, values: dict[str, Any]) -> Any:
        """Return content in which the parameters are replaced by values."""
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
        """Return whether an answer can have a column if the text contains these names."""
        return column in names


def parse(text: str) -> Any:
    """Return the content of JSON; ValueError if it is invalid or repeats a key."""
    return json.loads(text, object_pairs_hook=_refuse_repeated, parse_constant=_refuse)


def strings(content: Any) -> Iterator[str]:
    """Yield every key and every quoted text."""
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


def _refuse_repeated(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key {twice!r} is there twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _find_misplaced(content: Any) -> str:
    """Return why a parameter cannot be replaced where it is, or ""."""
    parts: Iterable[Any] = ()
    match content:
        case dict():
            for key in content:
                if placeholders(key):
                    return f"{key} is a key; a parameter is a value"
            parts = content.values()
        case list():
            parts = content
        case str() if not PLACEHOLDER.fullmatch(content):
            for name in sorted(placeholders(content)):
                return f"{{{name}}} is a part of {content!r}; it must be all that is in the quotes"
    return next(filter(None, map(_find_misplaced, parts)), "")
