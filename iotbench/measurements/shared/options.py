"""Options that several measurements share. Pure.

In help texts, the options of the last base of a class come first.
"""

from pathlib import Path
from typing import Annotated, ClassVar

from iotbench.config.input.options import Opt, Options
from iotbench.config.input.values import Count, Counts, Seconds
from simulator.modules.contract import BATCH, SINGLE
from simulator.protocol.spec import Several
from simulator.protocol.verdict import VerifyMode

MOST_WORKERS = 10_000
MOST_CONNECTIONS = 10_000
"""Maximum number of connections of one worker."""
MOST_RUNS = 10_000
"""Maximum number of runs of one sweep; the result file holds every run."""
LARGEST_BATCH_ROWS = 10_000_000

Workers = Annotated[Counts, Opt("-w", least=1, most=MOST_WORKERS)]
Flag = Annotated[bool, Opt(kept=False)]


class Sending(Options):
    """Options for sending rows."""

    GROUP: ClassVar[str] = "Load"

    batch: Annotated[Count, Opt(least=0, most=LARGEST_BATCH_ROWS)] = 0
    """Rows per batch; 0: one row at a time, each acknowledged separately."""
    retry_for_s: Seconds = 0.0
    """Time for which a worker retries a refused batch or login, and a lost connection, such as 30m,
    with pauses of up to 2 s; rows of unknown outcome are never sent twice. 0: retry a batch five
    times, and a connection for some seconds.
    """

    @property
    def mode(self) -> str:
        """Insert mode: SINGLE or BATCH; options of the target may refine it."""
        return BATCH if self.batch else SINGLE

    @property
    def batch_rows(self) -> int:
        """Number of rows that are sent and acknowledged together, at least one."""
        return max(self.batch, 1)


class Connecting(Options):
    """Options for connecting to the database."""

    GROUP: ClassVar[str] = "Load"

    connections: Annotated[Count, Opt(least=1, most=MOST_CONNECTIONS)] = 1
    """Connections of each worker, which send batches or ask queries at the same time; with a rate,
    the connection that has been idle for longest is next. The result has the time to connect.
    """
    pool: Annotated[Count, Opt(least=0, most=MOST_CONNECTIONS)] = 0
    """Number of connections of each worker that its --connections callers share; time spent waiting
    for a connection counts. 0: each caller has its own.
    """

    def problems(self) -> list[str]:
        """Return a sentence for each value outside its limits, and for a pool that is too large."""
        problems = super().problems()
        if self.pool and self.pool >= self.connections:
            problems.append(
                f"--pool: expected fewer than the {self.connections} of --connections, whose"
                f" callers share them, got {self.pool}"
            )
        return problems

    @property
    def several(self) -> Several:
        """The connections of a worker."""
        return Several(connections=self.connections, pool=self.pool)


class MachineOptions(Options):
    """Preparation of this machine before each run."""

    GROUP: ClassVar[str] = "Machine"

    before_run: Annotated[str | None, Opt(metavar="COMMAND", kept=False)] = None
    """Command to run in bash on this machine before each run, such as 'systemctl restart
    postgresql'; the target then has 60 s to answer. If the command fails, no run follows.
    """
    drop_caches: Annotated[bool, Opt(kept=False, repeats=False)] = False
    """Drop this machine's file caches before each run, if the server runs here and this user may;
    the result shows whether they were dropped.
    """


class ResourceOptions(Options):
    """Additional measurements."""

    GROUP: ClassVar[str] = "Machine"

    resources: Flag = False
    """Measure CPU, load and memory of machine, client and server during each run, and at rest
    before and after it.
    """


class Verification(Options):
    """The verification of stored rows."""

    GROUP: ClassVar[str] = "Verification"

    verify: Annotated[VerifyMode | None, Opt(choices=("none", "counts", "full"))] = None
    """none; counts: rows are counted, and their hashes compared, or sums if the database has no
    hashes; full: every row is compared. `change` always compares every row.
    [default: counts]
    """


class OfInsert(Options):
    """The rows of an insert that a command is about."""

    dataset: Annotated[Path | None, Opt(kept=False, repeats=True)] = None
    """Result file of the insert.  [default: the target's last insert in --output, or in the
    database]
    """
