"""An HTTP server is killed or paused under a session: what that means for the rows."""

from collections.abc import Iterator

import pytest

from simulator.data.block import Block
from simulator.data.ranges import lane_range
from simulator.data.reader import DatasetReader
from simulator.modules.contract import BATCH, Database, Failure, Session
from simulator.modules.shared.http.client import HttpOptions, NoAnswer, NotConnected
from tests.contract.harness import count, send
from tests.contract.targets import STORING, Target

ROWS = 5
SWIFT = [  # the others take long to restart, and have such a test of their own
    pytest.param(target, id=name)
    for name, target in STORING.items()
    if name in ("clickhouse", "influxdb", "influxdb1", "questdb", "victoriametrics")
]


@pytest.fixture(params=SWIFT)
def target(request: pytest.FixtureRequest) -> Target:
    return request.param


def batches(target: Target) -> Iterator[Block]:
    """Blocks of five rows of the table of events."""
    for (batch,) in DatasetReader(target.iot()).blocks([lane_range(0, 0, 10 * ROWS)], ROWS):
        yield batch


def sent(session: Session, database: Database, batch: Block) -> None:
    send(session, batch, BATCH, ROWS)
    database.visible([batch.table])


@pytest.mark.controls("kill")
def test_a_server_that_is_killed(target, database, server):
    rows = batches(target)
    first = next(rows)
    database.create([first.table], ROWS)
    with database.connect() as session:
        sent(session, database, first)
        server.kill()
        try:
            with pytest.raises(NotConnected) as caught:
                send(session, next(rows), BATCH, ROWS)
        finally:
            server.start()
        assert session.classify(caught.value) is Failure.NOT_APPLIED
        assert not session.alive
        assert "refused; check that the server runs" in database.explain(caught.value)
    if not target.may_lose:
        with database.connect() as session:
            assert count(database, session, first.table) == ROWS


@pytest.mark.controls("pause")
def test_a_server_that_does_not_answer_in_time(target, database, server):
    rows = batches(target)
    first = next(rows)
    database.create([first.table], ROWS)
    with database.connect() as session:  # the first rows of a table may take longer
        sent(session, database, first)
    assert isinstance(database.options, HttpOptions)
    hasty = type(database)(database.options.model_copy(update={"timeout_s": 2.0}))
    with hasty.connect() as session:
        with server.paused(server.name), pytest.raises(NoAnswer) as caught:
            send(session, next(rows), BATCH, ROWS)
        assert session.classify(caught.value) is Failure.UNKNOWN
        assert not session.alive
        assert "no answer within 2 s" in hasty.explain(caught.value)
