"""Plans: settings, measured on several targets, several times.

A plan is checked as a whole before anything starts: keys, values, and their combinations.
"""

import shlex
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from iotbench.comparison.thresholds import Scope, parse
from iotbench.config.input.records import Record, read_record
from iotbench.config.input.values import Count, Share
from iotbench.config.options.given import divide
from iotbench.config.targets.urls import is_url
from iotbench.figures.rows import ALL_QUERIES, INSERTS
from iotbench.measurements import kind_named
from iotbench.measurements.change.figures import CHANGE
from iotbench.measurements.insert.checks import generator_params, option_problems
from iotbench.measurements.insert.options import Insert
from iotbench.measurements.insert.plan import empty_dataset
from iotbench.measurements.mixed.figures import LOAD
from iotbench.measurements.query.figures import QUERY
from iotbench.measurements.query.options import Types
from iotbench.measurements.query.plan import matches_of
from iotbench.measurements.shared.stages import stage_conflicts
from iotbench.plans.settings import MOST_REPEATS, Name, Setting
from iotbench.results.command import GivenCommand
from simulator.data.fresh import fresh_types
from simulator.data.reader import DatasetReader
from simulator.errors import ConfigError, nearest
from simulator.modules import MODULES
from simulator.protocol.messages import CORRECTIONS, DELETION, TAGS


class PlanTarget(Record):
    """A target of a plan, optionally with the commands that install and remove its database."""

    name: str
    """Name of the target in the configuration."""
    install: str | tuple[str, ...] | None = None
    """Folder of dbinstall/, with a section of its README if there are several; or commands."""
    remove: tuple[str, ...] | None = None
    """Commands that remove everything that `install` created."""


_Target = Annotated[
    PlanTarget,
    BeforeValidator(
        lambda value: {"name": value} if isinstance(value, str) else value,
        json_schema_input_type=str | PlanTarget,
    ),
]
"""A target as a mapping, or only its name."""


class Plan(Record):
    """Settings, each of which is measured on every target several times."""

    name: Name
    targets: tuple[_Target, ...] = ()
    """Names in the configuration, or mappings with `install`; empty: all targets that answer."""
    repeats: Count = Field(3, ge=1, le=MOST_REPEATS)
    until_settled: Count | None = Field(None, ge=1, le=MOST_REPEATS)
    """Maximum number of repeats of settings that an undecided claim compares; None: no extra."""
    until_within: Share | None = None
    """Repeat a setting on a target until its mean rate of inserts has this precision, such as 10%:
    half of the 95 % interval over the mean. This precision does not apply to searches or to
    settings with `repeats`.
    """
    most_repeats: Count = Field(10, ge=2, le=MOST_REPEATS)
    """Maximum number of repeats with `until_within`."""
    settings: tuple[Setting, ...]
    thresholds: tuple[str, ...] = ()
    """Limits for the figures of every item, in the notation of --fail-if."""

    @property
    def target_names(self) -> tuple[str, ...]:
        """Names of the targets."""
        return tuple(each.name for each in self.targets)

    @property
    def scope(self) -> Scope:
        """The rows of the plan's results; without an insert, any query is accepted."""
        queries: dict[str, None] = {}
        for each in self.settings:
            asked = each.query or each.mixed
            if asked and each.insert:
                queries |= dict.fromkeys(_list_types(each.insert, fresh=_is_fresh(each)))
            queries |= dict.fromkeys(each.query.own if each.query else ())
            queries |= dict.fromkeys(each.mixed.own if each.mixed else ())
            queries |= dict.fromkeys([INSERTS] if each.mixed or each.change else [])
            queries |= dict.fromkeys((CORRECTIONS, DELETION, TAGS) if each.change else ())
        inserted = [each.insert.options() for each in self.settings if each.insert]
        subjects = {kind_named("insert").subject(dict(each)) for each in inserted}
        subjects |= {LOAD for each in self.settings if each.mixed}
        subjects |= {CHANGE for each in self.settings if each.change}
        swept = [each.query.options() for each in self.settings if each.query]
        workers = {count for each in inserted for count in each.active}
        workers |= {count for each in swept for count in each.active}
        searched = any(each.shards for each in self.settings)
        return Scope(subjects | {QUERY} if swept else subjects,
                     workers=None if searched else workers,
                     queries=(*queries, ALL_QUERIES) if inserted else None)  # fmt: skip

    def add_prefix(self, table_prefix: str | None) -> "Plan":
        """Return the plan with `table_prefix` in all settings; without a prefix, the same plan."""
        if not table_prefix:
            return self
        update = {"table_prefix": table_prefix}
        settings = [
            each.model_copy(update={"insert": each.inserting.model_copy(update=update)})
            for each in self.settings
        ]
        return self.model_copy(update={"settings": tuple(settings)})

    def with_before_run(self, command: str | None) -> "Plan":
        """Return the plan with a command before each run of inserts and queries, if one is given.

        A setting that has its own command keeps it.
        """
        if not command:
            return self
        settings = tuple(each.with_before_run(command) for each in self.settings)
        return self.model_copy(update={"settings": settings})

    def setting(self, name: str) -> Setting | None:
        """Return the setting with this name; None if there is none."""
        return next((each for each in self.settings if each.name == name), None)


def read_plan(path: Path) -> Plan:
    """Return the plan in a file; ConfigError names all problems of the file."""
    plan = read_record(path, Plan)
    problems = [] if plan.settings else ["settings: expected at least one, got none"]
    if plan.until_settled is not None and plan.until_settled <= plan.repeats:
        problems.append(
            f"until_settled: must be more than the {plan.repeats} repeats, got {plan.until_settled}"
        )
    problems += [
        f"targets.{name}: is named {times} times"
        for name, times in Counter(plan.target_names).items()
        if times > 1
    ]
    problems += [
        f"settings.{name}: is set {times} times; give each its own name"
        for name, times in Counter(each.name for each in plan.settings).items()
        if times > 1
    ]
    if plan.until_within is not None and plan.most_repeats < plan.repeats:
        problems.append(
            f"most_repeats: must be at least the {plan.repeats} repeats, got {plan.most_repeats}"
        )
    problems += [
        f"settings.{each.name}.batch_of: {problem}"
        for each in plan.settings
        if each.batch_of and (problem := _check_source(plan, each))
    ]
    for each in plan.settings:
        missing = ["insert: expected the options of an insert, got null"]
        found = _list_problems(each) if each.insert else missing
        problems += [f"settings.{each.name}.{text}" for text in found]
    if not problems:
        parse(plan.thresholds, plan.scope, problems, "thresholds")
    if problems:
        raise ConfigError([f"{path}: {problem}" for problem in problems])
    return plan


def _check_source(plan: Plan, setting: Setting) -> str:
    """Return why a setting cannot use the batch of another setting; empty if it can."""
    searching = {each.name: each.batches for each in plan.settings if each.batches}
    if setting.batch_of not in searching:
        known = ", ".join(searching) or "none has `batches`"
        return f"expected a setting with `batches` ({known}), got {setting.batch_of!r}"
    if setting.search:
        return "a setting with a search has its own batch; leave one out"
    return "the search finds the batch; leave `insert.batch` out" * bool(setting.inserting.batch)


def _list_problems(setting: Setting) -> list[str]:
    problems = [
        f"{key}: unknown module {name!r} ({nearest(name, MODULES)})"
        for key, names in (("only", setting.only), ("modules", setting.modules))
        for name in names
        if name not in MODULES
    ]
    search = setting.search
    insert = (setting.with_number(search.most) if search else setting).inserting
    try:
        options = insert.options()
        generator_params(options)
    except ConfigError as error:
        return problems + [f"insert: {text}" for text in error.problems]
    problems += [f"insert: {text}" for text in option_problems(options)]
    if setting.shards and setting.batches:
        problems.append("batches: `shards` is searched for as well; give each its own setting")
    if setting.batches and setting.inserting.batch:
        problems.append("batches: the search has its own batches; leave `insert.batch` out")
    if setting.shards and insert.stages:
        problems.append("shards: need a worker for each table; leave `insert.stages` out")
    given = setting.inserting.given
    problems += [f"insert: {text}" for text in stage_conflicts(insert.stages, given)]
    problems += [
        f"{key}.workers: expected one number; give each its own setting"
        for key, each in (("insert", insert), ("query", setting.query))
        if each and len(each.workers) > 1
    ]
    can_be_drawn = not problems
    for kind, sweep in setting.asked.items():
        found = kind_named(kind).problems(sweep.options())
        problems += [f"{kind}: {text}" for text in found]
        if not can_be_drawn or not isinstance(sweep, Types):
            continue
        types = _list_types(insert, fresh=kind == "mixed" and _is_fresh(setting))
        problems += [
            f"{kind}.types: {name!r} is not a query of workload {insert.workload}"
            f" ({nearest(name, types)})"
            for name in sweep.named
            if name not in types and not matches_of(name, types)
        ]
    return problems


def _is_fresh(setting: Setting) -> bool:
    """Return whether the queries of a mixed load are about fresh rows."""
    return bool(setting.mixed and setting.mixed.fresh_s)


def _list_types(insert: Insert, *, fresh: bool) -> Mapping[str, object]:
    options = insert.options()
    reader = DatasetReader(empty_dataset(options, generator_params(options)))
    return fresh_types(reader) if fresh else reader.query_types(aligned=False)


def expect_trust(path: Path, plan: Plan) -> None:
    """Raise ConfigError if a plan needs trust; the error names every part that needs trust."""
    if found := list_risks(plan):
        raise ConfigError(
            [
                f"{path}: contains more than measurements; read it, then add --trust",
                *(f"{path}: {each}" for each in found),
            ]
        )


def list_risks(plan: Plan) -> list[str]:
    """Return the parts of a plan with which a stranger could do harm.

    The parts are commands, addresses, options of targets, statements, files and faults. `repeat`
    does not take such parts from a result, either.
    """
    found: list[str] = []
    for target in plan.targets:
        if is_url(target.name):
            found.append(f"target {target.name}")
        if target.install is not None or target.remove is not None:
            found.append(f"target {target.name}: install, remove")
    for setting in plan.settings:
        for kind, options in setting.sweeps.items():
            _, left = divide(GivenCommand(name=kind, options=options.list_stored()), setting.name)
            found += [f"{kind} {shlex.join(left.words_of(name))}" for name in left.options]
        for names in (setting.options, *setting.modules.values()):
            found += [f"option {name} of a target" for name in names]
    return [*dict.fromkeys(found)]
