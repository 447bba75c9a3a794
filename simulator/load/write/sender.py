"""Writes rows: prepares batches, and delivers each when it is due."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from simulator.data.block import Block
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.errors import RunError
from simulator.load.connecting import OpenSession, Stopped, WriterConnection, open_here
from simulator.load.durations import encode_durations
from simulator.load.faults.outages import Outages
from simulator.load.meter import Meter
from simulator.load.timings import Stopwatch
from simulator.load.write.batch import Batch
from simulator.load.write.delivery import Delivery, Failures
from simulator.load.write.preparing import Preparer
from simulator.modules.contract import BATCH, Database
from simulator.protocol.arrivals import NEVER_NS
from simulator.protocol.pace import FASTEST, LoadStage, Pace, Timetable, wait_until
from simulator.protocol.spec import Several


class Sender:
    """Writes ranges of rows over one connection, on schedule."""

    def __init__(  # noqa: PLR0913
        self,
        database: Database,
        reader: DatasetReader,
        stop: threading.Event,
        clock: Callable[[], float] = time.monotonic,
        retry_s: float = 0.0,
        *,
        several: Several | None = None,
        elsewhere: OpenSession | None = None,
    ) -> None:
        """Connect to the database. Failed batches and lost connections are retried for `retry_s`.

        `elsewhere` opens sessions in another process; by default this process opens `several`
        connections.
        """
        self._reader, self._stop = reader, stop
        open_session = elsewhere or open_here(database, stop, clock, several or Several())
        self._connection = WriterConnection(database, open_session, retry_s)
        self.spent = Stopwatch()
        self.preparer = Preparer(reader, self._connection, self.spent)
        self.delivery = Delivery(self._connection, self.spent, stop, clock, retry_s)
        self.measured_ns = self.meter.start_ns
        """Start of the measured part; 0 during the warm-up."""
        self._when_measured: Callable[[], object] = int
        self._is_end_known = False
        """True if `measure_from` has set the end of the warm-up."""

    @property
    def meter(self) -> Meter:
        """Acknowledgements since the start."""
        return self.delivery.meter

    @property
    def failures(self) -> Failures:
        """Failures of batches."""
        return self.delivery.failures

    @property
    def connects(self) -> str:
        """Times to open each of several connections, as an encoded histogram."""
        return encode_durations(self._connection.opened_ns)

    def close(self) -> None:
        """Close the session."""
        self._connection.session.close()

    def prefill(self, ranges: Sequence[RowRange], batch_rows: int) -> int:
        """Write rows in batches, untimed; return how many were acknowledged."""
        with self.delivery.all_ended():
            for batch in self.preparer.batches(ranges, BATCH, batch_rows):
                self.delivery.deliver(batch, time.perf_counter_ns())
        self.preparer.start()
        return self.meter.rows

    def start(
        self,
        warmup_s: float = 0.0,
        when_measured: Callable[[], object] = int,
        stages: Sequence[LoadStage] = (),
        *,
        closely: bool = False,
    ) -> None:
        """Start the clock; discard earlier measurements.

        `when_measured` is called when the measured part begins: now, or after the warm-up, before
        the first measured batch. If `closely` is set, outages are also measured.
        """
        start_ns = time.perf_counter_ns()
        outages = Outages(start_ns) if closely else None
        meter = self.delivery.meter = Meter(start_ns, warmup_s, stages, outages)
        self.failures.start(meter.start_ns)
        self.spent.start()
        self.measured_ns, self._when_measured, self._is_end_known = 0, when_measured, False
        if not warmup_s:
            when_measured()
            self.measured_ns = meter.start_ns

    def measure_from(self, instant_ns: int) -> None:
        """End the warm-up at an instant, unless it has ended; any thread may call it.

        Only the first call counts, because every heartbeat brings a slightly different instant.
        """
        meter = self.meter
        if not self.measured_ns and not self._is_end_known and instant_ns < meter.measured_ns:
            self._is_end_known = True
            meter.measured_ns = max(instant_ns, time.perf_counter_ns())

    def _begin_measured(self) -> None:
        self.spent.end_warmup()
        self._when_measured()
        self.measured_ns = time.perf_counter_ns()

    def insert(self, ranges: Sequence[RowRange], mode: str, batch_rows: int, *paces: Pace) -> None:
        """Prepare and send rows."""
        self.send(self.prepare(ranges, mode, batch_rows, *paces), batch_rows, *paces)

    def prepare(
        self, ranges: Sequence[RowRange], mode: str, batch_rows: int, *paces: Pace
    ) -> Iterator[Batch]:
        """Return the batches of rows.

        With a rate, the first batches are prepared now, because they are due as soon as the clock
        starts.
        """
        at_once = not any(pace.rate_per_s for pace in paces)
        batches = self.preparer.batches(ranges, mode, batch_rows, at_once=at_once)
        return batches if at_once else chain([*islice(batches, 1)], batches)

    def write_files(self, ranges: Sequence[RowRange], folder: Path) -> list[Batch]:
        """Write rows to files, and return a batch for each."""
        try:
            return self.preparer.files(self._draw(ranges), folder)
        except OSError as error:
            raise RunError(
                f"--import: the rows cannot be written to {folder}: {error.strerror or error}; set"
                " TMPDIR to a folder with more space"
            ) from error

    def _draw(self, ranges: Sequence[RowRange]) -> Iterator[Block]:
        """Yield the blocks of rows until the run is over."""
        for turn in self._reader.blocks(ranges):
            if self._stop.is_set():
                raise Stopped
            yield from turn

    def send(self, batches: Iterable[Batch], batch_rows: int, *paces: Pace) -> None:
        """Send batches at one pace after the other; without a pace, as fast as possible.

        With a rate, each batch has a due time, from which its latency counts.
        """
        meter, deliver = self.meter, self.delivery.deliver
        timetable = Timetable(paces or (FASTEST,), meter.start_ns, meter.measured_ns, batch_rows)
        with self.delivery.all_ended():
            for batch in batches:
                due = time.perf_counter_ns()
                if not self.measured_ns:
                    timetable.measure_from(meter.measured_ns)
                if due >= timetable.free_until_ns:
                    due = self._await_turn(timetable, due, batch.payload.rows)
                if due == NEVER_NS:
                    break
                if not self.measured_ns and due >= meter.measured_ns:
                    self._begin_measured()
                deliver(batch, due)
        for kept in timetable.list_kept():
            meter.keep(kept)
        if not self.measured_ns:
            self.spent.end_warmup()

    def _await_turn(self, timetable: Timetable, now_ns: int, rows: int) -> int:
        """Wait until a batch of this many rows may begin; return its due time, or NEVER_NS."""
        due_ns = timetable.due_ns(now_ns, rows)
        if due_ns == NEVER_NS:
            return due_ns
        if timetable.begin_ns > now_ns:
            self.delivery.end_all()
            self.spent.inactive_ns += wait_until(timetable.begin_ns, self._stop)
        self.spent.idle_ns += wait_until(due_ns, self._stop)
        return max(due_ns, time.perf_counter_ns()) if timetable.free_until_ns else due_ns
