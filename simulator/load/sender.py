"""Writes rows: draws, encodes, sends, and decides what to do when a batch fails."""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, count, repeat, zip_longest
from pathlib import Path

from simulator.data.block import Block, Rows
from simulator.data.dataset import BLOCK_ROWS, DatasetReader
from simulator.data.edges import edges
from simulator.data.ranges import RowRange, covering, written_ranges
from simulator.errors import BenchError, RunError
from simulator.load.batch import Batch, Held, OfBlock, OfBlocks, OfRecords, Origin
from simulator.load.connection import Stopped, connected
from simulator.load.failures import Failures
from simulator.load.imports import written as written_to
from simulator.load.meter import Meter
from simulator.load.mixing import Mixer
from simulator.load.pace import FASTEST, NEVER_NS, Pace, Timetable, wait_until
from simulator.load.records import RecordReader
from simulator.load.window import Send, Window
from simulator.modules.base import BATCH, Database, Failure, Payload, Session
from simulator.protocol.messages import Failed
from simulator.protocol.spec import LoadStage

MAX_ATTEMPTS = 6
MAX_UNCERTAIN_SENDS = 100
_BACKOFF_S = 0.05
_LONGEST_BACKOFF_S = 2.0
_LONG_SEND_ROWS = 500
_AHEAD_BYTES = 1 << 22
"""Size of the values; 131,072 IoT events."""
_AHEAD_OBJECTS_BYTES = 1 << 19
_WHOLE_BLOCKS = 4
"""Parts whose rows are drawn as a whole block each; more parts share so many rows."""


class Sender:
    """Writes ranges of rows through one session, retrying within bounds and counting."""

    def __init__(
        self,
        database: Database,
        reader: DatasetReader,
        stop: threading.Event,
        clock: Callable[[], float] = time.monotonic,
        retry_s: float = 0.0,
    ) -> None:
        """Connect. With `retry_s` a batch, or a lost connection, is tried again for so long."""
        self._clock = clock
        self._retry_s = retry_s
        self._database = database
        self._reader = reader
        self._stop = stop
        self._session: Session = connected(database, stop, clock, retry_s)
        self._window = Window()
        self.meter = Meter(time.perf_counter_ns())
        self.measured_ns = self.meter.start_ns
        """When the measured part began; 0: the warm-up is not over."""
        self._when_measured: Callable[[], object] = int
        self.generate_ns = 0
        self.encode_ns = 0
        self.send_ns = 0
        self.idle_ns = 0
        self.inactive_ns = 0
        """Between the stages in which the worker is active, and before the first one."""
        self.retried = 0
        self.errors = 0
        """Batches that failed, each as often as it did."""
        self.failures = Failures(self.meter.start_ns)
        self.backoff_ns = 0
        """Pauses before repeated sends."""
        self.disconnected_ns = 0
        """Without a connection, after one was lost."""
        self.uncertain: list[RowRange] = []
        self.uncertain_rows = 0
        self.uncertain_cause = ""
        self._uncertain_sends = 0
        self._begun: dict[tuple[int, int], int] = defaultdict(int)
        """(table, part) -> rows that were sent, of origins that are done."""
        self._origins: list[Origin] = []
        """Of the batches that are made, until all were sent."""
        self._places = {table.name: place for place, table in enumerate(reader.tables)}
        self._mixer = Mixer()
        self._mixes = database.capabilities.mixes_tables and reader.one_group

    def close(self) -> None:
        """Close the session."""
        self._session.close()

    def prefill(self, ranges: Sequence[RowRange], batch_rows: int) -> int:
        """Write rows in batches, untimed; return how many were acknowledged."""
        with self._all_ended():
            ahead = self._ahead_bytes(batch_rows)
            for batch in self._batches(ranges, BATCH, batch_rows, ahead):
                self._deliver(batch, time.perf_counter_ns())
        return self.meter.rows

    def start(
        self,
        warmup_s: float = 0.0,
        when_measured: Callable[[], object] = int,
        stages: Sequence[LoadStage] = (),
    ) -> None:
        """Start the clock; discard all measurements so far.

        `when_measured` is called at the end of the warm-up, before the first measured batch.
        """
        self.meter = Meter(time.perf_counter_ns(), warmup_s, stages)
        self.measured_ns = 0 if warmup_s else self.meter.start_ns
        self._when_measured = when_measured
        self.retried = self.backoff_ns = self.disconnected_ns = self.errors = 0
        self.failures = Failures(self.meter.start_ns)
        self._discard_times()
        self._begun.clear()
        self._origins.clear()

    def _discard_times(self) -> None:
        self.generate_ns = self.encode_ns = self.send_ns = self.idle_ns = self.inactive_ns = 0

    def _measure(self) -> None:
        """End the warm-up."""
        self._discard_times()
        self._when_measured()
        self.measured_ns = time.perf_counter_ns()

    def insert(self, ranges: Sequence[RowRange], mode: str, batch_rows: int, *paces: Pace) -> None:
        """Write rows, timed: at one pace after the other, as fast as possible without any.

        With a rate, each batch is due at a time and is measured from it.
        """
        ahead = self._ahead_bytes(batch_rows, max((each.rate_per_s for each in paces), default=0.0))
        self._insert(self._batches(ranges, mode, batch_rows, ahead), batch_rows, paces)

    def insert_records(self, records: RecordReader, batch_rows: int, *paces: Pace) -> None:
        """Write the batches of a file as they are, timed like drawn ones."""
        self._insert(self._read(records), batch_rows, paces)

    def write_files(self, ranges: Sequence[RowRange], folder: Path) -> list[Batch]:
        """Write rows to files, a batch each, for `insert_files`."""
        try:
            files = written_to(self._session, self._drawn(ranges), folder)
        except OSError as error:
            raise RunError(
                f"--import: the rows cannot be written to {folder}: {error.strerror or error}; set"
                " TMPDIR to a folder with more space"
            ) from error
        held = [(payload, Held(self._places[block.table.name], block.part, rows))
                for block, payload, rows in files]  # fmt: skip
        return [Batch(payload, OfRecords([rows]), 0) for payload, rows in held]

    def _drawn(self, ranges: Sequence[RowRange]) -> Iterator[Block]:
        """Yield the blocks of rows until the run is over."""
        for turn in self._reader.blocks(ranges):
            if self._stop.is_set():
                raise Stopped
            yield from turn

    def insert_files(self, files: Sequence[Batch]) -> None:
        """Have the database import files, timed, one after the other."""
        self._origins += [batch.origin for batch in files]
        self._insert(files, 0, ())

    def _insert(self, batches: Iterable[Batch], batch_rows: int, paces: Sequence[Pace]) -> None:
        measured_ns = self.meter.measured_ns
        paces = paces or (FASTEST,)
        timetable = Timetable(paces, self.meter.start_ns, measured_ns, batch_rows)
        with self._all_ended():
            for batch in batches:
                due = time.perf_counter_ns()
                if due >= timetable.free_until_ns:
                    due = self._awaited(timetable, due, batch.payload.rows)
                if due == NEVER_NS:
                    break
                if not self.measured_ns and due >= measured_ns:
                    self._measure()
                self._deliver(batch, due)
        if not self.measured_ns:
            self._discard_times()

    def _awaited(self, timetable: Timetable, now_ns: int, rows: int) -> int:
        """Wait until a batch of so many rows may begin; return when it is due, or NEVER_NS."""
        due_ns = timetable.due_ns(now_ns, rows)
        if due_ns == NEVER_NS:
            return due_ns
        if timetable.begin_ns > now_ns:
            self._end_all()
            self.inactive_ns += wait_until(timetable.begin_ns, self._stop)
        self.idle_ns += wait_until(due_ns, self._stop)
        return max(due_ns, time.perf_counter_ns()) if timetable.free_until_ns else due_ns

    def written(self, ranges: Sequence[RowRange]) -> tuple[RowRange, ...]:
        """Return the rows of `ranges` that were sent since the start, some perhaps uncertain."""
        self._count_sent()
        found: list[RowRange] = []
        for place, table in enumerate(self._reader.tables):
            counts = [self._begun[place, part] for part in range(table.parts)]
            if self._reader.lane_parts == 1:
                counts = [sum(counts)]
            found += written_ranges([item for item in ranges if item.table == place], counts)
        return tuple(found)

    def _ahead_bytes(self, batch_rows: int, rate_rows_per_s: float = 0.0) -> int:
        """Return how many bytes of values to draw and encode between two sends; 0: one block.

        After each send the CPU caches are cold (about 0.4 ms), so many rows are prepared at once.
        Not so for small or scheduled batches, which would wait for it, or with several in flight.
        """
        waits = rate_rows_per_s or self._session.in_flight > 1 or batch_rows < _LONG_SEND_ROWS
        if waits:
            return 0
        return _AHEAD_OBJECTS_BYTES if self._session.makes_objects else _AHEAD_BYTES

    def _batches(
        self, ranges: Iterable[RowRange], mode: str, batch_rows: int, ahead_bytes: int
    ) -> Iterator[Batch]:
        """Yield encoded batches, prepared `ahead_bytes` at a time."""
        spread = max(self._reader.lane_parts / _WHOLE_BLOCKS, 1)
        block_rows = max(round(BLOCK_ROWS / spread / batch_rows), 1) * batch_rows
        blocks = self._reader.blocks(ranges, block_rows, batch_rows)
        while made := self._made(blocks, mode, batch_rows, ahead_bytes):
            while made:  # free each payload once it is sent
                yield made.popleft()
            self._count_sent()

    def _count_sent(self) -> None:
        for origin in self._origins:
            for held in origin.held(0, origin.sent):
                self._begun[held.table, held.part] += len(held.rows)
        self._origins.clear()

    def _read(self, records: RecordReader) -> Iterator[Batch]:
        """Yield the batches of a file."""
        before = time.perf_counter_ns()
        for content, held in records:
            read = time.perf_counter_ns()
            self.generate_ns += read - before
            payload = records.payload(self._session, content, held)
            self.encode_ns += time.perf_counter_ns() - read
            self._origins.append(origin := OfRecords(held))
            yield Batch(payload, origin, 0)
            self._count_sent()
            before = time.perf_counter_ns()

    def _made(
        self, blocks: Iterator[list[Block]], mode: str, batch_rows: int, ahead_bytes: int
    ) -> deque[Batch]:
        """Draw and encode blocks until they have `ahead_bytes`, at least one; none at the end."""
        made: deque[Batch] = deque()
        drawn_bytes = 0
        while not made or drawn_bytes < ahead_bytes:
            t0 = time.perf_counter_ns()
            drawn = next(blocks, None)
            t1 = time.perf_counter_ns()
            self.generate_ns += t1 - t0
            if drawn is None:
                break
            batches = self._encoded(drawn, mode, batch_rows)
            self.encode_ns += time.perf_counter_ns() - t1
            made += batches
            drawn_bytes += sum(block.size_bytes for block in drawn)
        return made

    def _encoded(self, blocks: Sequence[Block], mode: str, batch_rows: int) -> Iterator[Batch]:
        """Encode blocks and return their batches."""
        if self._mixes and mode == BATCH:
            places = edges(blocks, batch_rows)
            payloads = self._mixer.encode(self._session, blocks, places)
            return self._mixed(blocks, places, payloads)
        encoded = [self._session.encode(block, mode, batch_rows) for block in blocks]
        return self._in_turn(blocks, encoded, batch_rows)

    def _in_turn(
        self, blocks: Sequence[Block], encoded: Sequence[Sequence[Payload]], batch_rows: int
    ) -> Iterator[Batch]:
        """Return the batches of blocks, one per table in turn."""
        origins = [OfBlock(self._held(block), batch_rows) for block in blocks]
        self._origins += origins
        batches = (
            map(Batch, payloads, repeat(origin), count())
            for payloads, origin in zip(encoded, origins, strict=True)
        )
        return filter(None, chain.from_iterable(zip_longest(*batches)))

    def _mixed(
        self, blocks: Sequence[Block], places: Sequence[Rows], payloads: Sequence[Payload]
    ) -> Iterator[Batch]:
        """Return the batches of several tables, each with the rows between two places."""
        origin = OfBlocks([self._held(block) for block in blocks], places)
        self._origins.append(origin)
        return map(Batch, payloads, repeat(origin), count())

    def _held(self, block: Block) -> Held:
        return Held(self._places[block.table.name], block.part, block.rows)

    def _deliver(self, batch: Batch, due_ns: int) -> None:
        """Send, alone or beside other batches in flight."""
        if self._session.in_flight == 1:
            self._deliver_alone(batch, due_ns)
        else:
            before = time.perf_counter_ns()
            try:
                self._begin(Send(batch, due_ns))
                while len(self._window) >= self._session.in_flight:
                    self._end(self._window.ended())
            finally:
                self.send_ns += time.perf_counter_ns() - before
        batch.origin.sent += 1

    def _begin(self, send: Send) -> None:
        if self._stop.is_set():
            raise Stopped
        self._window.begin(self._session, send)

    def _end(self, send: Send) -> None:
        """Count a batch that has ended, or send it again."""
        if send.error is None:
            self._count_acknowledged(send)
        elif self._send_again(send.error, send):
            self._begin(send)

    @contextmanager
    def _all_ended(self) -> Iterator[None]:
        """Wait at the end for batches in flight; after a failure, only count their outcome."""
        try:
            yield
            self._end_all()
        finally:
            while self._window:
                self._count_ended(self._window.ended())

    def _end_all(self) -> None:
        """Wait for the batches in flight, and send again those that failed."""
        before = time.perf_counter_ns()
        while self._window:
            self._end(self._window.ended())
        self.send_ns += time.perf_counter_ns() - before

    def _count_acknowledged(self, send: Send) -> None:
        payload = send.batch.payload
        self.meter.record(send.due_ns, send.ended_ns, payload.rows, payload.size_bytes)

    def _count_ended(self, send: Send) -> None:
        """Count a batch without a retry: the run is over."""
        if send.error is None:
            self._count_acknowledged(send)
        elif self._session.classify(send.error) is Failure.UNKNOWN:
            self._add_uncertain(send.batch)
            self.uncertain_cause = self._database.explain(send.error)

    def _deliver_alone(self, batch: Batch, due_ns: int) -> None:
        """Send until the batch is acknowledged, uncertain, or has failed for good."""
        failed: Send | None = None
        while True:
            if self._stop.is_set():
                raise Stopped
            before = time.perf_counter_ns()
            try:
                self._session.send(batch.payload)
            except Exception as error:  # noqa: BLE001 - the module classifies it
                failed = failed or Send(batch, due_ns)
                try:
                    if not self._send_again(error, failed):
                        return
                finally:
                    self.send_ns += time.perf_counter_ns() - before
            else:
                after = time.perf_counter_ns()
                self.send_ns += after - before
                payload = batch.payload
                self.meter.record(due_ns, after, payload.rows, payload.size_bytes)
                return

    def _send_again(self, error: Exception, send: Send) -> bool:
        """Handle a failed send; return whether to retry, after a pause."""
        self.errors += 1
        send.attempts += 1
        send.retry_until_s = send.retry_until_s or self._clock() + self._retry_s
        failure, cause = self._session.classify(error), self._database.explain(error)
        if failure is Failure.FATAL:
            self.failures.note(Failed.FATAL)
            raise RunError(f"insert failed: {cause}")
        if failure is Failure.UNKNOWN:
            self._count_uncertain(send.batch, cause)
        if not self._session.alive:
            self._reconnect(cause, send.retry_until_s - self._clock())
        if failure is Failure.UNKNOWN:
            return False
        if send.attempts >= MAX_ATTEMPTS and self._clock() >= send.retry_until_s:
            self.failures.note(Failed.FATAL)
            raise RunError(f"insert failed {send.attempts} times in a row; the last error: {cause}")
        self.retried += 1
        self.failures.note(Failed.RETRIED)
        self._pause(send)
        return True

    def _pause(self, send: Send) -> None:
        """Wait before a batch is sent again, longer each time."""
        pause_s = min(_BACKOFF_S * 2 ** min(send.attempts - 1, 30), _LONGEST_BACKOFF_S)
        before = time.perf_counter_ns()
        self._stop.wait(pause_s)
        self.backoff_ns += time.perf_counter_ns() - before

    def _add_uncertain(self, batch: Batch) -> None:
        for held in batch.held():
            self.uncertain += covering(held.rows, held.table)
            self.uncertain_rows += len(held.rows)
        self._uncertain_sends += 1
        self.failures.note(Failed.UNCERTAIN)

    def _count_uncertain(self, batch: Batch, cause: str) -> None:
        self._add_uncertain(batch)
        self.uncertain_cause = cause
        # When a node fails, all batches in flight are uncertain.
        most = MAX_UNCERTAIN_SENDS + self._session.in_flight - 1
        if self._uncertain_sends > most:
            raise RunError(
                f"more than {most} batches had no known outcome; the last error: {cause}"
            )

    def _reconnect(self, cause: str, within_s: float) -> None:
        """Open a new session; RunError if that takes longer, and than its `reconnect_s`."""
        self.failures.note(Failed.LOST)
        before = time.perf_counter_ns()
        self._session.close()
        try:
            self._session = connected(self._database, self._stop, self._clock, within_s)
        except BenchError as error:
            raise RunError(
                f"the connection was lost ({cause}) and not restored within"
                f" {max(within_s, self._database.reconnect_s):.0f} s: {error}"
            ) from error
        finally:
            self.disconnected_ns += time.perf_counter_ns() - before
        self.failures.note(Failed.RESTORED)
