"""Prepares batches: draws rows and encodes them, ahead of the sends."""

import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count, repeat, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from simulator.data.block import Block, Rows, edges
from simulator.data.ranges import RowRange, list_written_ranges
from simulator.data.reader import BLOCK_ROWS, DatasetReader
from simulator.load.connecting import WriterConnection
from simulator.load.timings import Stopwatch
from simulator.load.write.batch import Batch, Held, Mixer, Origin
from simulator.load.write.records import RecordReader
from simulator.modules.contract import BATCH, IMPORT, Payload, Session


def write_files(
    session: Session, blocks: Iterable[Block], folder: Path
) -> list[tuple[Block, Payload, Rows]]:
    """Write blocks to a file for each physical table.

    Returns, for each table, one of its blocks, the payload that names its file, and the numbers
    of all its rows.
    """
    files: dict[str, tuple[Block, tuple[Any, ...]]] = {}
    numbers: dict[str, list[Rows]] = defaultdict(list)
    for block in blocks:
        path = folder / str(len(files))
        if block.name in files:
            path = files[block.name][1][-1]
        with path.open("ab") as file:
            for payload in session.encode(block, IMPORT, len(block)):
                *head, content = payload.data
                file.write(content)
        files[block.name] = block, (*head, path)
        numbers[block.name].append(block.rows)
    found = []
    for name, (block, data) in files.items():
        rows = np.concatenate(numbers[name])
        payload = Payload(len(rows), IMPORT, data, session.size_of(data))
        found.append((block, payload, rows))
    return found


_LONG_SEND_ROWS = 500
AHEAD_BYTES = 1 << 22
"""Size of the values that are prepared ahead: 131,072 IoT events."""
_AHEAD_OBJECTS_BYTES = 1 << 19
_WHOLE_BLOCKS = 4
"""Maximum number of parts that get a whole block of rows each; more parts share these rows."""


class Preparer:
    """Makes the batches of one worker, and records which of their rows were sent."""

    def __init__(
        self, reader: DatasetReader, connection: WriterConnection, spent: Stopwatch
    ) -> None:
        """Store the source of the rows, and the connection for which they are encoded."""
        self._reader, self._connection, self._spent = reader, connection, spent
        self._mixes = connection.database.capabilities.mixes_tables and reader.one_group
        self._mixer = Mixer()
        self._places = {table.name: place for place, table in enumerate(reader.tables)}
        self.start()

    def start(self) -> None:
        """Forget all sent rows."""
        self._sent: dict[tuple[int, int], int] = defaultdict(int)
        """(table, part) -> sent rows, without the rows of `_origins`."""
        self._origins: list[Origin] = []
        """Origins of the prepared batches."""

    def batches(
        self, ranges: Iterable[RowRange], mode: str, batch_rows: int, *, at_once: bool = True
    ) -> Iterator[Batch]:
        """Yield the batches of rows; with `at_once`, many batches are prepared ahead."""
        ahead_bytes = self.ahead_bytes(batch_rows) if at_once else 0
        spread = max(self._reader.lane_parts / _WHOLE_BLOCKS, 1)
        block_rows = max(round(BLOCK_ROWS / spread / batch_rows), 1) * batch_rows
        blocks = self._reader.blocks(ranges, block_rows, batch_rows)
        while made := self.make(blocks, mode, batch_rows, ahead_bytes):
            while made:  # free each payload once it is sent
                yield made.popleft()
            self._count_sent()

    def ahead_bytes(self, batch_rows: int) -> int:
        """Return how many bytes of values to draw and encode between two sends; 0: one block.

        After each send the CPU caches are cold (about 0.4 ms). Therefore many rows are prepared at
        once, unless several batches are in flight, or batches are small and would wait for this
        preparation.
        """
        connection = self._connection
        if connection.in_flight > 1 or batch_rows < _LONG_SEND_ROWS:
            return 0
        by_driver = bool(connection.database.options.sends_by)
        objects = by_driver or connection.session.makes_objects
        return _AHEAD_OBJECTS_BYTES if objects else AHEAD_BYTES

    def make(
        self, blocks: Iterator[list[Block]], mode: str, batch_rows: int, ahead_bytes: int
    ) -> deque[Batch]:
        """Return the batches of the next blocks, of at least `ahead_bytes`; none at the end."""
        made: deque[Batch] = deque()
        drawn_bytes = 0
        while not made or drawn_bytes < ahead_bytes:
            t0 = time.perf_counter_ns()
            drawn = next(blocks, None)
            t1 = time.perf_counter_ns()
            self._spent.generate_ns += t1 - t0
            if drawn is None:
                break
            batches = self._encode(drawn, mode, batch_rows)
            self._spent.encode_ns += time.perf_counter_ns() - t1
            made += batches
            drawn_bytes += sum(block.size_bytes for block in drawn)
        return made

    def _encode(self, blocks: Sequence[Block], mode: str, batch_rows: int) -> Iterator[Batch]:
        """Encode blocks, and yield their batches, mixed or of one table after the other."""
        session = self._connection.session
        if self._mixes and mode == BATCH:
            places = edges(blocks, batch_rows)
            payloads = self._mixer.encode(session, blocks, places)
            origin = Origin([self._hold(block) for block in blocks], places)
            self._origins.append(origin)
            return map(Batch, payloads, repeat(origin), count())
        encoded = [session.encode(block, mode, batch_rows) for block in blocks]
        origins = [Origin.of(self._hold(block), batch_rows) for block in blocks]
        self._origins += origins
        batches = (
            map(Batch, payloads, repeat(origin), count())
            for payloads, origin in zip(encoded, origins, strict=True)
        )
        return filter(None, chain.from_iterable(zip_longest(*batches)))

    def _hold(self, block: Block) -> Held:
        return Held(self._places[block.table.name], block.part, block.rows)

    def read(self, records: RecordReader) -> Iterator[Batch]:
        """Yield the batches of a file, unchanged."""
        spent, before = self._spent, time.perf_counter_ns()
        for content, held in records:
            read = time.perf_counter_ns()
            spent.generate_ns += read - before
            payload = records.payload(self._connection.session, content, held)
            spent.encode_ns += time.perf_counter_ns() - read
            self._origins.append(origin := Origin.of_one(held))
            yield Batch(payload, origin, 0)
            self._count_sent()
            before = time.perf_counter_ns()

    def files(self, blocks: Iterable[Block], folder: Path) -> list[Batch]:
        """Write blocks to files, and return a batch for each."""
        batches = [
            Batch(payload, Origin.of_one([replace(self._hold(block), rows=rows)]), 0)
            for block, payload, rows in write_files(self._connection.session, blocks, folder)
        ]
        self._origins += [batch.origin for batch in batches]
        return batches

    def list_written(self, ranges: Sequence[RowRange]) -> tuple[RowRange, ...]:
        """Return the rows of `ranges` that were sent since the start, including uncertain ones."""
        self._count_sent()
        found: list[RowRange] = []
        for place, table in enumerate(self._reader.tables):
            counts = [self._sent[place, part] for part in range(table.parts)]
            if self._reader.lane_parts == 1:
                counts = [sum(counts)]
            found += list_written_ranges([item for item in ranges if item.table == place], counts)
        return tuple(found)

    def _count_sent(self) -> None:
        for origin in self._origins:
            for held in origin.list_held(0, origin.sent):
                self._sent[held.table, held.part] += len(held.rows)
        self._origins.clear()
