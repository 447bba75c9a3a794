"""Batches that lie encoded in a file: a worker reads its share, batch by batch."""

import os
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

import numpy as np

from simulator.data.dataset import DatasetReader
from simulator.data.ranges import RowRange, numbers_between
from simulator.errors import RunError
from simulator.load.window import Held
from simulator.modules.base import BATCH, Envelope, Payload, Session
from simulator.protocol.spec import Insert, RecordsFile


class RecordReader(AbstractContextManager["RecordReader"]):
    """Reads the batches of one worker."""

    def __init__(self, file: RecordsFile, task: Insert, reader: DatasetReader) -> None:
        self._file = file
        first, stop = task.batches
        index = np.load(file.index, mmap_mode="r")[first : stop + 1]
        self._starts, self._before = index[:, 0].copy(), index[:, 1:] - index[:1, 1:]
        self._ranges: dict[int, list[RowRange]] = defaultdict(list)
        for item in task.timed:
            self._ranges[item.table].append(item)
        self._tables = [reader.tables[place] for place in sorted(self._ranges)]
        self._handle = os.open(file.path, os.O_RDONLY | os.O_CLOEXEC)
        self._session: Session | None = None
        self._envelope: Envelope | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._handle)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def read(self, number: int) -> tuple[bytes, tuple[Held, ...]]:
        """Return the bytes of a batch and the rows in it."""
        start, stop = self._starts[number : number + 2].tolist()
        content = os.pread(self._handle, stop - start, start)
        if len(content) < stop - start:
            raise RunError(f"{self._file.path}: has been truncated since the run was started")
        held = (
            Held(place, 0, numbers_between(ranges, *self._before[number : number + 2, place]))
            for place, ranges in self._ranges.items()
        )
        return content, tuple(each for each in held if len(each.rows))

    def payload(self, session: Session, content: bytes, held: Sequence[Held]) -> Payload:
        """Return the payload of a batch."""
        if session is not self._session or self._envelope is None:
            self._session = session
            self._envelope = session.envelope(self._tables, self._file.format)
        rows = sum(len(each.rows) for each in held)
        data = self._envelope(content, rows)
        return Payload(rows, BATCH, data, session.size_of(data))
