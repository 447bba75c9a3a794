"""Generator of deployment/README.md: the chart's values, from the schema and values.yaml."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tools.tables import table

_CHART = Path(__file__).resolve().parents[1] / "deployment"
_START = """# The chart of a run

`run.py` installs this chart for each sweep and sets the values under `run`. Install it yourself
only for [a plan every night](../docs/cluster.md#every-night). Set the values below with
`--values FILE` or `--set KEY=VALUE`; `--dry-run` prints the manifests.
[docs/cluster.md](../docs/cluster.md) explains nodes, images and permissions; [ci](ci) has examples.

"""


def chart_readme() -> str:
    """Return the text of the README."""
    schema = json.loads((_CHART / "values.schema.json").read_text())
    text = (_CHART / "values.yaml").read_text()
    meanings, values = dict(_read_comments(text)), yaml.safe_load(text)
    rows = [
        (f"`{path}`", kind, f"`{json.dumps(default)}`", meanings.get(path, ""))
        for path, kind, default in _list_values(schema, schema["definitions"], values)
        if not path.startswith("run.")
    ]
    return f"{_START}{table(('Value', 'Type', 'Default', 'Meaning'), rows)}\n"


def _list_values(
    schema: Mapping[str, Any],
    definitions: Mapping[str, Any],
    values: Mapping[str, Any],
    of: str = "",
) -> Iterator[tuple[str, str, Any]]:
    """Yield path, type and default of each value; a map within a map counts as one value."""
    for name, declared in schema["properties"].items():
        child = definitions.get(declared.get("$ref", "").rpartition("/")[2], declared)
        if "properties" in child and not of:
            yield from _list_values(child, definitions, values[name], f"{name}.")
        else:
            yield f"{of}{name}", child.get("type", "string"), values[name]


def _read_comments(text: str) -> Iterator[tuple[str, str]]:
    """Yield each key of the first two levels, with the comment above the key."""
    comment: list[str] = []
    top = ""
    for line in text.splitlines():
        if found := re.fullmatch(r"( {0,2})# (.*)", line):
            comment.append(found[2])
        elif found := re.match(r"( {0,2})(\w+):", line):
            indent, name = found.groups()
            top = top if indent else name
            yield (f"{top}.{name}" if indent else name), " ".join(comment)
            comment = []
        else:
            comment = []
