"""Generator of the parts of docs/databases/: what modules can do, and the options of each."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from iotbench.config.targets.config import load
from iotbench.config.targets.packages import find_extras
from iotbench.config.targets.urls import forms_of
from simulator.data.schema import PrimaryKey
from simulator.modules import MODULES, database_class
from simulator.modules.contract import (
    DRIVER,
    IMPORT,
    PREFILL_ROWS,
    Capabilities,
    Database,
    list_products,
)
from simulator.modules.evidence import evidence
from tools.settings import describe_settings
from tools.tables import Row, table


def link(name: str) -> str:
    """Return a link to the page of a module."""
    return f"[{name}]({name}.md)"


def _format_default(field: FieldInfo) -> str:
    value = field.get_default()
    if field.is_required():
        return "required"
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return "`***`" if isinstance(value, SecretStr) else f"`{value}`"


def _list_modules() -> str:
    rows = []
    for module in MODULES:
        can, found = database_class(module).capabilities, evidence(module)
        rows.append(
            (
                link(module),
                ", ".join(can.modes),
                ", ".join(key for key in PrimaryKey if key in can.primary_keys),
                found.servers if can.stores else "no server",
                found.kill if can.stores else "-",
            )
        )
    headings = ("Module", "Insert modes", "Primary keys", "Verified on", "After kill -9")
    return table(headings, rows)


def _list_urls() -> str:
    rows = ((link(module), *_find_url(module)) for module in MODULES)
    return table(("Module", "URL", "Credentials"), rows)


def _find_url(module: str) -> Row:
    """Return the URLs of a module, and the variables of its credentials."""
    cls = database_class(module)
    names = dict.fromkeys(each for form in forms_of(cls) for each in form.variables.values())
    return tuple(", ".join(f"`{text}`" for text in each) or "-" for each in (cls.urls, names))


def _list_abilities() -> str:
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
            not can.unsupported,
            database.texts is not Database.texts,
            can.plans,
            DRIVER in can.modes,
            IMPORT in can.modes,
            not database.no_statements,
        )
        if can.stores:
            rows.append((link(module), *("yes" if each else "-" for each in has)))
    headings = (
        "Module", "Corrects", "Updates tags", "Deletes", "Drops", "Aggregates", "Fresh at once",
        "All queries", "Own queries", "Query plans", "Driver", "Import", "Setup",
    )  # fmt: skip
    return table(headings, rows)


def _describe_module(module: str) -> str:
    """Return the generated sections of the page of a module."""
    can = database_class(module).capabilities
    sections = {
        "Connection": _describe_connection(module),
        "Options": _list_options(module),
        "Insert modes": _describe_modes(can),
        "Primary keys": _describe_keys(can) if can.stores else "",
        "Settings": describe_settings(module),
        "Durability": _describe_durability(can),
        "Evidence": _describe_evidence(module) if can.stores else "",
        "Queries and changes": _describe_abilities(can) if can.stores else "",
        "Limits": _describe_limits(can),
    }
    return "\n\n".join(f"## {title}\n\n{text}" for title, text in sections.items() if text)


def _describe_connection(module: str) -> str:
    extras = ",".join(find_extras(database_class(module)))
    targets = (f"`{name}`" for name, each in load().targets.items() if each["module"] == module)
    rows = [*zip(("URL", "Credentials"), _find_url(module), strict=True)]
    rows.append(("Targets in `config.yaml`", ", ".join(targets)))
    rows.append(("Python packages", f"`pip install -e '.[{extras}]'`" if extras else "-"))
    return "\n".join(f"- {name}: {text}" for name, text in rows if text != "-")


def _list_options(module: str) -> str:
    fields = database_class(module).options_model.model_fields
    rows = (
        (f"`{name}`", _format_default(field), field.description or "")
        for name, field in fields.items()
    )
    return table(("Option", "Default", "Meaning"), rows)


def _describe_modes(can: Capabilities) -> str:
    modes = table(("Insert mode", "One batch is"), can.modes.items())
    if can.prefill_rows == PREFILL_ROWS:
        return modes
    return f"{modes}\n\n`--prefill` sends batches of at least {can.prefill_rows:,} rows."


def _describe_keys(can: Capabilities) -> str:
    rows = ((key.value, how) for key, how in can.primary_keys.items())
    return table(("Primary key", "How it is generated"), rows)


def _describe_durability(can: Capabilities) -> str:
    late = f"\n\nA later answer may lack the row, because {can.late}." if can.late else ""
    return f"Acknowledged means: {can.acknowledged}.{late}"


def _describe_evidence(module: str) -> str:
    found = evidence(module)
    rows = (
        (f"`{each.target}`", each.server, str(each.cases), each.kill, str(each.date), each.remark)
        for each in found.records
    )
    parts = ["Draft: not verified on the database itself."] if found.draft else []
    if found.records:
        headings = ("Settings", "Verified on", "Cases passed", "After kill -9", "Date", "Note")
        parts.append(table(headings, rows))
    return "\n\n".join([*parts, _list_versions(module)])


def _list_versions(module: str) -> str:
    """Return the versions of each product that a module was tried with, accepts and asks for."""
    can, found = database_class(module).capabilities, evidence(module)
    known = (found.versions, can.oldest, can.by_version, list_products(module))
    rows = []
    for product in dict.fromkeys(chain(*known)):
        tried = ", ".join(found.versions.get(product, ())) or "never"
        accepted = ".".join(map(str, can.oldest.get(product, ()))) or "any"
        rows.append((product, tried, accepted, can.by_version.get(product, "-")))
    headings = ("Product", "Tried with", "Oldest accepted", "Uses, and some versions lack")
    return table(headings, rows)


def _describe_abilities(can: Capabilities) -> str:
    found, keys = can.changes, " or ".join(f"`{key}`" for key in sorted(can.changes.keys))
    corrects = f"{found.corrects}; key {keys}" * bool(found.corrects)
    rows = (
        ("corrects rows by", corrects, found.no_corrections),
        ("updates tags by", found.retags, found.no_retags),
        ("deletes rows by", found.deletes, found.no_deletion),
        ("drops old rows by", found.drops, found.no_retention),
        ("explains queries by", can.plans, can.no_plans),
    )
    shown = [(what, way or f"no: {why}") for what, way, why in rows]
    # What a module does not declare, it leaves to the server and its driver.
    shown += [("computes in the client", can.in_client)] if can.in_client else []
    return table(("The module", "How"), shown)


def _describe_limits(can: Capabilities) -> str:
    parts = ["\n".join(f"- {limit}" for limit in can.limits)] if can.limits else []
    rows = [(f"queries for {each}", why) for each, why in can.unsupported.items()]
    rows += [(f"{what}, by {level}", why) for level, what, why in _list_unseen(can)]
    parts += [table(("Not available", "Because"), rows)] if rows else []
    return "\n\n".join(parts)


def _list_unseen(can: Capabilities) -> Iterator[Row]:
    """Yield (level, what, why) of differences that a verification does not see."""
    if can.no_time_sums:
        yield "`--verify counts`", "sums of times", can.no_time_sums
    if can.no_wide_sums:
        yield "`--verify counts`", "sums of integers beyond 64 bits", can.no_wide_sums
    for two, why in can.alike.items():
        yield "`--verify full`", f"the difference between {two}", why


PARTS: dict[str, Callable[[], str]] = {
    "contents": _list_modules,
    "urls": _list_urls,
    "abilities": _list_abilities,
    **{module: partial(_describe_module, module) for module in MODULES},
}
