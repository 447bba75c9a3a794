"""What distinguishes a collection of ours: the fields of its documents, and their types."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from simulator.data.schema import FLOATS, INTEGERS, Table, Type
from simulator.encode.bson import Element, Embedded, Field
from simulator.modules.base import Database
from simulator.modules.existing import Existing
from simulator.modules.mongodb.query import Documents, Format
from simulator.modules.signature import Columns

if TYPE_CHECKING:
    from simulator.modules.mongodb.session import MongodbSession  # noqa: F401  # in a base

_COMPARED = 100
"""Documents of a collection that are read."""
_NUMBER, _TEXT, _DATE, _OBJECT, _ARRAY, _BOOL = "int", "str", "datetime", "dict", "list", "bool"
_TYPES = {
    **dict.fromkeys((*INTEGERS, Type.TIMESTAMP), _NUMBER),
    **dict.fromkeys(FLOATS, "float"),
    Type.BOOL: _BOOL,
    Type.TEXT: _TEXT,
}


class Signatures(Database["MongodbSession"]):
    """A database whose collections have no place for a text."""

    declares_columns: ClassVar[bool] = False

    def existing(self, names: Collection[str]) -> dict[str, Existing]:
        """Return which names are in use, also by views."""
        with self.administration() as session:
            every = session.database.list_collections()
            kinds = {each["name"]: each.get("type", "collection") for each in every}
        return {
            name: Existing("view" if kinds[name] == "view" else "collection", kinds[name] != "view")
            for name in names
            if name in kinds
        }

    def columns_in(self, name: str) -> Columns:
        """Return the fields of some documents, except for their keys."""
        found: dict[str, str] = {}
        with self.administration() as session:
            for document in session.database[name].find({}, limit=_COMPARED):
                for field, value in document.items():
                    kind = _kind(value)
                    found[field] = kind if found.get(field, kind) == kind else "several"
        return {field: kind for field, kind in found.items() if field != "_id"}

    def layouts(self, name: str, tables: Sequence[Table]) -> Iterable[Columns]:
        """Yield the fields of documents in each format."""
        for table in tables:
            for layout in Format:
                yield dict(map(_declared, Documents(table, layout).elements))


def _declared(element: Element) -> tuple[str, str]:
    match element:
        case Field():
            return element.name, _DATE if element.date else _TYPES[element.column.type]
        case Embedded():
            return element.name, _ARRAY if element.array else _OBJECT
    return element.name, _TEXT


def _kind(value: Any) -> str:
    kinds = (bool, int, float, str, datetime, list)
    shown = next((kind.__name__ for kind in kinds if isinstance(value, kind)), "")
    return shown or (_OBJECT if isinstance(value, Mapping) else type(value).__name__)
