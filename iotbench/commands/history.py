"""`history`: the trend of a figure over equal results, and its change since the last good state."""

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Annotated

import click
from pydantic import Field

from iotbench.comparison.comparison import NOISE
from iotbench.comparison.history import Trend, history_checks, trends_of
from iotbench.comparison.junit import check_cases
from iotbench.comparison.sides import Side
from iotbench.comparison.thresholds import Scope
from iotbench.config.completion.words import complete_result
from iotbench.config.input.options import Opt, Options
from iotbench.config.input.values import Moment, Share
from iotbench.config.options.basic import FORMATS, Command, Format, OutputFolder
from iotbench.config.options.declared import options_of
from iotbench.figures.figures import Figure, figure_named
from iotbench.figures.summary import Subject
from iotbench.machine.streams import print_out, say, width_of
from iotbench.measurements import subject_of
from iotbench.output.terminal.history import format_trends
from iotbench.plans.gates import Gates
from iotbench.results.names import DEFAULT_FOLDER
from iotbench.results.result import Result
from iotbench.results.result_files import expect_whole, now_utc
from iotbench.store.gathered import read_parts
from iotbench.store.history import find_newest, find_repeats
from iotbench.store.lookup import paths_of
from simulator.errors import ConfigError, nearest

_EXAMPLES = """\b
Examples:
  python run.py history
  python run.py history last --figure p99_ms --since 90d
  python run.py history --output nightly --fail-if 'rows_per_s_change < -5%'
"""


class _Options(Options):
    """The figure, and the results in which to look."""

    figure: Annotated[str, Opt(metavar="NAME")] = ""
    """Figure to follow, or any percentile, such as p99_ms. [default: rows_per_s, or p50_ms of
    queries]
    """
    pattern: Annotated[str, Field(alias="row"), Opt(metavar="PATTERN")] = "*"
    """Only rows of these names, such as '4 workers' or 'count-events*'. [default: all]"""
    since: Moment | None = None
    """Only results that are not older than this; a slower state becomes good if it is the first."""
    noise: Share = NOISE
    """Size below which a change is neither a step nor a loss."""
    form: Annotated[Format, Opt(choices=FORMATS)] = FORMATS[0]
    output: OutputFolder = DEFAULT_FOLDER


@click.command(cls=Command, epilog=_EXAMPLES)
@click.argument("names", metavar="[RESULT...]", nargs=-1, shell_complete=complete_result)
@options_of(_Options)
@options_of(Gates, "gates")
def history(*, names: tuple[str, ...], options: _Options, gates: Gates) -> None:
    """Print a figure of equal results over time, and its steps.

    RESULT is one of the equal results, or the file of a plan, which has one for each setting and
    target; the default is the newest. Its repeats are all results in the folder, and in folders in
    it, with the same target, rows and settings. The repeats of one plan are one line. The table
    marks what else has changed: the version of the program or of the server, or the machine. Wrong
    and unfinished results are left out.

    A step is where the figure changes for at least three results. The last good state is the
    newest state between two steps that is not worse than the good state before it.

    --fail-if takes the change from the mean of the last good state to the newest result, such as
    'rows_per_s_change < -5%'; the number of rows that a step has made worse, 'slower > 0'; and the
    figures of the newest result. Without an earlier result a change is 0.
    """
    output = options.output
    paths = paths_of(output, names, only_sweeps=True) if names else [find_newest(output)]
    found, _ = read_parts(paths)
    with expect_whole(", ".join(names) or str(output)):
        series = [*_list_series([result for _, result in found], options)]
        subjects = tuple(dict.fromkeys(sides[0].subject for sides, _ in series))
        thresholds = gates.expect(Scope(subjects, compares=True))
        trends = [trend for _, each in series for trend in each]
        text = format_trends(trends, options.form, width_of(sys.stdout))
        checks = [
            check
            for sides, own in series
            for check in history_checks(thresholds, sides, own, options.noise)
        ]
    print_out(text)
    cases = [*check_cases("history", checks)]
    code = gates.report("history", now_utc(), cases, checks)
    click.get_current_context().exit(code)


def _list_series(
    results: Sequence[Result], options: _Options
) -> Iterator[tuple[tuple[Side, ...], list[Trend]]]:
    """Yield the repeats of each result, and the trends of their rows; ConfigError without any."""
    known: set[tuple[str, datetime]] = set()
    for result in results:
        if (result.sweep_id, result.created) in known:
            continue
        figure = _find_figure(options.figure, subject_of(result))
        repeats = find_repeats(options.output, result, options.since)
        for text in repeats.left_out:
            say(f"warning: left out: {text}", err=True)
        known |= {(e.sweep_id, e.created) for side in repeats.sides for _, e in side.results}
        trends = trends_of(repeats.sides, figure, options.noise)
        chosen = [each for each in trends if fnmatchcase(str(each.place), options.pattern)]
        if not chosen:
            raise ConfigError(
                f"{options.output}: no usable repeat of {result.sweep_id} has {figure.name} in a"
                f" row that matches {options.pattern!r}"
            )
        yield repeats.sides, chosen


def _find_figure(name: str, subject: Subject) -> Figure:
    figure = figure_named(name or subject.judged_by)
    if figure and subject.has(figure.name):
        return figure
    raise ConfigError(f"--figure {name}: unknown ({nearest(name, subject.figures)})")
