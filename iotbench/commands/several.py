"""`insert` and `query` on several targets: in turns, until each difference is known or is noise."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType

import click

from iotbench.comparison.comparison import Comparison
from iotbench.comparison.sides import Side
from iotbench.comparison.statistics import LEAST_PAIRS
from iotbench.comparison.turns import (
    LOOKS,
    MOST_REPEATS,
    are_known,
    compare_with_first,
    list_conclusions,
)
from iotbench.config.options.choice import Choice, TargetRun
from iotbench.config.targets.urls import is_url, name_of
from iotbench.execution.experiment import forecast_of, measure_all, plan_record
from iotbench.execution.launch import dry_run_text, sweep_of
from iotbench.execution.measure import ItemMeasuring
from iotbench.execution.roster import Refused, roster_of
from iotbench.execution.stored import expect_same_rows, find_inserted, open_stored
from iotbench.machine import outfile
from iotbench.machine.interrupts import catch_interrupts
from iotbench.machine.streams import print_out, say
from iotbench.measurements import kind_named
from iotbench.measurements.insert.options import Insert, InsertOptions
from iotbench.measurements.query.options import Query, QueryOptions
from iotbench.measurements.shared.stages import stage_conflicts
from iotbench.output.live.outputs import Outputs
from iotbench.plans.gates import Gates
from iotbench.plans.items import Found, digest_of
from iotbench.plans.plan import Plan, PlanTarget
from iotbench.plans.settings import Setting
from iotbench.plans.tables import format_record
from iotbench.results.result import Manifest
from iotbench.results.result_files import ResultFile, now_ms, now_utc
from simulator.errors import ConfigError


def insert_into_several(  # noqa: PLR0913
    choice: Choice,
    run: TargetRun,
    gates: Gates,
    options: InsertOptions,
    outputs: Outputs,
    *,
    others: Sequence[str],
) -> None:
    """Insert the same rows into the targets in turns, print the results, and write the page.

    `others` are the given options that apply to a single target only.
    """
    values = {each: getattr(options, each) for each in Insert.model_fields}
    if "workers" not in options.model_fields_set:
        values["workers"] = Insert.model_fields["workers"].default
    values["start_ms"] = now_ms() if options.start_ms is None else options.start_ms
    insert = Insert(**values)
    alone = ["--no-clean"] if not options.clean else []
    problems = kind_named("insert").problems(insert.options())
    problems += stage_conflicts(options.stages, options.given)
    outputs.check(problems)
    _expect_possible(choice, run, [*alone, *others, *outputs.alone], problems)
    setting = Setting(name="insert", insert=insert, resources=options.resources)
    plan = _plan_of(choice, setting, options.runs)
    turns = _Turns(choice, run, gates, plan, "take longer runs, or more with --runs")
    if run.dry_run:
        print_out(forecast_of(plan.name, plan, turns.roster, run))
        return
    turns.measure(outputs, options.replace_tables)


def ask_several(
    choice: Choice,
    run: TargetRun,
    gates: Gates,
    options: QueryOptions,
    outputs: Outputs,
) -> None:
    """Ask the targets about the same rows in turns, print the results, and write the page."""
    shared = {*Query.model_fields, "resources", "repeats"}
    own = [each.names[0] for field, each in options.declare().items()
           if field in options.model_fields_set - shared]  # fmt: skip
    kind = kind_named("query")
    problems = kind.problems(options)
    outputs.check(problems)
    _expect_possible(choice, run, [*own, *outputs.alone], problems)
    given = options.model_fields_set & Query.model_fields.keys()
    query = Query(**{each: getattr(options, each) for each in given})
    setting = Setting(name="query", insert=None, query=query, resources=options.resources)
    plan = _plan_of(choice, setting, options.repeats)
    turns = _Turns(
        choice, run, gates, plan, "ask for longer, with --duration, or more with --repeats"
    )
    targets = [pair.target for pair in turns.roster.pairs]
    stored = {each.name: find_inserted(run, each, choice.reach, None) for each in targets}
    expect_same_rows(stored, "--target")
    with ExitStack() as files:
        for name, each in stored.items():
            stored[name] = files.enter_context(open_stored(each, run))
        asked = [
            sweep_of(kind, each, run, query.options(), stored[each.name], quiet=run.quiet)
            for each in targets
        ]
        if run.dry_run:
            texts = (f"{e.target.name}\n{dry_run_text(e, choice.reach)}\n" for e in asked)
            print_out("".join(texts))
            return
        turns.measure(outputs, stored=stored)


class _Turns:
    """Measurement of a setting on several targets, in reverse order every other time."""

    def __init__(
        self, choice: Choice, run: TargetRun, gates: Gates, plan: Plan, remedy: str
    ) -> None:
        self._reach, self._run = choice.reach, run
        self._gates, self._plan, self._remedy = gates, plan, remedy
        self._thresholds = gates.expect(plan.scope)
        self.roster = roster_of(plan, choice.targets, choice.reach, run)
        problems = [f"{name}: {why}" for name, why in self.roster.not_had.items()]
        problems += [f"{target}: {why}" for (_, target), why in self.roster.refused.items()]
        if problems:
            raise ConfigError(problems)

    def measure(
        self,
        outputs: Outputs,
        replace_tables: tuple[str, ...] = (),
        stored: Mapping[str, Manifest] = MappingProxyType({}),
    ) -> None:
        """Measure and print all items, write the page, and exit with the worst item's exit code."""
        plan, run, roster = self._plan, self._run, self.roster
        with catch_interrupts() as interrupts, outputs.open_metrics() as outputs_of:
            measuring = ItemMeasuring(
                run, self._reach, interrupts, replace_tables, stored=stored, outputs_of=outputs_of
            )
            found, status, refused = measure_all(
                plan,
                roster,
                measuring,
                _find_unsettled if plan.until_settled else None,
            )
        record = plan_record(plan, roster, (found, status, refused))
        file = ResultFile(run.output / f"plan-{plan.name}-{digest_of(plan, roster.pairs)}.json")
        file.write(record)
        kept = file.show(record, run.form, format_record)
        failed = self._gates.conclude_items(
            plan.name, status, record.items, run.output, self._thresholds
        )
        is_text = run.form != "json"
        looks = LOOKS if plan.until_settled else 1
        for line in list_conclusions(_compare(found, looks), self._remedy):
            say(line, err=not is_text)
        if file.path and record.lines:
            say(f"page: {_write_page(file.path)}", err=not is_text)
        click.get_current_context().exit(record.exit_code or int(not kept) or failed)


def _expect_possible(
    choice: Choice, run: TargetRun, others: Sequence[str], problems: Sequence[str]
) -> None:
    """Raise ConfigError with `problems`, and for options that several targets cannot share.

    `others` are further options that apply to a single target only.
    """
    given = {
        "--extra-option": choice.extra,
        "--client": choice.client,
        "--tag": run.result_tags,
        "--timings": run.timings,
        f"--format {run.form}": run.form not in {"table", "json"},
    }
    alone = [*(name for name, value in given.items() if value), *others]
    found = [f"{each}: give it with one target; options of a target go in its URL, as in"
             " sqlite:rooms.db?synchronous=full, or in the configuration"
             for each in alone]  # fmt: skip
    shown = Counter(name_of(each) if is_url(each) else each for each in choice.targets)
    found += [f"--target: {name} is named twice" for name, times in shown.items() if times > 1]
    if found or problems:
        raise ConfigError([*found, *problems])


def _plan_of(choice: Choice, setting: Setting, repeats: int | None = None) -> Plan:
    """Return the plan of a setting on all targets; `repeats` None: as many as needed."""
    return Plan(
        name=f"{setting.name}-{now_utc():%Y%m%dt%H%M%S}",
        targets=tuple(PlanTarget(name=each) for each in choice.targets),
        repeats=repeats or LEAST_PAIRS,
        until_settled=None if repeats else MOST_REPEATS,
        settings=(setting,),
    )


def _find_unsettled(found: Found, _refused: Refused) -> set[tuple[str, str]]:
    """Return all items if any difference from the first target is undecided, and none otherwise."""
    is_known = are_known(_compare(found))
    return set() if is_known else {(item.setting.name, item.target.name) for item, _ in found}


def _compare(found: Found, looks: int = LOOKS) -> list[Comparison]:
    """Return the comparisons with the first target; empty if nothing can be compared."""
    sides: dict[str, Side] = {}
    for item, each in sorted(found, key=lambda entry: entry[0].repeat):
        own = sides.get(item.target.name, Side((), item.target.name))
        results = tuple((path or Path("-"), result) for path, result in each.results)
        sides[own.name] = Side((*own.results, *(results if each.is_complete else ())), own.name)
    try:
        return compare_with_first([each for each in sides.values() if each.results], looks)
    except ConfigError as error:
        say(f"not compared: {'; '.join(error.problems)}", err=True)
        return []


def _write_page(path: Path) -> Path:
    """Write the page of a plan next to the file of the plan."""
    from iotbench.output.page.build import OWN, page_of, render  # noqa: PLC0415 - slow to load
    from iotbench.output.page.measured import find_sources  # noqa: PLC0415

    page = path.with_suffix(".html")
    outfile.write(page, render(page_of(find_sources(path.parent, [str(path)]))), OWN)
    return page
