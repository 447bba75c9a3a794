"""CPU, load and memory of machine, client and server during a run, as a series of samples.

A source reads counters. The increase of a counter between two readings belongs to a phase if both
readings were taken in the phase.
"""

import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import Protocol, Self

from simulator.frozen import Frozen
from simulator.protocol.events import Event, PhaseEvent

BASELINE_S = 5.0
BEFORE, AFTER = "before", "after"
"""Names of the phases before and after the runs, in which the baseline is measured."""
_START = "start"
_SHORTEST_S = 0.05
"""Minimum duration of a sample, since CPU time is counted in hundredths of a second."""


class Used(Frozen):
    """Resources that a group of processes or pods used during a sample."""

    cores: float
    """CPU time divided by elapsed time."""
    memory_bytes: int
    """Memory at the end of the sample: resident memory of processes, with shared pages counted
    once; working set of pods."""


class Sample(Frozen):
    """An interval within one phase; values that were not measured are None."""

    phase: str
    ended_s: float
    """End of the sample, in seconds since the measurement of the sweep began."""
    duration_s: float
    machine_cores: float | None
    """Number of busy cores of the machine."""
    machine_load: float | None
    """Load average of the last minute at the end of the sample; the kubelet does not report it."""
    machine_memory_bytes: int | None
    """Memory in use at the end of the sample."""
    client: Used | None
    server: Used | None


class Resources(Frozen):
    """The samples of one run."""

    server: str
    """Processes measured as the server, or the reason why none were measured."""
    client: str = ""
    machine: str = ""
    short_phases: str = ""
    """Reason why short phases have no samples."""
    samples: tuple[Sample, ...]


class CounterOwner(Enum):
    """Owner of a counter."""

    MACHINE = "machine"
    CLIENT = "client"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class CounterReading:
    """A counter and two gauges at one moment."""

    at_s: float
    """Time of the reading, by `time.monotonic`."""
    cpu_s: float
    """CPU time since the counter began."""
    memory_bytes: int
    load: float | None = None


Name = tuple[CounterOwner, str]


class ReadingSource(Protocol):
    """A source of readings."""

    described: Resources
    """Description of the measurement, without samples."""
    every_s: float
    """Time between two reads."""
    piece_s: float
    """Usual length of a sample."""
    margin_s: float
    """Error of the time of a reading, relative to the time of a phase. If it is 0, counters are
    also read whenever a phase begins."""
    longest_rest_s: float
    """Time until every counter has been read twice; 0 if nothing can be measured at rest."""

    def read(self) -> Mapping[Name, CounterReading | None]:
        """Return the readings of all existing counters; None for a counter with no new reading."""


@dataclass(slots=True)
class Track:
    """The readings of one counter, and the times at which it was first and last seen."""

    first_s: float
    last_s: float
    readings: list[CounterReading] = field(default_factory=list)

    def add(self, now_s: float, reading: CounterReading | None) -> None:
        """Record that the counter exists, and its new reading, if any."""
        self.last_s = now_s
        if reading is None:
            return
        if self.readings and reading.cpu_s < self.readings[-1].cpu_s:
            self.readings.clear()  # it was restarted
        if not self.readings or reading.at_s > self.readings[-1].at_s:
            self.readings.append(reading)


@dataclass(frozen=True, slots=True)
class ResourceSpan:
    """An uninterrupted time in one phase of a run."""

    phase: str
    began_s: float
    ended_s: float


def samples_of(
    span: ResourceSpan,
    tracks: Mapping[Name, Track],
    piece_s: float,
    margin_s: float,
    origin_s: float,
) -> list[Sample]:
    """Return the samples of a phase, for the time in which all counters are known.

    Machine, client or server has no value if one of its counters was not read twice in the phase.
    """
    parts = _select(span, tracks, margin_s)
    known = {part: each for part, each in parts.items() if all(len(read) > 1 for read in each)}
    read = [readings for each in known.values() for readings in each]
    first_s = max((readings[0].at_s for readings in read), default=0.0)
    last_s = min((readings[-1].at_s for readings in read), default=0.0)
    if last_s - first_s < _SHORTEST_S:
        return []
    times = sorted({each.at_s for readings in read for each in readings})
    return [
        _sample(span.phase, (from_s, to_s), known, origin_s)
        for from_s, to_s in pairwise(_cut(first_s, last_s, times, piece_s))
    ]


def _select(
    span: ResourceSpan, tracks: Mapping[Name, Track], margin_s: float
) -> dict[CounterOwner, list[list[CounterReading]]]:
    """Return the readings of all counters that existed in a phase."""
    begin_s, end_s = span.began_s + margin_s, span.ended_s - margin_s
    parts: dict[CounterOwner, list[list[CounterReading]]] = {}
    for (part, _), track in tracks.items():
        if track.first_s < end_s and track.last_s > begin_s:
            readings = [each for each in track.readings if begin_s <= each.at_s <= end_s]
            parts.setdefault(part, []).append(readings)
    return parts


def _cut(first_s: float, last_s: float, times: Iterable[float], piece_s: float) -> list[float]:
    """Return the ends of the pieces of an interval: times of readings with enough distance."""
    cuts = [first_s]
    for each_s in times:
        if each_s - cuts[-1] >= piece_s / 2 and last_s - each_s >= piece_s / 2:
            cuts.append(each_s)
    return [*cuts, last_s]


def _sample(
    phase: str,
    piece: tuple[float, float],
    known: Mapping[CounterOwner, Sequence[Sequence[CounterReading]]],
    origin_s: float,
) -> Sample:
    used = {part: _measure_used(counters, *piece) for part, counters in known.items()}
    machine = used.get(CounterOwner.MACHINE)
    loads = [_find_latest(each, piece[1]).load for each in known.get(CounterOwner.MACHINE, ())]
    return Sample(
        phase=phase,
        ended_s=piece[1] - origin_s,
        duration_s=piece[1] - piece[0],
        machine_cores=machine and machine.cores,
        machine_load=loads[0] if loads else None,
        machine_memory_bytes=machine and machine.memory_bytes,
        client=used.get(CounterOwner.CLIENT),
        server=used.get(CounterOwner.SERVER),
    )


def _measure_used(counters: Sequence[Sequence[CounterReading]], from_s: float, to_s: float) -> Used:
    cpu_s = sum(_estimate_cpu_s(each, to_s) - _estimate_cpu_s(each, from_s) for each in counters)
    memory_bytes = sum(_find_latest(each, to_s).memory_bytes for each in counters)
    return Used(cores=cpu_s / (to_s - from_s), memory_bytes=memory_bytes)


def _find_latest(readings: Sequence[CounterReading], at_s: float) -> CounterReading:
    return readings[bisect_right(readings, at_s, key=lambda each: each.at_s) - 1]


def _estimate_cpu_s(readings: Sequence[CounterReading], at_s: float) -> float:
    """Estimate the value of a counter at a time between its first and its last reading."""
    place = bisect_right(readings, at_s, key=lambda each: each.at_s)
    before, after = readings[place - 1], readings[min(place, len(readings) - 1)]
    if after.at_s == before.at_s:
        return before.cpu_s
    share = (at_s - before.at_s) / (after.at_s - before.at_s)
    return before.cpu_s + share * (after.cpu_s - before.cpu_s)


class ResourceMeter:
    """Measures the resources of one run after another; `follow` takes the events of a run."""

    def __init__(self, source: ReadingSource) -> None:
        self._source = source
        self._reading = threading.Lock()
        self._noting = threading.Lock()
        self._tracks: dict[Name, Track] = {}
        self._spans: list[ResourceSpan] = []
        self._phase, self._phase_began_s = "", 0.0
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        self._origin_s = time.monotonic()
        self._read()
        self._thread = threading.Thread(target=self._read_on, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def rest(self, phase: str, over: Callable[[], bool]) -> None:
        """Measure the baseline of a machine at rest; stop early if `over` returns True."""
        longest_s = self._source.longest_rest_s
        if not longest_s:
            return
        self._enter(phase)
        least_s = min(BASELINE_S, longest_s)
        while not over():
            rested_s = time.monotonic() - self._phase_began_s
            if rested_s >= longest_s or (rested_s >= least_s and self._is_known()):
                break
            time.sleep(_SHORTEST_S)  # until the next sample of another thread
        self._enter(_START)

    def follow(self, event: Event) -> None:
        """Record the current phase of the run."""
        if isinstance(event, PhaseEvent) and event.phase != self._phase:
            self._enter(event.phase)

    def take_samples(self) -> Resources:
        """Return the samples since the last call."""
        self._enter(self._phase)
        source = self._source
        with self._noting:
            samples = [
                sample
                for span in self._spans
                for sample in samples_of(
                    span, self._tracks, source.piece_s, source.margin_s, self._origin_s
                )
            ]
            for track in self._tracks.values():
                del track.readings[:-1]
        self._spans.clear()
        return source.described.model_copy(update={"samples": tuple(samples)})

    def _enter(self, phase: str) -> None:
        now_s = time.monotonic()
        if not self._source.margin_s:  # the phases meet where the counters are read
            now_s = max(self._read(), default=now_s)
        if self._phase:
            self._spans.append(ResourceSpan(self._phase, self._phase_began_s, now_s))
        self._phase, self._phase_began_s = phase, now_s

    def _is_known(self) -> bool:
        """Return whether every counter has been read twice in the phase."""
        span = ResourceSpan(self._phase, self._phase_began_s, time.monotonic())
        with self._noting:
            parts = _select(span, self._tracks, self._source.margin_s).values()
        return bool(parts) and all(len(read) > 1 for each in parts for read in each)

    def _read_on(self) -> None:
        while not self._ended.wait(self._source.every_s):
            self._read()

    def _read(self) -> list[float]:
        """Read all counters; return the times of their readings."""
        with self._reading:
            found = self._source.read()
            now_s = time.monotonic()
            with self._noting:
                for name, reading in found.items():
                    track = self._tracks.setdefault(name, Track(now_s, now_s))
                    track.add(now_s, reading)
        return [reading.at_s for reading in found.values() if reading]


def mean_of(timed: Iterable[tuple[float, float]]) -> float:
    """Return the time-weighted mean of one or more (value, duration) pairs."""
    pairs = [*timed]
    return sum(value * s for value, s in pairs) / sum(s for _, s in pairs)
