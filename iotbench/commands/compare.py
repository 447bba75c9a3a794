"""`compare`: compare results with each other, with an interval for each difference."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import click

from iotbench.comparison import tables
from iotbench.comparison.calibration import read_calibrations
from iotbench.comparison.comparison import NOISE, Comparison, compare_sides
from iotbench.comparison.junit import check_cases, comparison_cases
from iotbench.comparison.sides import Side, expect_comparable
from iotbench.comparison.thresholds import (
    Scope,
    Threshold,
    ThresholdCheck,
    checks_of,
    comparison_checks,
    list_changed_percentiles,
)
from iotbench.config.input.options import Opt, Options
from iotbench.config.input.values import Share
from iotbench.config.options.basic import Command, Format, OutputFolder
from iotbench.config.options.declared import options_of
from iotbench.figures.figures import Percentiles
from iotbench.machine.streams import print_out, width_of
from iotbench.measurements import summary_of
from iotbench.plans.gates import Gates
from iotbench.results.names import DEFAULT_FOLDER
from iotbench.results.result_files import expect_whole, now_utc
from iotbench.store.gathered import find_sides
from iotbench.store.lookup import find_results
from simulator.errors import ConfigError

_EXAMPLES = """\b
Examples:
  python run.py compare last~1 last
  python run.py compare last~3,last~1 last~2,last --format markdown
  python run.py compare results/plan-batches-1a2b3c4d.json
  python run.py compare nightly.json last --fail-if 'slower > 0' --junit compare.xml
"""


class _Options(Options):
    """The results to compare, and the figures."""

    output: OutputFolder = DEFAULT_FOLDER
    form: Annotated[Format, Opt(choices=tables.FORMATS)] = tables.FORMATS[0]
    noise: Share = NOISE
    """Call a change below this noise, whatever its interval."""
    of: Annotated[str | None, Opt(choices=("insert", "query", "mixed", "change"))] = None
    """Results of a plan to compare.  [default: its inserts, or else the kind that it has]"""
    percentiles: Percentiles = ()
    """Compare this percentile as well, such as p90_ms or p99.99_ms, if every run has enough samples
    for it; may be given several times.
    """


@click.command(cls=Command, epilog=_EXAMPLES)
@click.argument("base")
@click.argument("others", metavar="[OTHER...]", nargs=-1)
@options_of(_Options)
@options_of(Gates, "gates")
def compare(*, base: str, others: tuple[str, ...], options: _Options, gates: Gates) -> None:
    """Compare results of inserts or queries with BASE.

    BASE and OTHER are result files, ids or their beginnings, last, or last~1 for the result before
    it. Join results of the same sweep, repeated, by commas. Given the file of a plan and no
    OTHER, `compare` compares the settings and targets of the plan with the first of them.

    For each worker count, step or query, the change of every figure is printed, with an interval.
    By the first figure, the other result is faster, slower, or differs by no more than noise. Equal
    sweeps differ by more than their runs do: a difference is judged if the sweeps of both sides
    were measured in turns, as a plan does, or if `calibrate` has measured how much equal sweeps
    differ on this machine. Results of other rows, or with the verdict mismatch, are refused.

    --fail-if takes the figures of OTHER, their changes ('rows_per_s_change < -5%', 'p90_ms_change >
    10%'), and numbers of rows ('slower > 0').
    """
    output = options.output
    if others:
        sides = [Side(tuple(find_results(output, names))) for names in _names((base, *others))]
    else:
        sides = find_sides(output, base, options.of)
    known = read_calibrations()
    with expect_whole(", ".join((base, *others))):
        expect_comparable(sides)
        named = dict.fromkeys((*options.percentiles, *list_changed_percentiles(gates.fail_if)))
        comparisons = [
            compare_sides(sides[0], each, options.noise, known, [*named]) for each in sides[1:]
        ]
        thresholds = gates.expect(_scope(comparisons))
        text = tables.format_record(comparisons, options.form, width_of(sys.stdout))
        checks = [check for each in comparisons for check in _checks(each, thresholds)]
        cases = [case for each in comparisons for case in comparison_cases(each)]
    print_out(text)
    cases += check_cases("compare", checks)
    code = gates.report(f"compare with {sides[0].label}", now_utc(), cases, checks)
    click.get_current_context().exit(code)


def _scope(comparisons: Sequence[Comparison]) -> Scope:
    """Return the compared rows, as the scope of thresholds."""
    places = [row.place for each in comparisons for row in each.rows]
    names = dict.fromkeys(each.name for each in places if each.query or each.load)
    workers = {each.workers for each in places if each.workers is not None}
    return Scope((comparisons[0].subject,), compares=True, workers=workers, queries=tuple(names))


def _checks(comparison: Comparison, thresholds: Sequence[Threshold]) -> Iterator[ThresholdCheck]:
    for _, result in comparison.other.results:
        yield from checks_of(thresholds, summary_of(result), place=f"{result.sweep_id}, ")
    yield from comparison_checks(thresholds, comparison)


def _names(words: tuple[str, ...]) -> list[list[str]]:
    """Return the names of the results of each side; the name of a file may contain commas."""
    found = [[word] if Path(word).is_file() else word.split(",") for word in words]
    empty = [word for word, names in zip(words, found, strict=True) if not all(names)]
    if empty:
        raise ConfigError(
            [f"{word!r}: expected names of results, separated by commas" for word in empty]
        )
    return found
