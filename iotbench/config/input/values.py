"""Types of values, with their notations in commands and files."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, cast

from pydantic import BeforeValidator, GetCoreSchemaHandler, ValidationError, ValidationInfo
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema

from iotbench.config.input.parameters import (
    instant,
    parameters,
    parse_parameter,
    unparse_parameter,
    word_of,
)
from iotbench.config.input.quantities import (
    Mix,
    parse_bytes,
    parse_count,
    parse_counts,
    parse_duration_s,
    parse_instant_ms,
    parse_mix,
    parse_moment,
    parse_names,
    parse_number,
    parse_share,
)
from iotbench.results.result import TAG
from simulator.errors import nearest


@dataclass(frozen=True, slots=True)
class Notation:
    """The notation of a value in a command, in a file, and in a result."""

    name: str
    """Name of the value in help texts."""
    parse: Callable[[str], Any]
    """Function that parses the text; its ValueError names the expected form."""
    write: Callable[[Any], str] = str
    in_files: Any = str
    """Type of the value in a JSON Schema of a file."""
    is_file: ClassVar[bool] = False
    """True if the value is the path of a file."""
    in_json: Callable[[Any], Any] | None = None
    """Function that returns the value in JSON; None if JSON has the value itself."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return the schema of a value that users may write as text."""
        before = BeforeValidator(self._parse, json_schema_input_type=self.in_files)
        schema: Any = before.__get_pydantic_core_schema__(source, handler)
        if self.in_json:
            schema["serialization"] = core_schema.plain_serializer_function_ser_schema(
                self.in_json, when_used="json"
            )
        return cast("CoreSchema", schema)

    def _parse(self, value: Any, info: ValidationInfo) -> Any:
        """Return the value of a text; numbers and dates in a file count as texts, too."""
        kinds = str if info.context is None else str | int | float | date
        is_text = isinstance(value, kinds) and not isinstance(value, bool)
        return self.parse(str(value)) if is_text else value


def join_problems(*problems: tuple[str, str]) -> ValidationError:
    """Return one error for several problems of a value, each given as (key or "", text)."""
    errors = [
        InitErrorDetails(
            type=PydanticCustomError("value_error", "{text}", {"text": text}),
            loc=(key,) if key else (),
            input=None,
        )
        for key, text in problems
    ]
    return ValidationError.from_exception_data("value", errors)


def _format_plain(value: float) -> str:
    return f"{value:.15g}"


Count = Annotated[int, Notation("count", parse_count, in_files=int | str)]
Bytes = Annotated[int, Notation("size", parse_bytes, in_files=int | str)]
Counts = Annotated[
    tuple[int, ...],
    Notation("n,n-m,...", parse_counts, lambda found: ",".join(map(str, found)), int | str),
]
Number = Annotated[float, Notation("number", parse_number, _format_plain, float | str)]
Share = Annotated[
    float, Notation("share", parse_share, lambda found: f"{100 * found:g}%", float | str)
]
Seconds = Annotated[
    float,
    Notation("duration", parse_duration_s, lambda found: f"{_format_plain(found)}s", float | str),
]
Moment = Annotated[datetime, Notation("duration|instant", parse_moment)]
InstantMs = Annotated[int, Notation("instant", parse_instant_ms, instant)]
Names = Annotated[
    tuple[str, ...], Notation("a,b,...", parse_names, ",".join, str | tuple[str, ...])
]


def parse_tag(text: str) -> str:
    """Return a tag of results."""
    if not re.fullmatch(TAG, text):
        raise ValueError(
            f"expected up to 40 letters, digits, '.', '_', '-', ':' and '+', got {text!r}"
        )
    return text


Tag = Annotated[str, Notation("tag", parse_tag)]


def _format_mix(mix: Mix) -> str:
    return f"insert={_format_plain(mix.insert)},query={_format_plain(mix.query)}"


Shares = Annotated[Mix, Notation("insert=n,query=n", parse_mix, _format_mix, str, _format_mix)]
"""Shares of inserts and queries in a mixed load."""


class _Parameters(Notation):
    """Parameters of workloads, by field; files use the names of the options."""

    def _parse(self, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, dict):
            return value
        fields = {word_of(field): field for field in parameters()}
        fields |= {} if info.context else {field: field for field in parameters()}
        found: dict[str, Any] = {}
        problems: list[tuple[str, str]] = []
        for name, each in value.items():
            try:
                is_read = name == fields[name] and not isinstance(each, str)
                found[fields[name]] = each if is_read else parse_parameter(fields[name], each)
            except KeyError:
                problems.append((name, f"unknown key ({nearest(name, fields)})"))
            except ValueError as error:
                problems.append((name, str(error)))
        if problems:
            raise join_problems(*problems)
        return found


def _name_by_word(found: Mapping[str, Any]) -> dict[str, Any]:
    return {word_of(field): unparse_parameter(field, value) for field, value in found.items()}


Parameters = Annotated[Mapping[str, Any], _Parameters("", str, str, dict[str, Any], _name_by_word)]
