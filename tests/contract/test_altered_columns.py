"""Columns that somebody altered after an insert: a mismatch names the column and both types."""

import re

import pytest

from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.accounting import verify_interrupted
from simulator.verify.stored.comparison import verify
from tests.contract.targets import STORING
from tests.unit import specs
from tests.unit.stored_rows import store

POSTGRES = {
    "double": (
        "ALTER TABLE events ALTER sequence_number TYPE double precision",
        "events.sequence_number: type: expected bigint, found double precision",
    ),
    "decimal": (
        "ALTER TABLE events ALTER temperature TYPE numeric",
        "events.temperature: type: expected real, found numeric",
    ),
    "text": (
        "ALTER TABLE events ALTER sequence_number TYPE text",
        "events.sequence_number: type: expected bigint, found text",
    ),
    "bytes": (
        "ALTER TABLE events ALTER device_id TYPE bytea USING convert_to(device_id, 'UTF8')",
        "events.device_id: type: expected character varying, found bytea",
    ),
    "time": (
        "ALTER TABLE events ALTER timestamp TYPE numeric",
        "events.timestamp: type: expected bigint, found numeric",
    ),
    "dropped": (
        "ALTER TABLE events DROP temperature",
        "events.temperature: type: expected real, found no such column",
    ),
}
DUCKDB = {
    "double": (
        "ALTER TABLE events ALTER sequence_number TYPE DOUBLE",
        "events.sequence_number: type: expected BIGINT, found DOUBLE",
    ),
    "text": (
        "ALTER TABLE events ALTER sequence_number TYPE VARCHAR",
        "events.sequence_number: type: expected BIGINT, found VARCHAR",
    ),
    "bytes": (
        "ALTER TABLE events ALTER device_id TYPE BLOB USING encode(device_id)",
        "events.device_id: type: expected VARCHAR, found BLOB",
    ),
    "dropped": (
        "ALTER TABLE events DROP temperature",
        "events.temperature: type: expected FLOAT, found no such column",
    ),
}
MYSQL = {
    "double": (
        "ALTER TABLE events MODIFY sequence_number double",
        "events.sequence_number: type: expected bigint, found double",
    ),
    "decimal": (
        "ALTER TABLE events MODIFY sequence_number decimal(30, 4)",
        "events.sequence_number: type: expected bigint, found decimal",
    ),
    "text": (
        "ALTER TABLE events MODIFY sequence_number varchar(30)",
        "events.sequence_number: type: expected bigint, found varchar(30)",
    ),
    "bytes": (
        "ALTER TABLE events MODIFY device_id blob",
        "events.device_id: type: expected varchar(12), found blob",
    ),
}
CLICKHOUSE = {
    "double": (
        "ALTER TABLE events MODIFY COLUMN sequence_number Float64",
        "events.sequence_number: type: expected Int64, found Float64",
    ),
    "text": (
        "ALTER TABLE events MODIFY COLUMN temperature String",
        "events.temperature: type: expected Float32, found String",
    ),
    "dropped": (
        "ALTER TABLE events DROP COLUMN temperature",
        "events.temperature: type: expected Float32, found no such column",
    ),
}
QUESTDB = {
    "double": (
        "ALTER TABLE events ALTER COLUMN sequence_number TYPE DOUBLE",
        "events.sequence_number: type: expected LONG, found DOUBLE",
    ),
    "dropped": (
        "ALTER TABLE events DROP COLUMN temperature",
        "events.temperature: type: expected FLOAT, found no such column",
    ),
}
ALTERED = {
    "postgres": POSTGRES, "duckdb": DUCKDB, "mysql": MYSQL, "mariadb": MYSQL,
    "clickhouse": CLICKHOUSE, "clickhouse_embedded": CLICKHOUSE, "questdb": QUESTDB,
}  # fmt: skip
CASES = [
    pytest.param(STORING[name], each, id=f"{name}-{kind}")
    for name, cases in ALTERED.items()
    for kind, each in cases.items()
]


@pytest.mark.parametrize(("target", "altered"), CASES)
def test_a_column_of_another_type_is_a_mismatch_that_names_both(request, target, altered):
    statement, described = altered
    database = target.open(request)
    dataset = specs.dataset(ranges=(RowRange(start=0, stop=200),))
    store(database, dataset)
    assert verify(database, dataset, (), VerifyMode.FULL).status is Status.VERIFIED
    database.carry_out(statement)
    if "found double" in described.lower():
        database.carry_out("UPDATE events SET sequence_number = sequence_number + 0.4")
    database.visible(DatasetReader(dataset).tables)

    for mode in (VerifyMode.COUNTS, VerifyMode.FULL):
        verdict = verify(database, dataset, (), mode)
        assert verdict.status is Status.MISMATCH
        assert re.search(re.escape(described) + "(;|$)", verdict.reason), verdict.reason
    unfinished = verify_interrupted(database, dataset)
    assert unfinished.status is Status.MISMATCH
    assert described in unfinished.reason
