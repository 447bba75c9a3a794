"""Records that are read from YAML files: every wrong key and value is named at once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import ConfigDict, ValidationError, ValidationInfo

from iotbench.config.input.validation import format_key, format_shown, sentence_of
from iotbench.config.input.values import Notation, several
from iotbench.config.input.yamlfile import read_yaml
from simulator.errors import ConfigError, nearest
from simulator.frozen import Frozen


class Record(Frozen):
    """A mapping in a file, with these keys only; the docstring of a key describes it."""

    model_config = ConfigDict(hide_input_in_errors=True, use_attribute_docstrings=True)


_Record = TypeVar("_Record", bound=Record)


FOLDER = "folder"
"""Key in the context of validation: the folder of the file, which paths in it are relative to."""


def read_record(path: Path, kind: type[_Record], remedy: str = "") -> _Record:
    """Return the content of a YAML file; ConfigError names everything that is wrong with it."""
    content = read_yaml(path, remedy)
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: expected a mapping, got {format_shown(content)}")
    try:
        return kind.model_validate(
            content, context={FOLDER: path.parent}, by_alias=True, by_name=False
        )
    except ValidationError as error:
        raise ConfigError([f"{path}: {text}" for text in _problems(error, kind)]) from error


class RelativeFile(Notation):
    """The path of a file, relative to the one that names it."""

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
            raise several(*(("", text) for text in error.problems)) from error


def _problems(error: ValidationError, kind: type[Record]) -> Iterator[str]:
    for item in error.errors(include_url=False, include_input=False):
        *path, last = item["loc"] or ("",)
        known = _record_at(kind, path)
        if item["type"] == "extra_forbidden" and known:
            place = ".".join(map(str, [*path, format_key(last)]))
            names = [field.alias or name for name, field in known.model_fields.items()]
            yield f"{place}: unknown key ({nearest(str(last), names)})"
        else:
            place = ".".join(map(str, item["loc"]))
            sentence = sentence_of(item, "")
            yield f"{place}: {sentence}" if place else sentence


def _record_at(kind: type[Record], path: list[Any]) -> type[Record] | None:
    """Return the record with the key that the path leads to; positions in lists do not matter."""
    found: type[Record] | None = kind
    for key in path:
        if isinstance(key, str) and found and key in found.model_fields:
            found = next(iter(_records_in(found.model_fields[key].annotation)), None)
    return found


def _records_in(annotation: Any) -> Iterator[type[Record]]:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        yield annotation
    for inner in get_args(annotation):
        yield from _records_in(inner)
