"""`targets`: what can be measured, and what each can do."""

import json
import sys
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from cli import config as configuration
from simulator.modules import database_class

_PIPE_WIDTH = 160


@click.command()
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
def targets(config: Path, form: str) -> None:
    """List the targets of the configuration with their modules and capabilities."""
    loaded = configuration.load(config)
    rows = [_row(name, entry) for name, entry in loaded.targets.items()]
    if form == "json":
        click.echo(json.dumps(rows, indent=1))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in (
        "Target",
        "Module",
        "Runner",
        "Insert modes",
        "Primary keys",
        "Verified against",
        "Options",
    ):
        table.add_column(title, overflow="fold")
    for row in rows:
        modes, keys, options = (
            ", ".join(row[key]) for key in ("insert_modes", "primary_keys", "options")
        )
        first = (row["target"], row["module"], row["runner"])
        table.add_row(*first, modes, keys, row["verified_against"], options)
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    Console(highlight=False, width=width).print(table)


def _row(name: str, entry: Any) -> dict[str, Any]:
    cls = database_class(entry["module"])
    return {
        "target": name,
        "module": entry["module"],
        "runner": entry.get("runner", "kubernetes"),
        "insert_modes": list(cls.capabilities.modes),
        "primary_keys": [key.value for key in cls.capabilities.primary_keys],
        "multiple_tables": cls.capabilities.multiple_tables,
        "create_indices": cls.capabilities.indices,
        "verifiable": cls.capabilities.stores,
        "acknowledged": cls.capabilities.acknowledged,
        "verified_against": cls.capabilities.verified_against,
        "options": {
            key: field.description or "" for key, field in cls.options_model.model_fields.items()
        },
    }
