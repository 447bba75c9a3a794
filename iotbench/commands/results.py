"""`results`: list, show, tag, export, copy and remove result files."""

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import click
from pydantic import Field

from iotbench.commands.show import show
from iotbench.config.completion.words import complete_result
from iotbench.config.input.options import Opt, Options
from iotbench.config.input.values import Count, Moment, Tag, parse_tag
from iotbench.config.options.basic import (
    FORMATS,
    Command,
    Format,
    OutputFolder,
    Parsed,
    PathOf,
    WrittenFolder,
)
from iotbench.config.options.declared import options_of
from iotbench.config.options.places import parse_folder
from iotbench.figures.figures import Percentiles
from iotbench.machine import outfile
from iotbench.machine.streams import confirm, is_fitted, print_out, say, width_of
from iotbench.results import result_files as files
from iotbench.results.kinds import NAMES
from iotbench.results.names import DEFAULT_FOLDER, ResultName, parse_name
from iotbench.results.result_files import expect_whole
from iotbench.store import changes, copying, export, listing
from iotbench.store.gathered import GATHERED, read_parts
from iotbench.store.index import entries
from iotbench.store.listing import ResultEntry
from iotbench.store.lookup import expect_files, path_of, paths_of
from simulator.errors import ConfigError, counted

_KINDS = (*NAMES, *GATHERED)


@click.group()
def results() -> None:
    """List, show, tag, export, copy and remove results.

    RESULT is a result file, an id or its beginning, last, or last~1 for the result before it.
    `results show` is `show`.
    """


results.add_command(show)


class _Listing(Options):
    """The results to list."""

    since: Moment | None = None
    """Only results that are not older than this."""
    until: Moment | None = None
    """Only results that are older than this."""
    target: Annotated[str | None, Opt("-t")] = None
    """Only results of this target."""
    kind: Annotated[str | None, Opt(choices=_KINDS)] = None
    """Only results of this command."""
    tag: tuple[Tag, ...] = ()
    """Only results with this tag; with each, if several."""
    limit: Annotated[Count | None, Opt(least=0)] = None
    """Number of results to list, newest first."""
    form: Annotated[Format, Opt(choices=FORMATS)] = FORMATS[0]
    output: OutputFolder = DEFAULT_FOLDER


@results.command("list", cls=Command)
@options_of(_Listing)
def list_results(*, options: _Listing) -> None:
    """List results, the newest first.

    The headline is the highest rate of the result, or the rate of the last step of a fill-level
    test.
    """
    if problems := options.problems():
        raise ConfigError(problems)
    target, limit, form, output = options.target, options.limit, options.form, options.output

    def is_named(name: ResultName) -> bool:
        of_target = not target or target in {name.target, ""} or not name.is_sweep
        return of_target and options.kind in {None, name.kind} and _is_within(name.created, options)

    def is_wanted(entry: ResultEntry) -> bool:
        of_target = not target or target in entry.target.split(",")
        has_tags = {*options.tag} <= {*entry.tags}
        return of_target and has_tags and _is_within(entry.created, options)

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


def _is_within(created: datetime | None, options: _Listing) -> bool:
    """Return whether a result was created in the period; True if `created` is unknown."""
    since, until = options.since, options.until
    if created is None:
        return True
    return (since is None or created >= since) and (until is None or created < until)


class _Tagging(Options):
    """The change of the tags."""

    remove: bool = False
    """Remove the tags instead."""
    output: WrittenFolder = DEFAULT_FOLDER


@results.command("tag", cls=Command)
@click.argument("name", metavar="RESULT", shell_complete=complete_result)
@click.argument("words", nargs=-1, metavar="TAG...", required=True, type=Parsed("tag", parse_tag))
@options_of(_Tagging)
def tag_result(*, name: str, words: tuple[str, ...], options: _Tagging) -> None:
    """Add tags to a result, or remove them.

    The result file keeps the tags.
    """
    path = path_of(options.output, name)
    expect_files([path])
    changes.tag([path], words, remove=options.remove)


class _Exporting(Options):
    """The figures to write, and their format."""

    form: Annotated[str, Field(alias="format"), Opt(choices=export.FORMATS)] = export.FORMATS[0]
    """openmetrics: as Prometheus reads it, for example to import it; hgrm: all percentiles of one
    row, as HdrHistogram's plotters read them.
    """
    percentiles: Percentiles = ()
    """Export this percentile as well, such as p90_ms or p99.99_ms, if every run has enough samples
    for it; may be given several times.
    """
    pattern: Annotated[str, Field(alias="row"), Opt(metavar="PATTERN")] = "*"
    """Export only rows of these names, such as 'count-events, 4 workers' or '*, 4 workers'.
    [default: all]
    """
    to: Annotated[Path | None, Opt("-o")] = None
    """File to write; it replaces an earlier one of the same format, and no other file.
    [default: standard output]
    """
    output: OutputFolder = DEFAULT_FOLDER


@results.command("export", cls=Command)
@click.argument(
    "names", nargs=-1, metavar="RESULT...", required=True, shell_complete=complete_result
)
@options_of(_Exporting)
def export_results(*, names: tuple[str, ...], options: _Exporting) -> None:
    """Write the figures of results for other programs.

    Every figure has its unit, the number of measurements, its spread and its verdict. The file of a
    plan exports all results of the plan, each with its setting and repeat.
    """
    form, to = options.form, options.to
    own = export.OWN[form]
    if to and (problem := outfile.problem_with(to, own)):
        raise ConfigError(f"--to: {problem}")
    found, parts = read_parts(paths_of(options.output, names, only_sweeps=True))
    with expect_whole(", ".join(names)):
        text = export.export(found, form, options.percentiles, options.pattern, parts)
    if to is None:
        print_out(text)
        return
    outfile.write(to, text, own)


_EXAMPLES = """\b
Examples:
  python run.py results copy results sqlite:results.db
  python run.py results copy nightly postgresql://anna@db.example/bench
  python run.py results copy s3://bench/results results
"""


@results.command("copy", cls=Command, epilog=_EXAMPLES)
@click.argument("source", metavar="FROM", type=PathOf(parse_folder))
@click.argument("to", metavar="TO", type=PathOf(parse_folder))
def copy_results(*, source: Path, to: Path) -> None:
    """Copy results between folders, databases and object stores.

    FROM and TO are a folder, s3://BUCKET/PREFIX, postgresql://USER@HOST/DATABASE or sqlite:FILE;
    FROM may be an archive. The folders in FROM are copied, too. A result that is stored already is
    not copied again; one that has changed, by a tag or its end, is replaced. Whatever was written
    is compared with FROM afterwards. If the command fails, the same command copies the rest.

    A database has a table of whole files, iotbench_results, and a table of all figures, with the
    columns of `results export --format csv`, iotbench_figures.
    """
    copied = copying.copy(source, to)
    more = f", {copied.replaced:,} of them again" if copied.replaced else ""
    written = copied.new + copied.replaced
    say(f"{to}: copied {counted(written, 'result')}{more}; {copied.same:,} were already stored")
    for problem in copied.problems:
        say(f"error: {problem}", err=True)
    click.get_current_context().exit(1 if copied.problems else 0)


class _Removing(Options):
    """The results to remove."""

    older_than: Moment | None = None
    """Remove all results older than this."""
    yes: Annotated[bool, Opt("-y")] = False
    """Do not ask for confirmation."""
    force: bool = False
    """Remove results that `query` needs as well and, if named, files that cannot be read."""
    output: WrittenFolder = DEFAULT_FOLDER


@results.command("rm", cls=Command)
@click.argument("names", nargs=-1, metavar="[RESULT...]", shell_complete=complete_result)
@options_of(_Removing)
def remove_results(*, names: tuple[str, ...], options: _Removing) -> None:
    """Remove results.

    The result that describes the rows in a target's tables is kept, since `query` and `verify` need
    it; so is the result of a run that has not ended. A file that this program cannot read, such as
    one of a later version, is removed only by its name and with --force.
    """
    older_than, output, force = options.older_than, options.output, options.force
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
    if not options.yes:
        _list_first(going)
    confirm(f"remove {counted(len(going), 'result')}", yes=options.yes)
    for path in going:
        path.unlink(missing_ok=True)
    say(f"removed {counted(len(going), 'result')}")


def _list_first(paths: list[Path]) -> None:
    for path in paths[:10]:
        say(str(path))
    if len(paths) > 10:
        say(f"... and {len(paths) - 10:,} more")
