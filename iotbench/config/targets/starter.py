"""A starter configuration: chosen targets, with their further options as comments."""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import yaml
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from iotbench.config.targets.config import FILE
from iotbench.config.targets.urls import entry_for_file, is_url, name_of
from iotbench.machine.inputs import read_text
from iotbench.machine.program import find_shipped
from simulator.errors import ConfigError, nearest
from simulator.modules import database_class

SCHEMA = "docs/config.schema.json"
_MAX_BYTES = 1 << 20
_WIDTH = 100
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class _Entry:
    """A target, with its lines in the configuration."""

    name: str
    module: str
    runner: str
    keys: frozenset[str]
    lines: tuple[str, ...]


def starter(names: Sequence[str]) -> tuple[str, list[str]]:
    """Return a configuration and its targets.

    Each name is the name of a target, the name of a module or a URL.
    """
    text = read_text(find_shipped(FILE), _MAX_BYTES)
    head, entries = _split(text)
    by_module: dict[str, _Entry] = {}
    for entry in entries.values():
        by_module.setdefault(entry.module, entry)
    known = {**by_module, **entries, **{each: _make_entry(each) for each in names if is_url(each)}}
    wrong = [
        f"{name!r} is neither a target of the program's {FILE} nor a module"
        f" ({nearest(name, known)})"
        for name in names
        if name not in known
    ]
    if wrong:
        raise ConfigError([f"--targets: {problem}" for problem in wrong])
    chosen = {known[name].name: known[name] for name in names}
    blocks = ["\n".join([*entry.lines, *_list_further(entry)]) for entry in chosen.values()]
    first = f"# yaml-language-server: $schema={find_shipped(SCHEMA)}"
    return "\n".join([first, *head]) + "\n" + "\n\n".join(blocks) + "\n", list(chosen)


def _make_entry(url: str) -> _Entry:
    name, entry = name_of(url), entry_for_file(url)
    lines = yaml.safe_dump({name: entry}, sort_keys=False, width=1000).splitlines()
    written = tuple(f"  {line}" for line in lines)
    return _Entry(name, entry["module"], "local", frozenset(entry), written)


def _split(text: str) -> tuple[list[str], Mapping[str, _Entry]]:
    """Return the lines above the targets, and the lines of each target with its comments."""
    lines = text.splitlines()
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    content = yaml.safe_load(text)["targets"]
    assert isinstance(root, yaml.MappingNode)
    (targets,) = [value for key, value in root.value if key.value == "targets"]
    begins = []
    for key, _ in targets.value:
        line = key.start_mark.line
        while lines[line - 1].lstrip().startswith("#"):
            line -= 1
        begins.append(line)
    ends = [*begins[1:], len(lines)]
    found = {}
    for (key, value), begin, end in zip(targets.value, begins, ends, strict=True):
        own = content[key.value]
        written = {name.value for name, _ in value.value}
        merged = {name: own[name] for name in own if name not in written}
        found[key.value] = _Entry(
            name=key.value,
            module=own["module"],
            runner=own.get("runner", "kubernetes"),
            keys=frozenset(own),
            lines=tuple(_detach("\n".join(lines[begin:end]).rstrip(), merged).splitlines()),
        )
    head = [line for line in lines[: begins[0]] if not line.startswith("# yaml-language-server")]
    return head, found


def _detach(text: str, merged: Mapping[str, object]) -> str:
    """Return an entry in which merged keys are written out and anchors are removed."""
    taken = yaml.safe_dump(dict(merged), sort_keys=False) if merged else ""
    without = re.sub(r"(?m)^(  \S+:) &\w+$", r"\1", text)
    return re.sub(r"(?m)^ +<<: .*(\n|\Z)", lambda _: textwrap.indent(taken, _INDENT), without)


def _list_further(entry: _Entry) -> Iterator[str]:
    """Yield each option of the module that the target does not set, with the option's default."""
    yield ""
    yield f"{_INDENT}# Further options, with their defaults:"
    if entry.runner == "kubernetes":
        yield from _write_comment("runner: local", "run on this machine, not as pods")
    written = "\n".join(entry.lines)
    for name, field in database_class(entry.module).options_model.model_fields.items():
        if name in entry.keys or f"# {name}:" in written:
            continue
        yield from _write_comment(
            f"{name}: {_format_default(field)}".rstrip(), field.description or ""
        )


def _write_comment(option: str, about: str) -> Iterator[str]:
    yield f"{_INDENT}# {option}"
    yield from textwrap.wrap(
        about, _WIDTH, initial_indent=f"{_INDENT}#   ", subsequent_indent=f"{_INDENT}#   ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _format_default(field: FieldInfo) -> str:
    """Return a default as YAML; empty for credentials and options without default."""
    value = field.get_default()
    if field.is_required() or value is None or isinstance(value, SecretStr):
        return ""
    plain = getattr(value, "value", value)
    return yaml.safe_dump(plain, default_flow_style=True, width=1000).splitlines()[0]
