"""Changes of stored rows, as options. Pure."""

from typing import Annotated, Any, ClassVar

from iotbench.config.input.options import Opt, Options
from iotbench.config.input.values import Count, InstantMs, Number, Seconds, Share
from iotbench.measurements.shared.options import (
    MOST_WORKERS,
    OfInsert,
    ResourceOptions,
    Sending,
    Verification,
)
from simulator.data.changes import Deleting
from simulator.protocol.verdict import VerifyMode

MOST_STEPS = 10_000


class Changed(Options):
    """The stored rows to change, and the changes."""

    GROUP: ClassVar[str] = "Changes"

    correct: Annotated[Share, Opt(least=0, most=1)] = 0.0
    """Replace the fields of this share of the rows, evenly spread, such as 5%. With a deletion, the
    share is of the rows that it leaves.
    """
    correct_workers: Annotated[Count, Opt(least=1, most=MOST_WORKERS)] = 1
    """Workers that correct rows, in batches of --batch."""
    retag: Annotated[Share, Opt(least=0, most=1)] = 0.0
    """Give a tag another value in this share of the series, in stored and in later rows: the first
    tag that is not part of the key, with an update for each series.
    """
    delete_oldest: Annotated[Share, Opt(least=0, most=1)] = 0.0
    """Delete the oldest rows, up to this share of the time that all rows span, such as 50%."""
    delete_before_ms: InstantMs | None = None
    """Delete the rows before this time, such as 2026-11-01T00:00:00Z; UTC without an offset."""
    delete_by: Deleting = Deleting.STATEMENT
    """Delete with a statement that names the time, or with the database's own retention, which
    drops whole chunks or partitions: up to the end of the last one before the time.
    """
    delete_steps: Annotated[Count, Opt(least=1, most=MOST_STEPS)] = 1
    """Number of steps of the deletion, each up to a later time and timed separately."""
    at_s: Seconds = 0.0
    """Time from the first insert to the first change, such as 10s."""


class BackgroundRows(Options):
    """Rows to insert during the changes."""

    GROUP: ClassVar[str] = "Load"

    insert_workers: Annotated[Count, Opt(least=0, most=MOST_WORKERS)] = 0
    """Workers that insert rows during the changes, later than the stored rows."""
    insert_rate: Number = 0.0
    """Rows/s of all workers that insert; latency counts from the scheduled time. 0: no limit."""
    duration_s: Seconds = 0.0
    """Time for which these workers insert rows, such as 30s."""


class Change(Verification, Sending, BackgroundRows, Changed):
    """The options of `change` in commands and plans."""

    def options(self) -> "ChangeOptions":
        """Return the options of one run."""
        return ChangeOptions(**dict(self))


class ChangeOptions(OfInsert, ResourceOptions, Change):
    """The options of `change`."""

    GROUP: ClassVar[str] = "Changes"

    @property
    def deletes(self) -> bool:
        """True if rows are deleted."""
        return bool(self.delete_oldest) or self.delete_before_ms is not None

    @property
    def level(self) -> VerifyMode:
        """Verification level of the stored rows. Sums would not reveal a missing change."""
        return VerifyMode.FULL

    def configuration(self) -> dict[str, Any]:
        return {**super().configuration(), "verify": self.level.value}
