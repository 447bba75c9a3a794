"""The settings of a plan: what is measured once, as keys of YAML and as options of commands."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer

from cli.experiment.query_file import QueriesFile
from cli.experiment.records import Count, InstantMs, Number, Record, Seconds
from cli.input.parameters import is_end, option_of, parameters, written
from cli.input.quantities import parse_duration_s, parse_instant, parse_mix
from cli.planning import mixed_plan
from cli.planning.distribution import Split
from cli.planning.insert_options import (
    MOST_TABLES,
    InsertOptions,
    default_key,
)
from cli.planning.query_plan import QueryOptions
from cli.planning.stages import (
    counts_of,
    duration_of,
    parse_stages,
    written_stages,
)
from simulator.data.dataset import TABLE_PREFIX, PartsBy
from simulator.data.own_query import OwnQuery
from simulator.data.schema import PrimaryKey
from simulator.data.workloads.base import Written
from simulator.errors import ConfigError, nearest
from simulator.modules.base import Capabilities
from simulator.protocol.spec import Kind, LoadStage
from simulator.protocol.verdict import VerifyMode


def _without_default(schema: dict[str, Any]) -> None:
    """Leave out the default of a text, which a value of another type stands for."""
    del schema["default"]


_Stages = Annotated[
    tuple[LoadStage, ...],
    BeforeValidator(
        lambda value: parse_stages(value) if isinstance(value, str) else value,
        json_schema_input_type=str,
    ),
    PlainSerializer(written_stages, return_type=str),
]
Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]
"""Of a plan or a setting: part of file names and of names in Kubernetes."""


class InsertSetting(Record):
    """The options of `insert` under their own names; `parameters` are those of the workload."""

    workload: str
    parameters: dict[str, Any] = Field({})
    seed: Count = 1
    start: InstantMs | None = None
    """None: when the item starts."""
    workers: Count = 1
    num_inserts: Count | None = None
    limit: Count | None = None
    duration: Seconds = 0.0
    warmup: Seconds = 0.0
    stages: _Stages = Field((), json_schema_extra=_without_default)
    """Numbers of active workers in place of `workers`, each with its duration: 1:1m,8:5m."""
    split: Split = Split.BATCH
    batch: Count = 0
    imports: bool = Field(default=False, alias="import")
    before_run: str | None = None
    drop_caches: bool = False
    prefill: Count = 0
    steps: Count = 0
    rate: Number = 0.0
    retry_for: Seconds = 0.0
    primary_key: PrimaryKey | None = None
    """None: the default of workload and target."""
    tables: Count = 1
    tables_by: PartsBy = PartsBy.ROW
    table_prefix: Annotated[str, Field(pattern=TABLE_PREFIX)] = ""
    verify: VerifyMode | None = None

    @property
    def most_workers(self) -> int:
        """How many workers are started."""
        return counts_of(self.stages, (self.workers,))[0]

    @property
    def timed_s(self) -> float:
        """After which time it ends; 0: when all rows are inserted."""
        return duration_of(self.stages) or self.duration

    def options(
        self,
        capabilities: Capabilities | None,
        now_ms: int,
        timeout_s: float,
    ) -> InsertOptions:
        """Return the options of one run; ConfigError if a parameter is none of the workload."""
        return InsertOptions(
            workers=counts_of(self.stages, (self.workers,)),
            runs=1,
            primary_key=self.primary_key or default_key(self.workload, capabilities),
            tables=self.tables,
            tables_by=self.tables_by,
            num_inserts=self.num_inserts,
            batch=self.batch,
            prefill=self.prefill,
            steps=self.steps,
            clean=True,
            timeout_s=timeout_s,
            workload=self.workload,
            seed=self.seed,
            start_ms=now_ms if self.start is None else self.start,
            params=_fields(self.parameters),
            rate=self.rate,
            limit=self.limit,
            duration_s=self.duration,
            split=self.split,
            verify=self.verify,
            imports=self.imports,
            warmup_s=self.warmup,
            retry_for_s=self.retry_for,
            stages=self.stages,
            table_prefix=self.table_prefix,
        )


class QuerySetting(Record):
    """The options of `query` under their own names."""

    workers: Count = 1
    runs: Count | None = None
    count: Count | None = None
    duration: Seconds = 0.0
    warmup: Seconds = 0.0
    stages: _Stages = Field((), json_schema_extra=_without_default)
    """Numbers of active workers in place of `workers`, each with its duration: 1:1m,8:5m."""
    queries: tuple[str, ...] = ()
    queries_file: QueriesFile | None = None
    """A file of own queries, relative to the plan: the option --queries."""
    align: bool = False
    before_run: str | None = None
    drop_caches: bool = False

    def options(self, timeout_s: float) -> QueryOptions:
        """Return the options of one sweep."""
        return QueryOptions(
            workers=counts_of(self.stages, (self.workers,)),
            runs=self.runs,
            count=self.count,
            duration_s=self.duration,
            queries=self.queries,
            aligned=self.align,
            shown_answers=0,
            timeout_s=timeout_s,
            warmup_s=self.warmup,
            stages=self.stages,
            own=self.own,
        )

    @property
    def own(self) -> Mapping[str, OwnQuery]:
        """The user's own queries."""
        return self.queries_file.queries if self.queries_file else {}


def _mix(text: str) -> str:
    """Return a mix as it is written; ValueError if it is none."""
    parse_mix(text)
    return text


class MixedSetting(Record):
    """The options of `mixed` under their own names."""

    insert_workers: Count = 1
    query_workers: Count = 1
    batch: Count = 0
    duration: Seconds = 60.0
    warmup: Seconds = 0.0
    rate: Number = 0.0
    mix: Annotated[str, AfterValidator(_mix)] | None = None
    insert_rate: Number = 0.0
    query_rate: Number = 0.0
    retry_for: Seconds = 0.0
    verify: VerifyMode = VerifyMode.COUNTS
    queries: tuple[str, ...] = ()
    align: bool = False

    def options(self, timeout_s: float) -> mixed_plan.MixedOptions:
        """Return the options of one run."""
        return mixed_plan.MixedOptions(
            insert_workers=self.insert_workers,
            query_workers=self.query_workers,
            batch=self.batch,
            duration_s=self.duration,
            insert_rate=self.insert_rate,
            query_rate=self.query_rate,
            rate=self.rate,
            mix=parse_mix(self.mix) if self.mix else None,
            queries=self.queries,
            aligned=self.align,
            verify=self.verify,
            timeout_s=timeout_s,
            warmup_s=self.warmup,
            retry_for_s=self.retry_for,
        )


class Setting(Record):
    """What is measured once: an insert into empty tables, and perhaps queries on its rows.

    At last, perhaps, a mixed load: other rows, and queries on those of the insert.
    """

    name: Name
    insert: InsertSetting
    query: QuerySetting | None = None
    mixed: MixedSetting | None = None
    resources: bool = False
    """Whether CPU, load and memory are measured."""
    options: dict[str, Any] = Field({})
    """Of the target, in addition to its entry in the configuration."""
    modules: dict[str, dict[str, Any]] = Field({})
    """Module -> its options instead of `options`."""
    only: tuple[str, ...] = ()
    """Modules that it is about; empty: all."""
    shards: Annotated[int, Field(ge=2, le=MOST_TABLES)] | None = None
    """Find the best number of tables, each with a worker of its own: 1, 2, 4, ... up to this."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The sweeps of an item, in their order."""
        given = {Kind.INSERT: self.insert, Kind.QUERY: self.query, Kind.MIXED: self.mixed}
        return tuple(kind for kind, setting in given.items() if setting)

    @property
    def asked(self) -> "tuple[QuerySetting | MixedSetting, ...]":
        """What follows the insert, in its order."""
        return tuple(each for each in (self.query, self.mixed) if each)

    def options_of(self, module: str) -> Mapping[str, Any]:
        """Return the options of a target with this module."""
        found: Mapping[str, Any] = self.modules.get(module, self.options)
        return found

    def with_shards(self, number: int) -> "Setting":
        """Return the setting with so many tables, each of which one worker writes."""
        by = PartsBy.WORKER if number > 1 else PartsBy.ROW
        changes = {"workers": number, "tables": number, "tables_by": by}
        return self.model_copy(update={"insert": self.insert.model_copy(update=changes)})

    def with_before_run(self, command: str) -> "Setting":
        """Return the setting with a command before each run, where it has none of its own."""
        given = {"insert": self.insert, "query": self.query}
        changes = {
            name: each.model_copy(update={"before_run": command})
            for name, each in given.items()
            if each and each.before_run is None
        }
        return self.model_copy(update=changes)

    def concerns(self, module: str) -> bool:
        """Whether targets with this module are measured."""
        return not self.only or module in self.only


def _fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a workload by field, from those that a user writes as options."""
    known = {option_of(field).removeprefix("--").replace("-", "_"): field for field in parameters()}
    problems = [
        f"parameters.{name}: unknown key ({nearest(name, known)})"
        for name in given
        if name not in known
    ]
    found = {}
    for name, value in given.items():
        if name in known:
            try:
                found[known[name]] = _value(known[name], value)
            except ValueError as error:
                problems.append(f"parameters.{name}: {error}")
    if problems:
        raise ConfigError(problems)
    return found


def _value(field: str, value: Any) -> Any:
    if is_end(field):
        return round(parse_instant(str(value)).timestamp() * 1000)
    if written(parameters()[field][0]) is Written.DURATION:
        return round(parse_duration_s(str(value)) * 1000)
    return value
