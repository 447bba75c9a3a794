"""Marks: records of an insert, in the database itself, about the tables that it writes.

A mark is a JSON record, compressed and cut into integers of 48 bits, because every database can
store integers up to 2**53. Each integer is a row with the mark's number and the integer's place in
the mark, so the rows of several marks can be read in any order. A row with the part number RENEWAL
belongs to no record: it shows that the writer of the mark still runs.
"""

import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ConfigDict

from simulator.data.dataset import Dataset
from simulator.data.ranges import LANE_BITS, LANE_ROWS, RowRange, merge
from simulator.errors import counted

_FORMAT = 1
_VALUE_BYTES = 6
_CHECKSUM_BYTES = 4
MOST_VALUE = 1 << 8 * _VALUE_BYTES
"""Exclusive upper bound of the integers of a mark."""
RENEWAL = 1 << 40
"""The part number of a renewal: a row which shows that the writer of a mark still runs."""
ENDED = 0
"""The value of the last renewal, after which the writer of a mark writes nothing more."""
_LONGEST_BYTES = 1 << 24
_MOST_LANES = 100_000
_RAW = -15  # deflate without header and checksum
_KNOWN = (
    b'"column":"timestamp","type":"float64","int64","text","role":"field","tag","time","nullable":'
    b'false,"coded":true,"summable":true,"bad_cells":[],"delimiter":"","time_format":"","on_error":'
    b'"stop","unique":true,"sha256":"","source":"","columns":[{"name":"'
    b'{"sweep_id":"2026","run_id":"2026","state":"incomplete","state":"complete","state":"clearing"'
    b',"state":"writing","tables":["events"],"dataset":{"workload":"file","workload":"iot",'
    b'"workload_version":1,"params":{"devices":1,"tick_ms":60},"seed":1,"start_ms":17,"primary_key"'
    b':"client","primary_key":"none","primary_key":"db","parts":1,"ranges":[[0,1,0,10000]]},'
    b'"version":"0.2.0","by":"root@'
)
"""Common contents of records, which halve the compressed size; they are part of the format."""


class State(StrEnum):
    """The known state of the rows of an insert."""

    CLEARING = "clearing"
    """The tables are being dropped and created: their contents are unknown."""
    WRITING = "writing"
    """Some of the rows may be stored, and no other rows."""
    CHANGING = "changing"
    """Rows are being corrected or deleted: each row is in the old or in the new state."""
    COMPLETE = "complete"
    """Every row is known to be stored, or was acknowledged."""
    INCOMPLETE = "incomplete"
    """The insert ended, and some rows are missing."""


UNFINISHED = (State.CLEARING, State.WRITING, State.CHANGING)
"""States of an insert or a change that still runs, or was interrupted."""


class Mark(BaseModel):
    """The record of an insert about the tables that it writes."""

    model_config = ConfigDict(frozen=True)

    sweep_id: str
    run_id: str
    state: State
    tables: tuple[str, ...]
    """The workload's tables."""
    dataset: Dataset
    """The contents of the tables once every row is written."""
    uncertain: tuple[RowRange, ...] = ()
    """Rows with an unknown outcome at the end of the insert, merged; others are acknowledged."""
    objects: dict[str, tuple[str, ...]] = {}
    """Table -> names of the table's objects in the database.

    This program has created the objects, or is about to create or drop them. Empty in marks of
    earlier versions."""
    signed: bool = False
    """True if the objects have signatures, provided that the database has a place for them.

    False in marks of earlier versions, and in later marks of tables that they created."""
    intended: bool = False
    """True if no object had these names when the mark was recorded, because they were to be
    created."""
    version: str
    """Version of the program."""
    by: str
    """User and machine of the command line."""
    at_ms: int
    """Time of the record, in ms since 1970 UTC; later records replace earlier ones."""

    @property
    def writer(self) -> str:
        """The sweep that has written the mark, and its user and machine."""
        by = f" by {self.by}" if self.by else ""
        return " ".join(f"{self.sweep_id}{by}".split())  # a database may hold any text

    def describe(self) -> str:
        """Describe the insert: by whom and when it ran, and how it ended."""
        at = datetime.fromtimestamp(self.at_ms / 1000, UTC)
        rows = counted(self.dataset.rows, "row")
        if self.state is not State.COMPLETE:  # a run by time plans more than it writes
            rows = f"up to {rows}"
        ended = _ENDED[self.state]
        return f"insert {self.writer}, {rows}, {ended} at {at:%F %T} UTC"


_ENDED = {
    State.CLEARING: "began",
    State.WRITING: "began",
    State.CHANGING: "being changed",
    State.COMPLETE: "complete",
    State.INCOMPLETE: "incomplete",
}


def same_rows(one: Dataset, other: Dataset) -> bool:
    """Return whether two datasets have the same rows, wherever their file is."""
    return one.origin == other.origin and _drop_origin(one) == _drop_origin(other)


def _drop_origin(dataset: Dataset) -> Dataset:
    """Return a dataset without its origin, but with the description of the stored rows."""
    apart = {"params": {}, "seed": 0, "start_ms": 0}
    return dataset.model_copy(update=apart).with_ranges(dataset.ranges)


# --- a record as integers ---------------------------------------------------------------------


def encode(mark: Mark) -> list[int]:
    """Return a mark as integers below 2**48."""
    record = mark.model_dump(mode="json", exclude={"at_ms"}, exclude_defaults=True)
    record["dataset"]["ranges"] = _group_by_lane(mark.dataset.ranges)
    if mark.uncertain:
        record["uncertain"] = _group_by_lane(mark.uncertain)
    compressor = zlib.compressobj(9, zlib.DEFLATED, _RAW, zdict=_KNOWN)
    packed = compressor.compress(json.dumps(record, separators=(",", ":")).encode())
    body = bytes([_FORMAT]) + packed + compressor.flush()
    body += bytes(-(_CHECKSUM_BYTES + len(body)) % _VALUE_BYTES)
    whole = zlib.crc32(body).to_bytes(_CHECKSUM_BYTES, "big") + body
    starts = range(0, len(whole), _VALUE_BYTES)
    return [int.from_bytes(whole[start : start + _VALUE_BYTES], "big") for start in starts]


def decode(values: Sequence[int], at_ms: int) -> Mark:
    """Return the mark that integers encode; ValueError if they are damaged."""
    try:
        whole = b"".join(value.to_bytes(_VALUE_BYTES, "big") for value in values)
        checksum, body = whole[:_CHECKSUM_BYTES], whole[_CHECKSUM_BYTES:]
        if zlib.crc32(body).to_bytes(_CHECKSUM_BYTES, "big") != checksum or body[:1] != b"\x01":
            raise ValueError("the checksum is wrong")
        unpacked = zlib.decompressobj(_RAW, zdict=_KNOWN).decompress(body[1:], _LONGEST_BYTES)
        record = json.loads(unpacked)
        ranges = record["dataset"].pop("ranges")
        uncertain = merge(_spread_over_lanes(record.pop("uncertain", ())))
        mark = Mark.model_validate({**record, "uncertain": uncertain, "at_ms": at_ms})
        dataset = mark.dataset.with_ranges(_spread_over_lanes(ranges))
        return mark.model_copy(update={"dataset": dataset})
    except (OverflowError, zlib.error, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"not a mark: {error}") from error


def _group_by_lane(ranges: Iterable[RowRange]) -> list[list[int]]:
    """Return ranges as [first lane, lanes, start, stop], since most lanes have equal ranges.

    Ranges with a stride, or of a table other than the first, continue [..., table, take, every].
    """
    lanes: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for item in ranges:
        lane = item.start >> LANE_BITS
        base = lane * LANE_ROWS
        more = (item.table, item.take, item.every)
        lanes[item.start - base, item.stop - base, *(more if any(more) else ())].append(lane)
    out: list[list[int]] = []
    for span, numbers in lanes.items():
        breaks = [i for i, (a, b) in enumerate(pairwise(numbers), 1) if b != a + 1]
        edges = [0, *breaks, len(numbers)]
        out += [[numbers[low], high - low, *span] for low, high in pairwise(edges)]
    return out


def _spread_over_lanes(groups: Sequence[Sequence[int]]) -> list[RowRange]:
    if sum(lanes for _, lanes, *_ in groups) > _MOST_LANES:
        raise ValueError("too many lanes")
    found = []
    for first, lanes, start, stop, *more in groups:
        table, take, every = more or (0, 0, 0)
        for base in range(first * LANE_ROWS, (first + lanes) * LANE_ROWS, LANE_ROWS):
            span = {"start": base + start, "stop": base + stop}
            found.append(RowRange(**span, table=table, take=take, every=every))
    return found


# --- the marks of a database ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks in a database, newest first; None represents a damaged mark."""

    entries: tuple[Mark | None, ...] = ()
    renewals: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Time of a mark -> the values of its renewals."""

    @classmethod
    def of(cls, rows: Iterable[tuple[int, int, int]]) -> "Marks":
        """Return the marks in rows of (mark, part, value); rows may be repeated."""
        parts: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        renewals: dict[int, set[int]] = defaultdict(set)
        for mark, part, value in rows:
            if part == RENEWAL:
                renewals[mark].add(value)
            else:
                parts[mark][part].add(value)
        newest_first = sorted(parts, reverse=True)
        return cls(
            tuple(_read_mark(parts[at_ms], at_ms) for at_ms in newest_first),
            {at_ms: frozenset(values) for at_ms, values in renewals.items()},
        )

    def find_unfinished(self, tables: Iterable[str], but: str) -> dict[int, Mark]:
        """Return the marks of unfinished inserts of these tables, by their times.

        Those of the sweep `but`, and of a writer that has ended, are left out.
        """
        newest = [self.newest([table]) for table in tables]
        return {
            mark.at_ms: mark
            for mark in filter(None, newest)
            if mark.state in UNFINISHED
            and mark.sweep_id != but
            and ENDED not in self.renewals.get(mark.at_ms, ())
        }

    def newest(self, tables: Iterable[str]) -> Mark | None:
        """Return the newest mark of any of these tables; None if a newer mark is damaged."""
        wanted = set(tables)
        for mark in self.entries:
            if mark is None or wanted & {*mark.tables}:
                return mark
        return None

    @property
    def claiming(self) -> tuple[Mark, ...]:
        """The marks that are the newest mark of at least one table."""
        found: list[Mark] = []
        known: set[str] = set()
        for mark in filter(None, self.entries):
            if not known >= {*mark.tables}:
                found.append(mark)
            known |= {*mark.tables}
        return tuple(found)

    @property
    def current(self) -> tuple[Mark, ...]:
        """The newest mark of each table, unless a damaged mark is newer."""
        found: list[Mark] = []
        known: set[str] = set()
        for mark in self.entries:
            if mark is None:
                break
            if not known & {*mark.tables}:
                found.append(mark)
            known |= {*mark.tables}
        return tuple(found)


def _read_mark(parts: Mapping[int, set[int]], at_ms: int) -> Mark | None:
    values: list[Any] = []
    for part in range(len(parts)):
        found = parts.get(part, set())
        if len(found) != 1:
            return None
        values += found
    try:
        return decode(values, at_ms)
    except ValueError:
        return None
