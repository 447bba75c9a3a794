"""Features of a logical query beyond the minimum that every module renders.

A module names the features that its database cannot answer, with the reason (Capabilities).
"""

from enum import StrEnum
from typing import assert_never

from simulator.data.derived import ConditionSpells, below
from simulator.data.query import (
    ENDS,
    EVERYTHING,
    AggregateQuery,
    DistinctQuery,
    NewestQuery,
    Query,
    RowsQuery,
)


class Feature(StrEnum):
    """A feature of the query language, with its name in the documentation."""

    VALUE_LISTS = "tags with one of several values"
    COMPARISONS = "comparisons of numbers"
    ENDS = "first and last values"
    NEWEST_BUCKETS = "the newest buckets of time"
    FILTERED_NEWEST = "the newest row among selected rows"
    NEWEST_OF_TAGS = "the newest row of each combination of tags"
    CHOSEN_COLUMNS = "rows with some of their columns"
    FILTERED_ROWS = "selected rows"
    NEWEST_ROWS = "the newest rows"
    QUOTIENTS = "comparisons of quotients"
    SUBQUERIES = "conditions on answers, and aggregates of them"
    SPELLS = "how often and how long a condition holds"


def features_of(query: Query) -> list[Feature]:
    """Return the features of a query and of any subquery that it reads."""
    source = below(query.table)
    if source is None:
        return _list_features(query)
    used = [*features_of(source), *_list_features(query), Feature.SUBQUERIES]
    used += [Feature.SPELLS] if isinstance(query.table, ConditionSpells) else []
    return list(dict.fromkeys(used))


def _list_features(query: Query) -> list[Feature]:
    if isinstance(query, DistinctQuery):
        return []
    one_of, compared = query.selection.one_of, query.selection.compared
    is_filtered = query.selection != EVERYTHING
    used = {
        Feature.VALUE_LISTS: any(len(one.values) > 1 for one in one_of),
        Feature.COMPARISONS: bool(compared),
        Feature.QUOTIENTS: any(each.divisor for each in compared),
    }
    match query:
        case AggregateQuery():
            used[Feature.ENDS] = any(each.function in ENDS for each in query.aggregates)
            used[Feature.NEWEST_BUCKETS] = query.newest is not None
        case NewestQuery():
            used[Feature.FILTERED_NEWEST] = is_filtered
            used[Feature.NEWEST_OF_TAGS] = len(query.tags) > 1
        case RowsQuery():
            used[Feature.CHOSEN_COLUMNS] = bool(query.columns)
            used[Feature.FILTERED_ROWS] = is_filtered
            used[Feature.NEWEST_ROWS] = query.newest is not None
        case _:
            assert_never(query)
    return [feature for feature, is_used in used.items() if is_used]
