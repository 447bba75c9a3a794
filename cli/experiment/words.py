"""The items of a plan as commands: what `insert`, `query` and `mixed` get to measure the same."""

from collections.abc import Iterator, Mapping
from typing import Any

from cli.experiment.records import Record
from cli.experiment.settings import MixedSetting, QuerySetting, Setting
from cli.input.parameters import instant
from cli.targets.config import Target, as_kept

_SECONDS = ("duration", "warmup", "retry_for")


def insert_words(
    setting: Setting, target: Target, given: Mapping[str, Any], timeout_s: float
) -> tuple[str, ...]:
    """Return the words of the insert; `given`: other options, by name without dashes."""
    insert = setting.insert
    words = ["insert", *_target_words(setting, target, given)]
    workers = None if insert.stages else insert.workers
    words += _words({"workers": workers, "runs": 1, **_given(insert, target), **insert.parameters})
    return (*words, *_common_words(setting, timeout_s))


def asked_words(
    setting: Setting,
    asked: QuerySetting | MixedSetting,
    target: Target,
    given: Mapping[str, Any],
    timeout_s: float,
) -> tuple[str, ...]:
    """Return the words of the queries on the rows of the insert, alone or beside inserts."""
    name, workers = "mixed", None
    if isinstance(asked, QuerySetting):
        name, workers = "query", None if asked.stages else asked.workers
    words = [name, *_target_words(setting, target, given)]
    words += _words({"workers": workers, **_given(asked, target)})
    return (*words, *_common_words(setting, timeout_s))


def _target_words(setting: Setting, target: Target, given: Mapping[str, Any]) -> Iterator[str]:
    yield from _words({"target": target.name, **given, "runner": target.runner})
    for key, value in setting.options_of(target.module).items():
        yield from ("--extra-option", as_kept(key, value, target.options))


def _common_words(setting: Setting, timeout_s: float) -> list[str]:
    timeout = {"timeout": f"{timeout_s:g}s"} if timeout_s else {}
    return [*_words({**timeout, "resources": setting.resources})]


def _given(record: Record, target: Target) -> dict[str, Any]:
    """Return what is not a default, by the names of the options, without credentials."""
    values = record.model_dump(
        mode="json", by_alias=True, exclude_defaults=True, exclude={"parameters"}
    )
    if queries := values.pop("queries", None):
        values["types"] = ",".join(queries)
    if own := values.pop("queries_file", None):
        values["queries"] = own["path"]
    if "start" in values:
        values["start-time"] = instant(values.pop("start"))
    if command := values.get("before_run"):
        values["before_run"] = target.options.redact(command)
    seconds = {name: f"{values[name]:g}s" for name in _SECONDS if name in values}
    return {**values, **seconds}


def _words(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield options and their values; a tuple is an option that is given several times."""
    for name, value in options.items():
        for each in value if isinstance(value, tuple) else (value,):
            if each is None or each is False:
                continue
            yield f"--{name.replace('_', '-')}"
            if each is not True:
                yield str(each)
