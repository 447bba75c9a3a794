"""Records read from YAML files; an error names every wrong key and value."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import ConfigDict, ValidationError, ValidationInfo

from iotbench.config.input.validation import describe_value, format_key, sentence_of
from iotbench.config.input.values import Notation, join_problems
from iotbench.machine.inputs import read_text
from simulator.errors import ConfigError, nearest
from simulator.frozen import Frozen

MAX_BYTES = 1 << 20
MAX_NODES = 50_000
"""Maximum number of keys and values; each use of an alias counts."""
MAX_DEPTH = 50
_LARGEST_BITS = 64
_MERGE = "tag:yaml.org,2002:merge"
_QUOTED = re.compile(r"(['\"]).{2,}\1", re.DOTALL)
_Safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""LibYAML's parser, which is ten times as fast."""


class _Loader(_Safe):  # type: ignore[misc]
    """The safe loader; an error about a value that cannot be converted names the line."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002
        kind = format_key(node.tag.rpartition(":")[2])
        try:
            value = super().construct_object(node, deep)
        except yaml.YAMLError:
            raise
        except Exception as error:  # such as 2026-13-45, 0x_, or !!int x
            raise _make_error(node.start_mark, f"not a valid {kind}") from error
        if isinstance(value, int) and value.bit_length() > _LARGEST_BITS:
            raise _make_error(node.start_mark, f"a number of more than {_LARGEST_BITS} bits")
        return value


def read_yaml(path: Path, remedy: str = "--config names the file") -> Any:
    """Return the content of a YAML file; ConfigError if it is too large or cannot be read."""
    text = read_text(path, MAX_BYTES, remedy=remedy)
    try:
        _check_characters(text)
        _check_size(text)
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            problems = [f"{path}: {problem}" for problem in _find_duplicates(node, "", set())]
            if problems:
                raise ConfigError(problems)
            return None if node is None else loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: is not YAML: {_describe(error, text)}") from error


def _check_characters(text: str) -> None:
    if found := yaml.reader.Reader.NON_PRINTABLE.search(text):
        line = text.count("\n", 0, found.start())
        mark = yaml.Mark("", found.start(), line, 0, None, 0)
        raise _make_error(mark, f"a character that YAML does not allow (#x{ord(found[0]):04x})")


def _check_size(text: str) -> None:
    """Raise YAMLError if there are too many nodes; the nodes of an alias count at each use."""
    nodes = 0
    sizes: dict[str | None, int] = {}
    opened: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, Loader=_Loader):
        match event:
            case yaml.AliasEvent():
                if event.anchor not in sizes:
                    raise _make_error(event.start_mark, "an alias that is not defined above it")
                nodes += sizes[event.anchor]
            case yaml.ScalarEvent():
                nodes += 1
                sizes[event.anchor] = 1
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                nodes += 1
                opened.append((event.anchor, nodes - 1))
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                anchor, before = opened.pop()
                sizes[anchor] = nodes - before
        if len(opened) > MAX_DEPTH:
            raise _make_error(event.start_mark, f"nested deeper than {MAX_DEPTH} levels")
        if nodes > MAX_NODES:
            raise _make_error(
                event.start_mark, f"more than {MAX_NODES:,} keys and values, aliases included"
            )


def _make_error(mark: Any, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


def _describe(error: yaml.YAMLError, text: str) -> str:
    """Return the place and the problem of an error, without text from the file."""
    problem = getattr(error, "problem", None) or getattr(error, "context", None) or "wrong syntax"
    problem = " ".join(_QUOTED.sub("***", problem).split())
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    last = text.count("\n")  # the end of the text may be marked one line below it
    return f"line {min(mark.line, last) + 1}: {problem}" if mark else problem


def _find_duplicates(node: yaml.Node | None, place: str, visited: set[int]) -> Iterator[str]:
    """Yield a sentence with both lines for each key that a mapping sets twice."""
    if node is None or id(node) in visited:  # an alias
        return
    visited.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _find_duplicates(item, place, visited)
    if not isinstance(node, yaml.MappingNode):
        return
    lines: dict[str, int] = {}
    for key, value in node.value:
        name, line = str(key.value), key.start_mark.line + 1
        here = f"{place}.{format_key(name)}" if place else format_key(name)
        if name in lines and key.tag != _MERGE:
            yield f"line {line}: {here} is already set in line {lines[name]}; remove one of them"
        lines[name] = line
        yield from _find_duplicates(value, here, visited)


class Record(Frozen):
    """A mapping in a file, without unknown keys; docstrings describe the keys."""

    model_config = ConfigDict(
        hide_input_in_errors=True, use_attribute_docstrings=True, defer_build=True
    )


_Record = TypeVar("_Record", bound=Record)


FOLDER = "folder"
"""Key of the validation context for the folder to which paths in the file are relative."""


def read_record(path: Path, kind: type[_Record]) -> _Record:
    """Return the content of a YAML file; ConfigError with all problems."""
    content = read_yaml(path, "")
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: expected a mapping, got {describe_value(content)}")
    try:
        return kind.model_validate(
            content, context={FOLDER: path.parent}, by_alias=True, by_name=False
        )
    except ValidationError as error:
        raise ConfigError(
            [f"{path}: {text}" for text in _describe_problems(error, kind)]
        ) from error


class RelativeFile(Notation):
    """The path of a file, relative to the file that names it."""

    is_file = True

    def _parse(self, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, Record):
            return value
        if not isinstance(value, str):
            raise ValueError("expected the path of a file")  # noqa: TRY004 - pydantic names its place
        folder: Path = (info.context or {}).get(FOLDER, Path())
        try:
            return self.parse(str(folder / value))
        except ConfigError as error:
            raise join_problems(*(("", text) for text in error.problems)) from error


def _describe_problems(error: ValidationError, kind: type[Record]) -> Iterator[str]:
    for item in error.errors(include_url=False, include_input=False):
        *path, last = item["loc"] or ("",)
        known = _find_record(kind, path)
        if item["type"] == "extra_forbidden" and known:
            place = ".".join(map(str, [*path, format_key(last)]))
            names = [field.alias or name for name, field in known.model_fields.items()]
            yield f"{place}: unknown key ({nearest(str(last), names)})"
        else:
            place = ".".join(map(str, item["loc"]))
            sentence = sentence_of(item, "")
            yield f"{place}: {sentence}" if place else sentence


def _find_record(kind: type[Record], path: list[Any]) -> type[Record] | None:
    """Return the record at a path; positions of list items in the path are ignored."""
    found: type[Record] | None = kind
    for key in path:
        if isinstance(key, str) and found and key in found.model_fields:
            found = next(iter(_list_records(found.model_fields[key].annotation)), None)
    return found


def _list_records(annotation: Any) -> Iterator[type[Record]]:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        yield annotation
    for inner in get_args(annotation):
        yield from _list_records(inner)
