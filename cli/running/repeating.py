"""A result -> the command that measures the same again, and what cannot be the same."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cli.archive.gathered import Gathered, gathered_of
from cli.archive.names import id_of
from cli.capacity.record import Capacity
from cli.experiment.record import PlanRecord
from cli.host.machine import this_machine
from cli.host.program import command_line
from cli.kinds import kind_of, writing_kinds
from cli.reproduce.record import Reproduction
from cli.results import result_files
from cli.results.result import Result
from cli.targets import config as configuration
from cli.targets.config import Target
from cli.targets.packages import package_versions
from simulator import __version__
from simulator.errors import ConfigError
from simulator.modules import database_class
from simulator.protocol.mark import same_rows
from simulator.redaction import HIDDEN

RESULTS = Path("results")
"""Where results go, unless --output says it."""
_EXTRA, _CONFIG, _RUNNER = "--extra-option", "--config", "--runner"
_REPLACE = "--replace-table"
"""What it drops is named again for each command."""
_BEFORE_RUN = "--before-run"
_RESTART_WITH = "--restart-with"


@dataclass(frozen=True, slots=True)
class Repeated:
    """The command of a result."""

    words: tuple[str, ...]
    result: Result | None
    """None for the record of a capacity."""

    def of(self, option: str) -> list[str]:
        """Return the values of an option."""
        return [value for name, value in zip(self.words, self.words[1:], strict=False)
                if name == option]  # fmt: skip


def repeated(
    path: Path, extra: Sequence[str], config: Path | None, before_run: str | None = None
) -> Repeated:
    """Return the command of a result; ConfigError if the file does not hold it.

    `extra`: KEY=VALUE words of the target's options that take the place of those of the command.
    `before_run`: what runs before each run; a command that is only in the file is never run.
    """
    kind = gathered_of(path)
    result = None if kind else result_files.read(path)
    words = result.command if result else _words_of(path, kind) if kind else ()
    words = _with_before_run(path, words, before_run)
    return Repeated(_command(path, words, extra, config), result)


def _with_before_run(path: Path, words: Sequence[str], given: str | None) -> tuple[str, ...]:
    """Return words with the command that the user gives before each run; empty: none.

    A result may be somebody else's, and its command can do anything, so it is not simply repeated.
    """
    pairs = list(_pairs(words[1:]))
    if any(name == _RESTART_WITH for name, _ in pairs):
        raise ConfigError(
            f"{path}: a command started its database again, which is not simply repeated; if you"
            f" trust it, run `{command_line(words)}`"
        )
    stored = next((value for name, value in pairs if name == _BEFORE_RUN), None)
    if stored and given is None:
        again = shlex.join([_BEFORE_RUN, stored])
        raise ConfigError(
            f"{path}: a command ran before each run, which is repeated only if you give it: add"
            f" `{again}`, or {_BEFORE_RUN} '' to go without it"
        )
    if not words:
        return ()
    kept = [word for name, value in pairs if name != _BEFORE_RUN for word in (name, value)]
    added = [_BEFORE_RUN, given] if given else []
    return (*words[:1], *(word for word in kept if word is not None), *added)


def _words_of(path: Path, kind: Gathered) -> tuple[str, ...]:
    record = kind.read(path)
    if isinstance(record, Capacity):
        return record.command
    another = (
        "results in --output that are complete are not measured again, so it takes another folder:"
    )
    if isinstance(record, Reproduction):
        words = ["reproduce", record.document, "--size", record.size, "--output", "NEW"]
        raise ConfigError(f"{path}: {another} `{command_line(words)}`")
    assert isinstance(record, PlanRecord)
    words = ["run", "PLAN.yaml", "--output", "NEW"]
    raise ConfigError(f"{path}: {another} `{command_line(words)}`, with plan {record.name}")


def _command(
    path: Path, words: Sequence[str], extra: Sequence[str], config: Path | None
) -> tuple[str, ...]:
    if not words:
        raise ConfigError(
            f"{path}: does not hold the command that measured it: `capacity` did, whose own result"
            " has it, or an earlier version of this program"
        )
    given = dict(each.partition("=")[::2] for each in extra)
    kept = [words[0]]
    for name, value in _pairs(words[1:]):
        replaced = name == _EXTRA and str(value).partition("=")[0] in given
        again = name == _REPLACE or (name == _CONFIG and config)
        if not replaced and not again:
            kept += [name] if value is None else [name, value]
    kept += [word for each in extra for word in (_EXTRA, each)]
    kept += [_CONFIG, str(config)] if config else []
    hidden = [word.partition("=")[0] for word in kept if HIDDEN in word]
    if hidden:
        raise ConfigError(
            [
                f"{_EXTRA} {name}: was a credential on the command line, which no result holds;"
                f" give it again with {_EXTRA} '{name}=${{VARIABLE}}'"
                for name in hidden
            ]
        )
    if "-" in (value for name, value in _pairs(words[1:]) if name == "--data"):
        raise ConfigError(f"{path}: its rows came from standard input, which cannot be read again")
    return tuple(kept)


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Yield options with their values; None: it has none."""
    position = 0
    while position < len(words):
        following = words[position + 1 : position + 2]
        has_value = following and not following[0].startswith("--")
        yield words[position], following[0] if has_value else None
        position += 2 if has_value else 1


def differences(command: Repeated, folder: Path) -> Iterator[str]:
    """Yield what cannot be the same as in the result; ConfigError if its target is gone."""
    result = command.result
    if result is None:
        return
    configs, runners = command.of(_CONFIG), command.of(_RUNNER)
    loaded = configuration.load(Path(configs[-1]) if configs else None)
    extra = dict(each.partition("=")[::2] for each in command.of(_EXTRA))
    extra.pop("queries", None)
    target = loaded.resolve(result.target, extra, runners[-1] if runners else None)
    now = {"module": target.module, "runner": target.runner, "program": __version__}
    then = {
        "module": result.module,
        "runner": result.runner,
        "program": result.program_version,
    }
    yield from _changed(then, now)
    if target.module == result.module:
        yield from _changed(result.target_options, target.options.public(), "option ")
    if result.runner == target.runner == "local":
        packages = package_versions(database_class(target.module))
        yield from _changed(result.packages, packages, "package ")
    machine = {"load_average"}
    yield from _changed(
        result.machine.model_dump(exclude=machine), this_machine().model_dump(exclude=machine)
    )
    yield from _other_rows(command, result, target, folder)


def _changed(
    then: Mapping[str, object], now: Mapping[str, object], what: str = ""
) -> Iterator[str]:
    for name in {**then, **now}:
        before, after = str(then.get(name, "not known")), str(now.get(name, "not known"))
        if before != after:
            yield f"{what}{name}: was {before}, is {after}"


def _other_rows(command: Repeated, result: Result, target: Target, folder: Path) -> Iterator[str]:
    """Yield in what the rows differ that are inserted, or asked about."""
    if not kind_of(result).needs_rows:
        if "--no-clean" in command.words:
            yield "rows: with --no-clean they are added to those that the tables hold now"
        return
    last = result_files.last_written(folder, target.name, writing_kinds())
    if not command.of("--dataset") and last and not same_rows(last[1].dataset, result.dataset):
        yield (
            f"rows: the last insert of {target.name} is {last[0]}, whose rows are not those of the"
            " result; repeat the insert of that result first"
        )


def comparison(path: Path, name: str, folder: Path) -> str:
    """Return the command that compares the new result in a folder with the repeated one."""
    before = (id_of(path) or str(path)) if name.startswith("last~") else name
    words = ["compare", "last~1" if name == "last" else before, "last"]
    return command_line(words if folder == RESULTS else [*words, "--output", str(folder)])
