"""A user's own queries as bodies of `_search`, and their replies as rows.

With aggregations, the innermost buckets are the rows; without them, the hits are.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from simulator.data.own_query import TextQuery
from simulator.data.query import Output
from simulator.errors import RunError
from simulator.modules.elasticsearch import query as queries
from simulator.modules.shared.http.json_texts import JsonTexts

_COUNT = "count"
_SHORT, _LONG = "aggs", "aggregations"


class Searches(JsonTexts):
    """Searches in the indices of one table."""

    given_names = frozenset({_COUNT})

    @property
    def places(self) -> Mapping[str, str]:
        """The index, if the table has only one; a search is in all indices of the table."""
        one = self.table.parts == 1
        return {"table": queries.index_name(self.table.name)} if one else {}

    def content_problem(self, content: Any) -> str:
        """Return why a text's content is not the body of a search; empty if it is."""
        if not isinstance(content, dict):
            return 'expected the body of a _search, such as {"query": {...}, "aggs": {...}}'
        given = [name for name in (_SHORT, _LONG) if name in content]
        if len(given) > 1:
            return f"has {_SHORT} and {_LONG}; keep one of them"
        if given and content.get("size", 0) != 0:
            return f"has {given[0]}, whose buckets are the rows, so size must be 0 or left out"
        return ""

    def can_name(self, column: str, names: Collection[str]) -> bool:
        return column in names or any(column.endswith(f"_{name}") for name in names)

    def with_values(self, text: str, query: TextQuery) -> str:
        body = self.fill_values(text, query)
        if _LONG in body:
            body[_SHORT] = body.pop(_LONG)
        if _SHORT in body:
            body.setdefault("size", 0)
        if any(output.name == _COUNT for output in query.outputs):
            body.setdefault("track_total_hits", True)
        return queries.post(self.table.names, queries.SEARCH, body)


def rows_from_replies(
    body: queries.Body, replies: Iterable[Any], columns: tuple[Output, ...]
) -> list[queries.Row]:
    """Return the rows of the replies to a user's search; RunError if a column is missing."""
    if _SHORT not in body and body.get("size") != 0:
        hits = [hit for reply in replies for hit in reply["hits"]["hits"]]
        return queries.rows_from_groups(map(queries.read_hit, hits), columns)
    groups = [group for reply in replies for group in queries.read_groups(reply)]
    found = {name for group in groups for name in group}
    absent = [each.name for each in columns if queries.escape_name(each.name) not in found]
    # Documents among the buckets may lack any field.
    if groups and absent and '"top_hits"' not in json.dumps(body.get(_SHORT)):
        known = ", ".join(sorted(found)) or "none"
        raise RunError(f"the answer has no column {absent[0]}; it has: {known}")
    return queries.rows_from_groups(groups, columns)
