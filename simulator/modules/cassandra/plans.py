"""Cassandra's account of how it answered a statement: its trace."""

import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from simulator.modules.shared import shapes

WAIT_S = 10.0
"""Longest wait for a trace, which nodes write after the answer."""
_NOTHING, _MICROSECOND = timedelta(), timedelta(microseconds=1)
_SAID = re.compile(
    r"(?:Executing|Computing|Submitting|Scanning|Index|Using|Speculating)\b"
    r"(?!.* on (?:roles?|\w*_permissions|role_\w+|cidr_\w+)$)"
)
"""Steps that follow from statement and schema; others from caches, and from what is in memory."""


def format_trace(events: Iterable[Any]) -> str:
    """Return the events of a trace as a text, a line each."""
    return "\n".join(
        f"{(each.source_elapsed or _NOTHING) // _MICROSECOND:,} us  {each.source}  "
        f"{each.description}"
        for each in events
    )


def shape_of(events: Iterable[Any]) -> str:
    """Return the steps of a trace, which nodes and threads do in any order."""
    said = {shapes.without_values(each.description) for each in events}
    return "\n".join(sorted(step for step in said if _SAID.match(step)))
