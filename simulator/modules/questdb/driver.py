"""Rows through questdb's Sender over ILP/HTTP, with a transaction of `row` calls per batch.

https://py-questdb-client.readthedocs.io/en/latest/sender.html#http-transactions
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from simulator.data.block import Block
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.encode.lineprotocol import Check, none_is
from simulator.encode.objects import InstantType, Objects
from simulator.modules.contract import DRIVER, Encoder
from simulator.modules.questdb.query import LINES, adapt, is_integer
from simulator.modules.shared.client.driver import DriverBatch, batches
from simulator.modules.shared.http.client import HttpError, HttpOptions, NoAnswer, NotConnected

if TYPE_CHECKING:
    from questdb import QuestDBError, Sender, TimestampNanos

MODES = {DRIVER: "questdb's Sender over ILP/HTTP: one transaction of `row` calls"}
_NOT_CONNECTED = "Connection refused"
_REFUSED = re.compile(r'code("?): ?\1(invalid|request too large)\b')
"""The server's codes for rows that it cannot store. Other codes are failures of the server."""


class DriverRow(NamedTuple):
    """A row as arguments of the driver."""

    symbols: Mapping[str, str]
    columns: Mapping[str, Any]
    at: "datetime | TimestampNanos"


class Refused(HttpError):
    """The server refused a transaction and stored none of its rows."""


def open_sender(options: HttpOptions, username: str | None, password: str | None) -> "Sender":
    """Return a sender that does not retry by itself."""
    from questdb import Protocol, QuestDBError, Sender

    url = urlsplit(options.url)
    secure = url.scheme == "https"
    tls: dict[str, Any] = {}
    if secure:
        tls = {"tls_verify": not options.insecure, "tls_roots": options.ca_file}
    try:
        sender = Sender(
            Protocol.Https if secure else Protocol.Http,
            url.hostname or "",
            url.port or (443 if secure else 80),
            username=username,
            password=password,
            **tls,
            auto_flush=False,
            retry_timeout=0,
            request_timeout=int(options.timeout_s * 1000),
        )
        sender.establish()  # type: ignore[no-untyped-call]
    except QuestDBError as error:
        raise NotConnected(f"questdb's client: {error}", "") from error
    return sender


def encoder(table: Table, name: str) -> Encoder:
    """Return the encoder of rows as the driver's arguments, without NULLs."""
    from questdb import TimestampNanos

    table = adapt(table)
    columns, tags = table.columns, LINES.tags(table)
    fine = table.time_unit is TimeUnit.NANOSECOND  # finer than a datetime
    symbols = [(columns.index(column), column.name) for column in tags]
    fields = [
        (place, column.name, _make_converter(column, TimestampNanos if fine else None))
        for place, column in enumerate(columns)
        if column not in tags and column.role is not Role.TIME
    ]
    marker = LINES.marker(table)
    always = {marker: True} if marker else {}
    checks = [(column.name, LINES.check(table, column)) for column in columns]
    if fine:
        checks += [(c.name, _refuse_before_1970(c)) for c in columns if c.type is Type.TIMESTAMP]
    time = columns.index(table.time)
    instant = InstantType.INTEGER if fine else InstantType.AWARE
    objects = Objects(columns, table.time_unit, instant)

    def arguments(row: Sequence[Any]) -> DriverRow:
        return DriverRow(
            {key: row[place] for place, key in symbols if row[place] is not None},
            always
            | {
                key: made(row[place]) if made else row[place]
                for place, key, made in fields
                if row[place] is not None
            },
            TimestampNanos(row[time]) if fine else row[time],
        )

    def encode(block: Block, rows_per_batch: int) -> Sequence[Sequence[DriverRow]]:
        for key, check in checks:
            check(block.data[key])
        return [list(map(arguments, rows)) for rows in objects.encode(block, rows_per_batch)]

    return batches(name, encode)


def _make_converter(
    column: Column, of_instant: Callable[[Any], Any] | None
) -> Callable[[Any], Any] | None:
    """Return the converter of a column's values for the driver; None: it needs none."""
    if column.type is Type.TIMESTAMP:
        return of_instant
    return int if column.type is Type.BOOL and is_integer(column) else None


def _refuse_before_1970(column: Column) -> Check:
    text = (
        f"column {column.name}: questdb's client takes no nanoseconds before 1970; use client=own"
    )
    return none_is(lambda values: np.asarray(values < 0), text)


def store(sender: "Sender", batch: DriverBatch) -> None:
    """Send the rows through the driver in one transaction; its errors become HttpErrors."""
    from questdb import QuestDBError

    try:
        with sender.transaction(batch.into) as transaction:
            for symbols, columns, at in batch.rows:
                transaction.row(symbols=symbols, columns=columns, at=at)
    except QuestDBError as error:
        raise _translate(error) from error


def _translate(error: "QuestDBError") -> HttpError:
    """Return the HttpError of a driver's error, which has the server's message but no status."""
    from questdb import QuestDBErrorCode as Code

    text = f"questdb's client: {error}"
    if error.code is Code.SocketError:
        return NotConnected(text, "") if _NOT_CONNECTED in text else NoAnswer(text)
    if error.code is Code.ServerFlushError and not _REFUSED.search(text):
        return HttpError(text)
    return Refused(text)
