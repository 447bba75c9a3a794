"""`results`: list, show, tag, export and remove result files."""

import sys
from datetime import datetime
from pathlib import Path

import click

from iotbench.commands.show import show
from iotbench.config.completion.words import complete_result, complete_target
from iotbench.config.options.basic import (
    COUNT,
    MOMENT,
    TAG,
    Command,
    format_option,
    option,
    output_option,
)
from iotbench.figures.options import percentile_option
from iotbench.machine import outfile
from iotbench.machine.streams import is_fitted, print_out, say, width_of
from iotbench.results import result_files as files
from iotbench.results.kinds import NAMES
from iotbench.results.names import ResultName, id_of, parse_name
from iotbench.results.result import Result
from iotbench.results.result_files import expect_whole
from iotbench.store import changes, export, listing
from iotbench.store.gathered import GATHERED, GatheredSweep, parts_of
from iotbench.store.index import entries
from iotbench.store.listing import ResultEntry
from iotbench.store.lookup import expect_files, path_of, paths_of
from simulator.errors import ConfigError, counted

_KINDS = (*NAMES, *GATHERED)


@click.group()
def results() -> None:
    """List, show, tag, export and remove results.

    RESULT is a result file, an id or its beginning, last, or last~1 for the result before it.
    `results show` is `show`.
    """


results.add_command(show)


@results.command("list", cls=Command)
@option("--since", type=MOMENT, default=None, help="Only results that are not older than this.")
@option("--until", type=MOMENT, default=None, help="Only results that are older than this.")
@option(
    "--target",
    "-t",
    default=None,
    help="Only results of this target.",
    shell_complete=complete_target,
)
@option("--kind", type=click.Choice(_KINDS), default=None, help="Only results of this command.")
@option("--tag", type=TAG, multiple=True, help="Only results with this tag; with each, if several.")
@option("--limit", type=COUNT, default=None, help="Number of results to list, newest first.")
@format_option()
@output_option
def list_results(  # noqa: PLR0913
    *,
    since: datetime | None,
    until: datetime | None,
    target: str | None,
    kind: str | None,
    tag: tuple[str, ...],
    limit: int | None,
    form: str,
    output: Path,
) -> None:
    """List results, the newest first.

    The headline is the highest rate of the result, or the rate of the last step of a fill-level
    test.
    """
    if limit is not None and limit < 0:
        raise ConfigError(f"--limit: must be at least 0, got {limit}")

    def is_named(name: ResultName) -> bool:
        of_target = not target or target in {name.target, ""} or not name.is_sweep
        return of_target and kind in {None, name.kind} and _within(name.created, since, until)

    def is_wanted(entry: ResultEntry) -> bool:
        of_target = not target or target in entry.target.split(",")
        return of_target and _within(entry.created, since, until) and {*tag} <= {*entry.tags}

    found = []
    for entry in entries(output, is_named):
        if entry.problem:
            say(f"warning: {entry.problem}; this file is not listed", err=True)
        elif is_wanted(entry):
            found.append(entry)
            if len(found) == limit:
                break
    if not found and form == "table":
        say(f"no such results in {output}", err=True)
        return
    width = width_of(sys.stdout) if is_fitted(sys.stdout) else None
    print_out(listing.format_list(found[:limit], form, files.now_utc(), width))


def _within(created: datetime | None, since: datetime | None, until: datetime | None) -> bool:
    """Return whether a result was created in a period; True if `created` is unknown."""
    if created is None:
        return True
    return (since is None or created >= since) and (until is None or created < until)


@results.command("tag", cls=Command)
@click.argument("name", metavar="RESULT", shell_complete=complete_result)
@click.argument("words", nargs=-1, metavar="TAG...", required=True, type=TAG)
@option("--remove", is_flag=True, help="Remove the tags instead.")
@output_option
def tag_result(*, name: str, words: tuple[str, ...], remove: bool, output: Path) -> None:
    """Add tags to a result, or remove them.

    The result file keeps the tags.
    """
    path = path_of(output, name)
    expect_files([path])
    changes.tag([path], words, remove=remove)


@results.command("export", cls=Command)
@click.argument(
    "names", nargs=-1, metavar="RESULT...", required=True, shell_complete=complete_result
)
@format_option(
    export.FORMATS,
    "openmetrics: as Prometheus reads it, for example to import it; hgrm: all percentiles of"
    " one row, as HdrHistogram's plotters read them.",
)
@percentile_option("Export")
@option(
    "--row",
    "pattern",
    default="*",
    metavar="PATTERN",
    help="Export only rows of these names, such as 'count-events, 4 workers' or '*, 4 workers'."
    "  [default: all]",
)
@option(
    "-o",
    "--to",
    type=click.Path(path_type=Path),
    default=None,
    help="File to write; it replaces an earlier one of the same format, and no other file."
    "  [default: standard output]",
)
@output_option
def export_results(  # noqa: PLR0913
    *,
    names: tuple[str, ...],
    form: str,
    percentiles: tuple[str, ...],
    pattern: str,
    to: Path | None,
    output: Path,
) -> None:
    """Write the figures of results for other programs.

    Every figure has its unit, the number of measurements, its spread and its verdict. The file of a
    plan exports all results of the plan, each with its setting and repeat.
    """
    own = export.OWN[form]
    if to and (problem := outfile.problem_with(to, own)):
        raise ConfigError(f"--to: {problem}")
    found, parts = _read_parts(paths_of(output, names, only_sweeps=True))
    with expect_whole(", ".join(names)):
        text = export.export(found, form, percentiles, pattern, parts)
    if to is None:
        print_out(text)
        return
    outfile.write(to, text, own)


def _read_parts(paths: list[Path]) -> tuple[list[tuple[str, Result]], dict[str, GatheredSweep]]:
    """Return the results in these files with their IDs, and ID -> sweep of a plan."""
    found: dict[Path, tuple[str, Result]] = {}
    parts: dict[str, GatheredSweep] = {}
    problems = []
    for path in paths:
        each = parts_of(path)
        if not any(part.file for part in each):
            problems.append(f"{path}: none of its parts has a result")
            continue
        for part in each:
            if not part.file:
                say(f"warning: {path}: has no result of {part.cause}", err=True)
                continue
            file = path.parent / part.file
            try:
                result = files.read(file)
            except ConfigError as error:
                problems += error.problems
                continue
            name = id_of(file) or result.sweep_id
            found[file.resolve()] = name, result
            if part.part_of:
                parts[name] = part
    if problems:
        raise ConfigError(problems)
    return [*found.values()], parts


@results.command("rm", cls=Command)
@click.argument("names", nargs=-1, metavar="[RESULT...]", shell_complete=complete_result)
@option("--older-than", type=MOMENT, default=None, help="Remove all results older than this.")
@option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@option(
    "--force",
    is_flag=True,
    help="Also remove results that `query` needs and, if named, files that cannot be read.",
)
@output_option
def remove_results(
    *,
    names: tuple[str, ...],
    older_than: datetime | None,
    yes: bool,
    force: bool,
    output: Path,
) -> None:
    """Remove results.

    The result that describes the rows in a target's tables is kept, since `query` and `verify` need
    it; so is the result of a run that has not ended. A file that this program cannot read, such as
    one of a later version, is removed only by its name and with --force.
    """
    if bool(names) == bool(older_than):
        raise ConfigError("expected results or --older-than, and not both")
    chosen = changes.find_older(output, older_than) if older_than else paths_of(output, names)
    expect_files(chosen)
    foreign = [path for path in chosen if parse_name(path) is None]
    if foreign:
        raise ConfigError([f"{path}: is not named as a result file is" for path in foreign])
    kept = changes.find_needed(chosen)
    if force:
        kept = {} if names else {path: why for path, why in kept.items() if changes.is_unread(why)}
    if kept and names:
        raise ConfigError([f"{path}: {why}; --force removes it" for path, why in kept.items()])
    for path, why in kept.items():
        remedy = "name it with --force to remove it" if force else "--force removes it"
        say(f"kept {path}: {why}; {remedy}", err=True)
    going = sorted({*chosen} - {*kept})
    if not going:
        say("nothing to remove")
        return
    _confirm(going, yes=yes)
    for path in going:
        path.unlink(missing_ok=True)
    say(f"removed {counted(len(going), 'result')}")


def _confirm(going: list[Path], *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise ConfigError(
            f"--yes is needed to remove {counted(len(going), 'result')} without confirmation"
        )
    for path in going[:10]:
        say(str(path))
    if len(going) > 10:
        say(f"... and {len(going) - 10:,} more")
    click.confirm(f"Remove {counted(len(going), 'result')}?", abort=True)
