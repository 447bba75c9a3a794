"""Plans: settings of inserts and queries, to be measured on several targets, several times.

A plan is checked as a whole before anything starts: keys, values, and what they mean together.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from cli.distribution import Split
from cli.experiment.records import Count, InstantMs, Number, Record, Seconds, read_record
from cli.insert_options import InsertOptions, default_key, generator_params, option_problems
from cli.parameters import is_end, option_of, parameters, written
from cli.plan import empty_dataset
from cli.quantities import parse_duration_s, parse_instant
from cli.query_plan import QueryOptions, matches_of
from simulator.data.dataset import DatasetReader, PartsBy
from simulator.data.schema import PrimaryKey
from simulator.data.workloads import GENERATORS
from simulator.data.workloads.base import Written
from simulator.errors import ConfigError, nearest
from simulator.modules import MODULES
from simulator.modules.base import Capabilities
from simulator.protocol.verdict import VerifyMode

MOST_REPEATS = 1000
_Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]


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
    split: Split = Split.BATCH
    batch: Count = 0
    prefill: Count = 0
    steps: Count = 0
    rate: Number = 0.0
    primary_key: PrimaryKey | None = None
    """None: the default of workload and target."""
    tables: Count = 1
    tables_by: PartsBy = PartsBy.ROW
    verify: VerifyMode | None = None

    def options(
        self, capabilities: Capabilities | None, now_ms: int, timeout_s: float
    ) -> InsertOptions:
        """Return the options of one run; ConfigError if a parameter is none of the workload."""
        return InsertOptions(
            workers=(self.workers,),
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
        )


class QuerySetting(Record):
    """The options of `query` under their own names."""

    workers: Count = 1
    runs: Count | None = None
    count: Count | None = None
    duration: Seconds = 0.0
    queries: tuple[str, ...] = ()
    align: bool = False

    def options(self, timeout_s: float) -> QueryOptions:
        """Return the options of one sweep."""
        return QueryOptions(
            workers=(self.workers,),
            runs=self.runs,
            count=self.count,
            duration_s=self.duration,
            queries=self.queries,
            aligned=self.align,
            shown_answers=0,
            timeout_s=timeout_s,
        )


class Setting(Record):
    """What is measured once: an insert into empty tables, and perhaps queries on its rows."""

    name: _Name
    insert: InsertSetting
    query: QuerySetting | None = None
    options: dict[str, Any] = Field({})
    """Of the target, in addition to its entry in the configuration."""
    modules: dict[str, dict[str, Any]] = Field({})
    """Module -> its options instead of `options`."""
    only: tuple[str, ...] = ()
    """Modules that it is about; empty: all."""

    def options_of(self, module: str) -> Mapping[str, Any]:
        """Return the options of a target with this module."""
        found: Mapping[str, Any] = self.modules.get(module, self.options)
        return found

    def concerns(self, module: str) -> bool:
        """Whether targets with this module are measured."""
        return not self.only or module in self.only


class Plan(Record):
    """Settings, each to be measured on every target, so many times."""

    name: _Name
    repeats: Count = Field(3, ge=1, le=MOST_REPEATS)
    settings: tuple[Setting, ...]

    def setting(self, name: str) -> Setting | None:
        """Return the setting of this name."""
        return next((each for each in self.settings if each.name == name), None)


def read_plan(path: Path) -> Plan:
    """Return the plan in a file; ConfigError names everything that is wrong with it."""
    plan = read_record(path, Plan)
    problems = [] if plan.settings else ["settings: expected at least one, got none"]
    problems += [
        f"settings.{name}: is set {times} times; give each a name of its own"
        for name, times in Counter(each.name for each in plan.settings).items()
        if times > 1
    ]
    for each in plan.settings:
        problems += [f"settings.{each.name}.{text}" for text in _setting_problems(each)]
    if problems:
        raise ConfigError([f"{path}: {problem}" for problem in problems])
    return plan


def _setting_problems(setting: Setting) -> list[str]:
    problems = [
        f"{key}: unknown module {name!r} ({nearest(name, MODULES)})"
        for key, names in (("only", setting.only), ("modules", setting.modules))
        for name in names
        if name not in MODULES
    ]
    insert = setting.insert
    if insert.workload not in GENERATORS:
        hint = nearest(insert.workload, GENERATORS)
        return [*problems, f"insert.workload: {insert.workload!r} is not known ({hint})"]
    try:
        options = insert.options(None, 0, 0.0)
        params = generator_params(options)
    except ConfigError as error:
        return problems + [f"insert: {text}" for text in error.problems]
    problems += [f"insert: {text}" for text in option_problems(options)]
    if setting.query and not problems:
        types = DatasetReader(empty_dataset(options, params)).query_types(aligned=False)
        problems += [
            f"query.queries: {name!r} is no query of workload {insert.workload}"
            f" ({nearest(name, types)})"
            for name in setting.query.queries
            if name not in types and not matches_of(name, types)
        ]
    return problems


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
