"""The items of a plan as commands: what `insert`, `query`, ... get to measure the same."""

from collections.abc import Iterator, Mapping
from typing import Any

from cli.experiment.settings import Setting
from cli.planning.change_options import Change
from cli.planning.faults import COMMANDS
from cli.planning.options import Insert
from cli.planning.query_options import Mixed, Query
from cli.targets.config import Target, as_kept


def insert_words(
    setting: Setting, target: Target, given: Mapping[str, Any], timeout_s: float
) -> tuple[str, ...]:
    """Return the words of the insert; `given`: other options, by name without dashes."""
    words = ["insert", *_target_words(setting, target, given)]
    words += ["--runs", "1", *_own_words(setting.insert, target)]
    return (*words, *_common_words(setting, timeout_s))


def asked_words(
    setting: Setting,
    asked: Query | Mixed | Change,
    target: Target,
    given: Mapping[str, Any],
    timeout_s: float,
) -> tuple[str, ...]:
    """Return the words of a command on the rows of the insert; `asked` is one of the setting's."""
    (name,) = (kind for kind, each in setting.asked.items() if each is asked)
    words = [name, *_target_words(setting, target, given), *_own_words(asked, target)]
    return (*words, *_common_words(setting, timeout_s))


def _own_words(options: Insert | Query | Mixed | Change, target: Target) -> list[str]:
    """Return what is not a default, without credentials."""
    commands = {
        name: target.options.redact(command)
        for name in ("before_run", *COMMANDS)
        if (command := getattr(options, name, None))
    }
    options = options.model_copy(update=commands)
    staged = isinstance(options, Mixed | Change) or options.stages
    return options.words(*() if staged else ("workers",))


def _target_words(setting: Setting, target: Target, given: Mapping[str, Any]) -> Iterator[str]:
    yield from _words({"target": target.name, **given, "runner": target.runner})
    for key, value in setting.options_of(target.module).items():
        yield from ("--extra-option", as_kept(key, value, target.options))


def _common_words(setting: Setting, timeout_s: float) -> list[str]:
    timeout = {"timeout": f"{timeout_s:g}s"} if timeout_s else {}
    return [*_words({**timeout, "resources": setting.resources})]


def _words(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield options and their values; a tuple is an option that is given several times."""
    for name, value in options.items():
        for each in value if isinstance(value, tuple) else (value,):
            if each is None or each is False:
                continue
            yield f"--{name.replace('_', '-')}"
            if each is not True:
                yield str(each)
