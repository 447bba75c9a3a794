"""Logs when a worker sends batches and gets acknowledgements, for `mixed --fresh`."""

from array import array
from collections.abc import Iterator

import numpy as np

from simulator.data.ranges import RowRange, runs_of
from simulator.data.reader import DatasetReader
from simulator.load.write.batch import Batch
from simulator.protocol.arrivals import NEVER_NS, RUN_COLUMNS, SentBatches, Ticks
from simulator.protocol.numbers import MOST_NUMBERS, pack

_RUN = len(RUN_COLUMNS)
_PART_BATCHES = MOST_NUMBERS // _RUN // 4


class SendLog:
    """The timed batches of one worker."""

    def __init__(self, reader: DatasetReader) -> None:
        self._reader = reader
        self._sent, self._acknowledged = array("q"), array("q")
        self._runs = array("q")
        self._newest: tuple[int, int] | None = None
        """Table and number of the last acknowledged row."""

    def note_sent(self, batch: Batch, now_ns: int) -> None:
        """Note a batch that is about to be sent for the first time."""
        batch.logged = number = len(self._sent)
        self._sent.append(now_ns)
        self._acknowledged.append(NEVER_NS)
        for held in batch.list_held():
            for first, count, step in runs_of(held.rows):
                self._runs.extend((number, held.table, first, count, step))

    def note_acknowledged(self, batch: Batch, now_ns: int) -> None:
        """Note the acknowledgement of a batch."""
        self._acknowledged[batch.logged] = now_ns
        held = batch.list_held()[-1]
        self._newest = held.table, int(held.rows[-1])

    def newest_ms(self) -> int | None:
        """Return the time of the last acknowledged row, in ms since 1970; None without one."""
        if self._newest is None:
            return None
        table, row = self._newest
        return self._reader.begin_ms([RowRange(start=row, stop=row + 1, table=table)])

    def parts(self, index: int, ticks: Ticks, measured_ns: int) -> Iterator[SentBatches]:
        """Yield the parts of the report of worker `index`; the last part may be empty."""
        batches = np.array([self._sent, self._acknowledged], np.int64)
        runs = np.frombuffer(self._runs, np.int64).reshape(-1, _RUN).T if self._runs else _NONE
        starts = range(0, max(batches.shape[1], 1), _PART_BATCHES)
        for part, start in enumerate(starts):
            stop = start + _PART_BATCHES
            low, high = np.searchsorted(runs[0], (start, stop))
            own = runs[:, low:high].copy()
            own[0] -= start
            yield SentBatches(
                index=index,
                part=part,
                last=part == len(starts) - 1,
                ticks=ticks,
                batches=pack(batches[:, start:stop]),
                runs=pack(own),
                measured_ns=measured_ns,
            )


_NONE = np.empty((_RUN, 0), np.int64)
