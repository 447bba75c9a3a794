"""Rows of unknown outcome on every database: which are stored is read from their times alone."""

import pytest

from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored import uncertain
from simulator.verify.stored.accounting import Unsettled, verify_interrupted
from simulator.verify.stored.comparison import verify
from simulator.verify.stored.reader import stream_hashes, takes_windows
from tests.contract.harness import created
from tests.contract.targets import STORING
from tests.unit.stored_rows import write

ROWS, BATCH_ROWS, HALF = 2_000, 100, 50


@pytest.mark.parametrize("target", [pytest.param(t, id=name) for name, t in STORING.items()])
def test_half_of_a_batch_is_found_without_the_rest_of_the_table(target, database, monkeypatch):
    dataset = created(target, database, ROWS, BATCH_ROWS)
    reader = DatasetReader(dataset)
    write(database, dataset, RowRange(start=0, stop=ROWS - HALF), batch_rows=BATCH_ROWS)
    read = []

    def stream(session, statement):
        for hashes, raw in stream_hashes(session, statement):
            read.append(len(raw))
            yield hashes, raw

    monkeypatch.setattr(uncertain, "stream_hashes", stream)
    unknown = [RowRange(start=ROWS - 2 * HALF, stop=ROWS)]
    verdict = verify(database, dataset, unknown, VerifyMode.COUNTS)

    assert verdict.status is Status.INCOMPLETE, verdict
    assert (verdict.uncertain_present, verdict.uncertain_absent) == (HALF, HALF)
    assert sum(read) == (HALF if takes_windows(database, reader.tables[0]) else 0)

    lost_worker = Unsettled(tuple(unknown), acknowledged=10, sent=10, promised=True)
    accounts = verify_interrupted(database, dataset, lost_worker).accounts
    assert accounts is not None
    assert (accounts.kept, accounts.lost, accounts.present) == (ROWS - 2 * HALF + 10, 0, HALF - 10)
