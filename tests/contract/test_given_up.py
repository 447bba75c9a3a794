"""Statistics of tables that are too much for a server: they are asked for in parts of the time."""

import threading
from contextlib import closing

import pytest

from simulator.data.query import Aggregate, AggregateQuery, Function
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.load.write.sender import Sender
from simulator.modules.contract import BATCH
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests.contract.harness import created
from tests.contract.targets import STORING

TOO_MUCH = {
    "cassandra": ({"range_request_timeout": "100ms"}, 60_000),
    "victoriametrics": ({"search__maxSamplesPerSeries": "2000"}, 10_000),
}
"""Server -> its limits, and a number of rows beyond them."""


@pytest.mark.rare
@pytest.mark.server(*TOO_MUCH)
def test_what_a_server_gives_up_on_is_asked_for_in_parts(server_name, own_server):
    target, (settings, rows) = STORING[server_name], TOO_MUCH[server_name]
    with own_server(**settings) as server:
        database = target.database(target.database.options_model(**server.options("many")))
        dataset = created(target, database, rows, 1000)
        reader = DatasetReader(dataset)
        with closing(Sender(database, reader, threading.Event())) as sender:
            sender.insert(dataset.ranges, BATCH, 1000)
        database.visible(reader.tables)
        with database.connect() as session:
            with pytest.raises(Exception) as caught:  # noqa: PT011 - the driver's own
                session.run(
                    database.render(AggregateQuery(reader.tables[0], (Aggregate(Function.COUNT),)))
                )
            assert session.gave_up(caught.value)
        fewer = dataset.with_ranges([RowRange(start=0, stop=rows - 1)])
        assert verify(database, dataset, (), VerifyMode.COUNTS).status is Status.VERIFIED
        assert verify(database, fewer, (), VerifyMode.COUNTS).status is Status.MISMATCH
