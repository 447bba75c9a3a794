"""The user's own queries from a file, checked against a target and the rows to be read."""

import hashlib
import math
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from iotbench.config.input.records import Record, RelativeFile, read_record
from iotbench.config.input.values import Seconds
from iotbench.config.targets.config import Target
from simulator.data.dataset import Dataset
from simulator.data.own_query import (
    END,
    GIVEN,
    START,
    Listed,
    OwnQuery,
    ParameterSource,
    make_own_types,
    placeholders,
)
from simulator.data.reader import DatasetReader
from simulator.data.schema import Type
from simulator.errors import ConfigError, nearest
from simulator.modules import MODULES
from simulator.modules.contract import Database, Unsupported

OPTION = "--queries"
LANGUAGES = ("sql", "influxql", "flux")
"""Keys of query texts that name a language; all other keys name a module."""
QUERY_NAME = r"[a-z][a-z0-9_-]{0,59}"
_PARAMETER = re.compile(r"[a-z][a-z0-9_]*")
_RESERVED = GIVEN | {START, END}
_MOST_QUERIES = 100
_MOST_CHARACTERS = 200_000
"""Maximum number of characters of all query texts, which are part of each run's specification."""


def _check_listed(value: Any) -> Any:
    """Return an element of a list; ValueError unless the value is a string or a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("expected a text or a number")  # noqa: TRY004 - pydantic names its place
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("expected a finite number")
    return value


class Parameter(Record):
    """The source of a parameter for each instance; exactly one key is set."""

    between: tuple[int, int] | None = Field(
        None, description="a whole number, both ends included: [1, 100]"
    )
    values: tuple[Annotated[Listed, BeforeValidator(_check_listed)], ...] = Field(
        (), description="one of these texts or numbers"
    )
    column: str = Field("", description="what a random stored row has in this column")

    @model_validator(mode="after")
    def _check(self) -> "Parameter":
        if sum((self.between is not None, bool(self.values), bool(self.column))) != 1:
            raise ValueError("expected exactly one of between, values, column")
        if self.between and self.between[0] > self.between[1]:
            raise ValueError("between: the first number must not be the greater one")
        return self


class OwnQueryEntry(Record):
    """A query that the user wrote."""

    table: str = Field("", description="the table whose rows it reads; required if there are more")
    window: Annotated[Seconds, Field(ge=0.001)] | None = Field(
        None,
        description="length of a window of time, such as 1h, that begins with a random stored row;"
        " a text compares the time with {start} and {end}",
    )
    parameters: dict[str, Parameter] = Field({}, description="name -> how it is drawn")
    columns: dict[str, Literal["int64", "float64", "bool", "text"]] = Field(
        description="the columns of an answer in order, with their types"
    )
    text: dict[str, str] = Field(description="module or language (sql, influxql, flux) -> the text")

    @property
    def own(self) -> OwnQuery:
        """The query as workers ask it."""
        return OwnQuery(
            table=self.table,
            columns={name: Type(kind) for name, kind in self.columns.items()},
            texts=self.text,
            window_ms=round((self.window or 0) * 1000),
            parameters={
                name: ParameterSource(**each.model_dump()) for name, each in self.parameters.items()
            },
        )


class QueryFile(Record):
    """A file with the user's queries."""

    queries: dict[str, OwnQueryEntry]


class ReadQueries(Record):
    """The path of a file with the user's queries, and its content."""

    path: str
    """Path as given on the command line."""
    queries: dict[str, OwnQuery]


def read_own(path: str) -> ReadQueries:
    """Return the queries in a file; ConfigError names everything that is wrong with the file."""
    found = read_record(Path(path), QueryFile).queries
    if wrong := [f"{path}: {text}" for text in _problems(found)]:
        raise ConfigError(wrong)
    return ReadQueries(path=path, queries={name: each.own for name, each in found.items()})


QueriesFile = Annotated[ReadQueries, RelativeFile("FILE", read_own, lambda read: read.path)]


def _problems(found: Mapping[str, OwnQueryEntry]) -> Iterator[str]:
    if not 1 <= len(found) <= _MOST_QUERIES:
        yield f"queries: expected 1 to {_MOST_QUERIES}, got {len(found)}"
    size = sum(len(text) for each in found.values() for text in each.text.values())
    if size > _MOST_CHARACTERS:
        yield f"queries: expected texts of {_MOST_CHARACTERS:,} characters at most, got {size:,}"
    for name, each in found.items():
        if not re.fullmatch(QUERY_NAME, name):
            yield f"queries.{name}: expected a name of lower-case letters, digits, - and _"
        yield from (f"queries.{name}.{text}" for text in _query_problems(each))


def _query_problems(each: OwnQueryEntry) -> Iterator[str]:
    for name in each.parameters:
        if name in _RESERVED:
            yield f"parameters.{name}: the name is reserved; choose another"
        elif not _PARAMETER.fullmatch(name):
            yield f"parameters.{name}: expected a name of lower-case letters, digits and _"
    for key in ("columns", "text"):
        if not getattr(each, key):
            yield f"{key}: expected at least one, got none"
    window = {START, END} if each.window else frozenset()
    wanted = frozenset({*each.parameters, *window})
    for key, text in each.text.items():
        yield from (f"text.{key}: {problem}" for problem in _usage_problems(key, text, wanted))


def _usage_problems(key: str, text: str, wanted: frozenset[str]) -> Iterator[str]:
    """Yield why a query text cannot be asked; the text must use exactly the parameters `wanted`."""
    if key not in LANGUAGES and key not in MODULES:
        yield f"is neither a module nor a language ({nearest(key, [*LANGUAGES, *MODULES])})"
    used = placeholders(text)
    for name in sorted(used - wanted - GIVEN):
        why = "set window" if name in (START, END) else nearest(name, {*wanted, *GIVEN})
        yield f"{{{name}}} is not a parameter ({why})"
    for name in sorted(wanted - used):
        yield f"does not use {{{name}}}, so it would ask something else than others"


def digest_of(own: Mapping[str, OwnQuery]) -> str:
    """Return a digest that distinguishes queries with the same name in results."""
    written = "\n".join(f"{name} {query.model_dump_json()}" for name, query in own.items())
    return hashlib.sha256(written.encode()).hexdigest()[:12]


def find_own_problems(
    own: Mapping[str, OwnQuery], target: Target, dataset: Dataset, types: Collection[str]
) -> list[str]:
    """Return why the queries cannot be asked on a target; `types` are the workload's queries."""
    reader, database = DatasetReader(dataset), target.open()
    found: dict[str, None] = {}
    for name, query in own.items():
        places = [f"{OPTION}: {name}: {text}" for text in _data_problems(query, reader)]
        if name in types:
            places.append(f"{OPTION}: {name}: is a query of workload {dataset.workload}; rename it")
        if not places:
            places = [*_text_problems(name, query, target, database, reader)]
        if not places:
            try:
                make_own_types({name: query}, dataset)[name].instance(0)
            except ValueError as error:
                places = [f"{OPTION}: {error}"]
        found |= dict.fromkeys(places)
    return [*found]


def _data_problems(query: OwnQuery, reader: DatasetReader) -> Iterator[str]:
    names = [table.name for table in reader.tables]
    if not query.table and len(names) > 1:
        yield f"table: is required, one of {', '.join(names)}"
        return
    if query.table and query.table not in names:
        yield f"table: {query.table!r} is not a table of these rows ({nearest(query.table, names)})"
        return
    columns = [column.name for column in query.table_of(reader).columns]
    for name, drawn in query.parameters.items():
        if drawn.column and drawn.column not in columns:
            hint = nearest(drawn.column, columns)
            yield f"parameters.{name}.column: {drawn.column!r} is not a column ({hint})"


def _text_problems(
    name: str, query: OwnQuery, target: Target, database: Database, reader: DatasetReader
) -> Iterator[str]:
    try:
        language = database.texts(query.table_of(reader))
    except Unsupported as error:
        yield f"{OPTION}: target {target.name}: {error}"
        return
    text = language.choose_text(query.texts)
    if text is None:
        yield (
            f"{OPTION}: {name}: text: there is none for target {target.name}, which takes one of"
            f" {', '.join(language.keys)}"
        )
    elif problem := language.problem(text, query.columns):
        key = next(key for key in language.keys if key in query.texts)
        yield f"{OPTION}: {name}: text.{key}: {problem}"
