"""Reads a file of records once before a run: finds every record, and that each of them is one.

What is found is the index by which workers read batches, so that they need not look for records.
"""

import hashlib
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from cli.records.cutting import UNKNOWN, Cutter, starts_of
from simulator.errors import ConfigError

_CHUNK_BYTES = 8 << 20
_SHOWN_BYTES = 60
_SHOWN_RECORDS = 3


@dataclass(frozen=True, slots=True)
class Layout:
    """What a file of records is made of."""

    cutter: Cutter
    tables: int
    header: bytes
    trailer: bytes


@dataclass(frozen=True, slots=True)
class Scanned:
    """What a scan has found."""

    index: NDArray[np.int64]
    """For each batch where it starts, and the rows of each table before it; then the end."""
    size_bytes: int
    sha256: str
    skipped: tuple[str, ...]
    """The first records that were left out."""
    skipped_rows: int

    @property
    def rows(self) -> list[int]:
        """The rows of each table in the batches."""
        return [int(count) for count in self.index[-1, 1:]]

    @property
    def batches(self) -> int:
        """How many batches there are."""
        return len(self.index) - 1


class _Scan:
    def __init__(self, name: str, layout: Layout, batch_rows: int, limit: int | None) -> None:
        self._name, self._layout = name, layout
        self._batch_rows = batch_rows
        self._limit = limit
        self._seen = 0
        """Records so far, those that were skipped included."""
        self._kept = 0
        self._at = 0
        """Where the next record begins in what the workers read."""
        self._counts = np.zeros(layout.tables, np.int64)
        self._found: list[NDArray[np.int64]] = []
        self.skipped: list[str] = []
        self.skipped_rows = 0

    def begin(self, content: bytes) -> None:
        """Take the header of the file; ConfigError if it is another one."""
        header = self._layout.header
        if content != header:
            raise ConfigError(
                f"--data: {self._name}: begins with {_shown(content)}, expected {_shown(header)}"
            )
        self._at = len(header)

    def take(self, content: bytes, offset: int, spool: BinaryIO | None, *, skip: bool) -> int:
        """Take the whole records of these bytes of the file; return how many bytes they are."""
        cutter = self._layout.cutter
        data = np.frombuffer(content, np.uint8)
        ends = cutter.ends(data)
        if not len(ends):
            return 0
        starts = starts_of(ends)
        places = cutter.tables(data, starts, ends)
        wrong = np.flatnonzero(places == UNKNOWN)
        for number in wrong[: _SHOWN_RECORDS if skip else 1].tolist():
            record = content[starts[number] : ends[number]]
            problem = (
                f"record {self._seen + number + 1:,} (byte {offset + int(starts[number]):,}):"
                f" {_shown(record)} is not {cutter.expected}"
            )
            if not skip:
                raise ConfigError(
                    f"--data: {self._name}: {problem}; correct it, or use --on-error skip"
                )
            self.skipped = [*self.skipped, problem][:_SHOWN_RECORDS]
        self.skipped_rows += len(wrong)
        self._seen += len(ends)
        good = np.flatnonzero(places != UNKNOWN)
        if self._limit is not None:
            good = good[: max(self._limit - self._kept, 0)]
        lengths = (ends - starts)[good]
        if spool and len(wrong):
            keep = np.zeros(len(ends), np.bool_)
            keep[good] = True
            spool.write(data[: ends[-1]][np.repeat(keep, ends - starts)].tobytes())
        elif spool:
            spool.write(content[: int(ends[-1])])
        self._add(places[good], lengths)
        return int(ends[-1])

    def _add(self, places: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        """Add records to the index."""
        offsets = self._at + np.concatenate(([0], np.cumsum(lengths)))
        first = -self._kept % self._batch_rows
        begins = np.arange(first, len(places), self._batch_rows)
        columns = [offsets[begins]]
        for table, before in enumerate(self._counts.tolist()):
            if self._layout.tables == 1:
                columns.append(before + begins)
            else:
                counted = np.concatenate(([0], np.cumsum(places == table)))
                columns.append(before + counted[begins])
        self._found.append(np.stack(columns, axis=1))
        self._counts += np.bincount(places, minlength=self._layout.tables)
        self._at = int(offsets[-1])
        self._kept += len(places)

    def index(self) -> NDArray[np.int64]:
        end = np.concatenate(([self._at], self._counts))
        return np.concatenate([*self._found, end[None, :]])

    def expect_end(self, rest: bytes, offset: int, *, skip: bool) -> None:
        """Raise ConfigError if the file does not end as a whole one does."""
        if rest == self._layout.trailer:
            return
        found = f"ends with {_shown(rest)}" if rest else "ends"
        problem = f"record {self._seen + 1:,} (byte {offset:,}): the file {found} before its end"
        if not skip:
            raise ConfigError(
                f"--data: {self._name}: {problem}: it is truncated or damaged; generate it again,"
                " or use --on-error skip"
            )
        self.skipped = [*self.skipped, problem][:_SHOWN_RECORDS]
        self.skipped_rows += 1


def scan(  # noqa: PLR0913
    source: BinaryIO,
    name: str,
    layout: Layout,
    *,
    batch_rows: int,
    limit: int | None,
    spool: BinaryIO | None,
) -> Scanned:
    """Read a file to its end; ConfigError names the first record that is none.

    With `spool`, records that are damaged are left out: the others are copied to it, and the index
    is that of the copy.
    """
    skip = spool is not None
    found = _Scan(name, layout, batch_rows, limit)
    rest = b""
    begin = source.read(len(layout.header))
    found.begin(begin)
    if spool:
        spool.write(begin)
    digest, size = hashlib.sha256(begin), len(begin)
    while chunk := source.read(_CHUNK_BYTES):
        digest.update(chunk)
        size += len(chunk)
        rest += chunk
        rest = rest[found.take(rest, size - len(rest), spool, skip=skip) :]
    found.expect_end(rest, size - len(rest), skip=skip)
    if spool:
        spool.flush()
    index = found.index()
    return Scanned(index, size, digest.hexdigest(), tuple(found.skipped), found.skipped_rows)


def _shown(content: bytes) -> str:
    return repr(content[:_SHOWN_BYTES])[1:] + ("..." if len(content) > _SHOWN_BYTES else "")
