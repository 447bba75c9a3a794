"""CPU and memory of groups of processes, sampled by phase."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil
import pytest

from iotbench.machine import resources
from iotbench.machine.counters import Group, ProcessSource
from iotbench.machine.resources import (
    AFTER,
    BEFORE,
    CounterOwner,
    CounterReading,
    ResourceMeter,
    Resources,
    ResourceSpan,
    Track,
    mean_of,
    samples_of,
)
from simulator.protocol.events import PhaseEvent

MEMORY_BYTES = 64 << 20
BUSY = f"""
import os, sys, time
if os.fork() == 0:
    held = b"x" * {MEMORY_BYTES}
    while True:
        pass
print(flush=True)
time.sleep(600)
"""
SHORT_LIVED = """
import os, sys, time
print(flush=True)
sys.stdin.readline()
if os.fork() == 0:
    end_s = time.process_time() + 0.3
    while time.process_time() < end_s:
        pass
    os._exit(0)
os.wait()
print(flush=True)
time.sleep(600)
"""


@contextmanager
def started(program: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        members = [psutil.Process(process.pid), *psutil.Process(process.pid).children()]
        yield process
        for member in members:
            with suppress(psutil.NoSuchProcess):
                member.kill()


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[bytes]]:
    with started(BUSY) as process:
        yield process


def test_a_group_has_the_time_and_memory_of_its_children(busy):
    (child,) = psutil.Process(busy.pid).children()
    group = Group(psutil.Process(busy.pid))
    first_s, before_s = group.cpu_s(), sum(child.cpu_times()[:2])
    time.sleep(0.5)
    used_s = group.cpu_s() - first_s
    spent_s = sum(child.cpu_times()[:2]) - before_s

    assert used_s == pytest.approx(spent_s, abs=0.1)
    assert spent_s > 0
    assert MEMORY_BYTES < group.memory_bytes() < 2 * MEMORY_BYTES


def test_the_time_of_a_child_that_has_ended_counts():
    with started(SHORT_LIVED) as process:
        group = Group(psutil.Process(process.pid))
        before_s = group.cpu_s()
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()

        assert group.cpu_s() - before_s == pytest.approx(0.3, abs=0.1)


def test_a_server_that_has_ended_uses_nothing_more(busy):
    group = Group(psutil.Process(busy.pid))
    before_s = group.cpu_s()
    (child,) = psutil.Process(busy.pid).children()
    child.kill()
    busy.kill()
    busy.wait()

    assert (group.cpu_s(), group.memory_bytes()) == (before_s, 0)


def test_samples_are_taken_at_intervals_and_between_phases(busy, monkeypatch):
    monkeypatch.setattr(resources, "BASELINE_S", 0.5)
    with ResourceMeter(ProcessSource(psutil.Process(busy.pid), every_s=0.2)) as meter:
        meter.rest(BEFORE, lambda: False)
        for phase in ("init", "insert", "insert", "verify"):
            meter.follow(PhaseEvent(phase=phase))
            time.sleep(0.3)
        meter.rest(AFTER, lambda: False)
        took_s = time.monotonic()
        taken = meter.take_samples()
        again = meter.take_samples()
        took_s = time.monotonic() - took_s

    phases = [sample.phase for sample in taken.samples]
    order = [phase for phase in dict.fromkeys(phases) if phase != "start"]
    assert order == [BEFORE, "init", "insert", "verify", AFTER]
    of_phase = {
        phase: sum(s.duration_s for s in taken.samples if s.phase == phase) for phase in phases
    }
    assert of_phase[BEFORE] >= 0.45
    assert of_phase[AFTER] >= 0.45
    assert of_phase["insert"] >= 0.55
    ends = [sample.ended_s for sample in taken.samples]
    starts = [s.ended_s - s.duration_s for s in taken.samples[1:]]
    assert starts == pytest.approx(ends[:-1], abs=0.06)
    assert taken.server.endswith(f"process {busy.pid}")
    assert all(sample.server and sample.server.memory_bytes > 0 for sample in taken.samples)
    assert mean_of((s.server.cores, s.duration_s) for s in taken.samples) > 0
    assert sum(s.duration_s for s in again.samples) <= took_s


def test_a_baseline_ends_when_the_user_stops_it():
    with ResourceMeter(ProcessSource("on another host")) as meter:
        began_s = time.monotonic()
        meter.rest(BEFORE, lambda: True)
        assert time.monotonic() - began_s < 2
        taken = meter.take_samples()

    assert taken.server == "not measured: on another host"
    assert all(sample.server is None for sample in taken.samples)


# --- counters that are read when they like --------------------------------------------------------

SPAN = ResourceSpan("insert", 100.0, 160.0)
A, B, DATABASE = (CounterOwner.CLIENT, "a"), (CounterOwner.CLIENT, "b"), (CounterOwner.SERVER, "db")


def track(*readings, first_s=90.0, last_s=170.0):
    made = Track(first_s, first_s)
    for at_s, cpu_s in readings:
        made.add(at_s, CounterReading(at_s, cpu_s, int(at_s)))
    made.add(last_s, None)
    return made


def samples(tracks, span=SPAN, piece_s=10.0, margin_s=2.0):
    return samples_of(span, tracks, piece_s, margin_s, 50.0)


def test_what_was_used_between_two_readings_in_a_phase_is_known():
    found = samples({DATABASE: track((95, 0), (110, 60), (130, 70), (155, 95), (165, 200))})

    assert [(s.ended_s, s.duration_s, s.server.cores) for s in found] == [
        (80, 20, 0.5),
        (105, 25, 1.0),
    ]
    assert [s.server.memory_bytes for s in found] == [130, 155]
    assert all(s.client is None and s.machine_cores is None for s in found)


def test_pods_add_up_where_all_of_them_are_known():
    found = samples({A: track((110, 0), (150, 40)), B: track((105, 0), (120, 0), (145, 50))})

    assert sum(s.duration_s for s in found) == 35
    assert mean_of((s.client.cores, s.duration_s) for s in found) == pytest.approx(1 + 50 / 35)
    assert [s.client.memory_bytes for s in found] == [110 + 120, 110 + 145]


def test_a_part_with_a_pod_that_was_read_once_is_not_measured():
    tracks = {
        A: track((110, 0), (150, 40)),
        B: track((105, 0)),
        DATABASE: track((105, 0), (155, 5)),
    }
    found = samples(tracks)

    assert found
    assert all(s.client is None and s.server.cores == pytest.approx(0.1) for s in found)


def test_a_pod_that_was_gone_before_the_phase_does_not_matter():
    gone = track((60, 0), (80, 9), first_s=50.0, last_s=101.0)
    found = samples({A: gone, B: track((110, 0), (150, 40))})

    assert {s.client.cores for s in found} == {1.0}


def test_readings_at_the_edge_of_a_phase_may_be_of_its_neighbour():
    assert samples({DATABASE: track((101, 0), (130, 1), (159, 2))}) == []


def test_a_counter_that_begins_again_loses_what_was_before():
    found = samples({DATABASE: track((105, 50), (115, 60), (125, 1), (135, 6))})

    assert [(s.ended_s, s.server.cores) for s in found] == [(85, 0.5)]


class Kubelet:
    """A source of one pod that is read twice in any 0.2 s, some time after they began."""

    described = Resources(server="pod db", samples=())
    every_s, piece_s, margin_s, longest_rest_s = 0.05, 0.1, 0.01, 30.0
    read_from_s = 0.3

    def __init__(self):
        self.began_s = time.monotonic()

    def read(self):
        now_s = time.monotonic()
        late = now_s - self.began_s < self.read_from_s
        return {DATABASE: None if late else CounterReading(now_s, now_s - self.began_s, 1)}


def test_a_baseline_lasts_until_everything_was_read_twice(monkeypatch):
    monkeypatch.setattr(resources, "BASELINE_S", 0.1)
    with ResourceMeter(Kubelet()) as meter:
        meter.rest(BEFORE, lambda: False)
        taken = meter.take_samples()

    found = [sample for sample in taken.samples if sample.phase == BEFORE]
    assert found
    assert mean_of((s.server.cores, s.duration_s) for s in found) == pytest.approx(1.0)


def test_without_a_database_to_measure_there_is_no_baseline():
    source = Kubelet()
    source.longest_rest_s = 0.0
    with ResourceMeter(source) as meter:
        began_s = time.monotonic()
        meter.rest(BEFORE, lambda: False)
        assert time.monotonic() - began_s < 2
        assert meter.take_samples().samples == ()
