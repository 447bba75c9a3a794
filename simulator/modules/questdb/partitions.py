"""Where QuestDB's partitions begin."""

import numpy as np

_UNITS = {"HOUR": "h", "DAY": "D", "MONTH": "M", "YEAR": "Y"}
_WEEK_DAYS, _MONDAY = 7, 3
"""1970 began on a Thursday, three days after a Monday."""


def partition_start_ms(time_ms: int, span: str) -> int:
    """Return the beginning, in ms since 1970, of the partition that holds a time."""
    if span == "WEEK":
        days = time_ms // 86_400_000
        return (days - (days + _MONDAY) % _WEEK_DAYS) * 86_400_000
    start = np.datetime64(time_ms, "ms").astype(f"datetime64[{_UNITS[span]}]")
    return int(start.astype("datetime64[ms]").astype(np.int64))
