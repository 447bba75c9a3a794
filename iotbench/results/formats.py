"""Result files of earlier formats, as the present one has them."""

import json
import re
from typing import Any, Literal

from simulator.load.meter import encode_histogram

FORMAT_VERSION: Literal[2] = 2
_FORMAT_1 = re.compile(rb'\s*\{\s*"format_version":\s*1\s*[,}]')


def as_current(content: bytes) -> bytes:
    """Return a result file of format 1 in format 2, and any other content as it is."""
    if not _FORMAT_1.match(content):
        return content
    try:
        result = json.loads(content, object_hook=_as_format_2)
        return json.dumps(result | {"format_version": FORMAT_VERSION}).encode()
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
        return content


def _as_format_2(found: dict[str, Any]) -> dict[str, Any]:
    if found.keys() == {"start", "stop", "step"}:  # uncertain rows of version 0.1.0
        return found | {"take": 1, "every": found.pop("step")}
    if found.keys() == {"name", "durations_s", "answers"}:
        return _query_times(**found)
    return found


def _query_times(name: str, durations_s: list[float], answers: list[str]) -> dict[str, Any]:
    """Return the times of a query without a separately timed first run."""
    return {
        "name": name,
        "first_s": durations_s[0],
        "runs": len(durations_s),
        "waits": encode_histogram([round(each * 1e9) for each in durations_s]),
        "wait_s": sum(durations_s),
        "client_s": 0.0,
        "elapsed_s": sum(durations_s),
        "answers": len(answers),
    }
