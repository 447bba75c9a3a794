"""A user's own queries as aggregation pipelines in extended JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from simulator.data.own_query import PLACEHOLDER, TextQuery
from simulator.data.schema import Table
from simulator.modules.mongodb.query import DocumentFormat, TableDocuments, match_stages
from simulator.modules.shared.http.json_texts import JsonTexts, strings

_WRITES = ("$out", "$merge")
_EXPECTED = 'expected a list of stages, such as [{"$match": {...}}, {"$group": {...}}]'
_VERBATIM = frozenset({"$match", "$literal"})
"""Operators in which a text that begins with $ is only a text; in `$expr` it is a field."""


class Pipelines(JsonTexts):
    """Pipelines over the documents of one table, all parts of it."""

    given_names = frozenset({"_id", "count"})

    def __init__(self, table: Table, layout: DocumentFormat, keys: Sequence[str]) -> None:
        super().__init__(table, keys)
        self._documents = TableDocuments(table, layout)

    @property
    def places(self) -> Mapping[str, str]:
        return {"table": self.table.name} if self.table.parts == 1 else {}

    def content_problem(self, content: Any) -> str:
        """Return why a text's content is no pipeline that reads; empty if it is one."""
        if not isinstance(content, list) or not all(map(_is_stage, content)):
            return _EXPECTED
        written = next((name for name in _WRITES if name in {*strings(content)}), "")
        return f"must only read, found {written!r}" if written else ""

    def instant(self, value: int) -> Any:
        """Return an instant as documents have the time: a Date, or a number in its unit."""
        return self._documents.instant(value)

    def with_values(self, text: str, query: TextQuery) -> str:
        stages = [*match_stages(self.table, []), *self.fill_values(text, query)]
        command = {"aggregate": self.table.names[0], "pipeline": stages, "allowDiskUse": True}
        return json.dumps(command, ensure_ascii=False)

    def fill_parameters(self, content: Any, values: dict[str, Any]) -> Any:
        """Return a content in which parameters are values, never names of fields."""
        return self._replace_values(content, values, verbatim=False)

    def _replace_values(self, content: Any, values: dict[str, Any], *, verbatim: bool) -> Any:
        match content:
            case dict():
                return {
                    key: self._replace_values(
                        each, values, verbatim=key in _VERBATIM or (verbatim and key != "$expr")
                    )
                    for key, each in content.items()
                }
            case list():
                return [self._replace_values(each, values, verbatim=verbatim) for each in content]
            case str() if found := PLACEHOLDER.fullmatch(content):
                value = values[found[1]]
                is_field = isinstance(value, str) and value.startswith("$") and not verbatim
                return {"$literal": value} if is_field else value
            case _:
                return content


def _is_stage(stage: Any) -> bool:
    return isinstance(stage, dict) and len(stage) == 1 and next(iter(stage)).startswith("$")
