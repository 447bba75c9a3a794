"""The parts of the README that are made from the code: `python -m cli.reference` rewrites them.

Each part stands between `<!-- name -->` and `<!-- /name -->`; a test compares them with the code.
"""

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click

from cli.commands.insert import insert
from cli.commands.query import query
from simulator.modules import MODULES, database_class
from simulator.schema import PrimaryKey

README = Path(__file__).resolve().parents[1] / "README.md"


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _options_of(command: click.Command) -> str:
    context = click.Context(command)
    rows = []
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record:
            names, text = record
            rows.append((f"`{names}`", " ".join(text.split())))
    return _table(("Option", "Meaning"), rows)


def _module_options() -> str:
    rows = []
    for module in MODULES:
        for name, field in database_class(module).options_model.model_fields.items():
            default = "required" if field.is_required() else f"`{field.get_default()}`"
            rows.append((module, f"`{name}`", default, field.description or ""))
    return _table(("Module", "Option", "Default", "Meaning"), rows)


def _support() -> str:
    rows = []
    for module in MODULES:
        can = database_class(module).capabilities
        rows.append(
            (
                module,
                ", ".join(can.modes),
                ", ".join(key for key in PrimaryKey if key in can.primary_keys),
                "single, multiple" if can.multiple_tables else "single",
                "counts, full" if can.stores else "-",
                can.verified_against,
            )
        )
    headings = ("Module", "Insert modes", "Primary keys", "Tables", "Verify", "Verified against")
    return _table(headings, rows)


PARTS: dict[str, Callable[[], str]] = {
    "insert options": lambda: _options_of(insert),
    "query options": lambda: _options_of(query),
    "module options": _module_options,
    "support matrix": _support,
}


def renewed(text: str) -> str:
    """Return a document with every generated part made anew."""
    for name, make in PARTS.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        fresh = f"{begin}\n{make()}\n{end}".replace("\\", r"\\")
        text, found = pattern.subn(fresh, text)
        if found != 1:
            sys.exit(f"{README}: expected {begin} ... {end} once, found it {found} times")
    return text


if __name__ == "__main__":
    README.write_text(renewed(README.read_text()))
