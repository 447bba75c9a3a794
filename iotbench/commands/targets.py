"""`targets`: list the targets and their abilities."""

import json
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Annotated, Any, ClassVar

import click

from iotbench.config.completion.words import complete_target
from iotbench.config.input.options import Opt
from iotbench.config.options.basic import Command, Configured, Format
from iotbench.config.options.declared import options_of
from iotbench.config.targets import config as configuration
from iotbench.config.targets.advice import SUFFIX
from iotbench.config.targets.packages import missing_packages
from iotbench.machine.streams import print_out, say, width_of
from iotbench.machine.tables import CellKind, TextTable, draw
from simulator.modules.contract import Database
from simulator.modules.evidence import evidence

_PLACES = {"local": "here", "kubernetes": "cluster"}
_BROKEN = "broken"
_MARK = "*"
_ADVISED = f"{_MARK} also as NAME{SUFFIX}, with the settings that its vendor advises"
_HINTS = (
    "draft: written from documentation, not verified on a server",
    "cluster: or here, with --runner local, on your own server; dbinstall/ installs one",
    "`targets NAME` and --format json show everything",
)


class _Options(Configured):
    """The configuration, and the output."""

    GROUP: ClassVar[str] = "Other options"

    form: Annotated[Format, Opt(choices=("table", "json"))] = "table"


@click.command(cls=Command)
@click.argument("name", required=False, shell_complete=complete_target)
@options_of(_Options)
def targets(*, name: str | None, options: _Options) -> None:
    """List the targets, or show one in full: target NAME, or a URL."""
    loaded, named = configuration.load_for([name] if name else [], options.config)
    chosen = named or loaded.targets
    broken = {} if name else loaded.find_broken()
    rows = [_row(key, loaded) for key in chosen if key not in broken]
    rows += [
        {
            "target": key,
            "module": _BROKEN,
            "runner": loaded.entry(key).get("runner", "kubernetes"),
            "insert_modes": {},
            "primary_keys": {},
            "verified_on": "-",
            "needs": "-",
            "draft": False,
            "broken": why,
        }
        for key, why in broken.items()
    ]
    if options.form == "json":
        say(json.dumps(rows, indent=1))
        return
    has_advised = any(key.endswith(SUFFIX) for key in chosen)
    hints = [*[_ADVISED] * has_advised, *_HINTS, *(f"broken: {why}" for why in broken.values())]
    print_out(
        draw(_details(rows[0]) if name else ["", _overview(rows), "", *hints], width_of(sys.stdout))
    )


def _overview(rows: list[dict[str, Any]]) -> TextTable:
    """Return a table with a line per module."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["module"], row["runner"]), []).append(row)
    table = TextTable(quiet=True)
    table.add_column("Targets", CellKind.TEXT)
    table.add_column("Verified on", CellKind.TEXT, drop=3)
    table.add_column("Runs", CellKind.TEXT, drop=2)
    table.add_column("Needs", CellKind.TEXT, drop=1)
    for (module, runner), (first, *others) in groups.items():
        named = [row["target"] for row in (first, *others)]
        advised = {name + SUFFIX for name in named} & {*named}
        names = ", ".join(
            name + _MARK * (name + SUFFIX in advised) for name in named if name not in advised
        )
        state = _BROKEN if module == _BROKEN else first["verified_on"]
        table.add_row(names, state, _PLACES.get(runner, runner), first["needs"])
    return table


def _details(row: dict[str, Any]) -> Iterator[TextTable | str]:
    """Yield tables with everything that is known about one target."""
    facts = ("module", "runner", "verified_on", "after_kill", "acknowledged")
    known = [(label.replace("_", " "), row[label]) for label in facts]
    yield from _describe("Target", row["target"], [*known, *(("limit", e) for e in row["limits"])])
    yield from _describe("Insert mode", "What it is", row["insert_modes"].items())
    yield from _describe("Primary key", "What it is", row["primary_keys"].items())
    yield from _describe("Option", "Meaning", row["options"].items())


def _describe(
    title: str, meaning: str, pairs: Iterable[tuple[str, str]]
) -> Iterator[TextTable | str]:
    table = TextTable(title, meaning)
    for pair in pairs:
        table.add_row(*pair)
    yield from ("", table)


@cache
def _needs(cls: type[Database]) -> str:
    """Return the server and the packages that must be added to measure a target."""
    packages = missing_packages(cls)
    needed = [] if cls.capabilities.embedded or not cls.capabilities.stores else ["a server"]
    needed += [f"package {', '.join(packages)}"] if packages else []
    return ", ".join(needed) or "nothing"


def _row(name: str, loaded: configuration.Config) -> dict[str, Any]:
    cls, entry = loaded.module_of(name), loaded.entry(name)
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
        "needs": _needs(cls),
        "limits": list(cls.capabilities.limits),
        "options": {
            key: field.description or "" for key, field in cls.options_model.model_fields.items()
        },
    }
