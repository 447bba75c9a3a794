"""`targets`: what can be measured, and what each can do."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from cli import config as configuration
from simulator.modules import database_class
from simulator.modules.evidence import evidence

_PIPE_WIDTH = 160


@click.command()
@click.argument("name", required=False)
@click.option(
    "--config",
    "-c",
    type=click.Path(path_type=Path),
    default="config.yaml",
    show_default=True,
    help="File with the targets.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("table", "json")),
    default="table",
    show_default=True,
    help="What to print.",
)
def targets(name: str | None, config: Path, form: str) -> None:
    """List the targets of the configuration, or tell all about the one called NAME."""
    loaded = configuration.load(config)
    chosen = [name] if name else loaded.targets
    rows = [_row(key, loaded.entry(key)) for key in chosen]
    if form == "json":
        click.echo(json.dumps(rows, indent=1))
        return
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    console = Console(highlight=False, markup=False, width=width)
    for table in _details(rows[0]) if name else [_overview(rows)]:
        console.print(table)


def _table(*titles: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")
    return table


def _overview(rows: list[dict[str, Any]]) -> Table:
    table = _table("Target", "Module", "Runner", "Insert modes", "Primary keys", "Verified on")
    for row in rows:
        modes, keys = ", ".join(row["insert_modes"]), ", ".join(row["primary_keys"])
        first = (row["target"], row["module"], row["runner"])
        table.add_row(*first, modes, keys, row["verified_on"])
    return table


def _details(row: dict[str, Any]) -> Iterator[Table]:
    """Yield everything that is known of one target, before anything is started."""
    facts = _table("Target", row["target"])
    for label in ("module", "runner", "verified_on", "after_kill", "acknowledged"):
        facts.add_row(label.replace("_", " "), row[label])
    for limit in row["limits"]:
        facts.add_row("limit", limit)
    yield facts
    for title, key in (("Insert mode", "insert_modes"), ("Primary key", "primary_keys")):
        table = _table(title, "What it is")
        for pair in row[key].items():
            table.add_row(*pair)
        yield table
    options = _table("Option", "Meaning")
    for pair in row["options"].items():
        options.add_row(*pair)
    yield options


def _row(name: str, entry: Any) -> dict[str, Any]:
    cls = database_class(entry["module"])
    found = evidence(entry["module"])
    stores = cls.capabilities.stores
    return {
        "target": name,
        "module": entry["module"],
        "runner": entry.get("runner", "kubernetes"),
        "insert_modes": dict(cls.capabilities.modes),
        "primary_keys": {key.value: how for key, how in cls.capabilities.primary_keys.items()},
        "multiple_tables": cls.capabilities.multiple_tables,
        "create_indices": cls.capabilities.indices,
        "verifiable": stores,
        "acknowledged": cls.capabilities.acknowledged,
        "verified_on": found.servers if stores else "no server",
        "after_kill": found.kill if stores else "-",
        "draft": stores and found.draft,
        "limits": list(cls.capabilities.limits),
        "options": {
            key: field.description or "" for key, field in cls.options_model.model_fields.items()
        },
    }
