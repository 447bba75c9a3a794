"""Queries and mixed loads, as options: commands and plans compose the same models. Pure."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from iotbench.config.input.options import Opt, Options
from iotbench.config.input.values import Count, Names, Number, Seconds, Shares
from iotbench.measurements.query.own import QueriesFile, digest_of
from iotbench.measurements.shared.faults import Faults
from iotbench.measurements.shared.options import (
    MOST_RUNS,
    MOST_WORKERS,
    Connecting,
    Flag,
    MachineOptions,
    OfInsert,
    ResourceOptions,
    Sending,
    Verification,
    Workers,
)
from iotbench.measurements.shared.stages import Stages, counts_of
from simulator.data.own_query import OwnQuery
from simulator.protocol.spec import MOST_WARMUP, MOST_WEIGHT, Ramp
from simulator.protocol.verdict import VerifyMode

FEWEST_RUNS, ENOUGH_RUNS, BARE_S = 3, 100, 1.0
"""Default number of runs: at least 3, and up to 100 within a second, enough for a p99."""
MOST_QUERIES = 10_000_000
"""Maximum number of queries of one type by all workers together."""
MOST_SHOWN = 1000
RAMP_INTERVAL_S = MOVING_AVERAGE_S = 30.0
EVERY = ("*",)
"""Pattern that matches all types."""
_SHORTEST_MIXED_S = 0.1
SHORTEST_RAMP_S = 1.0
"""Minimum interval of a ramp, because workers report progress only twice a second."""
_RampSeconds = Annotated[Seconds | None, Opt(least=SHORTEST_RAMP_S, kept=False)]
_WEIGHT_DIGITS = len(str(MOST_WEIGHT))


def _parse_weights(word: str) -> tuple[str, int]:
    name, colon, weight = word.rpartition(":")
    if not colon:
        return word, 1
    return name, int(weight) if weight.isdecimal() and len(weight) <= _WEIGHT_DIGITS else 0


class Types(Options):
    """Queries of the workload to ask."""

    GROUP: ClassVar[str] = "Queries"

    types: Annotated[Names, Opt(kept=False)] = ()
    """Queries to ask; a name may be a pattern such as '*-host-1-hr', and have a weight: with
    a:3,b:1, a is asked three times for each b. In `query` the weight multiplies --runs, --count and
    --rate; in `mixed`, the turns.  [default: all, once each]
    """
    aligned: Annotated[bool, Field(alias="align")] = False
    """Let random windows of time begin at a multiple of the query's interval; with `mixed --fresh`,
    at a multiple of the interval of the target's aggregates.
    """

    @property
    def weights(self) -> dict[str, int]:
        """Name or pattern of types -> weight; 0: the given weight is invalid."""
        return dict(map(_parse_weights, self.types))

    @property
    def named(self) -> tuple[str, ...]:
        """Names and patterns of the types, without their weights."""
        return tuple(self.weights)

    def problems(self) -> list[str]:
        """Return a sentence for each value and each weight that is outside its limits."""
        return super().problems() + [
            f"--types: expected a weight from 1 to {MOST_WEIGHT:,} after {name}, such as {name}:3"
            for name, weight in self.weights.items()
            if not 1 <= weight <= MOST_WEIGHT
        ]


class OwnQueries(Types):
    """The user's own queries."""

    GROUP: ClassVar[str] = "Queries"

    queries: Annotated[QueriesFile | None, Opt(kept=False)] = None
    """Ask your own queries from this YAML file (docs/own-queries.md): instead of the
    workload's, or in addition to --types. Their answers are not checked against the truth.
    """

    @property
    def own(self) -> Mapping[str, OwnQuery]:
        """The queries in the file."""
        return self.queries.queries if self.queries else {}

    @property
    def asked(self) -> tuple[str, ...]:
        """The names and patterns of the types to ask."""
        return self.named or (() if self.own else EVERY)

    def configuration(self) -> dict[str, Any]:
        """Return the options that determine the load, with a digest of the queries in the file."""
        own = {"own_queries": digest_of(self.own)} if self.own else {}
        return {**super().configuration(), **own}


class RampUp(Options):
    """A ramp: the number of workers that ask grows."""

    GROUP: ClassVar[str] = "Ramp"

    ramp: Flag = False
    """Start each query with one worker and let in more until answers take longer than
    --response-limit; report the number of workers.
    """
    response_limit_s: Annotated[Seconds | None, Opt(least=1e-6, kept=False)] = None
    """Longest average response time that the ramp accepts; three times the limit ends it."""
    ramp_step: Annotated[Count | None, Opt(least=1, most=MOST_WORKERS, kept=False)] = None
    """Number of workers that are let in together.  [default: 1]"""
    ramp_interval_s: _RampSeconds = None
    """Time until more workers are let in.  [default: 30s]"""
    moving_average_s: _RampSeconds = None
    """Time over which the response time is averaged.  [default: 30s]"""

    @property
    def load_ramp(self) -> Ramp | None:
        """The ramp, with its defaults."""
        if not self.ramp:
            return None
        return Ramp(
            step=self.ramp_step or 1,
            interval_s=self.ramp_interval_s or RAMP_INTERVAL_S,
            window_s=self.moving_average_s or MOVING_AVERAGE_S,
            limit_s=self.response_limit_s or 0.0,
        )


class AnswerOptions(Options):
    """Output of answers and of query plans."""

    GROUP: ClassVar[str] = "Queries"

    print_answers: Annotated[Count, Opt(least=0, most=MOST_SHOWN, kept=False)] = 0
    """Number of answers to each query to print, 20 rows of each, and to keep in the result."""
    plans: Flag = False
    """After the last run, ask the database for the plan of each query (EXPLAIN or its equivalent),
    print it, and keep it in the result.
    """


class AskingOptions(Options):
    """Numbers of workers and runs for each query, and the time."""

    GROUP: ClassVar[str] = "Queries"

    workers: Workers = (1,)
    """Workers that run the queries concurrently: 1,2,4 or 1-4; one run for each count."""
    runs: Annotated[Count | None, Opt("-r", least=1, most=MOST_QUERIES)] = None
    """Runs of each query by each worker, or by each of its --connections, after the first run.
    [default: 100, enough for a p99, or as many as fit into a second, at least 3; with
    --rate or weights 3]
    """
    count: Count | None = None
    """Runs of each query by all workers together."""
    duration_s: Seconds = 0.0
    """Time for which the workers run each query."""
    rate: Number = 0.0
    """Queries/s of each type, by all workers together; the wait counts from the scheduled time.
    0: each worker asks again as soon as it has its answer.
    """
    warmup_s: Seconds = 0.0
    """Run each query for this time after its first run, before runs are timed. These answers are
    verified.
    """
    stages: Annotated[Stages, Opt(kept_if_set=True)] = ()
    """Parts of the time of each query, each with a number of active workers, optionally a rate, and
    separate figures, such as 1:1m,8@200:5m. First runs and warm-ups come before the first part.
    """
    burn_in: Annotated[Count, Opt(least=0, most=MOST_WARMUP)] = 0
    """A warm-up of this many runs of each query by each worker, or by each of its --connections.
    With --warmup, both run to their end.
    """

    @property
    def counts(self) -> tuple[int, ...]:
        """Worker counts; each run starts one of these numbers of workers."""
        return counts_of(self.stages, self.workers)

    @property
    def active(self) -> tuple[int, ...]:
        """Worker counts that appear in the rows of the result, except in a ramp."""
        return tuple(stage.workers for stage in self.stages) or self.workers


class Query(RampUp, MachineOptions, AnswerOptions, OwnQueries, Types, Connecting, AskingOptions):
    """The options of `query` in commands and plans."""

    def options(self) -> "QueryOptions":
        """Return the options of one sweep."""
        return QueryOptions(**{field: getattr(self, field) for field in self.model_fields_set})


class QueryOptions(OfInsert, ResourceOptions, Query):
    """The options of `query`."""

    GROUP: ClassVar[str] = "Queries"

    print_interval: Annotated[Count, Opt(least=0, most=MOST_QUERIES, kept=False)] = 0
    """Print a line of progress after each N timed runs of a query, at most twice a second; with
    --format json, a line of JSON.
    """
    seed: Annotated[Count | None, Opt(kept=False)] = None
    """Fail unless the rows were inserted with this seed.  [default: any]"""
    repeats: Annotated[Count | None, Opt(least=1, most=1000, kept=False)] = None
    """Ask several targets this often in turns.  [default: 3, and up to 12 while the difference is
    not known]
    """
    digests: Annotated[bool, Opt(inner=True, kept=False)] = False
    """Keep digests for comparing the answers with another target's."""

    @property
    def is_bare(self) -> bool:
        """True if no option determines the number or the duration of runs."""
        by_other = self.count or self.duration_s or self.ramp or self.stages
        return not (self.runs or by_other)

    @property
    def fewest(self) -> int:
        """Minimum number of runs of each connection, even after BARE_S; 0: no time limit."""
        is_uneven = self.rate or any(weight != 1 for weight in self.weights.values())
        return FEWEST_RUNS if self.is_bare and not is_uneven else 0

    @property
    def runs_each(self) -> int:
        """Maximum number of runs of each connection; 0: another option determines the number."""
        bare = ENOUGH_RUNS if self.fewest else FEWEST_RUNS
        return bare if self.is_bare else self.runs or 0

    def configuration(self) -> dict[str, Any]:
        ramp = self.load_ramp.model_dump() if self.load_ramp else {}
        return {
            **super().configuration(),
            "workers": [*self.counts],
            "runs": self.runs_each or None,
            "at_most_s": BARE_S if self.fewest else None,
            **{f"ramp_{name}": value for name, value in ramp.items()},
        }


class MixedLoad(Options):
    """Numbers of workers that insert and ask, the rates, and the time."""

    GROUP: ClassVar[str] = "Load"

    insert_workers: Annotated[Count, Opt(least=1, most=MOST_WORKERS)] = 1
    """Workers that insert rows."""
    query_workers: Annotated[Count, Opt(least=1, most=MOST_WORKERS)] = 1
    """Workers that ask queries."""
    duration_s: Annotated[Seconds, Opt(least=_SHORTEST_MIXED_S)] = 60.0
    """Time for which rows are inserted and queries asked."""
    warmup_s: Seconds = 0.0
    """Insert and ask for this time before --duration begins. Rows and answers are verified, but
    left out of every figure.
    """
    fresh_s: Seconds = 0.0
    """Ask about arriving rows instead of the rows stored before: about this length of time up to
    the newest row, such as 1m. Each answer is compared with the rows acknowledged before it began
    and those sent until it ended, and the result shows how soon rows were seen.
    """
    rate: Annotated[Number, Opt(kept=False)] = 0.0
    """Operations/s of all workers together, divided by --mix: batches (rows with --batch 0) and
    queries.
    """
    mix: Annotated[Shares | None, Opt(kept=False)] = None
    """Shares of inserts and queries in --rate, such as insert=80,query=20."""
    insert_rate: Number = 0.0
    """Rows/s of all workers that insert; latency counts from the scheduled time. 0: no limit."""
    query_rate: Number = 0.0
    """Queries/s of all workers that ask; the wait counts from the scheduled time. 0: no limit."""


class Mixed(Faults, OwnQueries, Types, Verification, Connecting, Sending, MixedLoad):
    """The options of `mixed` in commands and plans."""

    def options(self) -> "MixedOptions":
        """Return the options of one run."""
        return MixedOptions(**dict(self))


class MixedOptions(OfInsert, ResourceOptions, Mixed):
    """The options of `mixed`."""

    GROUP: ClassVar[str] = "Load"

    runs: Annotated[Count, Opt("-r", least=1, most=MOST_RUNS)] = 1
    """Number of runs; each asks about all rows stored before it, and adds further rows."""

    @property
    def level(self) -> VerifyMode:
        """Verification level of the stored rows."""
        return self.verify or (VerifyMode.FULL if self.fault else VerifyMode.COUNTS)

    @property
    def rows_per_s(self) -> float:
        """Requested rows/s; with --mix, an insert is a batch."""
        return self.rate * self.mix.insert * self.batch_rows if self.mix else self.insert_rate

    @property
    def queries_per_s(self) -> float:
        """Requested queries/s."""
        return self.rate * self.mix.query if self.mix else self.query_rate

    @property
    def workers(self) -> int:
        """Number of all workers."""
        return self.insert_workers + self.query_workers

    def configuration(self) -> dict[str, Any]:
        return {
            **super().configuration(),
            "insert_rate": self.rows_per_s,
            "query_rate": self.queries_per_s,
            "verify": self.level.value,
        }
