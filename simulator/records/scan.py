"""Scans a file of records: checks each record, and finds the beginning of each batch.

A scan of the whole file before a sweep determines the part of each worker. A worker scans its part
again before the clock of each run starts, so no index is stored or sent.
"""

import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from simulator.data.ranges import share
from simulator.errors import ConfigError
from simulator.protocol.records import Edge, Scanned
from simulator.records.cutting import UNKNOWN, Layout, starts_of

_CHUNK_BYTES = 8 << 20
_LONGEST_BYTES = 64 << 20
"""Maximum length of a record in bytes; text after a longer record cannot be divided."""
_SHOWN_BYTES = 60
_SHOWN_RECORDS = 3


@dataclass(frozen=True, slots=True)
class ScanFindings:
    """Findings of a scan."""

    index: NDArray[np.int64]
    """Start of each batch, with the number of earlier rows of each table; the last row is the
    end."""
    gaps: NDArray[np.int64]
    """Start and end of each damaged record; the batches exclude these records."""
    size_bytes: int
    sha256: str
    skipped: tuple[str, ...]
    """Descriptions of the first damaged records."""
    skipped_rows: int

    @property
    def rows(self) -> Edge:
        """Number of rows of each table in the batches."""
        return tuple(self.index[-1, 1:].tolist())

    def summarize(self, workers: Iterable[int], tables: tuple[int, ...]) -> Scanned:
        """Return the summary for a sweep of runs with these numbers of workers."""
        return Scanned(
            size_bytes=self.size_bytes,
            sha256=self.sha256,
            rows=self.rows,
            edges={count: self._find_edges(count) for count in workers},
            skipped=self.skipped,
            skipped_rows=self.skipped_rows,
            tables=tables,
        )

    def _find_edges(self, workers: int) -> tuple[Edge, ...]:
        """Return the start of each worker's part, and the end of the last part."""
        places = [*accumulate(share(len(self.index) - 1, workers), initial=0)]
        return tuple(map(tuple, self.index[places].tolist()))


class _Scan:
    def __init__(  # noqa: PLR0913
        self, name: str, layout: Layout, batch_rows: int, limit: int | None, *, skip: bool, at: int
    ) -> None:
        self._name, self._layout = name, layout
        self._batch_rows = batch_rows
        self._limit = limit
        self._skip = skip
        self._seen = 0
        """Number of records, including skipped records."""
        self._kept = 0
        self._at = at
        """End of the last record that was kept."""
        self._counts = np.zeros(layout.tables, np.int64)
        self._found: list[NDArray[np.int64]] = []
        self._gaps = [np.empty((0, 2), np.int64)]
        self.skipped: list[str] = []
        self.skipped_rows = 0

    def begin(self, content: bytes) -> None:
        """Check the header of the file; ConfigError if it is wrong."""
        header = self._layout.header
        if content != header:
            raise ConfigError(
                f"--data: {self._name}: begins with {_quote(content)}, expected {_quote(header)}"
            )
        self._at = len(header)

    def take(self, content: bytes, offset: int, *, last: bool) -> int:
        """Scan the whole records in these bytes of the file; return the length of the records."""
        cutter = self._layout.cutter
        data = np.frombuffer(content, np.uint8)
        ends, places = cutter.cut(data, last=last)
        if not len(ends):
            return 0
        starts = starts_of(ends)
        wrong = np.flatnonzero(places == UNKNOWN)
        for number in wrong[: _SHOWN_RECORDS if self._skip else 1].tolist():
            record = content[starts[number] : ends[number]]
            problem = (
                f"record {self._seen + number + 1:,} (byte {offset + int(starts[number]):,}):"
                f" {_quote(record)} is not {cutter.expected}"
            )
            if not self._skip:
                raise ConfigError(
                    f"--data: {self._name}: {problem}; correct it, or use --on-error skip"
                )
            self.skipped = [*self.skipped, problem][:_SHOWN_RECORDS]
        if len(wrong):
            self._gaps.append(offset + np.stack((starts[wrong], ends[wrong]), axis=1))
        self.skipped_rows += len(wrong)
        self._seen += len(ends)
        good = np.flatnonzero(places != UNKNOWN)
        if self._limit is not None:
            good = good[: max(self._limit - self._kept, 0)]
        self._add(places[good], offset + starts[good])
        if len(good):
            self._at = offset + int(ends[good[-1]])
        return int(ends[-1])

    def _add(self, places: NDArray[np.int64], starts: NDArray[np.int64]) -> None:
        first = -self._kept % self._batch_rows
        begins = np.arange(first, len(places), self._batch_rows)
        columns = [starts[begins]]
        for table, before in enumerate(self._counts.tolist()):
            if self._layout.tables == 1:
                columns.append(before + begins)
            else:
                counted = np.concatenate(([0], np.cumsum(places == table)))
                columns.append(before + counted[begins])
        self._found.append(np.stack(columns, axis=1))
        self._counts += np.bincount(places, minlength=self._layout.tables)
        self._kept += len(places)

    def expect_end(self, rest: bytes, offset: int, trailer: bytes) -> None:
        """Raise ConfigError if the file is truncated.

        With `skip`, count a damaged record instead.
        """
        if rest == trailer:
            return
        found = f"ends with {_quote(rest)}" if rest else "ends"
        problem = f"record {self._seen + 1:,} (byte {offset:,}): the file {found} within a record"
        if not self._skip:
            raise ConfigError(
                f"--data: {self._name}: {problem}: it is truncated or damaged; generate it again,"
                " or use --on-error skip"
            )
        self.skipped = [*self.skipped, problem][:_SHOWN_RECORDS]
        self.skipped_rows += 1

    def finish(self, size_bytes: int, sha256: str) -> ScanFindings:
        """Return the findings."""
        end = np.concatenate(([self._at], self._counts))
        index = np.concatenate([*self._found, end[None, :]])
        gaps = np.concatenate(self._gaps)
        return ScanFindings(index, gaps, size_bytes, sha256, tuple(self.skipped), self.skipped_rows)

    def read(self, chunks: Iterator[bytes], offset: int, trailer: bytes) -> None:
        """Read all records of consecutive bytes; the first is at `offset`."""
        rest, at = b"", offset
        for chunk in chunks:
            if len(rest) < _LONGEST_BYTES:
                rest += chunk
                taken = self.take(rest, at, last=False)
                rest, at = rest[taken:], at + taken
        taken = self.take(rest, at, last=True)
        self.expect_end(rest[taken:], at + taken, trailer)


def scan(  # noqa: PLR0913
    path: str, name: str, layout: Layout, *, batch_rows: int, limit: int | None, skip: bool
) -> ScanFindings:
    """Read a file to its end; a ConfigError names the first damaged record.

    With `skip`, damaged records are left out of the batches.
    """
    found = _Scan(name, layout, batch_rows, limit, skip=skip, at=0)
    digest, size = hashlib.sha256(), 0

    def chunks() -> Iterator[bytes]:
        nonlocal size
        for chunk in _read_chunks(handle, size):
            digest.update(chunk)
            size += len(chunk)
            yield chunk

    with _open(path, name) as handle:
        begin = os.pread(handle, len(layout.header), 0)
        found.begin(begin)
        digest.update(begin)
        size = len(begin)
        found.read(chunks(), size, layout.trailer)
    return found.finish(size, digest.hexdigest())


def scan_part(  # noqa: PLR0913
    handle: int,
    name: str,
    layout: Layout,
    span: tuple[int, int],
    *,
    batch_rows: int,
    skip: bool,
    tick: Callable[[], None],
) -> ScanFindings:
    """Scan a part of an open file again; ConfigError if the file has changed.

    `tick` is called from time to time, and may raise an error, which ends the scan.
    """
    start, stop = span
    found = _Scan(name, layout, batch_rows, None, skip=skip, at=start)

    def chunks() -> Iterator[bytes]:
        for chunk in _read_chunks(handle, start, stop):
            tick()
            yield chunk

    found.read(chunks(), start, b"")
    return found.finish(stop - start, "")


def _read_chunks(handle: int, at: int, stop: int = sys.maxsize) -> Iterator[bytes]:
    """Yield the bytes of a file from `at` to `stop`, or to the end of the file."""
    while chunk := os.pread(handle, min(_CHUNK_BYTES, stop - at), at):
        at += len(chunk)
        yield chunk


@contextmanager
def _open(path: str, name: str) -> Iterator[int]:
    """Open a regular file; ConfigError if the path is not one, or cannot be read."""
    try:
        # Without O_NONBLOCK, opening a FIFO would wait for a writer.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise ConfigError(f"--data: {name}: is not a regular file")
            yield handle
        finally:
            os.close(handle)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"--data: {name}: cannot be read: {reason}") from error


def without(content: bytes, offset: int, gaps: Sequence[tuple[int, int]]) -> bytes:
    """Return bytes of a file without the gaps.

    `offset`: place of the first of the bytes in the file.
    """
    kept, at = [], 0
    for start, stop in gaps:
        kept.append(content[at : start - offset])
        at = stop - offset
    return b"".join([*kept, content[at:]])


def _quote(content: bytes) -> str:
    return repr(content[:_SHOWN_BYTES])[1:] + ("..." if len(content) > _SHOWN_BYTES else "")
