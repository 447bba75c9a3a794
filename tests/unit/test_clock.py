"""The clock that runs only while its process does, with the system's clocks injected."""

import time

import pytest

from simulator.clock import PAUSE_S, OwnClock, elapsed_s


class Machine:
    """The system's clock and the processor time of a process."""

    def __init__(self):
        self.now_s = 1000.0
        self.used_s = 5.0

    def passes(self, seconds, used_s=0.0):
        self.now_s += seconds
        self.used_s += used_s


@pytest.fixture
def machine():
    return Machine()


@pytest.fixture
def clock(machine):
    return OwnClock(lambda: machine.now_s, lambda: machine.used_s)


def test_time_that_is_read_often_passes_as_it_does(machine, clock):
    began = clock()
    for _ in range(100):
        machine.passes(0.25)
        clock()

    assert clock() - began == pytest.approx(25.0)
    assert clock.paused_s() == 0.0


def test_a_gap_does_not_count_and_is_reported(machine, clock):
    began = clock()
    machine.passes(18.0)
    after = clock()
    machine.passes(0.5)

    assert after == began
    assert clock() - began == pytest.approx(0.5)
    assert clock.paused_s() == pytest.approx(18.0)


def test_pauses_add_up(machine, clock):
    for pause_s in (3.0, 7.0):
        machine.passes(pause_s)
        clock()
        machine.passes(0.25)
        clock()

    assert clock.paused_s() == pytest.approx(10.0)


@pytest.mark.parametrize("gap_s", [0.0, 0.25, PAUSE_S])
def test_a_late_reading_is_no_pause(machine, clock, gap_s):
    began = clock()
    machine.passes(gap_s)

    assert clock() - began == pytest.approx(gap_s)
    assert clock.paused_s() == 0.0


def test_a_process_that_was_busy_did_not_stand_still(machine, clock):
    began = clock()
    machine.passes(5.0, used_s=4.5)

    assert clock() == began
    assert clock.paused_s() == 0.0


def test_of_a_pause_only_the_idle_part_is_reported(machine, clock):
    machine.passes(10.0, used_s=0.25)

    assert clock.paused_s() == pytest.approx(9.75)


def test_the_systems_clock_counts_suspended_time_where_it_can():
    began = elapsed_s()
    time.sleep(0.02)

    assert 0.02 <= elapsed_s() - began < 60
    if hasattr(time, "CLOCK_BOOTTIME"):
        assert abs(elapsed_s() - time.clock_gettime(time.CLOCK_BOOTTIME)) < 1
