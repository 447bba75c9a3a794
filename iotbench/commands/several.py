"""`insert` on several targets: in turns, until each difference is known or is noise."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from iotbench.comparison.comparison import NOISE, Comparison, Judgement, compare_sides
from iotbench.comparison.sides import Side, expect_comparable
from iotbench.comparison.statistics import LEAST_PAIRS
from iotbench.comparison.tables import interval_of
from iotbench.config.options.choice import Choice, Reach, RunOptions, TargetRun
from iotbench.config.targets.urls import is_url, name_of
from iotbench.execution.experiment import Refused, all_measured, forecast_of, record_fields
from iotbench.execution.measure import ItemMeasuring
from iotbench.execution.roster import Roster, roster_of
from iotbench.machine import outfile
from iotbench.machine.interrupts import caught_interrupts
from iotbench.machine.streams import print_out, say, width_of
from iotbench.measurements.insert.options import Insert, InsertOptions
from iotbench.plans.engine import Found
from iotbench.plans.gates import Gates
from iotbench.plans.items import digest_of
from iotbench.plans.lines import lines_of
from iotbench.plans.options import PlanOptions, PlanRun
from iotbench.plans.plan import Plan, PlanTarget
from iotbench.plans.record import PlanRecord
from iotbench.plans.settings import Setting
from iotbench.plans.tables import format_record
from iotbench.results.result_files import ResultFile, now_utc
from simulator.errors import ConfigError

_SETTING = "insert"
MOST_REPEATS = 12
LOOKS = 3
"""Number of comparisons, after 3, 6 and 12 repeats; more looks make each one stricter."""


def insert_into_several(  # noqa: PLR0913
    choice: Choice,
    run: TargetRun,
    gates: Gates,
    options: InsertOptions,
    environment: dict[str, str],
    *,
    others: Sequence[str],
) -> None:
    """Measure the targets in turns, print them side by side, and write the page.

    `others`: options that were given and are for one target only.
    """
    _expect_possible(choice, run, options, others)
    names = choice.targets
    plan = _plan_of(names, options)
    thresholds = gates.expect(plan.scope)
    own_run = PlanRun(**{each: getattr(run, each) for each in RunOptions.model_fields})
    reach = Reach(choice.config, choice.runner, choice.cluster)
    roster = roster_of(plan, names, reach, own_run)
    _expect_all(roster)
    if run.dry_run:
        print_out(forecast_of(plan.name, plan, roster, run.output))
        return
    with caught_interrupts() as interrupts:
        planned = PlanOptions(names, reach, options.replace_tables, None, None)
        measuring = ItemMeasuring.of(own_run, planned, interrupts, environment)
        fixed = options.runs is not None
        found, status, refused = all_measured(
            plan, roster, measuring, None if fixed else _find_unsettled
        )
    record = PlanRecord(
        **record_fields(found, status),
        name=plan.name,
        plan=plan.model_dump(mode="json", by_alias=True),
        lines=lines_of(found),
        not_had={},
        refused={f"{target}, {setting}": why for (setting, target), why in refused.items()},
    )
    file = ResultFile(run.output / f"plan-{plan.name}-{digest_of(plan, roster.pairs)}.json")
    file.write(record)
    kept = file.show(record, run.form, width_of(sys.stdout), format_record)
    failed = gates.conclude_items(plan.name, status, record.items, run.output, thresholds)
    is_text = run.form != "json"
    for line in _list_conclusions(found):
        say(line, err=not is_text)
    if file.path and record.lines:
        say(f"page: {_write_page(file.path)}", err=not is_text)
    click.get_current_context().exit(record.exit_code or int(not kept) or failed)


def _expect_possible(
    choice: Choice, run: TargetRun, options: InsertOptions, others: Sequence[str]
) -> None:
    """Raise ConfigError with the options that several targets cannot share."""
    names = choice.targets
    given = {
        "--extra-option": choice.extra,
        "--client": choice.client,
        "--no-clean": not options.clean,
        "--tag": run.result_tags,
        "--timings": run.timings,
        f"--format {run.form}": run.form not in {"table", "json"},
    }
    alone = [*(name for name, value in given.items() if value), *others]
    problems = [f"{each}: give it with one target; options of a target stand in its URL, as in"
                " sqlite:rooms.db?synchronous=full, or in the configuration"
                for each in alone]  # fmt: skip
    shown = Counter(name_of(each) if is_url(each) else each for each in names)
    twice = [name for name, times in shown.items() if times > 1]
    problems += [f"--target: {name} is named twice" for name in twice]
    if problems:
        raise ConfigError(problems)


def _plan_of(names: Sequence[str], options: InsertOptions) -> Plan:
    """Return the plan: one setting, repeated on all targets, every other time in reverse order."""
    values = {each: getattr(options, each) for each in Insert.model_fields}
    if "workers" not in options.model_fields_set:
        values["workers"] = Insert.model_fields["workers"].default
    setting = Setting(name=_SETTING, insert=Insert(**values), resources=options.resources)
    return Plan(
        name=f"{_SETTING}-{now_utc():%Y%m%dt%H%M%S}",
        targets=tuple(PlanTarget(name=each) for each in names),
        repeats=options.runs or LEAST_PAIRS,
        until_settled=None if options.runs else MOST_REPEATS,
        settings=(setting,),
    )


def _expect_all(roster: Roster) -> None:
    """Raise ConfigError with the targets that cannot be measured, and why."""
    problems = [f"{each.name}: {each.not_had}" for each in roster.candidates if each.not_had]
    problems += [f"{target}: {why}" for (_, target), why in roster.refused.items()]
    if problems:
        raise ConfigError(problems)


def _find_unsettled(found: Found, _refused: Refused) -> set[tuple[str, str]]:
    """Return all targets as long as any difference from the first one is not known."""
    comparisons = _compare(found)
    undecided = any(not _is_known(each) for each in comparisons)
    return {(_SETTING, item.target.name) for item, _ in found} if undecided else set()


def _compare(found: Found) -> list[Comparison]:
    """Return the comparisons with the first target; none if there is nothing to compare."""
    sides: dict[str, Side] = {}
    for item, each in sorted(found, key=lambda entry: entry[0].repeat):
        own = sides.get(item.target.name, Side((), item.target.name))
        results = tuple((path or Path("-"), result) for path, result in each.results)
        sides[own.name] = Side((*own.results, *(results if each.is_complete else ())), own.name)
    whole = [each for each in sides.values() if each.results]
    try:
        if whole:
            expect_comparable(whole)
        return [compare_sides(whole[0], each, looks=LOOKS) for each in whole[1:]]
    except ConfigError as error:
        say(f"not compared: {'; '.join(error.problems)}", err=True)
        return []


def _is_known(comparison: Comparison) -> bool:
    """Return whether each difference is judged, or lies within the noise."""
    for row in comparison.rows:
        line = row.lines[0]
        is_small = line.difference is not None and line.difference.is_within(comparison.noise)
        if not (line.judgement in {Judgement.FASTER, Judgement.SLOWER} or is_small):
            return False
    return True


def _list_conclusions(found: Found) -> Iterator[str]:
    """Yield a sentence for each difference from the first target."""
    for comparison in _compare(found):
        base, other = comparison.base.label, comparison.other.label
        for row in comparison.rows:
            line = row.lines[0]
            at = f" ({row.place})" if len(comparison.rows) > 1 else ""
            if not line.difference:
                continue
            size = f"{line.difference.change:+.1%} {line.figure.title.lower()}"
            size += f" (interval {interval_of(line.difference)})"
            if line.judgement in {Judgement.FASTER, Judgement.SLOWER}:
                yield f"{other} is {line.judgement} than {base}{at}: {size}"
            elif _is_known(comparison):
                yield f"{other} and {base} differ by less than {NOISE:.0%}{at}: {size}"
            else:
                yield (
                    f"{row.sweeps[0]} repeats do not distinguish {other} and {base}{at}: {size};"
                    " take longer runs, or more with --runs"
                )


def _write_page(path: Path) -> Path:
    """Write the page of a plan's file next to it."""
    from iotbench.output.page.build import (  # noqa: PLC0415 - the other commands draw nothing
        page_of,
    )
    from iotbench.output.page.html import OWN, render  # noqa: PLC0415
    from iotbench.output.page.sources import sources  # noqa: PLC0415

    page = path.with_suffix(".html")
    outfile.write(page, render(page_of(sources(path.parent, [str(path)]))), OWN)
    return page
