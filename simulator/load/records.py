"""Batches that lie encoded in a file: a worker reads its share, batch by batch."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import pairwise
from types import TracebackType
from typing import Self

import numpy as np

from simulator.data.dataset import DatasetReader
from simulator.data.ranges import RowRange, numbers_between
from simulator.errors import RunError
from simulator.load.window import Held
from simulator.modules.base import BATCH, Envelope, Payload, Session
from simulator.protocol.spec import Insert, RecordsFile

_AT_ONCE = 1024
"""Batches whose places are looked up together."""


class RecordReader(AbstractContextManager["RecordReader"]):
    """Reads the batches of one worker."""

    def __init__(self, file: RecordsFile, task: Insert, reader: DatasetReader) -> None:
        self._path, self._format = file.path, file.format
        first, stop = task.batches
        self._index = np.load(file.index, mmap_mode="r")[first : stop + 1].copy()
        self._index[:, 1:] -= self._index[:1, 1:].copy()
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

    def __iter__(self) -> Iterator[tuple[bytes, tuple[Held, ...]]]:
        """Yield the bytes of each batch and the rows in it."""
        for first in range(0, len(self._index) - 1, _AT_ONCE):
            portion = self._index[first : first + _AT_ONCE + 1].tolist()
            for (start, *before), (stop, *after) in pairwise(portion):
                content = os.pread(self._handle, stop - start, start)
                if len(content) < stop - start:
                    raise RunError(f"{self._path}: was truncated after the run was started")
                yield (
                    content,
                    tuple(
                        Held(place, 0, numbers_between(ranges, before[place], after[place]))
                        for place, ranges in self._ranges.items()
                        if before[place] < after[place]
                    ),
                )

    def payload(self, session: Session, content: bytes, held: Sequence[Held]) -> Payload:
        """Return the payload of a batch."""
        if session is not self._session or self._envelope is None:
            self._session = session
            self._envelope = session.envelope(self._tables, self._format)
        rows = sum(len(each.rows) for each in held)
        data = self._envelope(content, rows)
        return Payload(rows, BATCH, data, session.size_of(data))
