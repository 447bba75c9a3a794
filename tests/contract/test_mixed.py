"""Payloads with rows of several tables, on every database that takes them."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from simulator.data import workloads
from simulator.data.block import Block, Coded, ColumnData, edges
from simulator.data.query import Aggregate, AggregateQuery, Function
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import Table, Type
from simulator.data.workloads.devops import Devops
from simulator.errors import UnstorableError
from simulator.load.write.batch import Mixer
from simulator.load.write.sender import Sender
from simulator.modules.contract import BATCH, Failure
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from simulator.verify.truth.folding import truths
from tests.contract.harness import ask, drop
from tests.contract.targets import STORING
from tests.unit import specs

COUNT = (Aggregate(Function.COUNT),)
SCALE, TICKS, BATCH_ROWS = 3, 60, 100
ROWS = SCALE * TICKS
MIXING = {name: t for name, t in STORING.items() if t.database.capabilities.mixes_tables}

START_MS = (int(time.time()) - 3600) * 1000


def mixing(*, checks_rows):
    """Parametrize a test: targets that refuse rows before they are sent, or that do not."""
    found = {n: t for n, t in MIXING.items() if t.database.capabilities.checks_rows is checks_rows}
    return pytest.mark.parametrize("target", found.values(), ids=[*found])


class PlainTags(Devops):
    """The fleet without dots and slashes in tags, which separate the nodes of Graphite's paths."""

    name = "devops-with-plain-tags"

    def draw(self, table: Table, rows: np.ndarray) -> dict[str, ColumnData]:
        data = super().draw(table, rows)
        texts = [tag.name for tag in table.tags if isinstance(data[tag.name], Coded)]
        return data | {name: plain(data[name]) for name in texts}


def plain(column):
    levels = np.strings.translate(column.levels, bytes.maketrans(b"./", b"__"))
    return replace(column, levels=levels)


@pytest.fixture
def dataset(target, monkeypatch):
    monkeypatch.setitem(workloads.WORKLOADS, PlainTags.name, PlainTags)
    key = target.database.capabilities.default_key
    fleet = PlainTags if target.module == "graphite" else Devops
    return specs.dataset(
        workload=fleet.name,
        workload_version=fleet.version,
        params={"scale": SCALE, "duration_ms": TICKS * 10_000},
        start_ms=START_MS,
        primary_key=key,
        ranges=tuple(RowRange(start=0, stop=ROWS, table=table) for table in range(9)),
    )


@pytest.fixture
def stored(database, dataset):
    """The tables of the dataset, created."""
    tables = DatasetReader(dataset).tables
    drop(database, tables)
    database.create(tables, BATCH_ROWS)
    yield tables
    drop(database, tables)


@pytest.mark.parametrize("target", MIXING.values(), ids=[*MIXING])
def test_every_row_of_mixed_payloads_is_stored_in_its_table(database, dataset, stored):
    sender = Sender(database, DatasetReader(dataset), threading.Event())
    sender.start()
    sender.insert(dataset.ranges, BATCH, BATCH_ROWS)
    sender.close()
    database.visible(stored)

    assert sender.meter.rows == dataset.rows == 9 * ROWS
    assert sender.meter.sends == -(-9 * ROWS // BATCH_ROWS)
    assert verify(database, dataset, (), VerifyMode.FULL).status is Status.VERIFIED
    reader = DatasetReader(dataset)
    queries = reader.queries()
    true = truths([*queries.values()], dataset)
    with database.connect() as session:
        for name, query in queries.items():
            assert true[query].agrees(ask(session, database.render(query))), name
    database.compact(stored)
    size = database.size_bytes(stored)
    assert size is None or 0 < size < 100_000_000


def wordy(block):
    """Return a block of `cpu` in which a field is a text and no number."""
    columns = [
        replace(column, type=Type.TEXT, nullable=True) if column.name == "usage_user" else column
        for column in block.table.columns
    ]
    words = Coded(np.zeros(len(block), np.int64), np.array([b"warm"]))
    table = replace(block.table, columns=tuple(columns))
    return Block(table, 0, block.rows, {**block.data, "usage_user": words})


@mixing(checks_rows=True)
@pytest.mark.usefixtures("stored")
def test_rows_that_cannot_be_stored_are_refused_with_those_beside_them(database, dataset):
    (turn,) = DatasetReader(dataset).blocks(dataset.ranges, ROWS, 1)
    cpu, *others = turn
    mixed = [wordy(cpu), *others]
    with (
        database.connect() as session,
        pytest.raises(UnstorableError, match="column usage_user: is text"),
    ):
        Mixer().encode(session, mixed, edges(mixed, dataset.rows))


@mixing(checks_rows=False)
def test_a_mixed_payload_of_which_one_table_refuses_its_rows_is_no_success(
    database, dataset, stored
):
    (turn,) = DatasetReader(dataset).blocks(dataset.ranges, ROWS, 1)
    cpu, *others = turn
    with database.connect() as session:
        (first,) = session.encode(cpu.slice(0, 1), BATCH, 1)
        session.send(first)
        mixed = [wordy(cpu.slice(1, ROWS)), *others]
        (payload,) = Mixer().encode(session, mixed, edges(mixed, dataset.rows))
        assert payload.rows == dataset.rows - 1
        with pytest.raises(
            Exception, match=r"(?i)conflict|failed to parse|invalid column type"
        ) as caught:
            session.send(payload)
        assert session.classify(caught.value) in (Failure.UNKNOWN, Failure.FATAL)
        assert session.alive
        database.visible(stored)
        counts = [
            ask(session, database.render(AggregateQuery(table, COUNT))).rows for table in stored
        ]
    others_kept = 0 if database.name == "influxdb3" else ROWS  # which takes all lines or none
    assert counts == [((1,),), *[((others_kept,),)] * 8]
