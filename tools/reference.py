"""The generated parts of docs/: `make docs` (`python -m tools.reference`) rewrites them.

Each part is between `<!-- name -->` and `<!-- /name -->`; a test compares them with the code.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import click
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from iotbench.commands.main import commands
from iotbench.config.completion.words import TABLE
from iotbench.config.targets import originals
from iotbench.config.targets.advice import Amount, SettingsChoice, Value, advice
from iotbench.config.targets.packages import find_extras
from iotbench.config.targets.urls import forms_of, variable
from iotbench.execution.kubernetes.permissions import FOR_RESOURCES, PERMISSIONS, Permission
from iotbench.figures.figures import FIGURES
from iotbench.measurements import every_kind
from simulator.data.features import Feature
from simulator.data.schema import PrimaryKey
from simulator.modules import MODULES, database_class
from simulator.modules.contract import DRIVER, IMPORT, PREFILL_ROWS, Capabilities, Changes, Database
from simulator.modules.evidence import evidence
from tools.completion import completion_table
from tools.schemas import config_schema, plan_schema, queries_schema, result_schema, workload_schema

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    ROOT / "docs" / f"{name}.md"
    for name in ("benchmarks", "databases", "options", "results", "security")
]


RESULT_SCHEMA = ROOT / "docs" / "result.schema.json"
GENERATED = {
    RESULT_SCHEMA: result_schema,
    ROOT / "docs" / "config.schema.json": config_schema,
    ROOT / "docs" / "plan.schema.json": plan_schema,
    ROOT / "docs" / "queries.schema.json": queries_schema,
    ROOT / "docs" / "workload.schema.json": workload_schema,
    TABLE: completion_table,
}
"""File -> what makes it."""

_SHARED = 2
"""Number of commands or modules from which a shared option is described once."""
_Row = tuple[str, ...]


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _list_shared(options: Mapping[str, Sequence[_Row]]) -> dict[_Row, list[str]]:
    """Return the rows that several owners have in common, with the owners' names."""
    owners: dict[_Row, list[str]] = {}
    for name, rows in options.items():
        for row in rows:
            owners.setdefault(row, []).append(name)
    return {row: names for row, names in owners.items() if len(names) >= _SHARED}


def _link(name: str) -> str:
    return f"[{name}](#{name})"


# --- the command line


def every_command(group: click.Group = commands, before: str = "") -> dict[str, click.Command]:
    """Return the commands by name, each once; commands of a group by both names."""
    found: dict[str, click.Command] = {}
    for name, command in group.commands.items():
        if before and command in commands.commands.values():
            continue
        found[f"{before}{name}"] = command
        if isinstance(command, click.Group):
            found |= every_command(command, f"{before}{name} ")
    return found


def _command_options() -> dict[str, list[_Row]]:
    found: dict[str, list[_Row]] = {}
    for name, command in every_command().items():
        context = click.Context(command)
        options = [each for each in command.params if isinstance(each, click.Option)]
        records = [option.get_help_record(context) for option in options]
        found[name] = [(f"`{r[0]}`", " ".join(r[1].split())) for r in records if r]
    return found


def _list_shared_command_options() -> str:
    rows = ((*row, ", ".join(names)) for row, names in _list_shared(_command_options()).items())
    return _table(("Option", "Meaning", "Commands"), rows)


def _commands() -> str:
    options = _command_options()
    shared = _list_shared(options)
    return "\n\n".join(_command(name, options[name], shared) for name in every_command())


def _command(name: str, options: Sequence[_Row], shared: Mapping[_Row, object]) -> str:
    command = every_command()[name]
    usage = " ".join(command.collect_usage_pieces(click.Context(command)))
    parts = [f"## {name}", f"`python run.py {name} {usage}`", _paragraphs(command.help or "")]
    own = [row for row in options if row not in shared]
    if own:
        parts.append(_table(("Option", "Meaning"), own))
    common = [f"`{_long(row[0])}`" for row in options if row in shared]
    if common:
        parts.append(f"[Common options](#common-options): {', '.join(common)}.")
    return "\n\n".join(parts)


def _long(names: str) -> str:
    """Return the long name of an option, without its short one and its value."""
    return next(word for word in re.split(r"[ ,`]+", names) if word.startswith("--"))


def _paragraphs(text: str) -> str:
    blocks = re.sub(r"\x08|\\b\b", "", text).split("\n\n")
    return "\n\n".join(" ".join(block.split()) for block in blocks)


def _exit_codes() -> str:
    found = re.findall(r"^ +(\d+) +(.+)$", commands.epilog or "", re.MULTILINE)
    return _table(("Exit code", "Meaning"), found)


# --- the databases


def _module_options() -> dict[str, list[_Row]]:
    found: dict[str, list[_Row]] = {}
    for module in MODULES:
        fields = database_class(module).options_model.model_fields
        found[module] = [
            (f"`{name}`", _default(field), field.description or "")
            for name, field in fields.items()
        ]
    return found


def _default(field: FieldInfo) -> str:
    """Return an option's default as config.yaml would have it."""
    value = field.get_default()
    if field.is_required():
        return "required"
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return "`***`" if isinstance(value, SecretStr) else f"`{value}`"


def _list_shared_module_options() -> str:
    rows = ((*row, ", ".join(names)) for row, names in _list_shared(_module_options()).items())
    return _table(("Option", "Default", "Meaning", "Modules"), rows)


def _contents() -> str:
    rows = []
    for module in MODULES:
        can, found = database_class(module).capabilities, evidence(module)
        rows.append(
            (
                _link(module),
                ", ".join(can.modes),
                ", ".join(key for key in PrimaryKey if key in can.primary_keys),
                "one, several" if can.multiple_tables else "one",
                found.servers if can.stores else "no server",
                found.kill if can.stores else "-",
            )
        )
    headings = ("Module", "Insert modes", "Primary keys", "Tables", "Verified on", "After kill -9")
    return _table(headings, rows)


def _urls() -> str:
    """Return the URLs of the modules, and the variables of the credential that each asks for."""
    rows = []
    for module in MODULES:
        cls = database_class(module)
        known = [each for each in ("password", "token") if each in cls.options_model.credentials()]
        names = [variable(next(forms_of(cls)).base, each) for each in known]
        rows.append((_link(module), *(_listed(each) for each in (cls.urls, names))))
    return _table(("Module", "URL", "Credentials"), rows)


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(f"`{text}`" for text in texts) or "-"


def _abilities() -> str:
    rows = []
    for module in MODULES:
        database = database_class(module)
        can = database.capabilities
        has = (
            can.changes.corrects,
            can.changes.retags,
            can.changes.deletes,
            can.changes.drops,
            database.from_aggregates is not Database.from_aggregates,
            not can.late,
            database.texts is not Database.texts,
            can.plans,
            DRIVER in can.modes,
            IMPORT in can.modes,
            not database.no_statements,
        )
        if can.stores:
            rows.append((_link(module), *("yes" if each else "-" for each in has)))
    headings = (
        "Module", "Corrects", "Updates tags", "Deletes", "Drops", "Aggregates", "Fresh at once",
        "Own queries", "Query plans", "Driver", "Import", "Setup",
    )  # fmt: skip
    return _table(headings, rows)


def _modules() -> str:
    options = _module_options()
    shared = _list_shared(options)
    return "\n\n".join(_module(module, options[module], shared) for module in MODULES)


def _module(module: str, options: Sequence[_Row], shared: Mapping[_Row, object]) -> str:
    can = database_class(module).capabilities
    needs = _oldest(can.oldest) + _extras(module)
    parts = [f"## {module}", f"Acknowledged means: {can.acknowledged}.{needs}"]
    parts += [_evidence(module)] if can.stores else []
    parts.append(_table(("Insert mode", "One batch is"), can.modes.items()))
    if can.stores:
        parts.append(_keys(can))
    if can.prefill_rows != PREFILL_ROWS:
        parts.append(f"`--prefill` sends batches of at least {can.prefill_rows:,} rows.")
    if can.limits:
        parts.append("\n".join(f"- {limit}" for limit in can.limits))
    own = [row for row in options if row not in shared]
    if own:
        parts.append(_table(("Option", "Default", "Meaning"), own))
    common = [row[0] for row in options if row in shared]
    if common:
        parts.append(f"[Shared options](#shared-options): {', '.join(common)}.")
    return "\n\n".join(parts)


def _keys(can: Capabilities) -> str:
    keys = ((key.value, how) for key, how in can.primary_keys.items())
    return _table(("Primary key", "How it is generated"), keys)


def _evidence(module: str) -> str:
    found = evidence(module)
    if not found.records:
        return "Draft: no evidence of the contract suite."
    rows = (
        (each.server, str(each.cases), each.kill, each.date.isoformat(), each.remark)
        for each in found.records
    )
    table = _table(("Verified on", "Cases passed", "After kill -9", "Date", "Note"), rows)
    return f"Draft: verified on stand-ins only.\n\n{table}" if found.draft else table


def _oldest(products: Mapping[str, tuple[int, ...]]) -> str:
    needed = (f"{name} {'.'.join(map(str, version))}" for name, version in products.items())
    return f" Needs at least {' or '.join(needed)}." if products else ""


def _extras(module: str) -> str:
    names = ",".join(find_extras(database_class(module)))
    return f" Needs `pip install -e '.[{names}]'`." if names else ""


# --- the documents


def _permissions(permissions: Iterable[Permission] = PERMISSIONS) -> str:
    rows = ((f"`{p.shown}`", ", ".join(p.verbs), p.why) for p in permissions)
    return _table(("Resource", "Verbs", "For"), rows)


def _describe_unsupported() -> str:
    owners: dict[tuple[str, str], list[str]] = {}
    for feature in Feature:
        for module in MODULES:
            reason = database_class(module).capabilities.unsupported.get(feature)
            if reason:
                owners.setdefault((feature.value, reason), []).append(_link(module))
    rows = ((feature, ", ".join(names), why) for (feature, why), names in owners.items())
    return _table(("Queries for", "Not answered by", "Because"), rows)


def _left_out() -> str:
    owners: dict[tuple[str, str, str], list[str]] = {}
    for module in MODULES:
        can = database_class(module).capabilities
        for level, what, why in (
            ("`counts`", "sums of times", can.no_time_sums),
            ("`counts`", "sums of integers beyond 64 bits", can.no_wide_sums),
            *(("`full`", f"the difference between {two}", can.alike[two]) for two in can.alike),
        ):
            if why:
                owners.setdefault((level, what, why), []).append(_link(module))
    rows = (
        (level, what, ", ".join(names), why) for (level, what, why), names in sorted(owners.items())
    )
    return _table(("`--verify`", "Does not see", "In", "Because"), rows)


def _in_client() -> str:
    owners: dict[str, list[str]] = {}
    for module in MODULES:
        does = database_class(module).capabilities.in_client
        if does:
            owners.setdefault(does, []).append(_link(module))
    rows = ((", ".join(names), does) for does, names in owners.items())
    return _table(("Module", "The client"), rows)


def _query_plans() -> str:
    owners: dict[str, list[str]] = {}
    for module in MODULES:
        can = database_class(module).capabilities
        owners.setdefault(can.plans or f"none: {can.no_plans}", []).append(_link(module))
    rows = ((", ".join(names), asked) for asked, names in owners.items())
    return _table(("Module", "Asks for"), rows)


def _late() -> str:
    classes = {module: database_class(module) for module in MODULES}
    rows = [
        (_link(module), each.capabilities.late)
        for module, each in classes.items()
        if each.capabilities.late
    ]
    return _table(("Module", "A later answer may lack the row, because"), rows)


def _changes() -> str:
    usual, rows = Changes(), []
    for module in MODULES:
        can = database_class(module).capabilities
        found, keys = can.changes, " or ".join(f"`{key}`" for key in sorted(can.changes.keys))
        cells = (
            (f"{found.corrects}; key {keys}" * bool(found.corrects), "no_corrections"),
            (found.retags, "no_retags"),
            (found.deletes, "no_deletion"),
            (found.drops, "no_retention"),
        )
        if can.stores:
            texts = (way or _why_not(found, usual, name) for way, name in cells)
            rows.append((_link(module), *texts))
    return _table(("Module", "Corrects by", "Updates tags by", "Deletes by", "Its own way"), rows)


def _why_not(found: Changes, usual: Changes, name: str) -> str:
    """Return why rows are not changed, if that is more than that the module does not do it."""
    reason: str = getattr(found, name)
    return "-" if reason == getattr(usual, name) else f"no: {reason}"


def _figures() -> str:
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
    return _table(("Figure", "Unit", "Better", "Of rows by", "Meaning"), rows)


def _settings() -> str:
    """Return both sets of settings of each target, and the databases that have one set."""
    rows, single, beyond = [], [], []
    for target, own in advice().items():
        for name, each in {**own.server, **own.options}.items():
            values = [_value(each.value(choice)) for choice in SettingsChoice]
            values[1] = values[1] if each.differs else "the same"
            where = "target" if name in own.options else "server"
            note = f"; {each.note}" if each.note else ""
            source = f"[documentation]({each.source}){note}"
            rows.append((own.product, f"`{target}`", f"`{name}`", where, *values, source))
        single += [f"- {own.product}: {own.nothing}."] if own.nothing else []
        beyond += [f"- {own.product}, {name}: {why}." for name, why in own.beyond.items()]
    headings = ("Database", "Target", "Setting", "Of the", "As installed", "As advised", "Source")
    return "\n\n".join(
        [
            _table(headings, rows),
            "One set only:\n\n" + "\n".join(single),
            "Advised, and in no set:\n\n" + "\n".join(beyond),
        ]
    )


def _value(value: Value) -> str:
    if isinstance(value, Amount):
        return value.describe()
    if value in (None, ""):
        return "-"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _names(rows: Iterable[originals.Name]) -> str:
    return _table(("There", "Here"), ((row.there, row.here) for row in rows))


PARTS: dict[str, Callable[[], str]] = {
    "common options": _list_shared_command_options,
    "commands": _commands,
    "exit codes": _exit_codes,
    "contents": _contents,
    "urls": _urls,
    "shared options": _list_shared_module_options,
    "modules": _modules,
    "unsupported queries": _describe_unsupported,
    "not seen": _left_out,
    "work in the client": _in_client,
    "query plans": _query_plans,
    "late rows": _late,
    "changes of rows": _changes,
    "figures": _figures,
    "settings": _settings,
    "abilities": _abilities,
    "permissions": _permissions,
    "permissions for resources": partial(_permissions, FOR_RESOURCES),
    **{f"names of {name}": partial(_names, rows) for name, rows in originals.TABLES.items()},
}


def renew(text: str) -> str:
    """Return a document with its generated parts up to date."""
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
