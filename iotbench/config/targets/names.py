"""Options of a target under the original's names: read as ours, or refused with our name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iotbench.config.targets.originals import COMMAND_LINE, TARGETS, Name


def find_name(key: str, module: str) -> Name | None:
    """Return the row of a key of the original's targets; None if it had no such key."""
    for row in (*COMMAND_LINE, *TARGETS):
        if key in row.keys and (not row.modules or module in row.modules):
            return row
    return None


@dataclass(frozen=True, slots=True)
class Translated:
    """Options of a target under our names."""

    options: Mapping[str, Any]
    there: Mapping[str, str]
    """Our name -> the original's, where that was given."""
    problems: Mapping[str, str]
    """Key that cannot be translated -> why, and what to write instead."""


def translate(module: str, known: Mapping[str, Any], given: Mapping[str, Any]) -> Translated:
    """Return options under our names; `known` has the options of the module."""
    options: dict[str, Any] = {}
    there: dict[str, str] = {}
    problems: dict[str, str] = {}
    for key, value in given.items():
        row = find_name(key, module)
        if not row or (key in known and key != row.option):
            options[key] = value
        elif row.needless and str(value) == row.needless:
            continue
        elif row.option not in known:
            problems[key] = f"module {module} has no such option; here: {plain(row.here)}"
        elif key != row.option and row.option in given:
            problems[key] = f"is {row.option} here, which is given as well; leave out one of them"
        else:
            options[row.option] = row.values.get(str(value), value)
            there[row.option] = key
    return Translated(options, there, problems)


def plain(text: str) -> str:
    """Return text of the documentation without its markup, for a message."""
    return text.replace("`", "")
