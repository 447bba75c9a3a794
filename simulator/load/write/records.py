"""Reads the encoded batches of a worker's part of a file."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import pairwise

import numpy as np

from simulator.data.ranges import RowRange, numbers_between
from simulator.data.reader import DatasetReader
from simulator.errors import ConfigError, RunError
from simulator.load.write.batch import Held
from simulator.modules.contract import BATCH, Envelope, Payload, Session
from simulator.protocol.records import RecordsFile
from simulator.protocol.spec import InsertTask
from simulator.records.cutting import layout_of
from simulator.records.scan import ScanFindings, scan_part, without

_AT_ONCE = 1024
"""Number of batches read from the index at once."""


class RecordReader(AbstractContextManager["RecordReader"]):
    """Reads the batches of one worker; locates them before the clock starts."""

    def __init__(
        self,
        file: RecordsFile,
        task: InsertTask,
        reader: DatasetReader,
        batch_rows: int,
        tick: Callable[[], None],
    ) -> None:
        """Scan the worker's part; RunError if it has changed since the sweep began.

        `tick` is called during the scan and may raise an error that ends it.
        """
        self._name, self._format = file.name, file.format
        self._ranges: dict[int, list[RowRange]] = defaultdict(list)
        for item in task.timed:
            self._ranges[item.table].append(item)
        self._tables = [reader.tables[place] for place in sorted(self._ranges)]
        self._session: Session | None = None
        self._envelope: Envelope | None = None
        try:
            self._handle = os.open(file.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise RunError(f"{self._name}: cannot be read: {error.strerror or error}") from error
        try:
            found = self._scan(file, task, reader, batch_rows, tick)
        except BaseException:  # close the file after Ctrl-C too
            os.close(self._handle)
            raise
        self._gaps = found.gaps
        self._index = np.zeros((len(found.index), 1 + len(reader.tables)), np.int64)
        self._index[:, [0, *(1 + place for place in file.tables)]] = found.index

    def _scan(
        self,
        file: RecordsFile,
        task: InsertTask,
        reader: DatasetReader,
        batch_rows: int,
        tick: Callable[[], None],
    ) -> ScanFindings:
        layout = layout_of(file.format, [reader.tables[place] for place in file.tables])
        expected = tuple(sum(map(len, self._ranges.get(place, ()))) for place in file.tables)
        try:
            found = scan_part(
                self._handle, self._name, layout, task.span,
                batch_rows=batch_rows, skip=file.skip, tick=tick,
            )  # fmt: skip
        except ConfigError as error:
            raise self._explain_change(str(error)) from error
        except OSError as error:
            raise RunError(f"{self._name}: cannot be read: {error.strerror or error}") from error
        if found.rows != expected:
            raise self._explain_change(f"{sum(found.rows):,} rows, expected {sum(expected):,}")
        return found

    def _explain_change(self, why: str) -> RunError:
        return RunError(
            f"{self._name}: was changed after the sweep was started ({why}); start it again, and"
            " leave the file alone meanwhile"
        )

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    def __iter__(self) -> Iterator[tuple[bytes, tuple[Held, ...]]]:
        """Yield the bytes of each batch and the rows in it."""
        for first in range(0, len(self._index) - 1, _AT_ONCE):
            portion = self._index[first : first + _AT_ONCE + 1].tolist()
            for (start, *before), (stop, *after) in pairwise(portion):
                yield (
                    self._read(start, stop),
                    tuple(
                        Held(place, 0, numbers_between(ranges, before[place], after[place]))
                        for place, ranges in self._ranges.items()
                        if before[place] < after[place]
                    ),
                )

    def _read(self, start: int, stop: int) -> bytes:
        content = os.pread(self._handle, stop - start, start)
        if len(content) < stop - start:
            raise RunError(f"{self._name}: was truncated after the run was started")
        if len(self._gaps):
            low, high = np.searchsorted(self._gaps[:, 0], (start, stop))
            content = without(content, start, self._gaps[low:high].tolist())
        return content

    def payload(self, session: Session, content: bytes, held: Sequence[Held]) -> Payload:
        """Return the payload of a batch."""
        if session is not self._session or self._envelope is None:
            self._session = session
            self._envelope = session.envelope(self._tables, self._format)
        rows = sum(len(each.rows) for each in held)
        data = self._envelope(content, rows)
        return Payload(rows, BATCH, data, session.size_of(data))
