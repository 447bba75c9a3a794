"""The account's own arithmetic, on courses whose figures are known."""

import pytest

from tests.faults.liar import Entry
from tests.truth import ledger
from tests.truth.figures import FIGURES
from tests.truth.ledger import Schedule


def course(port: int, *times_s: tuple[float, float]) -> list[Entry]:
    """Return requests of ten rows that begin and are answered at these times."""
    return [Entry(port, 10, 100, begun_s, answered_s=until_s) for begun_s, until_s in times_s]


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


def test_a_kept_schedule_lasts_until_the_next_due_time() -> None:
    found = ledger.scheduled(course(1, (0.0, 0.1), (1.0, 1.1)), Schedule(1.0, 2.0))

    assert (found["rows_per_s"], found["unsent"]) == (10, 0)


def test_a_figure_beyond_its_tolerance_is_wrong() -> None:
    assert FIGURES["rows_per_s"].allows(97, 100)
    assert not FIGURES["rows_per_s"].allows(96, 100)
    assert not FIGURES["unsent"].allows(1, 0)
    assert FIGURES["p50_ms"].allows(26, 20, added=3)
    assert not FIGURES["p50_ms"].allows(30, 20, added=3)
