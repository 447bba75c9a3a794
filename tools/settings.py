"""Generator of the settings on the pages of databases, from dbinstall/settings.yaml."""

from iotbench.config.targets.advice import Advice, Amount, SettingsChoice, Value, advice
from iotbench.config.targets.config import load
from tools.tables import table


def describe_settings(module: str) -> str:
    """Return both sets of settings of each target of a module; empty if there is none."""
    targets = load().targets
    found = {target: own for target, own in advice().items() if targets[target]["module"] == module}
    rows = [row for target, own in found.items() for row in _list_rows(target, own)]
    headings = ("Target", "Setting", "Of the", "As installed", "As advised", "Source")
    parts = [table(headings, rows)] if rows else []
    for own in found.values():
        parts += [f"{own.product} has one set only: {own.nothing}."] if own.nothing else []
        beyond = "\n".join(f"- {name}: {why}." for name, why in own.beyond.items())
        parts += [f"Advised for {own.product}, and in no set:\n\n{beyond}"] if beyond else []
    return "\n\n".join(parts)


def _list_rows(target: str, own: Advice) -> list[tuple[str, ...]]:
    rows = []
    for name, each in {**own.server, **own.options}.items():
        values = [_format_value(each.value(choice)) for choice in SettingsChoice]
        values[1] = values[1] if each.differs else "the same"
        where = "target" if name in own.options else "server"
        note = f"; {each.note}" if each.note else ""
        source = f"[documentation]({each.source}){note}"
        rows.append((f"`{target}`", f"`{name}`", where, *values, source))
    return rows


def _format_value(value: Value) -> str:
    if isinstance(value, Amount):
        return value.describe()
    if value in (None, ""):
        return "-"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"
