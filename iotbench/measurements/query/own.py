"""The user's own queries, checked against a target and the rows that they are asked of."""

import hashlib
from collections.abc import Collection, Iterator, Mapping

from iotbench.config.targets.config import Target
from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.own_query import OwnQuery, make_own_types
from simulator.errors import nearest
from simulator.modules.contract import Database, Unsupported

OPTION = "--queries"


def digest_of(own: Mapping[str, OwnQuery]) -> str:
    """Return what distinguishes queries of the same names in results."""
    written = "\n".join(f"{name} {query.model_dump_json()}" for name, query in own.items())
    return hashlib.sha256(written.encode()).hexdigest()[:12]


def find_own_problems(
    own: Mapping[str, OwnQuery], target: Target, dataset: Dataset, types: Collection[str]
) -> list[str]:
    """Return why queries cannot be asked of a target's rows; `types` are the workload's own."""
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
    text = language.chosen(query.texts)
    if text is None:
        yield (
            f"{OPTION}: {name}: text: there is none for target {target.name}, which takes one of"
            f" {', '.join(language.keys)}"
        )
    elif problem := language.problem(text, query.columns):
        key = next(key for key in language.keys if key in query.texts)
        yield f"{OPTION}: {name}: text.{key}: {problem}"
