"""Rebuilds the command that measured a result, and lists the changes since then."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from iotbench.config.options.given import divide, merge, parse
from iotbench.config.targets import config as configuration
from iotbench.config.targets.config import Target
from iotbench.config.targets.packages import package_versions
from iotbench.machine.cleaning import in_shell
from iotbench.machine.machine import this_machine
from iotbench.machine.program import command_line
from iotbench.measurements import kind_of, writing_kinds
from iotbench.plans.capacity import Capacity
from iotbench.plans.published.record import Reproduction
from iotbench.results import result_files
from iotbench.results.command import GivenCommand
from iotbench.results.names import id_of
from iotbench.results.result import Result
from iotbench.rows.files.names import is_pattern
from iotbench.store.gathered import Gathered, find_gathered
from simulator import __version__
from simulator.errors import ConfigError
from simulator.modules import database_class
from simulator.protocol.mark import same_rows
from simulator.redaction import HIDDEN

RESULTS = Path("results")
"""Folder of results, unless --output sets it."""
_EXTRA = "extra-option"
_OWN = ("config", _EXTRA, "before-run", "replace-table")
"""Options of `repeat` itself; options of the repeated command follow `--`."""


@dataclass(frozen=True, slots=True)
class RepeatedCommand:
    """The command that measures a result again."""

    command: GivenCommand
    result: Result | None
    """The result to repeat; None for the record of a capacity."""


def build_repeated(
    path: Path, given: Mapping[str, tuple[str, ...]], more: tuple[str, ...]
) -> RepeatedCommand:
    """Return the command of a result, with the options that the user gives.

    ConfigError if the file contains no command, or if the user must repeat options of the command.
    `given` are options of `repeat` and their values; `more` are the words of other options of the
    command.
    """
    kind = find_gathered(path)
    result = None if kind else result_files.read(path)
    stored = result.command if result else _read_command(path, kind) if kind else ()
    if not stored:
        raise ConfigError(
            f"{path}: does not hold the command that measured it: `capacity` measured it, and"
            " the result of `capacity` has the command, or an earlier version of this program did"
        )
    kept, left = divide(stored, str(path))
    own = GivenCommand(name=kept.name, options={name: each for name, each in given.items() if each})
    if more:
        try:
            own = merge(parse((kept.name, *more), "--"), own)
        except click.UsageError as error:
            raise ConfigError(f"--: {error.format_message()}") from error
    target = merge(kept, own).values("target")
    _expect_given(path, target, left, own)
    if len(target) != 1:
        raise ConfigError(f"{path}: its command names no target")
    if "-" in kept.values("data"):
        raise ConfigError(f"{path}: its rows came from standard input, which cannot be read again")
    found = RepeatedCommand(merge(kept, own), result)
    _expect_files(path, found, own)
    return found


def _read_command(path: Path, kind: Gathered) -> GivenCommand | tuple[str, ...]:
    """Return the command of a capacity; ConfigError for other gathering results."""
    record = kind.read(path)
    if isinstance(record, Capacity):
        return record.command
    another = "complete results in --output are not measured again, so use another folder:"
    if isinstance(record, Reproduction):
        words = ["reproduce", record.document, "--size", record.size, "--output", "NEW"]
        raise ConfigError(f"{path}: {another} `{command_line(words)}`")
    words = ["run", "PLAN.yaml", "--output", "NEW"]
    raise ConfigError(f"{path}: {another} `{command_line(words)}`, with plan {record.name}")


def _expect_given(
    path: Path, target: tuple[str, ...], left: GivenCommand, own: GivenCommand
) -> None:
    """Raise ConfigError if an option that is never taken from a file is not given again."""
    missing = {name: value for name, value in left.options.items()
               if name not in own.options and value not in (("",), False)}  # fmt: skip
    if "runner" in missing and target and "config" not in missing:
        configs = own.values("config")
        loaded, (name,) = configuration.load_for(
            [target[0]], Path(configs[-1]) if configs else None
        )
        if missing["runner"] == (loaded.runner_of(name),):
            del missing["runner"]
    again = {word.partition("=")[0] for word in own.values(_EXTRA)}
    words = tuple(each for each in left.values(_EXTRA) if each.partition("=")[0] not in again)
    hidden = [word.partition("=")[0] for word in words if HIDDEN in word]
    if hidden:
        raise ConfigError(
            [
                f"--{_EXTRA} {name}: was a credential on the command line, which no result holds;"
                f" give it again with --{_EXTRA} {in_shell([f'{name}=${{VARIABLE}}'])}"
                for name in hidden
            ]
        )
    missing.pop(_EXTRA, None)
    missing |= {_EXTRA: words} if words else {}
    if not missing:
        return
    asked = GivenCommand(name=left.name, options=missing)
    first = [word for name in missing if name in _OWN for word in asked.words_of(name)]
    then = [word for name in missing if name not in _OWN for word in asked.words_of(name)]
    add = in_shell([*first, *(["--", *then] if then else [])])
    without = ", or --before-run '' to go without it" if "before-run" in missing else ""
    raise ConfigError(
        f"{path}: was measured with options that `repeat` never takes from a file, which may be a"
        " stranger's: commands, configurations, addresses, output files and faults. If you trust"
        f" them, add `{add}`{without}"
    )


def _expect_files(path: Path, found: RepeatedCommand, own: GivenCommand) -> None:
    """Raise ConfigError if a file of rows no longer exists at its path."""
    for name in ("data", "manifest", "dataset"):
        for each in found.command.values(name):
            is_place = ":" in each and not Path(each).is_absolute()
            is_place |= is_pattern(Path(each))  # reading it reports a pattern without files
            if name not in own.options and not is_place and not Path(each).exists():
                again = in_shell(["--", f"--{name}", "FILE"])
                raise ConfigError(
                    f"{path}: --{name}: {each}: no such file or folder here; add `{again}`"
                )


def list_differences(command: RepeatedCommand, folder: Path) -> Iterator[str]:
    """Yield the differences from the result; ConfigError if the target no longer exists."""
    result = command.result
    if result is None:
        return
    given = command.command
    configs, runners = given.values("config"), given.values("runner")
    loaded, (name,) = configuration.load_for(
        given.values("target"), Path(configs[-1]) if configs else None
    )
    extra = dict(each.partition("=")[::2] for each in given.values(_EXTRA))
    extra.pop("queries", None)
    target = loaded.resolve(name, extra, runners[-1] if runners else None)
    now = {"module": target.module, "runner": target.runner, "program": __version__}
    then = {
        "module": result.module,
        "runner": result.runner,
        "program": result.program_version,
    }
    yield from _compare(then, now)
    if target.module == result.module:
        yield from _compare(result.target_options, target.options.public(), "option ")
    if result.runner == target.runner == "local":
        packages = package_versions(database_class(target.module))
        yield from _compare(result.packages, packages, "package ")
    machine = {"load_average"}
    yield from _compare(
        result.machine.model_dump(exclude=machine), this_machine().model_dump(exclude=machine)
    )
    yield from _compare_rows(given, result, target, folder)


def _compare(
    then: Mapping[str, object], now: Mapping[str, object], what: str = ""
) -> Iterator[str]:
    for name in {**then, **now}:
        before, after = str(then.get(name, "not known")), str(now.get(name, "not known"))
        if before != after:
            yield f"{what}{name}: was {before}, is {after}"


def _compare_rows(
    command: GivenCommand, result: Result, target: Target, folder: Path
) -> Iterator[str]:
    """Yield a note if the tables do not contain the rows of the result."""
    if not kind_of(result).needs_rows:
        if command.options.get("clean") is False:
            yield "rows: with --no-clean they are added to those that the tables hold now"
        return
    last = result_files.find_last_written(folder, target.name, writing_kinds())
    named = command.values("dataset")
    if not named and last and not same_rows(last[1].dataset, result.dataset):
        yield (
            f"rows: the last insert of {target.name} is {last[0]}, whose rows are not those of the"
            " result; repeat the insert of that result first"
        )


def suggest_comparison(path: Path, name: str, folder: Path) -> str:
    """Return the command that compares the new result in a folder with the repeated result."""
    before = (id_of(path) or str(path)) if name.startswith("last~") else name
    words = ["compare", "last~1" if name == "last" else before, "last"]
    return command_line(words if folder == RESULTS else [*words, "--output", str(folder)])
