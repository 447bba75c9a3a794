"""The layout of our collections: fields of their documents, with types."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from simulator.data.schema import FLOATS, INTEGERS, Table, Type
from simulator.encode.bson import BsonField, Constant, Element, Embedded
from simulator.modules.contract import Columns, Database, Existing
from simulator.modules.mongodb.query import DocumentFormat, TableDocuments

if TYPE_CHECKING:
    from simulator.modules.mongodb.session import MongodbSession  # noqa: F401  # in a base

_COMPARED = 100
"""Number of documents that are read from a collection."""
_ID = "_id"
_KINDS = (bool, int, float, str, datetime)
_SEVERAL = "several types"
_TYPES = {
    **dict.fromkeys((*INTEGERS, Type.TIMESTAMP), "int"),
    **dict.fromkeys(FLOATS, "float"),
    Type.BOOL: "bool",
    Type.TEXT: "str",
}


class Signatures(Database["MongodbSession"]):
    """Recognizes collections by their documents, because they have no place for a signature."""

    declares_columns: ClassVar[bool] = False

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        """Return the names that collections or views use."""
        with self.administration() as session:
            every = session.database.list_collections()
            kinds = {each["name"]: each.get("type", "collection") for each in every}
        return {
            name: Existing("view" if kinds[name] == "view" else "collection", kinds[name] != "view")
            for name in names
            if name in kinds
        }

    def columns_in(self, name: str) -> Columns:
        found: dict[str, str] = {}
        with self.administration() as session:
            for document in session.database[name].find({}, limit=_COMPARED):
                for field, kind in _list_columns(document):
                    found[field] = kind if found.get(field, kind) in ("", kind) else _SEVERAL
        return found

    def layouts(self, name: str, tables: Sequence[Table]) -> Iterable[Columns]:
        for table in tables:
            for layout in DocumentFormat:
                yield dict(_declare(TableDocuments(table, layout).elements))


def _declare(elements: Iterable[Element]) -> Iterator[tuple[str, str]]:
    """Yield fields and their types; a field of a document or of pairs includes their name."""
    for element in elements:
        match element:
            case BsonField() if element.name != _ID:
                yield element.name, "datetime" if element.date else _TYPES[element.column.type]
            case Embedded(array=False):
                yield from _prefix(element.name, _declare(element.elements))
            case Embedded():
                yield from _prefix(element.name, map(_pair, element.elements))


def _pair(element: Element) -> tuple[str, str]:
    assert isinstance(element, Embedded)
    key, value = element.elements
    assert isinstance(key, Constant)
    assert isinstance(value, BsonField)
    return key.text, _TYPES[value.column.type]


def _list_columns(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for field, value in document.items():
        if isinstance(value, Mapping):
            yield from _prefix(field, _list_columns(value))
        elif isinstance(value, list) and all(isinstance(pair, Mapping) for pair in value):
            pairs = ((str(pair.get("key")), _kind(pair.get("val"))) for pair in value)
            yield from _prefix(field, pairs)
        elif field != _ID:
            yield field, _kind(value)


def _prefix(name: str, columns: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return ((f"{name}.{column}", kind) for column, kind in columns)


def _kind(value: Any) -> str:
    """Return the name of a value's type; empty for NULL."""
    if value is None:
        return ""
    known = (kind for kind in _KINDS if isinstance(value, kind))
    return next(known, type(value)).__name__
