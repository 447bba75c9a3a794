"""Answers about rows that arrive, on every database: none lacks a row that was promised."""

import time

import pytest

from simulator.data import workloads
from simulator.data.fresh import fresh_types
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.workloads.devops import Devops
from simulator.modules.contract import Unsupported
from tests.contract.fresh_answers import Arriving
from tests.contract.harness import drop
from tests.contract.targets import STORING
from tests.contract.test_mixed import PlainTags
from tests.unit import specs

SCALE, TICKS, BATCH_ROWS = 4, 30, 10
START_MS = (int(time.time()) - 3600) * 1000
SHARED = [
    pytest.param(target, id=name)
    for name, target in STORING.items()
    if target.database.capabilities.max_workers != 1
    and not (target.stand_in and name.startswith("cratedb"))  # its times are wide's only
]


def _is_expressed(database, fresh_type):
    try:
        database.statement(fresh_type.since(START_MS))
    except Unsupported:
        return False
    return True


@pytest.mark.parametrize("target", SHARED)
def test_answers_have_what_was_acknowledged_and_nothing_that_was_not_sent(
    target, database, monkeypatch
):
    monkeypatch.setitem(workloads.WORKLOADS, PlainTags.name, PlainTags)
    fleet = PlainTags if target.module == "graphite" else Devops
    dataset = specs.dataset(
        workload=fleet.name,
        workload_version=fleet.version,
        start_ms=START_MS,
        params={"scale": SCALE, "duration_ms": TICKS * 10_000},
        primary_key=database.capabilities.default_key,
    )
    reader = DatasetReader(dataset)
    types = {name: each for name, each in fresh_types(reader).items() if name.endswith("-cpu")}
    drop(database, reader.tables)
    database.create(reader.tables, BATCH_ROWS)
    asked = {name: each for name, each in types.items() if _is_expressed(database, each)}
    assert asked

    def since_ms(log):
        return max(START_MS, (log.newest_ms() or 0) - 60_000)

    rows = RowRange(start=0, stop=SCALE * TICKS)
    answers = Arriving(database, dataset, rows, asked).expect_right(since_ms)
    assert answers["fresh-count-cpu"] > 2
    drop(database, reader.tables)
