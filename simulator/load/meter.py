"""Measures batches: a latency histogram and rows per second.

Recording a batch costs three array stores. The durations of up to 16,384 batches are then folded
into an HDR histogram at once. Merging histograms is exact.
"""

from array import array
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from simulator.load.durations import BUFFER, FoldSize
from simulator.load.faults.outages import Outages
from simulator.protocol.histogram import add_durations, at_least, encode_histogram, new_histogram
from simulator.protocol.messages import REPORTED_SECONDS, Acknowledged, StageTimes
from simulator.protocol.numbers import Counts, counts_from, counts_of
from simulator.protocol.pace import Kept, LoadStage


def _at(instant_ns: int | None, instant_s: Callable[[int], float]) -> float | None:
    return None if instant_ns is None else instant_s(instant_ns)


def _make_buffer() -> "array[int]":
    """Return an array; storing an item takes half as long as in a NumPy array."""
    return array("q", bytes(8 * BUFFER))


class _Stage:
    """The batches due in one stage."""

    def __init__(self) -> None:
        self.first_ns = self.last_ns = self.rows = self.count = self.unsent = 0
        self.due_until_ns: int | None = None
        self.histogram = new_histogram()


class StageMeter:
    """Measures batches or queries of one worker by the stage in which they were due."""

    def __init__(self, stages: Sequence[LoadStage], start_ns: int) -> None:
        """Store the start of the first stage; the other stages follow without a gap."""
        lengths = [stage.duration_s for stage in stages[:-1]]
        self._edges = start_ns + (np.cumsum([0.0, *lengths]) * 1e9).astype(np.int64)
        self._stages = [_Stage() for _ in stages]
        self._waiting: list[tuple[int, int, int]] = []

    def record(self, due_ns: int, wait_ns: int, end_ns: int) -> None:
        """Record a query: its due time, its wait, and its end."""
        self._waiting.append((due_ns, wait_ns, end_ns))
        if len(self._waiting) == BUFFER:
            self._fold()

    def _fold(self) -> None:
        begins, waits, ends = np.asarray(self._waiting, np.int64).reshape(-1, 3).T
        self._waiting.clear()
        self.add(begins, waits, ends, np.zeros(len(begins), np.int64))

    def add(
        self,
        begins_ns: NDArray[np.int64],
        latencies_ns: NDArray[np.int64],
        ends_ns: NDArray[np.int64],
        rows: NDArray[np.int64],
    ) -> None:
        """Add batches, except those that began before the first stage."""
        places = np.searchsorted(self._edges, begins_ns, side="right") - 1
        for place in np.unique(places[places >= 0]):
            of, stage = places == place, self._stages[place]
            first_ns = int(begins_ns[of].min())
            stage.first_ns = min(stage.first_ns, first_ns) if stage.count else first_ns
            stage.last_ns = max(stage.last_ns, int(ends_ns[of].max()))
            stage.rows += int(rows[of].sum())
            stage.count += int(of.sum())
            add_durations(stage.histogram, latencies_ns[of])

    def keep(self, kept: Kept) -> None:
        """Record how far a worker has kept to the schedule of the stage."""
        self._fold()
        place = int(np.searchsorted(self._edges, kept.begin_ns, side="right")) - 1
        stage = self._stages[max(place, 0)]
        stage.due_until_ns = kept.until_ns
        if not stage.count:
            stage.first_ns = stage.last_ns = kept.until_ns
        stage.unsent += len(kept.late_ns) * kept.each
        add_durations(stage.histogram, at_least(stage.histogram, kept.late_ns), kept.each)

    def times(self, instant_s: Callable[[int], float]) -> tuple[StageTimes, ...]:
        """Return the measurements of each stage that has batches or queries.

        `instant_s` returns the collector's time of an instant.
        """
        self._fold()
        return tuple(
            StageTimes(
                stage=number,
                started_s=instant_s(stage.first_ns),
                ended_s=instant_s(stage.last_ns),
                rows=stage.rows,
                count=stage.count,
                unsent=stage.unsent,
                due_until_s=_at(stage.due_until_ns, instant_s),
                latency=encode_histogram(stage.histogram),
            )
            for number, stage in enumerate(self._stages)
            if stage.count or stage.unsent
        )


class Meter:
    """Records the batches of one worker; instants are time.perf_counter_ns()."""

    def __init__(
        self,
        start_ns: int,
        warmup_s: float = 0.0,
        stages: Sequence[LoadStage] = (),
        outages: Outages | None = None,
    ) -> None:
        """Store the start of the clock; batches due in the warm-up are counted separately.

        `stages` follow the warm-up; `outages` is given every acknowledgement.
        """
        self.start_ns = start_ns
        self.measured_ns = start_ns + int(warmup_s * 1e9)
        """Time from which due batches are measured."""
        self._stages = StageMeter(stages, self.measured_ns) if stages else None
        self._outages = outages
        self._last_ns = start_ns
        self.rows = 0
        self.warmup_rows = 0
        """Number of rows in the warm-up, part of `rows`."""
        self._warmup_sends = 0
        self.sends = 0
        """Number of measured batches."""
        self.payload_bytes: int | None = 0
        """Size of the measured batches; None if the size of a batch is unknown."""
        self.due_until_ns: int | None = None
        """Time until which acknowledged batches cover the schedule; None without a rate."""
        self.unsent = 0
        """Number of batches that were due in the measured part and not sent before its end."""
        self._ends = _make_buffer()
        self._latencies = _make_buffer()
        self._counts = _make_buffer()
        self._filled = 0
        self._fold_size = FoldSize()
        self._limit = self._fold_size.size
        self._histogram = new_histogram()
        self._folded = counts_from(())
        self._by_second = np.zeros(0, np.int64)

    def record(self, due_ns: int, end_ns: int, rows: int, size_bytes: int | None) -> None:
        """Record a batch that was due at `due_ns` and acknowledged at `end_ns`."""
        at = self._filled
        self._ends[at] = end_ns
        self._latencies[at] = end_ns - due_ns
        self._counts[at] = rows
        self._filled = at + 1
        self.rows += rows
        if due_ns < self.measured_ns:
            self.warmup_rows += rows
            self._warmup_sends += 1
        else:
            self.sends += 1
            if size_bytes is None or self.payload_bytes is None:
                self.payload_bytes = None
            else:
                self.payload_bytes += size_bytes
        if self._filled == self._limit:
            self._fold()
            self._limit = self._fold_size.next()

    def _fold(self) -> None:
        filled, self._filled = self._filled, 0
        if not filled:
            return
        ends, latencies, counts = (
            np.frombuffer(each, np.int64, filled)
            for each in (self._ends, self._latencies, self._counts)
        )
        self._last_ns = max(self._last_ns, int(ends.max()))  # batches in flight end in any order
        add_durations(self._histogram, latencies[ends - latencies >= self.measured_ns])
        if self._stages:
            self._stages.add(ends - latencies, latencies, ends, counts)
        if self._outages:
            self._outages.add(latencies, ends)
        self._folded = self._folded + counts_of(latencies)
        seconds = (ends - self.start_ns) // 1_000_000_000
        rows = np.bincount(seconds, weights=counts).astype(np.int64)
        if len(rows) > len(self._by_second):
            self._by_second = np.pad(self._by_second, (0, len(rows) - len(self._by_second)))
        self._by_second[: len(rows)] += rows

    def keep(self, kept: Kept) -> None:
        """Record how far the worker kept to its schedule; unsent batches count as late."""
        self._fold()
        late_ns = kept.late_ns[kept.unsent_ns >= self.measured_ns]
        self.due_until_ns = kept.until_ns
        self.unsent += len(late_ns) * kept.each
        add_durations(self._histogram, at_least(self._histogram, late_ns), kept.each)
        if self._stages:
            self._stages.keep(kept)

    def sketch(self) -> Counts:
        """Return all latencies in coarse buckets; any thread may call it.

        The number of sends is read first: batches folded in between count as folded.
        """
        sends, folded = self.sends + self._warmup_sends, self._folded
        left = max(sends - int(folded.sum()), 0)
        return folded + counts_of(np.frombuffer(self._latencies, np.int64, left))

    @property
    def last_ns(self) -> int:
        """Return the time of the last acknowledgement; `start_ns` without any."""
        self._fold()
        return self._last_ns

    def latency(self) -> str:
        """Return the encoded histogram."""
        self._fold()
        return encode_histogram(self._histogram)

    def stages(self, instant_s: Callable[[int], float]) -> tuple[StageTimes, ...]:
        """Return the measurements of each stage; see StageMeter."""
        self._fold()
        return self._stages.times(instant_s) if self._stages else ()

    def rows_by_second(self) -> tuple[int, ...]:
        """Return the acknowledged rows of each second since the start."""
        self._fold()
        return tuple(self._by_second.tolist())

    def report_acknowledged(self, instant_s: Callable[[int], float]) -> Acknowledged:
        """Return the part of the report about batches; for `instant_s` see `StageMeter.times`."""
        return Acknowledged(
            rows=self.rows,
            warmup_rows=self.warmup_rows,
            sends=self.sends,
            payload_bytes=self.payload_bytes,
            latency=self.latency() if self.sends or self.unsent else "",
            due_until_s=_at(self.due_until_ns, instant_s),
            unsent=self.unsent,
            rows_by_second=self.rows_by_second()[:REPORTED_SECONDS],
            stages=self.stages(instant_s),
            silences=self._outages.silences(instant_s) if self._outages else (),
            waits_by_second=self._outages.waits() if self._outages else (),
        )
