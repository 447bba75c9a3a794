"""Inserts, as options: commands and plans compose the same models. Pure.

In help texts, the options of the last base of a class come first.
"""

import re
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from iotbench.config.input.options import Opt, Options
from iotbench.config.input.parameters import option_of, unparse_parameter
from iotbench.config.input.quantities import parse_count, parse_duration_s, parse_share
from iotbench.config.input.values import (
    Count,
    InstantMs,
    Notation,
    Number,
    Parameters,
    Seconds,
)
from iotbench.measurements.insert.statement_file import StatementsFile
from iotbench.measurements.insert.workload_file import WorkloadName, class_of
from iotbench.measurements.shared.distribution import Split
from iotbench.measurements.shared.faults import Faults
from iotbench.measurements.shared.options import (
    MOST_RUNS,
    Connecting,
    MachineOptions,
    ResourceOptions,
    Sending,
    Verification,
    Workers,
)
from iotbench.measurements.shared.stages import Stages, counts_of, duration_of
from simulator.data.dataset import TABLE_PREFIX, PartsBy
from simulator.data.late import MOST_STRATUM_ROWS, Late
from simulator.data.ranges import LANE_ROWS
from simulator.data.schema import PrimaryKey
from simulator.data.workloads import GENERATORS
from simulator.modules.contract import OWN, Capabilities

TABLES = {"single": 1, "multiple": 4}
"""Name -> number of tables."""
MOST_TABLES = 256
"""Maximum number of tables. A query reads all tables at once, and databases limit the operands of a
union.
"""
DEFAULT_RUNS = 5
"""Default number of runs. With five runs, `compare` finds a rate that is 10 % lower; with three, it
often misses such a difference (docs/statistics.md).
"""
DEFAULT_ROWS = 10_000
WORKERS_ON_CLUSTER = (1, 4, 8, 12, 16)
"""Default worker counts on a cluster, taken from document 1."""
BARE_S = 1.0
"""Duration of each run if no option determines the load; the sweep then takes half a minute on two
cores.
"""
FASTEST_ROWS_PER_S = 50_000_000
"""Rows/s that a single worker cannot reach."""
_MOST_LATE = 0.5
"""Maximum share of late rows; with a larger share, most rows would be late."""


def default_workers(cores: int | None) -> tuple[int, ...]:
    """Return the worker counts to try: powers of two up to `cores`; None: on a cluster."""
    if cores is None:
        return WORKERS_ON_CLUSTER
    return tuple(2**n for n in range(5) if 2**n <= max(cores, 1))


def _parse_tables(text: str) -> int:
    try:
        return TABLES.get(text) or parse_count(text)
    except ValueError:
        names = ", ".join(TABLES)
        raise ValueError(f"expected {names} or a number of tables, got {text!r}") from None


def format_tables(number: int) -> str | int:
    """Return a number of tables, or the name of the number if it has one."""
    return next((name for name, count in TABLES.items() if count == number), number)


def _parse_prefix(text: str) -> str:
    if not re.fullmatch(TABLE_PREFIX, text):
        raise ValueError(
            "expected a letter, then letters, digits or _, all in lower case and 30 at most, such"
            f" as bench_, got {text!r}"
        )
    if text.startswith(OWN):
        raise ValueError(f"{OWN} is the beginning of this program's own tables; choose another")
    return text


def parse_late(text: str) -> Late:
    """Return a share of late rows and their longest delay, such as 5%:10m."""
    share, _, by = text.partition(":")
    try:
        found, by_ms = parse_share(share), round(parse_duration_s(by) * 1000)
    except ValueError:
        found, by_ms = 0.0, 0
    part = Fraction(found).limit_denominator(MOST_STRATUM_ROWS)
    if not (0 < part <= _MOST_LATE and by_ms > 0):
        raise ValueError(
            "expected SHARE:DURATION, the share of late rows, 0.1% to 50%, and by how much they are"
            f" late at most, such as 5%:10m, got {text!r}"
        )
    return Late(rows=part.numerator, of=part.denominator, by_ms=by_ms)


def format_late(late: Late) -> str:
    """Return a share of late rows and their longest delay as text."""
    return f"{100 * late.rows / late.of:.6g}%:{late.by_ms / 1000:.15g}s"


OutOfOrder = Annotated[Late, Notation("share:duration", parse_late, format_late, str, format_late)]
_Tables = Annotated[
    int, Notation("n", _parse_tables, lambda number: str(format_tables(number)), int | str)
]


class RowOptions(Options):
    """The generated rows."""

    GROUP: ClassVar[str] = "Generated rows"

    workload: Annotated[WorkloadName, Opt(choices=tuple(GENERATORS), repeats=True)] = "iot"
    """Generator of the rows, or a file in YAML that declares tables, columns and distributions."""
    seed: Count = 1
    """Seed of the generator."""
    start_ms: Annotated[InstantMs | None, Opt("--start-time")] = None
    """Time of the first row, such as 2026-11-01T00:00:00Z; UTC without an offset.
    [default: now]
    """
    out_of_order: Annotated[OutOfOrder | None, Opt(kept_if_set=True)] = None
    """Send this share of the rows late, by up to this time of the data, such as 5%:10m; the others
    keep their order.  [default: all rows are in order of time]
    """
    params: Annotated[Parameters, Opt(inner=True, kept=False)] = Field({}, alias="parameters")
    """The workload's own options that were given."""

    @property
    def given(self) -> dict[str, Any]:
        """Given options, including the options of the workload: name -> value."""
        return {**super().given, **{option_of(name): v for name, v in self.params.items()}}

    def list_stored(self, *always: str) -> dict[str, bool | tuple[str, ...]]:
        drawn = {
            option_of(name).removeprefix("--"): (str(unparse_parameter(name, value)),)
            for name, value in self.params.items()
        }
        return {**super().list_stored(*always), **drawn}


class Naming(Options):
    """Names of the tables."""

    GROUP: ClassVar[str] = "Tables"

    table_prefix: Annotated[str, Notation("prefix", _parse_prefix), Opt(kept_if_set=True)] = ""
    """Prefix of the names of all tables, such as bench_, in case the workload's names are in use in
    the database.  [default: none]
    """


class Replacing(Options):
    """The user's own objects that may be dropped."""

    GROUP: ClassVar[str] = "Tables"

    replace_tables: Annotated[
        tuple[str, ...],
        Field(alias="replace_table"),
        Opt(metavar="NAME", kept=False, consents=True),
    ] = ()
    """Drop this table, index, bucket or the like with all of its contents, although this program
    did not create it; may be given several times. Without it, the name is refused.
    """


class Tables(Options):
    """The number of tables, and their primary key."""

    GROUP: ClassVar[str] = "Tables"

    primary_key: PrimaryKey | None = None
    """Source of the primary key: db (SERIAL), sql (IDENTITY), client (from the row), uuid
    (by the database), none (no primary key).  [default: the workload's, or db, or the first
    that the target supports]
    """
    tables: Annotated[_Tables, Opt(least=1, most=MOST_TABLES)] = 1
    """Write to one table, or spread the rows across this many; single: 1, multiple: 4."""
    tables_by: PartsBy = PartsBy.ROW
    """Spread the rows of each worker across all tables, or have each worker write to one."""


class LoadOptions(Options):
    """Numbers of rows and workers, and the rate."""

    GROUP: ClassVar[str] = "Load"

    workers: Workers = (1,)
    """Worker counts to try, in order."""
    num_inserts: Annotated[Count | None, Opt(least=1, most=LANE_ROWS)] = None
    """Rows that each worker inserts, if the workload has no end.  [default: 10000, or as many as it
    can within --duration; without any option about the load, at most 10000 within 1s]
    """
    limit: Annotated[Count | None, Opt(least=1, most=LANE_ROWS)] = None
    """Maximum number of rows that all workers insert together."""
    duration_s: Seconds = 0.0
    """End each run after this time, such as 30s or 10m. 0: when all rows are inserted."""
    warmup_s: Seconds = 0.0
    """Insert for this time before --duration begins. These rows are stored and verified, but left
    out of every figure.
    """
    warmup_until_steady_s: Annotated[Seconds, Opt(kept_if_set=True)] = 0.0
    """Instead of --warmup: insert until the rate of all workers is steady, at most for this time,
    such as 1m. These rows are left out of every figure too.
    """
    stages: Annotated[Stages, Opt(kept_if_set=True)] = ()
    """Parts of one run, such as 1:1m,8@5k:5m. Each has a number of active workers, optionally a
    rate, a duration and separate figures. All workers start before the first part.
    """
    split: Split = Split.BATCH
    """How to distribute a finite workload's rows to the workers: batch by batch in order of time,
    or each worker its own series.
    """
    imports: Annotated[bool, Field(alias="import")] = False
    """Import the rows with the database's bulk load, from files that are written before the clock
    starts, one for each worker and table.
    """
    prefill: Annotated[Count, Opt(least=0, most=LANE_ROWS)] = 0
    """Rows to insert, in batches, before the timed part."""
    steps: Annotated[Count, Opt(least=0, most=MOST_RUNS)] = 0
    """Fill-level test: number of timed inserts in a row, without emptying the tables between."""
    rate: Number = 0.0
    """Rows/s of all workers together; latency counts from the scheduled time. 0: no limit."""

    @property
    def timed_s(self) -> float:
        """Time after which a run ends even if rows are left; 0: no limit."""
        return duration_of(self.stages) or self.duration_s

    @property
    def warm_s(self) -> float:
        """Longest duration of a warm-up."""
        return self.warmup_s or self.warmup_until_steady_s

    @property
    def active(self) -> tuple[int, ...]:
        """Worker counts that appear in the rows of the result."""
        return tuple(stage.workers for stage in self.stages) or self.workers

    @property
    def most_workers(self) -> int:
        """Maximum number of workers that a run starts."""
        return max(counts_of(self.stages, self.workers))


class Repeats(Options):
    """The repeats of inserts."""

    GROUP: ClassVar[str] = "Load"

    runs: Annotated[Count | None, Opt("-r", least=1, most=MOST_RUNS)] = None
    """Number of runs for each worker count.  [default: 5; with --steps or --stages 1]"""


class Emptying(Options):
    """The state of the tables before a run."""

    GROUP: ClassVar[str] = "Tables"

    clean: bool = True
    """Drop and create the tables before each run, or append to the last insert.
    [default: clean]
    """


class StatementOptions(Options):
    """The user's own statements on the tables."""

    GROUP: ClassVar[str] = "Tables"

    setup: Annotated[StatementsFile | None, Opt(kept=False)] = None
    """Execute the statements in this file after the tables of a run are created, such as further
    indices, policies or views; each ends with a semicolon at the end of a line.
    """
    teardown: Annotated[StatementsFile | None, Opt(kept=False)] = None
    """Execute the statements in this file at the end of each run, even if the run failed."""


class Insert(
    Faults, MachineOptions, Verification, RowOptions, Naming, Tables, StatementOptions, Connecting,
    Sending, LoadOptions,
):  # fmt: skip
    """The options of `insert` in commands and plans."""

    def options(self, capabilities: Capabilities | None = None, now_ms: int = 0) -> "InsertOptions":
        """Return the options of one run."""
        return InsertOptions(**dict(self), runs=1).decide(capabilities, now_ms)


class InsertOptions(ResourceOptions, Replacing, Emptying, Repeats, Insert):
    """The options of `insert`."""

    GROUP: ClassVar[str] = "Load"

    workers: Workers = ()
    """Worker counts to try, in order.  [default: 1,2,4,8,16 up to the cores of this machine; on
    Kubernetes 1,4,8,12,16]
    """
    at_most_s: Annotated[Seconds, Opt(inner=True, kept_if_set=True)] = 0.0
    """Time after which a run ends even if rows are left, for a load that no option determines."""

    @property
    def is_bare(self) -> bool:
        """True if no option determines the load."""
        parts = (LoadOptions, Repeats, Emptying, Sending, Connecting, Faults)
        return not self.model_fields_set & {name for part in parts for name in part.model_fields}

    def decide(self, capabilities: Capabilities | None, now_ms: int, **changes: Any) -> Self:
        """Return the options with changes, and the defaults that depend on target and time."""
        found = self.model_copy(update=changes)
        decided = {
            "workers": counts_of(found.stages, found.workers),
            "primary_key": found.primary_key or default_key(found.workload, capabilities),
            "start_ms": now_ms if found.start_ms is None else found.start_ms,
        }
        return found.model_copy(update=decided)

    @property
    def key(self) -> PrimaryKey:
        """The primary key."""
        return self.primary_key or default_key(self.workload, None)

    @property
    def begin_ms(self) -> int:
        """Time of the first row; 0 before the time is decided."""
        return self.start_ms or 0

    @property
    def repeats(self) -> int:
        """Number of runs for each worker count, or number of steps of a fill-level test."""
        return self.steps or self.runs or (1 if self.stages else DEFAULT_RUNS)

    @property
    def subject(self) -> str:
        """Subject of the result's rows; see iotbench.figures.figures."""
        return "stage" if self.stages else "level" if self.steps else "workers"

    @property
    def rows_each(self) -> int:
        """Number of timed rows of each worker, if the workload has no end."""
        if self.num_inserts is not None:
            return self.num_inserts
        if self.timed_s:
            seconds = self.warm_s + self.timed_s
            return min(int(seconds * FASTEST_ROWS_PER_S) + 1, LANE_ROWS)
        return DEFAULT_ROWS

    @property
    def least_rows_each(self) -> int:
        """Minimum number of rows for each worker; with a duration, one timed row is enough."""
        timed = 1 if self.timed_s else self.rows_each
        return self.prefill + timed * max(self.steps, 1)

    def describe(self, *, has_end: bool) -> dict[str, Any]:
        """Return the options for the result; an option that does not apply is None."""
        found = self.configuration()
        imports = found.pop("imports")
        return {
            **found,
            "num_inserts": None if has_end or self.timed_s else self.rows_each,
            "split": self.split.value if has_end else None,
            "tables": format_tables(self.tables),
            "import": imports or None,
            "tables_by": self.tables_by.value if self.tables > 1 else None,
            "setup": self.setup.digest if self.setup else None,
            "teardown": self.teardown.digest if self.teardown else None,
        }


def default_key(workload: str, capabilities: Capabilities | None) -> PrimaryKey:
    """Return the workload's primary key, or the default of a target that does not support it."""
    wanted = class_of(workload).default_key
    if capabilities is None:
        return wanted or PrimaryKey.DB
    known = wanted in capabilities.primary_keys
    return wanted if wanted and known else capabilities.default_key
