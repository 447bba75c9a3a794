"""Generator of the parts of docs/ about databases: options, abilities and limits of modules."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from iotbench.config.targets.packages import find_extras
from iotbench.config.targets.urls import forms_of, variable
from simulator.data.features import Feature
from simulator.data.schema import PrimaryKey
from simulator.modules import MODULES, database_class
from simulator.modules.contract import (
    DRIVER,
    IMPORT,
    PREFILL_ROWS,
    Capabilities,
    Changes,
    Database,
    list_products,
)
from simulator.modules.evidence import evidence

_SHARED = 2
"""Number of commands or modules from which on a shared option is described only once."""
Row: TypeAlias = tuple[str, ...]


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def list_shared(options: Mapping[str, Sequence[Row]]) -> dict[Row, list[str]]:
    """Return each row that several owners share -> the names of the owners."""
    owners: dict[Row, list[str]] = {}
    for name, rows in options.items():
        for row in rows:
            owners.setdefault(row, []).append(name)
    return {row: names for row, names in owners.items() if len(names) >= _SHARED}


def link(name: str) -> str:
    """Return a link to a heading."""
    return f"[{name}](#{name})"


def _list_options() -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for module in MODULES:
        fields = database_class(module).options_model.model_fields
        found[module] = [
            (f"`{name}`", _format_default(field), field.description or "")
            for name, field in fields.items()
        ]
    return found


def _format_default(field: FieldInfo) -> str:
    value = field.get_default()
    if field.is_required():
        return "required"
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return "`***`" if isinstance(value, SecretStr) else f"`{value}`"


def tabulate_shared(options: Mapping[str, Sequence[Row]], headings: Sequence[str]) -> str:
    """Return a table of the rows that several owners share, with the owners' names."""
    rows = ((*row, ", ".join(names)) for row, names in list_shared(options).items())
    return table(headings, rows)


def _list_modules() -> str:
    rows = []
    for module in MODULES:
        can, found = database_class(module).capabilities, evidence(module)
        rows.append(
            (
                link(module),
                ", ".join(can.modes),
                ", ".join(key for key in PrimaryKey if key in can.primary_keys),
                "one, several" if can.multiple_tables else "one",
                found.servers if can.stores else "no server",
                found.kill if can.stores else "-",
            )
        )
    headings = ("Module", "Insert modes", "Primary keys", "Tables", "Verified on", "After kill -9")
    return table(headings, rows)


def _list_urls() -> str:
    """Return the URLs of the modules, and the variables of their credentials."""
    rows = []
    for module in MODULES:
        cls = database_class(module)
        known = [each for each in ("password", "token") if each in cls.options_model.credentials()]
        names = [variable(next(forms_of(cls)).base, each) for each in known]
        codes = (", ".join(f"`{text}`" for text in each) or "-" for each in (cls.urls, names))
        rows.append((link(module), *codes))
    return table(("Module", "URL", "Credentials"), rows)


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
        "Own queries", "Query plans", "Driver", "Import", "Setup",
    )  # fmt: skip
    return table(headings, rows)


def _describe_modules() -> str:
    options = _list_options()
    shared = list_shared(options)
    return "\n\n".join(_describe_module(module, options[module], shared) for module in MODULES)


def _describe_module(module: str, options: Sequence[Row], shared: Mapping[Row, object]) -> str:
    can = database_class(module).capabilities
    oldest = (f"{name} {'.'.join(map(str, version))}" for name, version in can.oldest.items())
    extras = ",".join(find_extras(database_class(module)))
    needs = f" Needs at least {' or '.join(oldest)}." if can.oldest else ""
    needs += f" Needs `pip install -e '.[{extras}]'`." if extras else ""
    parts = [f"## {module}", f"Acknowledged means: {can.acknowledged}.{needs}"]
    parts += [_describe_evidence(module)] if can.stores else []
    parts.append(table(("Insert mode", "One batch is"), can.modes.items()))
    if can.stores:
        keys = ((key.value, how) for key, how in can.primary_keys.items())
        parts.append(table(("Primary key", "How it is generated"), keys))
    if can.prefill_rows != PREFILL_ROWS:
        parts.append(f"`--prefill` sends batches of at least {can.prefill_rows:,} rows.")
    if can.limits:
        parts.append("\n".join(f"- {limit}" for limit in can.limits))
    own = [row for row in options if row not in shared]
    if own:
        parts.append(table(("Option", "Default", "Meaning"), own))
    common = [row[0] for row in options if row in shared]
    if common:
        parts.append(f"[Shared options](#shared-options): {', '.join(common)}.")
    return "\n\n".join(parts)


def _describe_evidence(module: str) -> str:
    found = evidence(module)
    if not found.records:
        return "Draft: no evidence of the contract suite."
    rows = (
        (each.server, str(each.cases), each.kill, each.date.isoformat(), each.remark)
        for each in found.records
    )
    records = table(("Verified on", "Cases passed", "After kill -9", "Date", "Note"), rows)
    return f"Draft: verified on stand-ins only.\n\n{records}" if found.draft else records


def _list_versions() -> str:
    """Return the versions of each product that a module was tried with, accepts and asks for."""
    rows = []
    for module in MODULES:
        can, found = database_class(module).capabilities, evidence(module)
        known = (found.versions, can.oldest, can.by_version, list_products(module))
        for product in dict.fromkeys(chain(*known)):
            versions = found.versions.get(product, ())
            tried = ", ".join(versions) or ("never: draft" if found.draft else "never")
            accepted = ".".join(map(str, can.oldest.get(product, ()))) or "any"
            asked = can.by_version.get(product, "-")
            rows.append((link(module), product, tried, accepted, asked))
    headings = (
        "Module",
        "Product",
        "Tried with",
        "Oldest accepted",
        "Uses, and some versions lack",
    )
    return table(headings, rows)


def _group_by_row(rows: Callable[[Capabilities], Iterable[Row]]) -> list[tuple[Row, str]]:
    """Return (row, links to modules) for each different row in the modules' capabilities."""
    found: dict[Row, list[str]] = {}
    for module in MODULES:
        for row in rows(database_class(module).capabilities):
            found.setdefault(row, []).append(link(module))
    return [(row, ", ".join(names)) for row, names in found.items()]


def _describe_unsupported() -> str:
    owners = _group_by_row(lambda can: ((each, can.unsupported[each]) for each in can.unsupported))
    place = {feature.value: number for number, feature in enumerate(Feature)}
    owners.sort(key=lambda owner: place[owner[0][0]])
    rows = ((feature, names, why) for (feature, why), names in owners)
    return table(("Queries for", "Not answered by", "Because"), rows)


def _describe_unseen() -> str:
    rows = ((*what, names, why) for (*what, why), names in sorted(_group_by_row(_list_unseen)))
    return table(("`--verify`", "Does not see", "In", "Because"), rows)


def _list_unseen(can: Capabilities) -> Iterator[Row]:
    """Yield (level, what, why) of differences that a verification does not see."""
    if can.no_time_sums:
        yield "`counts`", "sums of times", can.no_time_sums
    if can.no_wide_sums:
        yield "`counts`", "sums of integers beyond 64 bits", can.no_wide_sums
    for two, why in can.alike.items():
        yield "`full`", f"the difference between {two}", why


def _describe_client_work() -> str:
    owners = _group_by_row(lambda can: [(can.in_client,)] if can.in_client else [])
    return table(("Module", "The client"), ((names, does) for (does,), names in owners))


def _describe_query_plans() -> str:
    owners = _group_by_row(lambda can: [(can.plans or f"none: {can.no_plans}",)])
    return table(("Module", "Asks for"), ((names, asked) for (asked,), names in owners))


def _describe_late() -> str:
    rows = (
        (link(module), late)
        for module in MODULES
        if (late := database_class(module).capabilities.late)
    )
    return table(("Module", "A later answer may lack the row, because"), rows)


def _describe_changes() -> str:
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
            reasons = (
                # A dash: the module has no way, for the usual reason.
                way or ("-" if why == getattr(usual, name) else f"no: {why}")
                for way, name in cells
                for why in [getattr(found, name)]
            )
            rows.append((link(module), *reasons))
    return table(("Module", "Corrects by", "Updates tags by", "Deletes by", "Its own way"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "contents": _list_modules,
    "urls": _list_urls,
    "shared options": lambda: tabulate_shared(
        _list_options(), ("Option", "Default", "Meaning", "Modules")
    ),
    "modules": _describe_modules,
    "versions": _list_versions,
    "unsupported queries": _describe_unsupported,
    "not seen": _describe_unseen,
    "work in the client": _describe_client_work,
    "query plans": _describe_query_plans,
    "late rows": _describe_late,
    "changes of rows": _describe_changes,
    "abilities": _list_abilities,
}
