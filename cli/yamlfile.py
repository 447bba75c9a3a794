"""Reading a YAML file in which no key may be set twice."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from simulator.errors import ConfigError

_MERGE = "tag:yaml.org,2002:merge"


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file; ConfigError if it cannot be read or sets a key twice."""
    try:
        text = path.read_text()
        problems = [f"{path}: {problem}" for problem in _duplicates(yaml.compose(text), "", set())]
        if problems:
            raise ConfigError(problems)
        return yaml.safe_load(text)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"{path}: cannot be read: {reason}; --config names the file") from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date such as 2026-13-45
        raise ConfigError(f"{path}: is not YAML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise ConfigError(f"{path}: is nested too deeply") from error


def _duplicates(node: yaml.Node | None, place: str, visited: set[int]) -> Iterator[str]:
    """Yield a sentence for each key that a mapping sets twice, with both lines."""
    if node is None or id(node) in visited:  # an alias
        return
    visited.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _duplicates(item, place, visited)
    if not isinstance(node, yaml.MappingNode):
        return
    lines: dict[str, int] = {}
    for key, value in node.value:
        name, line = str(key.value), key.start_mark.line + 1
        here = f"{place}.{name}" if place else name
        if name in lines and key.tag != _MERGE:
            yield f"line {line}: {here} is already set in line {lines[name]}; remove one of them"
        lines[name] = line
        yield from _duplicates(value, here, visited)
