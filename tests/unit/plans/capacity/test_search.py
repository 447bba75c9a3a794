"""The search for the highest rate that holds, and the record of it."""

import json
import random
import re

import pytest

from iotbench.machine.machine import this_machine
from iotbench.plans.capacity import (
    Bound,
    Bounds,
    Capacity,
    Of,
    Trial,
    bracket_of,
    format_record,
    knee_of,
    next_rate,
    rate_record,
)

LIMIT_MS = 50.0


def trial(rate, capacity, *, client_share=0.1, noise=0.0, rng=None):
    """What a server with a queue answers: its latency grows without bound towards its capacity."""
    found = capacity * (1 + (rng.uniform(-noise, noise) if rng else 0.0))
    load = min(rate / found, 0.9999)
    p99_ms = 5 / (1 - load)
    return Trial(
        per_s=min(rate, found),
        p50_ms=p99_ms / 5,
        p99_ms=p99_ms,
        client_share=client_share,
        met=p99_ms < LIMIT_MS,
    )


def searched(capacity, *, noise=0.0, repeats=3, seed=1, ceiling=None, lowest=1.0, **changes):
    rng, rates = random.Random(seed), []
    while rate := next_rate(Bounds(ceiling or capacity, lowest, 0.05), rates):
        trials = (trial(rate, capacity, noise=noise, rng=rng, **changes) for _ in range(repeats))
        rates.append(rate_record(rate, [*trials]))
        assert len(rates) < 20
    return rates


@pytest.mark.parametrize("capacity", [37.0, 1234.0, 98_765.0, 3e6])
def test_the_bracket_encloses_the_true_capacity(capacity):
    bracket = bracket_of(searched(capacity))
    true = capacity * (1 - 5 / LIMIT_MS)
    low, high = bracket.holds.rate_per_s, bracket.fails.rate_per_s
    assert low <= true * 1.01
    assert high >= true * 0.99
    assert high - low <= 0.05 * high or high - low <= 2


@pytest.mark.parametrize("seed", range(20))
def test_noise_moves_the_bracket_by_no_more_than_itself(seed):
    bracket = bracket_of(searched(50_000.0, noise=0.04, seed=seed))
    assert bracket.holds.rate_per_s == pytest.approx(45_000, rel=0.1)


def test_a_ceiling_measured_too_low_is_left_behind():
    bracket = bracket_of(searched(50_000.0, ceiling=20_000.0))
    assert bracket.holds.rate_per_s == pytest.approx(45_000, rel=0.08)


def test_the_search_goes_down_until_something_holds():
    bracket = bracket_of(searched(1000.0, ceiling=60_000.0))
    assert bracket.holds.rate_per_s == pytest.approx(900, rel=0.08)


@pytest.mark.parametrize("lowest", [1.0, 20.0, 400.0])
def test_without_any_rate_that_holds_it_ends_at_the_lowest(lowest):
    rates = []
    while rate := next_rate(Bounds(1000.0, lowest, 0.05), rates):
        rates.append(rate_record(rate, [Trial(rate, 60.0, 70.0, 0.1, met=False)]))
    assert bracket_of(rates).holds is None
    assert {each.reached for each in rates} == {Bound.OBJECTIVE}
    assert min(each.rate_per_s for each in rates) == lowest


def test_each_bound_is_named():
    full = Trial(80.0, 1.0, 2.0, 0.1, met=True)
    busy = Trial(80.0, 1.0, 2.0, 0.9, met=True)
    slow = Trial(100.0, 1.0, 70.0, 0.1, met=False)
    fine = Trial(99.0, 1.0, 2.0, 0.1, met=True)
    assert rate_record(100.0, (full, full, fine)).reached is Bound.DATABASE
    assert rate_record(100.0, (busy, busy, fine)).reached is Bound.CLIENT
    assert rate_record(100.0, (slow, slow, full)).reached is Bound.OBJECTIVE
    assert rate_record(100.0, (fine, fine, full)).reached is None


def test_the_knee_is_where_the_latency_doubles():
    assert knee_of(searched(50_000.0)).rate_per_s == 25_000


FIRST = {
    "kind": "capacity", "format_version": 2, "program_version": "0.1.0", "sweep_id": "s",
    "created": "2026-11-24T10:00:00Z", "status": "done", "target": "t", "module": "m",
    "objective": ["p99_ms < 50"], "configuration": {}, "unscheduled_per_s": [900.0],
    "rates": [{
        "rate_per_s": 500.0, "holds": True, "held": 1, "repeats": 1, "reached": None,
        "per_s": [499.0], "p50_ms": [1.0], "p99_ms": [2.0], "client_share": [0.1],
        "sends": 300,
    }],
    "holds_per_s": 500.0, "fails_per_s": 600.0, "knee_per_s": 500.0,
    "bound": "database", "verdict": "verified", "exit_code": 0,
}  # fmt: skip


def record(**changes):
    given = {**FIRST, "machine": this_machine().model_dump(mode="json"), **changes}
    return Capacity.model_validate_json(json.dumps(given))


def test_a_record_is_about_inserts_unless_it_says_otherwise():
    found = record()
    assert found.of == Of.INSERTS
    assert Capacity.model_validate_json(found.model_dump_json()) == found
    assert "capacity of t: 500 rows/s keep p99_ms < 50" in format_record(found, "x.json", 100)


def test_the_curve_has_the_number_of_batches_that_fell_due_and_were_not_sent():
    trials = [Trial(400.0, 1.0, 900.0, 0.1, met=False, sends=80, unsent=20) for _ in range(2)]
    rate = rate_record(500.0, trials)
    text = format_record(record().model_copy(update={"rates": (rate,)}), "x.json", 100)
    earlier = format_record(record(), "x.json", 100)

    assert rate.unsent == (20, 20)
    assert "  Unsent  " in text
    assert re.search(r" 900 +40 +10\.0% ", text), text
    assert re.search(r" 2\.00 +- +10\.0% ", earlier), earlier


def test_the_capacity_for_queries_is_in_queries_per_second():
    text = format_record(record().model_copy(update={"of": Of.QUERIES}), "x.json", 100)
    assert "capacity of t: 500 queries/s keep p99_ms < 50" in text
    assert "600 queries/s do not hold" in text
    assert "rows/s" not in text
