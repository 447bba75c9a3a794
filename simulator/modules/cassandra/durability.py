"""The meaning of an acknowledgement, from a consistency and the nodes' settings."""

from collections.abc import Mapping, Sequence

SETTINGS = (
    "batch_size_fail_threshold",
    "commitlog_sync",
    "commitlog_sync_group_window",
    "commitlog_sync_period",
    "commitlog_sync_period_in_ms",
    "write_request_timeout",
    "write_request_timeout_in_ms",
)
"""The settings of a node that a result holds."""


def durability(
    nodes: Sequence[Mapping[str, str]], consistency: str, replicas: int, *, logs: bool = True
) -> tuple[bool | None, str]:
    """Return whether an acknowledged row survives a power cut, and the reason in a sentence.

    `logs`: the nodes write rows of the keyspace to their commit logs.
    """
    if not logs:
        return False, "an acknowledged row is in memory, and lost with it (durable_writes=false)"
    acknowledging = _acknowledging(consistency, replicas)
    if not acknowledging:
        return False, f"an acknowledged row may exist only as a hint ({consistency})"
    where = f"is in the commit log of {acknowledging} of {replicas} replicas ({consistency})"
    kinds = {node.get("commitlog_sync") for node in nodes}
    if not kinds or None in kinds:
        return None, f"an acknowledged row {where}; the server does not report when it is synced"
    if "periodic" not in kinds:
        how = " and ".join(sorted(str(kind) for kind in kinds))
        return True, f"an acknowledged row {where}, already synced to disk (commitlog_sync={how})"
    periods = {
        node.get("commitlog_sync_period") or node.get("commitlog_sync_period_in_ms", "?") + "ms"
        for node in nodes
        if node.get("commitlog_sync") == "periodic"
    }
    how = f"commitlog_sync=periodic, every {', '.join(sorted(periods))}"
    # A restart replays the log up to its last marker, and markers are written every 100 ms.
    survives = (
        "is lost if the server's process is killed within 0.1 s, or its machine fails before the "
        "next sync"
        if acknowledging == 1
        else "survives the loss of one machine, but not a power cut of all at once"
    )
    return False, f"an acknowledged row {where}, synced to disk later: it {survives} ({how})"


def _acknowledging(consistency: str, replicas: int) -> int:
    """Return how many replicas must have a row before it is acknowledged."""
    fixed = {"ANY": 0, "ONE": 1, "LOCAL_ONE": 1, "TWO": 2, "THREE": 3, "ALL": replicas}
    return fixed.get(consistency, replicas // 2 + 1)
