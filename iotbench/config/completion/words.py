"""Completions of targets, results and queries; this file imports little."""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from iotbench.machine.program import find_shipped
from iotbench.results.names import results_in

TABLE = Path(__file__).with_name("commands.json")
_CONFIG = "config.yaml"
_MOST = 200
"""Maximum number of results offered; the first characters of an ID select other results."""


@cache
def table() -> dict[str, Any]:
    """Return the table of commands and queries that `tools.reference` writes."""
    found: dict[str, Any] = json.loads(TABLE.read_text())
    return found


def complete_target(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the targets of the configuration."""
    import yaml  # noqa: PLC0415 - other completions need no YAML

    given = ctx.params.get("config")
    path = Path(given) if given else Path(_CONFIG)
    if not given and not path.exists():
        path = find_shipped(_CONFIG)
    try:
        names = [*yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)["targets"]]
    except Exception:  # noqa: BLE001 - the command itself says what is wrong with the file
        return []
    return _list(map(str, names), incomplete)


def complete_result(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return files, or IDs of results with the newest first."""
    if "/" in incomplete or incomplete.startswith((".", "~")):
        return [CompletionItem(incomplete, type="file")]
    folder = Path(ctx.params.get("output") or "results")
    found = [CompletionItem("last", help="the newest")] if "last".startswith(incomplete) else []
    for each in results_in(folder):
        if len(found) == _MOST:
            break
        if each.id.startswith(incomplete):
            found.append(CompletionItem(each.id, help=f"{each.kind} {each.target}".strip()))
    return found


def complete_query(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the queries of all workloads."""
    return _list(table()["queries"], incomplete)


def _list(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Return the names that complete the last word of a comma-separated list."""
    before, comma, word = incomplete.rpartition(",")
    given = {*before.split(",")}
    return [
        CompletionItem(f"{before}{comma}{name}")
        for name in names
        if name.startswith(word) and name not in given
    ]
