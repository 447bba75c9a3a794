"""The numbers of a run, computed from what its workers measured."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from iotbench.results.latency import Latency, latency_of, merge
from iotbench.results.metrics import insert_metrics, rates_by_second
from simulator.data.ranges import RowRange
from simulator.data.schema import PrimaryKey
from simulator.load.durations import encode_durations
from simulator.protocol.arrivals import NEVER_NS
from simulator.protocol.events import Outcome
from simulator.protocol.histogram import merge_histogram
from simulator.protocol.messages import WorkerReport
from simulator.protocol.pace import Pace, Timetable
from tests.fuzzing import CASES, try_cases
from tests.unit.output.terminal.made import histogram, outcome, stored, worker

DEVOPS = {"workload": "devops", "params": {}}
CPU_AND_KERNEL = (
    RowRange(start=0, stop=20),
    RowRange(start=0, stop=10, table=3),
)


def test_both_rates_are_computed_as_they_are_defined():
    """300 rows; the last acknowledgement 5 s after the barrier; durations of 1.5 s and 4.5 s."""
    workers = (
        worker(0, rows=100, started=10.0, ended=11.5),
        worker(1, rows=200, started=10.5, ended=15.0),
    )
    metrics = insert_metrics(outcome(*workers), stored(300))

    assert metrics.rows == 300
    assert metrics.rows_per_s == 300 / 5
    assert metrics.rows_per_s_reference == 300 / 3


@CASES
@given(
    rate=st.floats(1, 1e5),
    batch=st.integers(1, 10_000),
    duration_s=st.floats(0.5, 60),
    workers=st.integers(1, 8),
    took_s=st.floats(0, 0.5),
)
def test_a_rate_that_the_database_keeps_up_with_is_reported_within_one_batch(
    rate, batch, duration_s, workers, took_s
):
    """However few batches are due: not the time between their acknowledgements divides them."""
    assume(rate * duration_s / batch < 5_000)
    reports = []
    for place in range(workers):
        table = Timetable([Pace(rate / workers, place / workers, duration_s)], 0, 0, batch)
        ends, now_ns = [0], 0
        while (due_ns := table.due_ns(now_ns, batch)) != NEVER_NS:
            now_ns = due_ns  # of several connections one is free
            ends.append(due_ns / 1e9 + took_s)
        (kept,) = table.list_kept()
        assert not len(kept.unsent_ns)
        reports.append(
            worker(place, rows=batch * (len(ends) - 1), started=10.0, ended=10.0 + ends[-1],
                   due_until_s=10.0 + kept.until_ns / 1e9)
        )  # fmt: skip
    found = insert_metrics(outcome(*reports), stored(1))

    at_least_s = max(each.ended_s for each in reports) - 10.0
    reported, due = found.rows_per_s * found.timed_s, rate * found.timed_s
    assert found.timed_s >= at_least_s * (1 - 1e-9)
    if found.timed_s > at_least_s * (1 + 1e-9):
        assert reported == pytest.approx(due, abs=1.01 * batch)
    assert reported <= due + 1.01 * batch


def test_one_batch_a_second_of_a_thousand_rows_is_a_thousand_rows_a_second():
    scheduled = worker(0, rows=3000, started=10.0, ended=12.004, due_until_s=13.0)
    metrics = insert_metrics(outcome(scheduled), stored(3000))

    assert (metrics.rows_per_s, metrics.timed_s) == (1000.0, 3.0)
    late = worker(0, rows=3000, started=10.0, ended=14.0, due_until_s=13.0, unsent=2)
    metrics = insert_metrics(outcome(late), stored(3000))
    assert (metrics.rows_per_s, metrics.unsent) == (750.0, 2)


def test_the_clients_share_is_all_that_neither_database_nor_schedule_took():
    workers = (
        worker(0, generate_s=0.5, encode_s=0.25, send_s=1.0, idle_s=0.5, cpu_s=1.0),
        worker(1, ended=16.0, generate_s=0.25, encode_s=1.0, send_s=4.5, cpu_s=3.0),
    )
    metrics = insert_metrics(outcome(*workers), stored(200), embedded=True)

    assert (metrics.client_share, metrics.cpu_share) == (2.0 / 8, 4.0 / 8)
    assert metrics.driver_share is None
    # What the driver computes while the worker waits for it is the client's, too.
    metrics = insert_metrics(outcome(*workers), stored(200))
    assert (metrics.client_share, metrics.driver_share) == (4.0 / 8, 2.0 / 8)


def test_the_clients_cpu_time_of_a_row_is_known_where_it_works_alone():
    workers = worker(0, rows=300, cpu_s=0.5), worker(1, rows=100, ended=16.0, cpu_s=1.5)

    assert insert_metrics(outcome(*workers), stored(400)).client_ns_per_row == 2e9 / 400
    assert insert_metrics(outcome(*workers), stored(400), embedded=True).client_ns_per_row is None
    assert insert_metrics(outcome(worker(0, rows=0)), stored(0)).client_ns_per_row is None


def test_a_last_send_that_failed_leaves_no_negative_share():
    assert insert_metrics(outcome(worker(0, send_s=99.0)), stored(200)).client_share == 0


def test_counts_are_added_over_the_workers():
    slices = (RowRange(start=0, stop=10), RowRange(start=11, stop=19, take=1, every=4))
    workers = (
        worker(0, uncertain=slices, retried=1, backoff_s=0.25, memory_peak_bytes=5),
        worker(
            1,
            uncertain=slices[:1],
            retried=2,
            backoff_s=0.5,
            memory_peak_bytes=7,
            disconnected_s=1.5,
        ),
    )
    metrics = insert_metrics(outcome(*workers), stored(200))

    assert (metrics.uncertain_rows, metrics.retried, metrics.memory_peak_bytes) == (22, 3, 7)
    assert (metrics.backoff_s, metrics.disconnected_s) == (0.75, 1.5)


@pytest.mark.parametrize(("size", "expected"), [(8192, 8192 / 200), (None, None)])
def test_bytes_per_row_are_of_what_the_tables_hold(size, expected):
    assert insert_metrics(outcome(size_bytes=size), stored(200)).bytes_per_row == expected


@pytest.mark.parametrize(
    ("phases_s", "expected"),
    [
        ({"visible": 1.0, "compact": 9.0}, 300 / 6),
        ({"visible": 0.0, "compact": 9.0, "verify": 1.0}, 300 / 5),
        ({"visible": 1.0}, None),
        ({}, None),
    ],
)
def test_the_rate_until_stored_includes_the_time_until_rows_are_visible(phases_s, expected):
    """300 rows; the last acknowledgement 5 s after the barrier. A run may fail before `compact`."""
    workers = (worker(0, ended=11.5), worker(1, rows=200, ended=15.0))
    metrics = insert_metrics(outcome(*workers, phases_s=phases_s), stored(300))

    assert metrics.rows_per_s_stored == expected
    assert metrics.rows_per_s == 300 / 5


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [((1000, 3000), 4000 / 5), ((0, 3000), 600), ((None, 3000), None), ((None, None), None)],
)
def test_bytes_per_second_are_known_if_every_worker_knows_its_bytes(sizes, expected):
    workers = [worker(index, ended=15.0, payload_bytes=size) for index, size in enumerate(sizes)]

    assert insert_metrics(outcome(*workers), stored(200)).bytes_per_s == expected


@pytest.mark.parametrize(
    ("changes", "bits", "precision"),
    [
        ({}, 8 * 8192 / (200 * 4), "grid"),
        ({"primary_key": PrimaryKey.CLIENT}, 8 * 8192 / (200 * 5), "grid"),
        ({**DEVOPS, "ranges": CPU_AND_KERNEL}, 8 * 8192 / (20 * 21 + 10 * 17), "grid"),
        ({**DEVOPS, "params": {"precision": "full"}}, 8 * 8192 / (200 * 21), "full"),
    ],
)
def test_bits_per_value_are_of_the_columns_that_are_stored(changes, bits, precision):
    metrics = insert_metrics(outcome(), stored(200, **changes))

    assert metrics.bits_per_value == pytest.approx(bits)
    assert metrics.precision == precision


@pytest.mark.parametrize(
    ("changes", "values_of_a_row"),
    [
        ({}, 1),
        ({"primary_key": PrimaryKey.CLIENT}, 1),
        ({**DEVOPS, "ranges": CPU_AND_KERNEL}, (20 * 10 + 10 * 6) / 30),
        ({"workload": "trucks", "params": {"nulls": "none"}}, 7),
        ({"workload": "trucks", "params": {}}, 7 - 1 / 10),
    ],
)
def test_values_are_fields_that_are_not_null(changes, values_of_a_row):
    """100 rows in 2 s. A tenth of the rows of `trucks` has a NULL field; tags are not values."""
    metrics = insert_metrics(outcome(worker(0)), stored(200, **changes))

    assert metrics.values_per_s == pytest.approx(50 * values_of_a_row)


def test_values_of_a_file_are_counted_as_long_as_it_is_there(tmp_path):
    columns = [
        {"name": "at", "type": "timestamp", "role": "time"},
        {"name": "celsius", "type": "float64", "role": "field", "nullable": True},
    ]
    params = {"source": "x.csv", "sha256": "0", "rows": 4, "table": "x", "columns": columns}
    found = stored(4, workload="file", params={**params, "folder": str(tmp_path / "prepared")})

    unknown = insert_metrics(outcome(worker(0)), found)
    assert (unknown.bits_per_value, unknown.values_per_s) == (None, None)
    (tmp_path / "prepared").mkdir()
    (tmp_path / "prepared/1.valid").write_bytes(bytes([1, 0, 0, 1]))
    metrics = insert_metrics(outcome(), found)
    assert (metrics.bits_per_value, metrics.precision) == (8 * 8192 / 6, None)
    assert insert_metrics(outcome(worker(0)), found).values_per_s == 50 * 2 / 4


def test_a_run_without_workers_has_no_rates():
    metrics = insert_metrics(Outcome(status="failed"), stored(0))

    assert (metrics.rows_per_s, metrics.rows_per_s_reference, metrics.client_share) == (0, 0, 0)
    assert (metrics.latency.sends, metrics.latency.max_ms) == (0, 0)


def test_a_lost_worker_does_not_hide_what_the_others_did():
    lost = WorkerReport(index=1, error="lost", rows=50)
    metrics = insert_metrics(outcome(worker(0), lost), stored(200))

    assert (metrics.rows, metrics.rows_per_s) == (150, 75)


def test_percentiles_of_all_workers_are_of_all_sends():
    fast, slow = histogram(*[1.0] * 10), histogram(*range(10, 100))
    latency = latency_of(merge((worker(0, latency=fast), worker(1, latency=slow))))
    found = (latency.p50_ms, latency.p95_ms, latency.p99_ms, latency.max_ms)

    assert latency.sends == 100
    assert found == pytest.approx((49, 94, 98, 99), rel=2e-3)
    assert latency.mean_ms == pytest.approx((10 + sum(range(10, 100))) / 100, rel=2e-3)


@pytest.mark.parametrize(
    ("sends", "known"), [(99, (0, 0)), (100, (1, 0)), (999, (1, 0)), (1000, (1, 1))]
)
def test_a_percentile_has_a_sample_beyond_it(sends, known):
    found = latency_of(merge((worker(0, latency=histogram(*[1.0] * sends)),)))
    older = Latency.model_validate(found.model_dump() | {"p99_ms": 1.0, "p999_ms": 1.0})

    for each in (found, older):
        assert (each.p99_ms is not None, each.p999_ms is not None) == known


@try_cases(30)
@given(st.lists(st.lists(st.integers(1000, 4 * 10**12), max_size=40), min_size=1, max_size=30))
def test_percentiles_and_mean_are_those_of_the_library(durations_ns):
    histogram = merge_histogram([encode_durations(each) for each in durations_ns])
    found = latency_of(histogram)

    p50_ms, p95_ms, p99_ms, p999_ms = (
        histogram.get_value_at_percentile(p) / 1000 for p in (50, 95, 99, 99.9)
    )
    assert [found.p50_ms, found.p95_ms] == [p50_ms, p95_ms]
    assert found.p99_ms == (p99_ms if found.sends >= 100 else None)
    assert found.p999_ms == (p999_ms if found.sends >= 1000 else None)
    assert found.mean_ms == pytest.approx(histogram.get_mean_value() / 1000, rel=1e-12)
    assert found.max_ms == histogram.get_max_value() / 1000


def test_a_warm_up_is_in_no_figure():
    """Released at 10 s; measured from 12 s on, until 17 s."""
    workers = (
        worker(0, rows=150, warmup_rows=50, started=12.0, ended=17.0, rows_by_second=(25,) * 6),
        worker(1, rows=300, warmup_rows=100, started=12.5, ended=16.5, rows_by_second=(50,) * 6),
    )
    found = outcome(*workers, phases_s={"warmup": 2.0, "visible": 1.0, "compact": 0.5})
    metrics = insert_metrics(found, stored(450))

    assert (metrics.rows, metrics.warmup_rows) == (300, 150)
    assert metrics.rows_per_s == 300 / 5
    assert metrics.rows_per_s_stored == 300 / 6
    assert metrics.rows_per_s_reference == pytest.approx(300 / 4.5)
    assert rates_by_second(found) == [75.0] * 4
    assert metrics.overlap == 4.0 / 5
    assert metrics.evenness == pytest.approx((100 / 5) / (200 / 4))


def test_a_worker_that_was_done_in_the_warm_up_overlaps_with_nobody():
    gone = worker(1, rows=50, warmup_rows=50).model_copy(
        update={"started_s": None, "ended_s": None, "duration_s": 0.0}
    )
    metrics = insert_metrics(outcome(worker(0), gone), stored(150))

    assert (metrics.rows, metrics.overlap, metrics.evenness) == (100, 0.0, 0.0)


def test_one_worker_overlaps_with_none():
    metrics = insert_metrics(outcome(worker(0)), stored(100))

    assert (metrics.overlap, metrics.evenness) == (None, None)


def test_the_time_to_connect_is_known_of_several_connections():
    times = encode_durations([2_000_000, 4_000_000, 4_000_000])
    alone = insert_metrics(outcome(worker(0)), stored(100))
    assert (alone.connections, alone.connect_p50_ms) == (None, None)

    several = insert_metrics(outcome(worker(0, connects=times)), stored(100))
    assert several.connections == 3
    assert several.connect_p50_ms == pytest.approx(4.0, rel=0.01)
