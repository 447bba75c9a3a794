"""Options, each declared once as a field with a type, a default, and a docstring as help text.

The field defines the option of commands, the key of plans and the schema of the key, and the entry
of a result's configuration, which `repeat` reads. `duration_s` is `--duration` in a command and
`duration` in a plan.
"""

import functools
import inspect
import math
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin

from pydantic import ConfigDict, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticUndefined

from iotbench.config.input.records import Record
from iotbench.config.input.values import Notation

_UNITS = ("_ms", "_s")


@dataclass(frozen=True, slots=True)
class Opt:
    """Properties of an option in addition to its type, default and docstring."""

    also: str = ""
    """Second name of the option: a short one, or one with two dashes."""
    least: float = -math.inf
    most: float = math.inf
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    """Values of an Enum that a command offers; empty: all values."""
    kept: bool = True
    """True if the configuration in a result includes the option."""
    kept_if_set: bool = False
    """True if the configuration in a result includes only values other than the default."""
    inner: bool = False
    """True if the option follows from other options, so that users cannot give it."""
    repeats: bool | None = None
    """True if `repeat` takes the option from a result, which may be a stranger's result.

    None: true, except for strings and files, which might run, reach or overwrite something."""
    stored: bool = True
    """False if no result stores the option, because it is about the result's place, name or
    layout."""
    consents: bool = False
    """True if the option permits an otherwise refused action; `repeat` neither takes nor asks for
    it."""


_DEFAULT = Opt()


def _strip_unit(field: str) -> str:
    """Return the name of a field for users, without its unit."""
    return next((field.removesuffix(unit) for unit in _UNITS if field.endswith(unit)), field)


@dataclass(frozen=True, slots=True)
class DeclaredField:
    """The declaration of a field."""

    field: str
    info: FieldInfo
    about: str
    group: str
    """Group of the option in the help text."""
    opt: Opt
    notation: Notation | None
    """Notation of the value or, if the option is repeated, of each value."""
    is_repeated: bool
    """True if the option may be given several times."""
    kind: Any
    """Type of the value or, if the option is repeated, of each value, without notation and None."""

    @property
    def word(self) -> str:
        """The key of the option in files."""
        return self.info.alias or self.field

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the option; messages use the first name."""
        own = f"--{self.word.replace('_', '-')}"
        found = (self.opt.also, own) if self.opt.also.startswith("--") else (own, self.opt.also)
        return tuple(filter(None, found))

    @property
    def is_flag(self) -> bool:
        """True if the option has no value."""
        return self.kind is bool

    @property
    def choices(self) -> tuple[str, ...]:
        """The accepted values; empty if all values are accepted."""
        is_enum = isinstance(self.kind, type) and issubclass(self.kind, Enum)
        return self.opt.choices or (tuple(each.value for each in self.kind) if is_enum else ())

    @property
    def help(self) -> str:
        """The help text, which ends with the default."""
        text = " ".join(self.about.split()).replace(" [default", "  [default")
        default = self.info.get_default()
        if "[default" in text or self.is_flag or default in (None, "", (), PydanticUndefined):
            return text
        return f"{text}  [default: {self.write(default)}]"

    def write(self, value: Any) -> str:
        """Return a value as users write it."""
        if self.notation:
            return self.notation.write(value)
        return str(value.value if isinstance(value, Enum) else value)

    def store(self, value: Any) -> bool | tuple[str, ...]:
        """Return a value as a result stores it: the state of a flag, or the values as written."""
        if self.is_flag:
            return bool(value)
        return tuple(self.write(each) for each in (value if self.is_repeated else (value,)))

    def problems(self, value: Any) -> Iterator[str]:
        """Yield a sentence for each value outside the limits."""
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, int | float):
                yield from outside((self.names[0], each, self.opt.least, self.opt.most))


def outside(*limits: tuple[str, float, float, float]) -> list[str]:
    """Return a sentence for each (option, value, minimum, maximum) with a value out of range."""
    found = []
    for name, value, least, most in limits:
        if not value >= least:  # also a NaN
            found.append(f"{name}: must be at least {least:,}, got {value:,}")
        elif value > most:
            limit = f"{most:,.0f}" if most == round(most) else f"{most:g}"
            found.append(f"{name}: must be at most {limit}, got {value:,}")
    return found


class Options(Record):
    """A group of options of commands and plans."""

    model_config = ConfigDict(
        alias_generator=_strip_unit, validate_by_name=True, validate_by_alias=True, defer_build=True
    )
    GROUP: ClassVar[str] = "Other options"
    """Group in the help text for the options that the class declares."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema with defaults as users write them."""
        schema = handler(core_schema)
        keys = handler.resolve_ref_schema(schema)["properties"]
        for each in cls.declare().values():
            key, default = keys[each.word], each.info.get_default()
            key["description"] = " ".join(each.about.split())
            if default == ():
                del key["default"]
            elif isinstance(default, tuple):
                key["default"] = each.write(default)
        return schema

    @classmethod
    @functools.cache
    def declare(cls) -> Mapping[str, DeclaredField]:
        """Return field -> its declaration."""
        return {field: _declare(cls, field) for field in cls.model_fields}

    @property
    def given(self) -> dict[str, Any]:
        """The given options: name -> value."""
        return {
            each.names[0]: getattr(self, field)
            for field, each in self.declare().items()
            if field in self.model_fields_set and not each.opt.inner
        }

    def problems(self) -> list[str]:
        """Return a sentence for each value outside its limits."""
        return [
            text
            for field, each in self.declare().items()
            for text in each.problems(getattr(self, field))
        ]

    def list_stored(self, *always: str) -> dict[str, bool | tuple[str, ...]]:
        """Return the options that differ from their default, as a result stores them.

        `always`: fields that are always included, because the command may have another default.
        """
        return {
            each.names[0].removeprefix("--"): each.store(value)
            for field, each in self.declare().items()
            if not each.opt.inner
            for value in (getattr(self, field),)
            if field in always or value != each.info.get_default(call_default_factory=True)
        }

    def configuration(self) -> dict[str, Any]:
        """Return field -> value of the options that form the configuration in a result."""
        left_out = {
            field
            for field, each in self.declare().items()
            if not each.opt.kept
            or (each.opt.kept_if_set and getattr(self, field) == each.info.get_default())
        }
        return self.model_dump(mode="json", exclude=left_out)


def _declare(cls: type[Options], field: str) -> DeclaredField:
    """Return the declaration of a field; parts such as the help may be inherited."""
    bases = [each for each in cls.__mro__ if issubclass(each, Options)]
    own = [each for each in bases if field in inspect.get_annotations(each)]
    described = next((each for each in own if each.model_fields[field].description), own[0])
    info, first = cls.model_fields[field], described.model_fields[field]
    kinds = [*_list_kinds(info.annotation), *_list_kinds(first.annotation)]
    notes = [*info.metadata, *first.metadata, *kinds]
    notation = next((each for each in notes if isinstance(each, Notation)), None)
    is_repeated = get_origin(kinds[0]) is tuple and not notation
    items = [*_list_kinds(get_args(kinds[0])[0])] if is_repeated else []
    return DeclaredField(
        field,
        info,
        first.description or "",
        described.GROUP,
        next((each for each in notes if isinstance(each, Opt)), _DEFAULT),
        next((each for each in items if isinstance(each, Notation)), notation),
        is_repeated,
        items[0] if items else kinds[0],
    )


def _list_kinds(annotation: Any) -> Iterator[Any]:
    """Yield the types and the metadata of an annotation; None is left out."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *notes = get_args(annotation)
        yield from (*_list_kinds(inner), *notes)
    elif origin in (Union, types.UnionType):
        for each in get_args(annotation):
            yield from _list_kinds(each)
    elif annotation is not type(None):
        yield annotation
