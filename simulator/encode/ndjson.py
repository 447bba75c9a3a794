"""Batches as the bulk format of Elasticsearch and OpenSearch: two lines of JSON a row.

https://www.elastic.co/guide/en/elasticsearch/reference/current/docs-bulk.html: a line that says
what to do, then the document; every line ends with a line feed, the last one too. The index stands
in the request's path, so rows differ in their values only and are gathered like any other text.
"""

import json
from collections.abc import Sequence

from simulator.data.schema import Column, TimeUnit
from simulator.encode.rows import Frame
from simulator.encode.text import Slot, Style, Text

_SPECIAL = bytes(range(0x20)) + b'"\\'


def _escape(text: bytes) -> bytes:
    return json.dumps(text.decode(), ensure_ascii=False)[1:-1].encode()


JSON = Style(
    b"null", b"false", b"true", instants=None, quote=b'"', special=_SPECIAL, escape=_escape
)
"""JSON as RFC 8259 has it: UTF-8, and numbers as long as they need to be to come back the same."""

_PAYLOAD = Frame(b"", b"", b"")


def documents(columns: Sequence[Column], time_unit: TimeUnit, key: Column | None) -> Text:
    """Return the encoder of documents that must not be there yet.

    `key` becomes the document's _id, and no field of it; without one the server draws an _id.
    """
    row = []
    action = b'{"create":{}}\n'
    if key is not None:
        row.append(Slot(key, JSON, b'{"create":{"_id":', b"}}\n", b""))
        action = b""
    for place, column in enumerate(columns):
        name = json.dumps(column.name, ensure_ascii=False).encode()
        before = (b"," if place else action + b"{") + name + b":"
        after = b"}\n" if column is columns[-1] else b""
        row.append(Slot(column, JSON, before, after, before + JSON.null + after))
    return Text(row, _PAYLOAD, time_unit)
