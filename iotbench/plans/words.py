"""The items of a plan as commands: what `insert`, `query`, ... get to measure the same."""

from collections.abc import Mapping
from typing import Any

from iotbench.config.targets.config import Target, as_kept
from iotbench.measurements.change.options import Change
from iotbench.measurements.insert.options import Insert
from iotbench.measurements.query.options import Mixed, Query
from iotbench.measurements.shared.faults import COMMANDS
from iotbench.plans.settings import Setting
from iotbench.results.command import GivenCommand

_Stored = dict[str, bool | tuple[str, ...]]


def insert_command(
    setting: Setting, target: Target, given: Mapping[str, Any], timeout_s: float
) -> GivenCommand:
    """Return the insert; `given`: other options, by name without dashes."""
    options = _of_target(setting, target, given) | {"runs": ("1",)}
    options |= _list_own_options(setting.insert, target) | _common(setting, timeout_s)
    return GivenCommand(name="insert", options=options)


def build_asked_command(
    setting: Setting,
    asked: Query | Mixed | Change,
    target: Target,
    given: Mapping[str, Any],
    timeout_s: float,
) -> GivenCommand:
    """Return a command on the rows of the insert; `asked` is one of the setting's."""
    (name,) = (kind for kind, each in setting.asked.items() if each is asked)
    options = _of_target(setting, target, given) | _list_own_options(asked, target)
    return GivenCommand(name=name, options=options | _common(setting, timeout_s))


def _list_own_options(options: Insert | Query | Mixed | Change, target: Target) -> _Stored:
    """Return what is not a default, without credentials."""
    commands = {
        name: target.options.redact(command)
        for name in ("before_run", *COMMANDS)
        if (command := getattr(options, name, None))
    }
    options = options.model_copy(update=commands)
    staged = isinstance(options, Mixed | Change) or options.stages
    return options.stored(*() if staged else ("workers",))


def _of_target(setting: Setting, target: Target, given: Mapping[str, Any]) -> _Stored:
    found = _list_stored_options({"target": target.name, **given, "runner": target.runner})
    own = setting.options_of(target.module).items()
    words = tuple(as_kept(key, value, target.options) for key, value in own)
    return found | ({"extra-option": words} if words else {})


def _common(setting: Setting, timeout_s: float) -> _Stored:
    timeout = {"timeout": f"{timeout_s:g}s"} if timeout_s else {}
    return _list_stored_options({**timeout, "resources": setting.resources})


def _list_stored_options(options: Mapping[str, Any]) -> _Stored:
    """Return options that were given; a tuple is an option that is given several times."""
    return {
        name.replace("_", "-"): value if value is True else _texts(value)
        for name, value in options.items()
        if value not in (None, False, ())
    }


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)
