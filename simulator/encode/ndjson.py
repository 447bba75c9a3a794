"""Blocks as the bulk format of Elasticsearch and OpenSearch: two lines of JSON per row.

https://www.elastic.co/guide/en/elasticsearch/reference/current/docs-bulk.html: an action, then the
document; every line ends with a line feed. The index is in the request's path, or it is the same in
every action, so rows differ only in their values and are encoded like any other text. Other formats
use the same JSON.
"""

import json
from collections.abc import Sequence
from typing import Literal

import numpy as np

from simulator.data.block import Coded, ColumnData
from simulator.data.schema import FLOATS, Column, TimeUnit
from simulator.encode.rows import BARE
from simulator.encode.text import Slot, TextEncoder, ValueStyle
from simulator.errors import UnstorableError

_SPECIAL = bytes(range(0x20)) + b'"\\'


def _escape(text: bytes) -> bytes:
    return json.dumps(text.decode(), ensure_ascii=False)[1:-1].encode()


JSON = ValueStyle(
    b"null", b"false", b"true", instants=None, quote=b'"', special=_SPECIAL, escape=_escape
)
"""JSON by RFC 8259: UTF-8, with as many digits as a number needs to be read back unchanged."""


def documents(
    columns: Sequence[Column],
    time_unit: TimeUnit,
    key: Column | None,
    index: str = "",
    action: Literal["create", "index"] = "create",
) -> TextEncoder:
    """Return the encoder of documents.

    `action`: with "create", a document that exists is an error; with "index", it is replaced. `key`
    becomes the document's _id, but not a field; without a key, the server generates the _id.
    `index` is named in every action; if it is empty, the request's path must name the index.
    """
    row = []
    named = b'"_index":' + json.dumps(index, ensure_ascii=False).encode() if index else b""
    start = b'{"' + action.encode() + b'":{' + named
    whole = start + b"}}\n"
    if key is not None:
        before = start + (b"," if named else b"") + b'"_id":'
        row.append(Slot(key, JSON, before, b"}}\n", b""))
        whole = b""
    for place, column in enumerate(columns):
        name = json.dumps(column.name, ensure_ascii=False).encode()
        before = (b"," if place else whole + b"{") + name + b":"
        after = b"}\n" if column is columns[-1] else b""
        row.append(Slot(column, JSON, before, after, before + JSON.null + after))
    return TextEncoder(row, BARE, time_unit)


def check_finite(column: Column, data: ColumnData) -> None:
    """Raise UnstorableError if a column of floats has a value that JSON cannot represent."""
    known = data.levels if isinstance(data, Coded) else data.array
    if column.type in FLOATS and not np.isfinite(known).all():
        values = data.present()
        if not np.isfinite(values).all():
            value = values[~np.isfinite(values)][0]
            raise UnstorableError(f"{column.name}: JSON has finite numbers only; found {value}")
