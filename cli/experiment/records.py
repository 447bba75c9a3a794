"""Records that are read from YAML files: every wrong key and value is named at once."""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from cli.input.quantities import parse_count, parse_duration_s, parse_instant, parse_number
from cli.input.validation import sentence_of, shown, shown_key
from cli.input.yamlfile import read_yaml
from simulator.errors import ConfigError, nearest


class Record(BaseModel):
    """A mapping in a file, with these keys only."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


_Record = TypeVar("_Record", bound=Record)


def _parsed(parse: Callable[[str], Any], kind: Any) -> BeforeValidator:
    """Return what parses a value as the command line parses it; in a file it may be of a `kind`."""

    def parsed(value: Any) -> Any:
        is_word = isinstance(value, str | int | float | date) and not isinstance(value, bool)
        return parse(str(value)) if is_word else value

    return BeforeValidator(parsed, json_schema_input_type=kind)


Count = Annotated[int, _parsed(parse_count, int | str)]
Number = Annotated[float, _parsed(parse_number, float | str)]
Seconds = Annotated[float, _parsed(parse_duration_s, float | str)]
InstantMs = Annotated[int, _parsed(lambda text: round(parse_instant(text).timestamp() * 1000), str)]


FOLDER = "folder"
"""In the context of validation: the folder of the file, which paths in it are relative to."""


def read_record(path: Path, kind: type[_Record], remedy: str = "") -> _Record:
    """Return the content of a YAML file; ConfigError names everything that is wrong with it."""
    content = read_yaml(path, remedy)
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: expected a mapping, got {shown(content)}")
    try:
        return kind.model_validate(content, context={FOLDER: path.parent})
    except ValidationError as error:
        raise ConfigError([f"{path}: {text}" for text in _problems(error, kind)]) from error


def _problems(error: ValidationError, kind: type[Record]) -> Iterator[str]:
    for item in error.errors(include_url=False, include_input=False):
        *path, last = item["loc"] or ("",)
        known = _record_at(kind, path)
        if item["type"] == "extra_forbidden" and known:
            place = ".".join(map(str, [*path, shown_key(last)]))
            names = [field.alias or name for name, field in known.model_fields.items()]
            yield f"{place}: unknown key ({nearest(str(last), names)})"
        else:
            place = ".".join(map(str, item["loc"]))
            sentence = sentence_of(item, "")
            yield f"{place}: {sentence}" if place else sentence


def _record_at(kind: type[Record], path: list[Any]) -> type[Record] | None:
    """Return the record whose key the path leads to; positions in lists do not matter."""
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
