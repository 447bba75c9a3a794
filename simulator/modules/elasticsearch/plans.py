"""The `profile` of a search: the Lucene queries, collectors and aggregations."""

import re
from collections.abc import Mapping
from typing import Any

from simulator.modules.shared import shapes

_LEFT_OUT = re.compile(r"breakdown|debug|rewrite_time|.*time_in_nanos|.*_count|id|node_id|cluster")
"""Parts of a plan that are left out: figures of a run, and where it ran."""


_IDENTITY = re.compile(r"(?:\$\d+)?@[0-9a-f]+\b")
"""The identity of an object in the server, which follows the name of its class."""


def format_profile(shards: Any) -> Any:
    """Return the profile of each shard, without times of parts and identities of objects."""
    if isinstance(shards, Mapping):
        return {
            name: format_profile(value) for name, value in shards.items() if name != "breakdown"
        }
    if isinstance(shards, list):
        return [format_profile(each) for each in shards]
    return _IDENTITY.sub("", shards) if isinstance(shards, str) else shards


def shape_of(shards: Any) -> str:
    """Return the shape of what `format_profile` returns."""
    return shapes.of_json([{"shard": each} for each in shards], _LEFT_OUT)
