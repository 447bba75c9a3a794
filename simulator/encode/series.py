"""Blocks as series: all points of a field with the same tags form one line of JSON.

https://docs.victoriametrics.com/#json-line-format: `{"metric": {...}, "values": [...],
"timestamps": [...]}`. Names are written once per line, so a batch of a few series is half as long
as in line protocol, and the server processes it faster.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded, ColumnData, Rows
from simulator.data.octets import octets
from simulator.data.schema import Column, Role, Table, Type
from simulator.encode.columns import LevelCache, fill
from simulator.encode.points import FieldWriter, Written, as_text

_LINE_ROWS = 100_000
"""Maximum number of rows in a line.

Readers have limits: 10 MiB in VictoriaMetrics, at about 25 bytes for a point."""


@dataclass(frozen=True, slots=True)
class _Runs:
    """Rows in the order of their lines; rows of one batch and series are consecutive."""

    order: NDArray[np.int64] | None
    """Order of the rows; None if the block is in this order."""
    edges: NDArray[np.int64]
    """Start of each line, and end of the last line."""
    batches: list[int]
    """Number of each line's batch."""
    series: list[int]
    """Number of each line's series."""


class SeriesLines:
    """Encodes blocks of one physical table.

    Measured on one core (tests/perf/encode.py, four IoT columns, two points a row): 26 million
    rows/s if a batch has one series, 0.2 million if nearly each row has a different series.
    """

    def __init__(self, table: Table, metrics: Mapping[str, str], labels: Mapping[str, str]) -> None:
        """Store the metric of each field, and the labels of all series."""
        self._table = table
        every = "".join(f",{_format_pair(name, value)}" for name, value in labels.items())
        self._fields = [
            (
                column,
                f'{{"metric":{{{_format_pair("__name__", metrics[column.name])}{every}'.encode(),
            )
            for column in table.columns
            if column.role not in (Role.TAG, Role.TIME)
        ]
        self._tags = {tag.name: LevelCache(partial(_format_labels, tag.name)) for tag in table.tags}
        self._writers = {c.name: FieldWriter(as_text(c.type, b",")) for c, _ in self._fields}

    def encode(self, block: Block, batch_rows: int, times: NDArray[np.int64]) -> list[bytes]:
        """Return the block as payloads of `batch_rows` rows each (the last may have fewer).

        `times` replace the times in the block.
        """
        edges = np.append(np.arange(0, len(block), batch_rows), len(block))
        return self.between(block, edges, times) if len(block) else []

    def between(self, block: Block, edges: Rows, times: NDArray[np.int64]) -> list[bytes]:
        """Return the lines of the rows between each two edges; the first edge is 0."""
        codes, labels = self._number_series(block)
        runs = _order_lines(codes, len(labels), edges)
        instants = _INSTANTS(times)
        when_all = _Text(instants, None, runs)
        columns = []
        for column, head in self._fields:
            data = block.data[column.name]
            valid = None if data.valid is None or data.valid.all() else data.valid
            when = when_all if valid is None else _Text(instants, valid, runs)
            text = _Text(self._writers[column.name].write(data), valid, runs)
            heads = [head + tags + b'},"values":[' for tags in labels]
            columns.append((heads, text, when))
        payloads: list[list[bytes | memoryview]] = [[] for _ in edges[1:]]
        for line, (send, series) in enumerate(zip(runs.batches, runs.series, strict=True)):
            pieces = payloads[send]
            for heads, text, when in columns:
                values = text.line(line)
                if values:
                    middle = b'],"timestamps":['
                    pieces += (heads[series], values, middle, when.line(line), b"]}\n")
        return [b"".join(pieces) for pieces in payloads]

    def _number_series(self, block: Block) -> tuple[NDArray[np.int64] | None, list[bytes]]:
        """Return the series of each row, and the labels of each series.

        The first is None if all rows belong to one series.
        """
        codes: NDArray[np.int64] | None = None
        labels = [b""]
        for tag in self._table.tags:
            own, names = self._number_tag(tag, block.data[tag.name])
            if len(names) == 1:
                labels = [label + names[0] for label in labels]
                continue
            wide = own if codes is None else codes * len(names) + own
            found, codes = np.unique(wide, return_inverse=True)
            pairs = (divmod(each, len(names)) for each in found.tolist())
            labels = [labels[before] + names[this] for before, this in pairs]
        return codes, labels

    def _number_tag(self, tag: Column, data: ColumnData) -> tuple[NDArray[np.int64], list[bytes]]:
        """Return the code of each row, and the label of each code; the label of a NULL is empty."""
        if isinstance(data, Coded):
            codes, names = data.codes, self._tags[tag.name](data.levels)
        else:
            levels, codes = np.unique(fill(data), return_inverse=True)
            names = _format_labels(tag.name, levels)
        if data.valid is not None and not data.valid.all():
            codes, names = np.where(data.valid, codes, len(names)), [*names, b""]
        return codes, names


class _Text:
    """A column's values as text, each followed by a comma, in the order of the lines."""

    def __init__(self, written: Written, valid: NDArray[np.bool_] | None, runs: _Runs) -> None:
        rows, keep = written
        if runs.order is not None:
            rows = rows.take(runs.order)
        if keep is None and valid is None:
            self._content = rows.view(np.uint8).data
            self._ends = (runs.edges * rows.dtype.itemsize).tolist()
            return
        if keep is None:
            kept = np.ones((len(rows), rows.dtype.itemsize), np.bool_)
        else:
            kept = keep.view(np.bool_)
            kept = kept.copy() if runs.order is None else kept.take(runs.order, axis=0)
        if valid is not None:
            kept[~(valid if runs.order is None else valid.take(runs.order))] = False
        self._content = octets(rows)[kept].data
        sizes = np.concatenate(([0], np.cumsum(np.count_nonzero(kept, axis=1))))
        self._ends = sizes[runs.edges].tolist()

    def line(self, number: int) -> memoryview:
        """Return the values of a line; empty if all values are NULL."""
        start, end = self._ends[number], self._ends[number + 1]
        return self._content[start : max(end - 1, start)]


_INSTANTS = as_text(Type.INT64, b",")


def _order_lines(codes: NDArray[np.int64] | None, series: int, edges: Rows) -> _Runs:
    """Return the lines of the batches between edges.

    `codes`: series of each row; None if there is only one.
    """
    if codes is None:
        pieces = [
            (send, start)
            for send, (first, stop) in enumerate(pairwise(edges.tolist()))
            for start in range(first, stop, _LINE_ROWS)
        ]
        starts = np.array([*(start for _, start in pieces), edges[-1]])
        return _Runs(None, starts, [send for send, _ in pieces], [0] * len(pieces))
    sizes = np.diff(edges)
    of_batch = np.repeat(np.arange(len(sizes)), sizes)
    pieces_of_a_send = -(-int(sizes.max()) // _LINE_ROWS)
    lines = of_batch * pieces_of_a_send
    if pieces_of_a_send > 1:
        lines += (np.arange(edges[-1]) - edges[of_batch]) // _LINE_ROWS
    lines = lines * series + codes
    order = np.argsort(lines, kind="stable")
    lines = lines[order]
    starts = np.concatenate(([0], np.flatnonzero(np.diff(lines)) + 1))
    first, which = np.divmod(lines[starts], series)
    starts = np.append(starts, edges[-1])
    return _Runs(order, starts, (first // pieces_of_a_send).tolist(), which.tolist())


def _format_pair(name: str, value: str) -> str:
    return f"{json.dumps(name, ensure_ascii=False)}:{json.dumps(value, ensure_ascii=False)}"


def _format_labels(tag: str, levels: Array) -> list[bytes]:
    texts = (v.decode() if isinstance(v, bytes) else str(v) for v in levels.tolist())
    return [f",{_format_pair(tag, text)}".encode() for text in texts]
