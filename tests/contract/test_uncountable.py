"""Every level names the row of a value that the database cannot add up, or its driver not read."""

import re

import pytest

from simulator.data import workloads
from simulator.data.ranges import RowRange
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.accounting import verify_interrupted
from simulator.verify.stored.comparison import verify
from tests.contract.steps import ROWS, Steps
from tests.contract.targets import STORING
from tests.unit import specs
from tests.unit.stored_rows import store

ODD = 5
"""The number of the row with the value."""
_UPDATE = "UPDATE steps SET {} WHERE whole = 5000"
_MUTATION = "ALTER TABLE steps UPDATE {} WHERE whole = 5000 SETTINGS mutations_sync = 1"
_ZERO = "UPDATE IGNORE steps SET seen = '0000-00-00' WHERE whole = 5000"
_POSTGRES = {
    "infinity": _UPDATE.format("time = 'infinity'"),
    "before": _UPDATE.format("seen = '-infinity'"),
    "far": _UPDATE.format("time = '20000-01-01'"),
    "farthest": _UPDATE.format("seen = '294276-12-31'"),
    "bc": _UPDATE.format("seen = '0044-03-15 BC'"),
    "nan": _UPDATE.format("maybe = 'NaN'"),
    "overflow": "UPDATE steps SET precise = 1.7e308 WHERE whole IN (5000, 7000)",
}
_STATEMENTS = {
    "postgres": _POSTGRES,
    "timescaledb": {name: _POSTGRES[name] for name in ("before", "overflow")},
    "sqlite": {
        "letters": _UPDATE.format("note = CAST(x'ff00fe' AS TEXT)"),
        "tag": _UPDATE.format("site = CAST(x'fffe' AS TEXT)"),
        "infinity": _UPDATE.format("precise = 9e999"),
    },
    "duckdb": {
        "nan": _UPDATE.format("maybe = 'nan'"),
        "overflow": "UPDATE steps SET precise = 1.7e308 WHERE whole IN (5000, 7000)",
    },
    "mysql": {"zero": _ZERO},
    "mariadb": {"zero": _ZERO},
    "clickhouse_embedded": {
        "letters": _MUTATION.format("note = unhex('ff00fe')"),
        "nan": _MUTATION.format("maybe = nan"),
    },
    "questdb": {"far": _UPDATE.format("seen = cast(9223372036854775807L AS timestamp)")},
}
CASES = [
    pytest.param(STORING[name], statement, id=f"{name}-{kind}")
    for name, statements in _STATEMENTS.items()
    for kind, statement in statements.items()
]


@pytest.fixture(autouse=True)
def _steps_are_known(monkeypatch):
    monkeypatch.setitem(workloads.WORKLOADS, Steps.name, Steps)


@pytest.mark.parametrize(("target", "statement"), CASES)
def test_a_value_that_cannot_be_added_up_or_read_is_a_mismatch_that_names_its_row(
    request, target, statement
):
    database = target.open(request)
    dataset = specs.dataset(
        workload=Steps.name,
        workload_version=Steps.version,
        params={"lacks": sorted(target.lacks)},
        start_ms=1_700_000_000_000,
        primary_key=target.wide().dataset.primary_key,
        ranges=(RowRange(start=0, stop=ROWS),),
    )
    store(database, dataset)
    assert verify(database, dataset, (), VerifyMode.COUNTS).status is Status.VERIFIED
    database.carry_out(statement)

    unsure = (RowRange(start=ROWS - 10, stop=ROWS),)
    verdicts = [
        verify(database, dataset, (), VerifyMode.COUNTS),
        verify(database, dataset, (), VerifyMode.FULL),
        verify(database, dataset, unsure, VerifyMode.COUNTS),
        verify(database, dataset, unsure, VerifyMode.FULL),
        verify(database, dataset, (), VerifyMode.FULL, promised=True),
    ]

    for verdict in verdicts:
        assert verdict.status is Status.MISMATCH
        assert re.search(rf"(missing \d+|\d+ lost) \({ODD}\b", _every_row(verdict)), verdict.reason
    assert verify_interrupted(database, dataset).status is not Status.VERIFIED


def _every_row(verdict) -> str:
    (found,) = (check.found for check in verdict.checks if check.name == "steps: every row")
    return found
