"""Meters: parts add up to the whole, whatever the number of sends."""

import threading

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from simulator.load import durations as folding
from simulator.load import meter
from simulator.load.durations import Durations
from simulator.load.meter import Meter
from simulator.protocol.histogram import merge_histogram, new_histogram
from simulator.protocol.numbers import pairs_of
from tests.fuzzing import try_cases

MS = 10**6
SECOND = 10**9


def measured(latencies_ns, rows=1):
    """Send one after the other, each as long as its latency."""
    taken, now = Meter(0), 0
    for latency in latencies_ns:
        taken.record(now, now + latency, rows, 0)
        now += latency
    return taken


latencies = st.lists(st.integers(0, 10 * SECOND), max_size=40)


@given(parts=st.lists(latencies, max_size=5))
@try_cases(30)
def test_histograms_of_parts_add_up_to_that_of_the_whole(parts):
    whole = measured([latency for part in parts for latency in part])
    merged = merge_histogram([measured(part).latency() for part in parts])

    assert merged.encode().decode() == whole.latency()
    assert merged.get_total_count() == whole.sends


@given(values=st.lists(st.integers(0, 10 * SECOND), min_size=1, max_size=40))
@try_cases(30)
def test_bulk_folding_is_recording_one_by_one(values):
    expected = new_histogram()
    for value in values:
        expected.record_value(max(value // 1000, 1))

    assert measured(values).latency() == expected.encode().decode()


@pytest.mark.parametrize("sends", [0, 1, 7, 8, 9, 16, 100])
def test_sends_beyond_the_buffer_are_counted_like_the_first(monkeypatch, sends):
    for module in (folding, meter):
        monkeypatch.setattr(module, "BUFFER", 8)
    taken = measured([250 * MS] * sends, rows=10)

    assert (taken.sends, taken.rows) == (sends, 10 * sends)
    assert sum(taken.rows_by_second()) == 10 * sends
    assert merge_histogram([taken.latency()]).get_total_count() == sends


def test_rows_are_counted_in_the_second_of_their_acknowledgement():
    taken = Meter(5 * SECOND)
    for end_s, rows in [(5, 1), (5.999, 2), (9.5, 8)]:
        taken.record(0, int(end_s * SECOND), rows, 0)
    before = taken.rows_by_second()
    for end_s, rows in [(6, 4), (10.0, 16)]:
        taken.record(0, int(end_s * SECOND), rows, 0)

    assert before == (3, 0, 0, 0, 8)
    assert taken.rows_by_second() == (3, 4, 0, 0, 8, 16)


@pytest.mark.parametrize(
    ("sizes", "expected"), [([], 0), ([3, 0, 4], 7), ([3, None, 4], None), ([None], None)]
)
def test_bytes_are_known_if_those_of_every_batch_are(sizes, expected):
    taken = Meter(0)
    for size in sizes:
        taken.record(0, SECOND, 1, size)

    assert taken.payload_bytes == expected


def test_latency_is_measured_from_the_due_time_in_microseconds():
    taken = Meter(0)
    taken.record(1_000_000, 3_500_000, 1, 0)
    found = HdrHistogram.decode(taken.latency())

    assert found.get_max_value() == pytest.approx(2500, rel=1e-3)
    assert taken.last_ns == 3_500_000


def test_what_the_histogram_cannot_hold_counts_as_its_limits():
    found = HdrHistogram.decode(measured([0, 2 * 3600 * SECOND]).latency())

    assert found.get_min_value() == 1
    assert found.get_max_value() == pytest.approx(3.6e9, rel=1e-3)


def test_durations_of_many_queries_are_counted_in_bounded_memory():
    durations = Durations()
    for microseconds in range(1, 50_001):
        durations.record(1000 * microseconds)
    histogram = merge_histogram([durations.encode()])

    assert len(durations._waiting) == 0
    assert durations.count == histogram.get_total_count() == 50_000
    assert durations.sum_ns == 1000 * 50_000 * 50_001 // 2
    assert histogram.get_value_at_percentile(50) == pytest.approx(25_000, rel=0.001)


@pytest.mark.parametrize("sends", [0, 1, 7, 8, 9, 20])
def test_a_sketch_counts_what_is_folded_and_what_is_not(monkeypatch, sends):
    for module in (folding, meter):
        monkeypatch.setattr(module, "BUFFER", 8)
    taken, durations = measured([250 * MS] * sends), Durations()
    for _ in range(sends):
        durations.record(250 * MS)

    assert taken.sketch().sum() == durations.sketch().sum() == sends
    assert pairs_of(taken.sketch()) == pairs_of(durations.sketch())


def test_a_sketch_that_another_thread_takes_never_counts_a_batch_twice_nor_goes_back(monkeypatch):
    for module in (folding, meter):
        monkeypatch.setattr(module, "BUFFER", 64)
    taken, durations = Meter(0), Durations()
    found: list[tuple[int, int]] = []
    over = threading.Event()

    def look():
        while not over.is_set():
            found.append((int(taken.sketch().sum()), int(durations.sketch().sum())))

    looking = threading.Thread(target=look)
    looking.start()
    for _ in range(20_000):
        taken.record(0, MS, 1, 0)
        durations.record(MS)
    over.set()
    looking.join()

    for sums in zip(*found, strict=True):
        assert list(sums) == sorted(sums)
        assert sums[-1] <= 20_000
    assert taken.sketch().sum() == durations.sketch().sum() == 20_000


def test_what_is_due_in_the_warm_up_is_counted_apart():
    taken = Meter(5 * SECOND, warmup_s=2.0)
    for due_s, end_s in [(5, 5.5), (6.9, 7.5), (7, 7.25), (8, 8.125)]:
        taken.record(int(due_s * SECOND), int(end_s * SECOND), 10, 100)

    assert (taken.rows, taken.warmup_rows) == (40, 20)
    assert (taken.sends, taken.payload_bytes) == (2, 200)
    assert taken.rows_by_second() == (10, 0, 20, 10)
    measured_ones = merge_histogram([taken.latency()])
    assert measured_ones.get_total_count() == 2
    assert 250 <= measured_ones.get_max_value() / 1000 < 251


@pytest.mark.parametrize(
    ("every_s", "most"), [(0.001, folding.BUFFER), (1.0, folding._LEAST_FOLDED)]
)
def test_a_slow_load_folds_fewer_durations_at_once(monkeypatch, every_s, most):
    now_ns = 0
    monkeypatch.setattr(folding.time, "perf_counter_ns", lambda: now_ns)
    taken, waiting = Durations(), 0
    for _ in range(40_000):
        now_ns += int(every_s * 1e9)
        taken.record(MS)
        waiting = max(waiting, len(taken._waiting))

    assert waiting == most - 1
    assert taken.count == 40_000
