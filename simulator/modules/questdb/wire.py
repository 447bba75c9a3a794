"""QuestDB's import of a CSV file: a form of a schema and the file, posted to /imp.

https://questdb.com/docs/query/rest-api/#imp---import-data. Columns have the table's types; the
schema determines how instants are written.
"""

import json
from dataclasses import replace
from urllib.parse import urlencode

from simulator.data.schema import Table, TimeUnit, Type
from simulator.encode.numbers import Iso
from simulator.encode.text import CSV, TextEncoder, slots

_BOUNDARY = "rows"
FORM = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
END = f"\r\n--{_BOUNDARY}--\r\n".encode()
_STYLE = replace(
    CSV.style, instants=Iso(zone=b"", decimals=9), quote=b'"', special=b'"',
    escape=lambda text: text.replace(b'"', b'""'),
)  # fmt: skip
_BOOLS = replace(_STYLE, false=b"false", true=b"true")
_INTEGERS = replace(_STYLE, false=b"0", true=b"1")
_FRACTIONS = {
    TimeUnit.SECOND: "",
    TimeUnit.MILLISECOND: ".SSS",
    TimeUnit.MICROSECOND: ".SSSUUU",
    TimeUnit.NANOSECOND: ".SSSUUUNNN",
}


def lines(table: Table) -> TextEncoder:
    """Return the encoder of the rows of a file; a BOOL that may be NULL is an integer."""
    row = [
        replace(slot, style=_INTEGERS if slot.column.nullable else _BOOLS)
        for slot in slots(table.columns, CSV)
    ]
    return TextEncoder(row, CSV.payload, table.time_unit)


def form(table: Table, name: str) -> tuple[str, bytes]:
    """Return the path of a request, and the form before the rows of the file."""
    pattern = f"yyyy-MM-dd HH:mm:ss{_FRACTIONS[table.time_unit]}"
    nanoseconds = table.time_unit is TimeUnit.NANOSECOND
    schema = [
        {
            "name": column.name,
            "type": "TIMESTAMP_NS" if nanoseconds else "TIMESTAMP",
            "pattern": pattern,
        }
        for column in table.columns
        if column.type is Type.TIMESTAMP
    ]
    header = ",".join(f'"{column.name}"' for column in table.columns)
    begin = (
        f"--{_BOUNDARY}\r\n"
        'Content-Disposition: form-data; name="schema"\r\n\r\n'
        f"{json.dumps(schema)}\r\n--{_BOUNDARY}\r\n"
        'Content-Disposition: form-data; name="data"; filename="rows"\r\n\r\n'
        f"{header}\n"
    )
    words = {"name": name, "fmt": "json", "forceHeader": "true", "atomicity": "abort",
             "create": "false"}  # fmt: skip
    return f"/imp?{urlencode(words)}", begin.encode()
