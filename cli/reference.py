"""The documentation that is made from the code: `python -m cli.reference` rewrites it.

That is DATABASES.md, and in the README each part between `<!-- name -->` and `<!-- /name -->`.
A test compares both with the code.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import click

from cli.commands.insert import insert
from cli.commands.query import query
from simulator.data.schema import PrimaryKey
from simulator.modules import MODULES, database_class

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
DATABASES = ROOT / "DATABASES.md"


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


def databases() -> str:
    """Return the document that says of every module what it does and which options it has."""
    intro = (
        "Made from the code by `make docs`. Options stand in a target of `config.yaml`, or are"
        " given as `--extra-option KEY=VALUE`; `python run.py targets NAME` shows one target's."
        " [dbinstall/](dbinstall/README.md) says how each database is installed."
    )
    return "\n\n".join(["# Databases", intro, *map(_module, MODULES)]) + "\n"


def _module(module: str) -> str:
    cls = database_class(module)
    can = cls.capabilities
    parts = [
        f"## {module}",
        f"Verified against: {can.verified_against}. Acknowledged means: {can.acknowledged}."
        + _oldest(can.oldest),
        _table(("Insert mode", "What one send is"), can.modes.items()),
    ]
    if can.stores:
        keys = ((key.value, how) for key, how in can.primary_keys.items())
        parts.append(_table(("Primary key", "How it is made"), keys))
    if can.limits:
        parts.append("\n".join(f"- {limit}" for limit in can.limits))
    options = [
        (
            f"`{name}`",
            "required" if field.is_required() else f"`{field.get_default()}`",
            field.description or "",
        )
        for name, field in cls.options_model.model_fields.items()
    ]
    parts.append(_table(("Option", "Default", "Meaning"), options))
    return "\n\n".join(parts)


def _oldest(products: Mapping[str, tuple[int, ...]]) -> str:
    needed = (f"{name} {'.'.join(map(str, version))}" for name, version in products.items())
    return f" Needs at least {' or '.join(needed)}." if products else ""


_KEPT = {True: "all kept", False: "some lost", None: "not tried"}


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
                _KEPT[can.kept_after_kill] if can.stores else "-",
                can.verified_against,
            )
        )
    headings = (
        "Module", "Insert modes", "Primary keys", "Tables", "Verify", "After kill -9",
        "Verified against",
    )  # fmt: skip
    return _table(headings, rows)


PARTS: dict[str, Callable[[], str]] = {
    "insert options": lambda: _options_of(insert),
    "query options": lambda: _options_of(query),
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
    DATABASES.write_text(databases())
