"""CPU and memory of groups of processes, sampled by phase."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import psutil
import pytest

from cli.host import resources
from cli.host.resources import AFTER, BEFORE, Group, ResourceMeter, mean_of
from simulator.protocol.messages import PhaseEvent

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
    yield from started(BUSY)


@pytest.fixture
def short_lived() -> Iterator[subprocess.Popen[bytes]]:
    yield from started(SHORT_LIVED)


def test_a_group_has_the_time_and_memory_of_its_children(busy):
    (child,) = psutil.Process(busy.pid).children()
    group = Group(psutil.Process(busy.pid))
    before_s = sum(child.cpu_times()[:2])
    time.sleep(1)
    used = group.used(1)
    spent_s = sum(child.cpu_times()[:2]) - before_s

    assert used.cores == pytest.approx(spent_s, abs=0.1)
    assert spent_s > 0
    assert MEMORY_BYTES < used.memory_bytes < 2 * MEMORY_BYTES


def test_the_time_of_a_child_that_has_ended_counts(short_lived):
    group = Group(psutil.Process(short_lived.pid))
    short_lived.stdin.write(b"\n")
    short_lived.stdin.flush()
    short_lived.stdout.readline()

    assert group.used(1).cores == pytest.approx(0.3, abs=0.1)


def test_a_server_that_has_ended_uses_nothing(busy):
    group = Group(psutil.Process(busy.pid))
    (child,) = psutil.Process(busy.pid).children()
    child.kill()
    busy.kill()
    busy.wait()

    used = group.used(1)
    assert (used.cores, used.memory_bytes) == (0, 0)


def test_samples_are_taken_at_intervals_and_between_phases(busy, monkeypatch):
    monkeypatch.setattr(resources, "BASELINE_S", 0.5)
    with ResourceMeter(psutil.Process(busy.pid), every_s=0.2) as meter:
        meter.rest(BEFORE, lambda: False)
        for phase in ("init", "insert", "insert", "verify"):
            meter.follow(PhaseEvent(phase=phase))
            time.sleep(0.3)
        meter.rest(AFTER, lambda: False)
        taken = meter.taken()
        again = meter.taken()

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
    assert sum(s.duration_s for s in again.samples) < 0.5


def test_a_baseline_ends_when_the_user_stops_it():
    with ResourceMeter("not measured: on another host") as meter:
        began_s = time.monotonic()
        meter.rest(BEFORE, lambda: True)
        assert time.monotonic() - began_s < 2
        taken = meter.taken()

    assert taken.server == "not measured: on another host"
    assert all(sample.server is None for sample in taken.samples)


def test_a_mean_is_weighted_by_time():
    assert mean_of([(1.0, 3.0), (5.0, 1.0)]) == 2.0
