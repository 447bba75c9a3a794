"""The account's own arithmetic, on courses whose figures are known."""

import pytest

from iotbench.figures import figures as declared
from tests.faults.liar import Entry, Opening
from tests.truth import ledger
from tests.truth.figures import FIGURES
from tests.truth.ledger import Schedule


def course(port: int, *times_s: tuple[float, float]) -> list[Entry]:
    """Return requests of ten rows that begin and are answered at these times."""
    return [
        Entry(port, 10, 100, begun_s, stored=10, answered_s=until_s) for begun_s, until_s in times_s
    ]


def test_batches_that_follow_each_other() -> None:
    found = ledger.closed(course(1, (0.0, 0.5), (0.5, 1.0)) + course(2, (0.0, 1.0), (1.0, 2.0)))

    assert found["rows"] == 40
    assert found["rows_per_s"] == 20
    assert found["bytes_per_s"] == 200
    assert found["overlap"] == found["evenness"] == 0.5
    assert (found["min_ms"], found["p50_ms"], found["max_ms"]) == (500, 500, 1000)
    assert found["client_share"] == 0


def test_a_stall_to_the_end_of_a_schedule_counts_for_all_that_fell_due() -> None:
    held = course(1, (0.0, 0.1), (1.0, 1.1), (2.0, 9.5))
    found = ledger.scheduled(held, Schedule(interval_s=1.0, duration_s=5.0))

    assert found["unsent"] == 2
    assert found["rows_per_s"] == pytest.approx(30 / 9.5)
    assert found["p50_ms"] == pytest.approx(5500)
    assert found["max_ms"] == pytest.approx(7500)


def test_one_connection_shows_exactly_what_fell_due() -> None:
    sent = course(1, (0.0, 0.1), (1.0, 1.1))

    assert ledger.scheduled(sent, Schedule(1.0, duration_s=2.02))["unsent"] == 1
    assert ledger.scheduled(sent, Schedule(1.0, duration_s=2.0))["unsent"] == 0


def test_a_kept_schedule_lasts_until_the_next_due_time() -> None:
    found = ledger.scheduled(course(1, (0.0, 0.1), (1.0, 1.1)), Schedule(1.0, 2.0))

    assert (found["rows_per_s"], found["unsent"]) == (10, 0)


def test_an_outage_lasts_until_rate_and_wait_are_back() -> None:
    before = [(n / 10, n / 10 + 0.01) for n in range(30)]
    backlog = [(5.5 + n / 50, 5.51 + n / 50) for n in range(30)]
    after = [(6.1 + n / 10, 6.11 + n / 10) for n in range(39)]
    sent = course(1, *before, *backlog, *after)  # the batch that was due at 3.0 s is lost
    sent[0].stored = 8
    found = ledger.outage(sent, Schedule(0.1, 10.0), from_s=2.95, until_s=5.4)

    assert found["silent_s"] == pytest.approx(2.6)
    assert found["first_after_s"] == pytest.approx(0.11)
    assert found["recovery_s"] == pytest.approx(6 - 2.95)
    assert found["settled_s"] == pytest.approx(6 - 2.95)
    assert found["outage_p99_ms"] == pytest.approx(2410)
    assert found["lost_rows"] == 2


def test_rows_are_fresh_once_an_answer_counts_all_until_then() -> None:
    sent = course(1, (0.0, 0.1), (0.2, 0.3))
    asks = [course(2, (0.05, 0.15))[0], course(2, (0.15, 0.25))[0], course(2, (0.31, 0.5))[0]]
    counts = [(asks[0], 5), (asks[1], 15), (asks[2], 25)]  # five rows were stored before
    found = ledger.fresh(sent, counts)

    assert found["freshness_p50_ms"] == pytest.approx(150)
    assert found["freshness_p99_ms"] == pytest.approx(200)


def test_time_of_a_client_of_connections_and_of_a_refresh() -> None:
    sent = course(1, (0.0, 0.5), (0.5, 1.0))
    refresh = Entry(2, 0, 0, 1.2, answered_s=2.0)
    openings = [Opening(1, -0.3, -0.1), Opening(2, 0.0, 5.0)]

    found = ledger.computed(sent, start_s=-1.0, cpu_s=0.6, own_s=0.2)
    assert found["client_ns_per_row"] == pytest.approx(0.6 / 20 * 1e9)
    assert (found["client_share"], found["driver_share"]) == pytest.approx((0.3, 0.2))
    assert ledger.opened(openings, sent)["connect_p50_ms"] == pytest.approx(200)
    assert ledger.stored([*sent, refresh], refreshes=True)["rows_per_s_stored"] == 10
    assert ledger.stored([*sent, refresh], refreshes=False)["stored_s"] == 1


def test_every_figure_is_reviewed() -> None:
    assert {*declared.FIGURES} <= {*FIGURES}


def test_a_figure_beyond_its_tolerance_is_wrong() -> None:
    assert FIGURES["rows_per_s"].allows(97, 100)
    assert not FIGURES["rows_per_s"].allows(96, 100)
    assert not FIGURES["unsent"].allows(1, 0)
    assert FIGURES["p50_ms"].allows(26, 20, added=3)
    assert not FIGURES["p50_ms"].allows(30, 20, added=3)
    assert not FIGURES["p50_ms"].allows(16, 20, added=3)
