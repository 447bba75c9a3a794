"""One connection to QuasarDB: rows as columns for the batch writer, and queries."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded, ColumnData
from simulator.data.query import RowsQuery, Statement
from simulator.data.schema import FLOATS, Column, Table, Type
from simulator.encode.columns import LevelCache
from simulator.errors import UnstorableError
from simulator.modules.contract import BATCH, SINGLE, Encoder, Failure, Payload
from simulator.modules.shared.client.planned import Answers, Fetch, PlannedQuery, PlannedSession

FAST, ASYNC = "fast", "async"
"""Insert modes in addition to single and batch."""
_PUSHES = {SINGLE: "Transactional", BATCH: "Transactional", FAST: "Fast", ASYNC: "Async"}
_NULL_INTEGER = np.iinfo(np.int64).min
"""The client library's placeholder of NULL, so no value can equal it."""


class QuasarSession(PlannedSession):
    """A connection to the cluster, and a writer."""

    alive = True

    def __init__(self, driver: Any, cluster: Any, *, write_through: bool) -> None:
        self.cluster = cluster
        self._driver = driver
        self._writer = cluster.writer()
        self._write_through = write_through
        self._handles: dict[str, Any] = {}

    def close(self) -> None:
        with suppress(Exception):
            self.cluster.close()

    # --- rows

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        """Return the encoder of blocks as columns; a batch is a view of the columns."""
        encoded = MaskedColumns(table).encode

        def encode(block: Block, rows_per_batch: int) -> Sequence[tuple[str, Array, list[Any]]]:
            index, columns = encoded(block)
            starts = range(0, len(block), rows_per_batch)
            parts = (slice(start, start + rows_per_batch) for start in starts)
            return [(name, index[part], [column[part] for column in columns]) for part in parts]

        return encode

    def send(self, payload: Payload) -> None:
        """Push the rows; return once the server has acknowledged them, without a count."""
        name, index, columns = payload.data
        if name not in self._handles:
            self._handles[name] = self.cluster.table(name)
        data = self._driver.WriterData()
        data.append(self._handles[name], index, columns)
        self._writer.push(
            data,
            push_mode=getattr(self._driver.WriterPushMode, _PUSHES[payload.mode]),
            write_through=self._write_through,
            deduplicate=False,
            deduplication_mode="drop",
            # The worker counts retries; the client does not report its own.
            retries=self._driver.RetryOptions(retries=0),
        )

    def classify(self, error: Exception) -> Failure:
        """Return what an error of `send` means for its rows.

        The vendor documents only the names of the errors. A push can span several shards, so a
        server that refuses it for a moment may have stored a part of it, in any mode.
        """
        driver = self._driver
        wrong = (
            driver.AliasNotFoundError,
            driver.IncompatibleTypeError,
            driver.InvalidArgumentError,
            driver.OutOfBoundsError,
        )
        if isinstance(error, wrong):
            return Failure.FATAL
        busy = (driver.TryAgainError, driver.AsyncPipelineFullError)
        self.alive = isinstance(error, busy)
        return Failure.UNKNOWN

    # --- queries

    def plan(self, statement: Statement) -> PlannedQuery:
        """Return the plan; a user's text has a statement on each line."""
        if isinstance(statement, PlannedQuery):
            return statement
        fetches = tuple(map(Fetch, statement.text.splitlines()))
        return PlannedQuery(statement.text, statement.outputs, fetches=fetches)

    def answers(self, plan: PlannedQuery, rows: int | None = None) -> Answers:
        """Run one statement after the other; rows of tables arrive in portions."""
        if plan.parameters and isinstance(plan.parameters[0], RowsQuery):
            for fetch in plan.fetches:
                for portion in self.await_parts(self._fetch_portions(fetch.text, rows or 0)):
                    yield fetch, list(portion.values())
            return
        for fetch in plan.fetches:
            with self.waiting():
                found = self.cluster.query_numpy(fetch.text)
            yield fetch, list(zip(*(column.tolist() for _, column in found), strict=True))

    def _fetch_portions(self, text: str, rows: int) -> Iterator[Mapping[str, Any]]:
        with self.cluster.stream_query(text, batch_size=rows) as reader:
            yield from reader


class MaskedColumns:
    """Encodes blocks as arguments of the batch writer: masked arrays of the columns' types."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._texts = {
            column.name: LevelCache(_decode) for column in table.columns if column.type is Type.TEXT
        }

    def encode(self, block: Block) -> tuple[Array, list[Any]]:
        """Return the rows' instants, and the other columns in the order of the table."""
        table = self._table
        index = _instants(table, block.data[table.time.name].values())
        return index, [
            self._mask(column, block.data[column.name]) for column in list_columns(table)
        ]

    def _mask(self, column: Column, data: ColumnData) -> Any:
        if column.type is Type.TEXT and isinstance(data, Coded):
            values: Array = self._texts[column.name](data.levels).take(data.codes)
        else:
            values = data.values()
            if column.type is Type.TEXT:
                values = _decode(values)
            elif column.type in FLOATS:
                values = values.astype(np.float64)
            else:
                values = values.astype(np.int64)
        mask = np.zeros(len(values), np.bool_) if data.valid is None else ~data.valid
        _check(column, values if data.valid is None else values[data.valid])
        return np.ma.MaskedArray(values, mask=mask)


def list_columns(table: Table) -> list[Column]:
    """Return the columns to create a table with, without the time, which every table has."""
    return [column for column in table.columns if column is not table.time]


def _decode(texts: Array) -> Array:
    return np.strings.decode(texts, "utf-8") if len(texts) else np.array([], "U1")


def _check(column: Column, values: Array) -> None:
    if column.type is Type.TEXT:
        if len(values) and not np.strings.str_len(values).all():
            raise UnstorableError(f"column {column.name}: an empty string means NULL in QuasarDB")
    elif column.type in FLOATS:
        if not np.isfinite(values).all():
            raise UnstorableError(f"column {column.name}: cannot be infinite or NaN")
    elif (values == _NULL_INTEGER).any():
        raise UnstorableError(f"column {column.name}: {_NULL_INTEGER} means NULL in QuasarDB")


def _instants(table: Table, values: NDArray[np.int64]) -> Array:
    factor = 10**9 // table.time_unit.per_second
    largest = np.iinfo(np.int64).max // factor
    if len(values) and (int(values.max()) > largest or int(values.min()) < -largest):
        odd = int(values.max() if int(values.max()) > largest else values.min())
        raise UnstorableError(
            f"column {table.time.name}: {odd} {table.time_unit} is outside of 1677-09-21 to "
            "2262-04-11, the range of nanoseconds in 64 bits"
        )
    return (values * factor).view("datetime64[ns]")
