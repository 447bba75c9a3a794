"""Writes the generated parts of docs/: `make docs` (`python -m tools.reference`).

A part lies between `<!-- name -->` and `<!-- /name -->`. A test compares it with the code.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import click

from iotbench.commands.main import commands
from iotbench.config.completion.words import TABLE
from iotbench.execution.kubernetes.permissions import (
    FOR_QUOTAS,
    FOR_RESOURCES,
    PERMISSIONS,
    Permission,
)
from iotbench.figures.figures import FIGURES
from iotbench.measurements import every_kind
from tools import modules
from tools.chart import chart_readme
from tools.completion import completion_table
from tools.dashboard import dashboard
from tools.schemas import config_schema, plan_schema, queries_schema, result_schema, workload_schema
from tools.tables import Row, table

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "databases"
"""The folder of a page for each module; its README is about all of them."""
DOCUMENTS = [
    *(ROOT / "docs" / f"{name}.md" for name in ("options", "results", "security")),
    *sorted(PAGES.glob("*.md")),
]
RESULT_SCHEMA = ROOT / "docs" / "result.schema.json"
GENERATED = {
    RESULT_SCHEMA: result_schema,
    ROOT / "docs" / "config.schema.json": config_schema,
    ROOT / "docs" / "plan.schema.json": plan_schema,
    ROOT / "docs" / "queries.schema.json": queries_schema,
    ROOT / "docs" / "workload.schema.json": workload_schema,
    ROOT / "docs" / "grafana.json": dashboard,
    TABLE: completion_table,
    ROOT / "deployment" / "README.md": chart_readme,
}
"""Path of a file -> function that returns the content of the file."""

# --- the command line


def every_command(group: click.Group = commands, before: str = "") -> dict[str, click.Command]:
    """Return name -> command, each once; the name of a command in a group includes the group."""
    found: dict[str, click.Command] = {}
    for name, command in group.commands.items():
        if before and command in commands.commands.values():
            continue
        found[f"{before}{name}"] = command
        if isinstance(command, click.Group):
            found |= every_command(command, f"{before}{name} ")
    return found


def _list_options() -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for name, command in every_command().items():
        context = click.Context(command)
        options = [each for each in command.params if isinstance(each, click.Option)]
        records = [option.get_help_record(context) for option in options]
        found[name] = [(f"`{r[0]}`", " ".join(r[1].split())) for r in records if r]
    return found


def _find_common(options: Mapping[str, Sequence[Row]]) -> dict[Row, list[str]]:
    """Return each option that several commands share -> their names."""
    owners: dict[Row, list[str]] = {}
    for name, rows in options.items():
        for row in rows:
            owners.setdefault(row, []).append(name)
    return {row: names for row, names in owners.items() if len(names) > 1}


def _list_common_options() -> str:
    """Return the table; an option with several meanings names the commands of each."""
    shared = _find_common(_list_options())
    meanings = Counter(_find_long_name(option) for option, _ in shared)
    rows = (
        (
            option,
            f"{what} (`{'`, `'.join(names)}`)" if meanings[_find_long_name(option)] > 1 else what,
        )
        for (option, what), names in shared.items()
    )
    return table(("Option", "Meaning"), rows)


def _describe_commands() -> str:
    options = _list_options()
    shared = _find_common(options)
    return "\n\n".join(_describe_command(name, options[name], shared) for name in every_command())


def _describe_command(name: str, options: Sequence[Row], shared: Mapping[Row, object]) -> str:
    command = every_command()[name]
    usage = " ".join(command.collect_usage_pieces(click.Context(command)))
    parts = [f"## {name}", f"`python run.py {name} {usage}`", _join_paragraphs(command.help or "")]
    own = [row for row in options if row not in shared]
    if own:
        parts.append(table(("Option", "Meaning"), own))
    common = [f"`{_find_long_name(row[0])}`" for row in options if row in shared]
    if common:
        parts.append(f"[Common options](#common-options): {', '.join(common)}.")
    return "\n\n".join(parts)


def _find_long_name(names: str) -> str:
    return next(word for word in re.split(r"[ ,`]+", names) if word.startswith("--"))


def _join_paragraphs(text: str) -> str:
    blocks = re.sub(r"\x08|\\b\b", "", text).split("\n\n")
    return "\n\n".join(" ".join(block.split()) for block in blocks)


def _list_exit_codes() -> str:
    found = re.findall(r"^ +(\d+) +(.+)$", commands.epilog or "", re.MULTILINE)
    return table(("Exit code", "Meaning"), found)


# --- the documents


def _list_permissions(permissions: Iterable[Permission]) -> str:
    rows = ((f"`{p.shown}`", ", ".join(p.verbs), p.why) for p in permissions)
    return table(("Resource", "Verbs", "For"), rows)


def _list_figures() -> str:
    subjects = {each.name: each for kind in every_kind() for each in kind.subjects}
    by_subject = [(name, each.figures) for name, each in subjects.items()]
    rows = (
        (
            f"`{name}`",
            figure.unit.value,
            figure.better.value,
            ", ".join(subject for subject, figures in by_subject if name in figures),
            figure.meaning,
        )
        for name, figure in FIGURES.items()
    )
    return table(("Figure", "Unit", "Better", "Of rows by", "Meaning"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "common options": _list_common_options,
    "commands": _describe_commands,
    "exit codes": _list_exit_codes,
    **modules.PARTS,
    "figures": _list_figures,
    "permissions": lambda: _list_permissions((*PERMISSIONS, *FOR_QUOTAS)),
    "permissions for resources": partial(_list_permissions, FOR_RESOURCES),
}


def renew(text: str) -> str:
    """Return a document in which the generated parts are renewed."""
    for name, make in PARTS.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        if pattern.search(text):
            fresh = f"{begin}\n{make()}\n{end}"
            text = pattern.sub(lambda _, fresh=fresh: fresh, text)  # type: ignore[misc]
    return text


if __name__ == "__main__":
    for path in DOCUMENTS:
        path.write_text(renew(path.read_text()))
    for schema, make in GENERATED.items():
        schema.write_text(make())
