"""Rows through pymongo's `insert_many`: a dict for each row, which the driver makes BSON.

https://pymongo.readthedocs.io/en/stable/examples/bulk.html
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, assert_never

from simulator.data.block import Block
from simulator.data.schema import Table
from simulator.encode.bson import BsonField, Constant, Element, Embedded
from simulator.encode.objects import InstantType, Objects
from simulator.modules.contract import DRIVER, Encoder
from simulator.modules.shared.client.driver import batches

MODES = {DRIVER: "pymongo's insert_many; not a transaction"}

_Row: TypeAlias = Sequence[Any]
_Places: TypeAlias = Mapping[BsonField, int]
_Read: TypeAlias = Callable[[_Row], Any]
_ABSENT = object()


def encoder(table: Table, elements: Sequence[Element], name: str) -> Encoder:
    """Return the encoder of rows as dicts with these elements."""
    fields = [*dict.fromkeys(_list_fields(elements))]
    columns = [
        Objects(
            [field.column],
            table.time_unit,
            InstantType.AWARE if field.date else InstantType.INTEGER,
        )
        for field in fields
    ]
    read = _make_reader(elements, {field: place for place, field in enumerate(fields)})

    def encode(block: Block, rows_per_batch: int) -> list[list[Any]]:
        cut = (column.encode(block, rows_per_batch) for column in columns)
        return [
            [read([value for (value,) in row]) for row in zip(*batch, strict=True)]
            for batch in zip(*cut, strict=True)
        ]

    return batches(name, encode)


def _list_fields(elements: Sequence[Element]) -> Iterator[BsonField]:
    for element in elements:
        match element:
            case BsonField():
                yield element
            case Embedded():
                yield from _list_fields(element.elements)
            case Constant():
                pass
            case _:
                assert_never(element)


def _make_reader(elements: Sequence[Element], places: _Places) -> _Read:
    """Return the function that turns a row into a dict."""
    reads = [(element.name, _make_value_reader(element, places)) for element in elements]

    def read(row: _Row) -> dict[str, Any]:
        values = ((name, value(row)) for name, value in reads)
        return {name: value for name, value in values if value is not _ABSENT}

    return read


def _make_value_reader(element: Element, places: _Places) -> _Read:
    match element:
        case BsonField():
            place, absent = places[element], None if element.null else _ABSENT
            return lambda row: absent if row[place] is None else row[place]
        case Constant():
            return lambda _row: element.text
        case Embedded():
            inner = _make_reader(element.elements, places)
            return (lambda row: [*inner(row).values()]) if element.array else inner
    assert_never(element)
