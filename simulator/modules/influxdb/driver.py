"""Rows through influxdb-client's synchronous `write_api`, a dict for each point.

https://influxdb-client.readthedocs.io/en/stable/usage.html#write
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from simulator.data.block import Array, Block, Coded
from simulator.data.schema import Role, Table, Type
from simulator.encode.columns import LevelCache
from simulator.encode.lineprotocol import INFLUXDB, tag_text
from simulator.encode.objects import Objects
from simulator.errors import UnstorableError
from simulator.modules.contract import DRIVER, Encoder
from simulator.modules.shared.client.driver import batches

MODES = {DRIVER: "influxdb-client's synchronous write_api, one request of points"}


def encoder(table: Table, name: str) -> Encoder:
    """Return what makes a point of each row; a NULL is left out."""
    columns, tags = table.columns, table.tags
    time = columns.index(table.time)
    tagged = [(columns.index(column), column.name) for column in tags]
    fields = [
        (place, column.name)
        for place, column in enumerate(columns)
        if column not in tags and column.role is not Role.TIME
    ]
    marker = INFLUXDB.marker(table)
    always = {marker: True} if marker else {}
    objects = Objects(columns, table.time_unit)
    checks = [(column.name, INFLUXDB.check(table, column)) for column in columns]
    checked = {column.name: LevelCache(partial(_check_tags, column.name)) for column in tags
               if column.type is Type.TEXT}  # fmt: skip

    def point(row: Sequence[Any]) -> dict[str, Any]:
        return {
            "measurement": name,
            "tags": {key: row[place] for place, key in tagged if row[place] is not None},
            "fields": always | {key: row[place] for place, key in fields if row[place] is not None},
            "time": row[time],
        }

    def encode(block: Block, rows_per_batch: int) -> Sequence[Sequence[Any]]:
        for key, check in checks:
            check(block.data[key])
        for key, check_levels in checked.items():
            data = block.data[key]
            if isinstance(data, Coded):
                check_levels(data.levels)
            else:
                _check_tags(key, data.present())
        return [list(map(point, rows)) for rows in objects.encode(block, rows_per_batch)]

    return batches(table, encode)


def _check_tags(column: str, texts: Array) -> None:
    """Raise UnstorableError for a tag that the client, or line protocol, would change."""
    for text in texts.tolist():
        if b"\t" in text:
            raise UnstorableError(
                f"column {column}: influxdb-client writes a tab in a tag as a backslash and a t,"
                f" found {text.decode()!r}; use client=own"
            )
        tag_text(column, text)
