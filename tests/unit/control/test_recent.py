"""Samples: rates between heartbeats, and latencies of the last seconds."""

import numpy as np
import pytest

from simulator.control.progress.recent import Recent
from simulator.control.workers.coordinator import Coordinator
from simulator.protocol.messages import WARMUP, Heartbeat, QueryTimes, WorkerReport
from simulator.protocol.numbers import counts_of, pairs_of

MS = 10**6


class Beating:
    """Workers that show how far they are, on a clock of their own."""

    def __init__(self, workers=1, **mixed):
        self.now_s = 100.0
        self.run = Coordinator(workers, own_clock=lambda: self.now_s)
        self.recent = Recent(self.run, lambda: self.now_s, **mixed)
        self._latencies = {}

    def beat(self, index=0, phase="insert", latencies_ms=(), **counts):
        known = self._latencies.setdefault((index, phase), [])
        known += [each * MS for each in latencies_ms]
        latency = pairs_of(counts_of(np.array(known, np.int64)))
        self.run.beat(Heartbeat(index=index, phase=phase, latency=latency, **counts))
        self.recent.note()

    def sample(self, phase="insert", query="", began_s=None):
        return self.recent.sample(self.now_s, phase, query, began_s)


@pytest.fixture
def workers():
    return Beating(2)


def test_a_rate_is_that_between_heartbeats_whenever_the_sample_is_taken(workers):
    for half in range(8):
        workers.beat(rows=500 * half)
        workers.now_s += 0.5
    rates = []
    for _ in range(4):
        rates.append(workers.sample().rows_per_s)
        workers.now_s += 0.1

    assert rates == [pytest.approx(1000.0)] * 4
    assert workers.sample().rows == 3500


def test_the_first_heartbeat_is_compared_with_the_beginning_of_the_phase(workers):
    workers.now_s += 0.5
    workers.beat(rows=100)

    assert workers.sample(began_s=100.0).rows_per_s == pytest.approx(200.0)
    assert workers.sample().rows_per_s == 0.0


def test_rates_of_workers_add_up_and_a_silent_one_adds_nothing(workers):
    for second in range(4):
        workers.beat(0, rows=100 * second)
        workers.beat(1, rows=10 * second)
        workers.now_s += 1.0
    both = workers.sample().rows_per_s
    for second in range(4, 7):
        workers.beat(0, rows=100 * second)
        workers.now_s += 1.0

    assert both == pytest.approx(110.0)
    assert workers.sample().rows_per_s == pytest.approx(100.0)


def test_latencies_are_those_of_the_last_five_seconds(workers):
    workers.beat(latencies_ms=[1000] * 100)
    workers.now_s += 3.0
    workers.beat(latencies_ms=[2] * 100)
    with_slow = workers.sample().p99_ms
    for _ in range(4):
        workers.now_s += 1.0
        workers.beat(latencies_ms=[2] * 10)

    assert with_slow == pytest.approx(1000, rel=0.033)
    assert workers.sample().p99_ms == pytest.approx(2, rel=0.033)


def test_latencies_of_all_workers_are_taken_together(workers):
    workers.beat(0, latencies_ms=[1] * 60)
    workers.beat(1, latencies_ms=[100] * 40)
    sample = workers.sample()

    assert sample.p50_ms == pytest.approx(1, rel=0.033)
    assert sample.p99_ms == pytest.approx(100, rel=0.033)


def test_without_a_batch_there_is_no_latency(workers):
    workers.beat()

    assert (workers.sample().p50_ms, workers.sample().p99_ms) == (None, None)


def test_a_new_phase_begins_with_its_own_counts(workers):
    workers.beat(phase="prefill", prefill_rows=5000)
    workers.now_s += 1.0
    workers.beat(phase="prefill", prefill_rows=9000)
    prefill = workers.sample("prefill")
    workers.now_s += 1.0
    workers.beat(phase="insert", rows=10, prefill_rows=9000, latencies_ms=[3])
    insert = workers.sample("insert", began_s=workers.now_s - 0.5)

    assert (prefill.rows, prefill.rows_per_s, prefill.p99_ms) == (9000, 4000.0, None)
    assert (insert.rows, insert.rows_per_s) == (10, pytest.approx(20.0))
    assert insert.p50_ms == pytest.approx(3, rel=0.033)


def test_a_report_has_the_last_word_on_rows(workers):
    workers.beat(rows=90, errors=2, retried=1, uncertain_rows=7)
    workers.run.report(WorkerReport(index=0, rows=100, retried=1))
    sample = workers.sample()

    assert (sample.rows, sample.errors, sample.retried, sample.uncertain_rows) == (100, 2, 1, 7)


def test_runs_of_a_query_are_those_of_the_workers_that_ask_it_and_never_fewer(workers):
    for second in range(3):
        workers.beat(0, phase="q", runs=10 * second)
        workers.beat(1, phase="q", runs=20 * second)
        workers.now_s += 1.0
    asked = workers.sample("query", "q")
    workers.beat(1, phase="barrier next", runs=40)

    assert (asked.query, asked.runs, asked.queries_per_s) == ("q", 60, pytest.approx(30.0))
    assert workers.sample("query", "q").runs == 60
    assert workers.sample("query", "next").runs == 0


@pytest.mark.parametrize("phase", [WARMUP, "mixed"])
def test_rows_and_queries_of_a_mixed_run_are_sampled_together_and_apart(phase):
    workers = Beating(3, barrier="mixed", beside=(1, 2))
    for second in range(3):
        workers.beat(0, "mixed", rows=1000 * second, latencies_ms=[2] * 10)
        workers.beat(1, "mixed", runs=10 * second, latencies_ms=[50] * 10)
        workers.beat(2, "mixed", runs=20 * second, latencies_ms=[50] * 10)
        workers.now_s += 1.0
    sample = workers.sample(phase)

    assert (sample.rows, sample.rows_per_s) == (2000, pytest.approx(1000.0))
    assert (sample.runs, sample.queries_per_s, sample.query) == (0, 0, "")
    assert (sample.asked.runs, sample.asked.queries_per_s) == (60, pytest.approx(30.0))
    assert (sample.p99_ms, sample.asked.p50_ms, sample.asked.p99_ms) == (
        pytest.approx(2, rel=0.033), *[pytest.approx(50, rel=0.033)] * 2
    )  # fmt: skip


def test_the_reports_of_a_mixed_run_have_the_last_word_on_its_queries():
    workers = Beating(2, barrier="mixed", beside=(1,))
    workers.beat(1, "mixed", runs=10)
    times = QueryTimes(
        name="q", first_s=1.0, runs=12, waits="", wait_s=1.0, client_s=0.0, elapsed_s=1.0,
        answers=1, warmup_runs=3,
    )  # fmt: skip
    workers.run.report(WorkerReport(index=1, queries=(times,)))

    assert workers.sample("mixed").asked.runs == 15
    assert Beating().sample().asked is None
