"""The formats in which rows are sent to VictoriaMetrics, and the limits of what it can store."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from simulator.data.answer import in_units
from simulator.data.block import Array, Block, Coded, ColumnData, Rows
from simulator.data.query import Selection
from simulator.data.schema import FLOATS, Table, Type
from simulator.encode.columns import LevelCache
from simulator.encode.lineprotocol import LineProtocol
from simulator.encode.series import SeriesLines
from simulator.errors import UnstorableError
from simulator.modules.shared.http.client import Body
from simulator.modules.shared.metrics.limits import Checked, Limits
from simulator.modules.shared.metrics.points import fields

TABLE_LABEL = "benchmark_table"
"""Label of every series that holds the name of its table; a prefix could be ambiguous."""
TAGS_LABEL = "benchmark_tags"
"""Label of the point that marks a table as existing, with the names of its tags as JSON."""
LAST_MS = 9_000_000_000_000
"""2255-03-14: end of queries without an end; the server's clock ends in 2262."""
_LIMITS = Limits(
    product="VictoriaMetrics",
    letters=None,
    large_integers=False,
    more_in_tags="",
    allowed="",
    finer="the workload iot has whole milliseconds",
    null_tags=True,
    longest_tag=4096,
)
"""The length of tags is the default of -maxLabelValueLen."""
_LONGEST_NAME = 256
_PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.\0"
"""Letters that need no escape; NUL pads texts in an array."""
_FEW_ROWS = 4
"""A payload with fewer rows of each series is sent as lines."""
_IMPORT = "/api/v1/import"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


# --- names and instants --------------------------------------------------------------------------


def metric(prefix: str, table: str, field: str) -> str:
    """Return the name of a field's metric."""
    return f"{prefix}{table}_{field}"


def ms(table: Table, instant: int) -> int:
    """Return the first millisecond at or after an instant of the table."""
    return -(-instant * 1000 // table.time_unit.per_second)


def span_ms(table: Table, selection: Selection) -> tuple[int, int]:
    """Return the first and the last millisecond of a selection; it may end before it begins."""
    since, until = selection.since, selection.until
    return (
        0 if since is None else max(ms(table, since), 0),
        LAST_MS if until is None else ms(table, until) - 1,
    )


def back(table: Table, instant_ms: int) -> int | Decimal:
    """Return a point's instant in the table's unit."""
    return in_units(instant_ms * table.time_unit.per_second, 1000)


def iso(instant_ms: int) -> str:
    """Return an instant as text: the server might read the number 1700 as a year."""
    moment = (_EPOCH + timedelta(milliseconds=instant_ms)).replace(tzinfo=None)
    return moment.isoformat(timespec="milliseconds") + "Z"


# --- rows ----------------------------------------------------------------------------------------


def series_lines(prefix: str, table: Table, name: str) -> SeriesLines:
    """Return the encoder of a physical table's rows."""
    metrics = {c.name: metric(prefix, name, c.name) for c in fields(table)}
    return SeriesLines(table, metrics, {TABLE_LABEL: prefix + name})


class Bodies:
    """Encodes the rows of a physical table as requests.

    With many rows of each series in a payload, one line of JSON for each series is the shortest
    format, and takes the server a third less time. With few rows, line protocol is shorter, because
    it names the tags once for all fields of a row. It is used only with plain names and tags, and
    with times after 0, because 0 means no time.
    """

    def __init__(self, prefix: str, table: Table, name: str) -> None:
        self._table = table
        self.series = series_lines(prefix, table, name)
        self._lines = LineProtocol(table, prefix + name)
        self._write = lines_path(prefix, table, name)
        self._plain_names = all(map(_is_plain, (prefix + name, *(c.name for c in table.columns))))
        self._plain_tags = LevelCache(lambda levels: _is_plain(levels.tobytes().decode("latin1")))

    def encode(
        self, block: Block, batch_rows: int, times: NDArray[np.int64]
    ) -> tuple[str, Sequence[Body]]:
        """Return the path of the requests, and their bodies."""
        if self.in_lines(block, batch_rows, times):
            return self._write, self._lines.encode(block, batch_rows)
        return _IMPORT, self.series.encode(block, batch_rows, times)

    def in_lines(self, block: Block, batch_rows: int, times: NDArray[np.int64]) -> bool:
        """Return whether line protocol is used for payloads with this number of rows."""
        if not len(times) or not self._plain_names or times.min() < 1:
            return False
        series = 1
        for tag in self._table.tags:
            data = block.data[tag.name]
            if tag.type is Type.TEXT and not (
                isinstance(data, Coded) and self._plain_tags(data.levels)
            ):
                return False
            series *= len(data.levels if isinstance(data, Coded) else np.unique(data.array))
        return batch_rows < _FEW_ROWS * min(series, batch_rows)


def lines_path(prefix: str, table: Table, name: str) -> str:
    """Return the path for lines of InfluxDB's protocol, with the label of their table."""
    label = urlencode({"extra_label": f"{TABLE_LABEL}={prefix}{name}"})
    return f"{_write(table)}&{label}"


class MixedBodies:
    """Encodes the rows of several tables as requests, in the format that suits all of them.

    Each line has the label of its table; in requests for a single table, a parameter has it.
    """

    def __init__(self, prefix: str, tables: Sequence[Table]) -> None:
        self._bodies = [Bodies(prefix, table, table.name) for table in tables]
        self._lines = [
            LineProtocol(table, prefix + table.name, labels={TABLE_LABEL: prefix + table.name})
            for table in tables
        ]
        self._write = _write(tables[0])

    def encode(
        self, blocks: Sequence[Block], edges: Sequence[Rows], times: Sequence[NDArray[np.int64]]
    ) -> tuple[str, list[bytes]]:
        """Return the path of the requests, and their bodies, with the rows between two edges."""
        batches = len(edges[0]) - 1
        mean_rows = [-(-len(block) // batches) for block in blocks]
        parts: list[Sequence[Body]]
        if all(map(Bodies.in_lines, self._bodies, blocks, mean_rows, times)):
            path, parts = self._write, list(map(LineProtocol.between, self._lines, blocks, edges))
        else:
            series = (each.series for each in self._bodies)
            path, parts = _IMPORT, list(map(SeriesLines.between, series, blocks, edges, times))
        return path, list(map(b"".join, zip(*parts, strict=True)))


def _write(table: Table) -> str:
    """Return the path for lines in the table's unit of time."""
    return f"/write?precision={table.time_unit}"


def _is_plain(text: str) -> bool:
    return not text.strip(_PLAIN)


class Checks(Checked):
    """Checks that a table's rows can be stored exactly; UnstorableError if they cannot."""

    def __init__(self, table: Table, name: str, decimals: int, span_ms: tuple[int, int]) -> None:
        """Check what does not depend on the rows; `span_ms` is the server's retention."""
        super().__init__(_LIMITS, table, name, 1000)
        self._span_ms = span_ms
        for tag in table.tags:
            if tag.name in (TABLE_LABEL, "__name__"):
                raise UnstorableError(f"column {tag.name}: the name is taken; use another")
            if len(tag.name.encode()) > _LONGEST_NAME:
                raise UnstorableError(
                    f"column {tag.name}: VictoriaMetrics takes names of {_LONGEST_NAME} bytes"
                )
        self._floats = [
            (column, Inexact(decimals)) for column in fields(table) if column.type in FLOATS
        ]

    def times(self, block: Block) -> NDArray[np.int64]:
        """Return the rows' times in ms; UnstorableError if a row cannot be stored."""
        times = super().times(block)
        for column, inexact in self._floats:
            if problem := inexact.problem(block.data[column.name]):
                raise UnstorableError(f"column {column.name}: {problem}")
        first, last = self._span_ms
        for instant in (int(times.min()), int(times.max())) if len(times) else ():
            if first <= instant <= last:
                continue
            shown = iso(instant) if 0 <= instant <= LAST_MS else f"{instant} ms"
            flag = "-retentionPeriod" if instant < first else "-futureRetention"
            raise UnstorableError(
                f"column {self._table.time.name}: {shown} is outside this server's retention, "
                f"{iso(first)} to {iso(min(last, LAST_MS))}, and it would "
                f"drop the row silently; start it with a longer {flag} (such as 100y), or use "
                "another --start-time"
            )
        return times


class Inexact:
    """Finds floats that the server would return changed.

    The server stores the numbers of a series as integers with a common power of ten. It finds the
    power by multiplying a fraction by 100 until it is whole, up to 10**12. Numbers that are whole
    before that limit are stored exactly.
    """

    LIMIT = 9 * 10**11

    def __init__(self, decimals: int) -> None:
        self._decimals = decimals
        self._of_levels = LevelCache(self._find_problem)

    def problem(self, data: ColumnData) -> str:
        """Return why the server might change a number; empty if it does not."""
        if isinstance(data, Coded):
            return self._of_levels(data.levels)
        return self._find_problem(data.present())

    def _find_problem(self, values: Array) -> str:
        power = 10.0**self._decimals
        wide = values.astype(np.float64)
        with np.errstate(over="ignore"):
            scaled = np.rint(wide * power)
        wrong = (np.abs(scaled) > self.LIMIT) | (scaled / power != wide)
        if not wrong.any():
            return ""
        return (
            f"{float(wide[wrong][0])!r} is larger than {self.LIMIT / power:g} or has more than "
            f"{self._decimals} decimals, and VictoriaMetrics might round it; use "
            "coarser values (such as --precision grid), or see the option decimals"
        )
