"""Series of others in VictoriaMetrics that bear the label and a metric of a table of ours."""

import json

import pytest

from simulator.control.database.work import DatabaseWork
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.errors import ConfigError
from simulator.modules.victoriametrics.database import VictoriaMetrics, VictoriaMetricsOptions
from simulator.protocol.spec import InsertTask
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests.contract.targets import TARGETS
from tests.unit.specs import run_spec
from tests.unit.stored_rows import write

pytestmark = pytest.mark.server("victoriametrics")
ROWS = 100


@pytest.fixture
def database(server_options):
    return VictoriaMetrics(VictoriaMetricsOptions(**server_options))


@pytest.fixture
def stored():
    return TARGETS["victoriametrics"].iot().with_ranges([RowRange(start=0, stop=ROWS)])


def _insert(database, stored):
    """Create the tables as an insert does, and store the rows."""
    spec = run_spec(workers=(InsertTask(timed=stored.ranges),), dataset=stored.with_ranges(()))
    work = DatabaseWork(spec, database, lambda _: None)
    try:
        work.prepare()
    finally:
        work.background.finish()
    write(database, stored, *stored.ranges, batch_rows=ROWS)


def _write_theirs(database, stored, **labels):
    """Store one point of others in a metric of ours, with our label and others."""
    table = f"{database.options.prefix}events"
    point = {
        "metric": {"__name__": f"{table}_temperature", "benchmark_table": table, **labels},
        "values": [20.5],
        "timestamps": [stored.start_ms + 5],
    }
    with database.administration() as session:
        session.http.request("POST", "/api/v1/import", json.dumps(point).encode())
        session.api.flush()
    return lambda: _points(database, f'{{job="{labels.get("job", "")}"}}')


def _points(database, chosen):
    with database.administration() as session:
        return int(session.api.now(f"sum(count_over_time({chosen}[9000000000001ms]))") or 0)


def test_a_series_with_a_label_more_is_named_not_deleted_and_not_verified(database, stored):
    _insert(database, stored)
    theirs = _write_theirs(database, stored, device_id="1", job="mine")
    assert theirs() == 1

    verdict = verify(database, stored, (), VerifyMode.FULL)
    assert verdict.status is Status.MISMATCH
    with pytest.raises(ConfigError, match="did not make series with the label job in table"):
        _insert(database, stored)
    (table,) = DatasetReader(stored).tables
    database.drop(database.objects(table))

    assert theirs() == 1
    with database.administration() as session:
        assert session.api.has_others


def test_rows_of_ours_are_no_series_of_others(database, stored):
    for _ in range(2):
        _insert(database, stored)
    (table,) = DatasetReader(stored).tables
    assert {each.kind for each in database.find_existing(database.objects(table)).values()} == {
        "table"
    }
    assert verify(database, stored, (), VerifyMode.FULL).status is Status.VERIFIED


def test_a_series_with_exactly_our_labels_is_a_row_of_the_table_which_is_not_expected(
    database, stored
):
    _insert(database, stored)
    _write_theirs(database, stored, device_id="theirs")

    verdict = verify(database, stored, (), VerifyMode.FULL)

    assert verdict.status is Status.MISMATCH
