"""Records of capacity: they are read again, and rates have the unit of what they count."""

import json

from iotbench.machine.machine import this_machine
from iotbench.plans.capacity import Capacity, Of, format_record

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


def test_the_capacity_for_queries_is_in_queries_per_second():
    text = format_record(record().model_copy(update={"of": Of.QUERIES}), "x.json", 100)
    assert "capacity of t: 500 queries/s keep p99_ms < 50" in text
    assert "600 queries/s do not hold" in text
    assert "rows/s" not in text
