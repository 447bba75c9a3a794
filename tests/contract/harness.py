"""The wide dataset as blocks, and how to write and query it."""

import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from iotbench.config.targets.urls import WAYS
from simulator.data.answer import Answer, answer
from simulator.data.block import Block
from simulator.data.dataset import Dataset
from simulator.data.derived import innermost
from simulator.data.query import Aggregate, AggregateQuery, Function, Query, Statement
from simulator.data.ranges import RowRange, lane_range
from simulator.data.reader import DatasetReader
from simulator.data.schema import Column, PrimaryKey, Role, Table, Type
from simulator.errors import SetupError
from simulator.load.write.preparing import write_files
from simulator.load.write.sender import Sender
from simulator.modules.contract import (
    BATCH,
    IMPORT,
    Database,
    Options,
    Payload,
    Session,
    Unsupported,
)
from tests.contract import reference
from tests.contract.wide import ROWS, Awkward, Wide
from tests.unit import specs

REFUSED_WITHIN_S = 15
SCRATCH = Table(
    "scratch",
    (Column("time", Type.TIMESTAMP, Role.TIME), Column("value", Type.FLOAT64, Role.FIELD)),
    key=("time",),
)
_RECENTLY_MS = (int(time.time()) - 3600) * 1000


def writing(sender: Sender, rows: int, batch_rows: int) -> tuple[threading.Thread, list[Exception]]:
    """Start to write rows of lane 0 in a thread; return it and its errors after a tenth of them."""
    errors: list[Exception] = []

    def write() -> None:
        try:
            sender.start()
            sender.insert([lane_range(0, 0, rows)], BATCH, batch_rows)
        except Exception as error:  # noqa: BLE001  # shown by the assertions of the tests
            errors.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    while sender.meter.rows < rows // 10:
        assert writer.is_alive(), errors
        time.sleep(0.01)
    return writer, errors


class Wideset:
    """The wide dataset with one kind of primary key and number of parts, without `lacks`."""

    def __init__(
        self,
        primary_key: PrimaryKey = PrimaryKey.NONE,
        parts: int = 1,
        lacks: Collection[Awkward] = (),
    ) -> None:
        self.dataset = specs.dataset(
            workload=Wide.name,
            workload_version=Wide.version,
            params={"lacks": sorted(lacks)},
            start_ms=_RECENTLY_MS if Awkward.OLD_ROWS in lacks else 0,
            primary_key=primary_key,
            parts=parts,
            ranges=tuple(RowRange(start=0, stop=ROWS // 2, table=table) for table in (0, 1)),
        )
        self.reader = DatasetReader(self.dataset)
        self.tables = self.reader.tables

    @property
    def queries(self) -> Mapping[str, Query]:
        params = Wide.params_model.model_validate(self.dataset.params)
        return Wide(params, 1, self.dataset.start_ms).queries(self.tables)

    @cached_property
    def batches(self) -> Sequence[Block]:
        return [block for turn in self.reader.blocks(self.dataset.ranges) for block in turn]

    def answer(self, query: Query, blocks: Sequence[Block] = ()) -> Answer:
        """The right answer over all rows, or over those of `blocks`."""
        stored = innermost(query).table.name
        mine = [each for each in blocks or self.batches if each.table.name == stored]
        return reference.answer_of(query, reference.rows_of(mine))

    def fill(self, database: Database) -> None:
        drop(database, self.tables)
        database.create(self.tables, 100)
        with database.connect() as session:
            for batch in self.batches:
                send(session, batch, BATCH, 100)
        database.visible(self.tables)
        database.compact(self.tables)


def hosts_of(options: Options) -> set[str]:
    """Return the hosts as they stand in the options of a module."""
    given = {name: getattr(options, name) for name in options.model_fields_set} | options.secrets()
    found: set[str] = set()
    for text in (str(value) for name, value in given.items() if name in (*WAYS, "search_url")):
        if "host=" in text:
            found.update(re.findall(r"host=([^\s,]+)", text))
            continue
        places = text.partition("://")[2].split("/")[0] if "://" in text else text
        hosts = places.rpartition("@")[2].split(",")
        found.update(re.sub(r":\d+$", "", host) for host in hosts)
    return found - {""}


class Names:
    """The names of the tables that tests make, where the product has no databases."""

    def __init__(self, tables: Callable[[], Sequence[Table]]) -> None:
        self._tables = tables
        self._mine: list[str] = []

    def of(self, database: Database) -> list[str]:
        """Return the names."""
        return sorted({name for table in self._tables() for name in database.objects(table)})

    def take(self, database: Database) -> None:
        """Note the names; SetupError if one is in use, since the cases drop what has them."""
        self._mine = []
        names = self.of(database)
        taken = sorted(database.find_existing(names))
        if taken:
            raise SetupError(
                f"{database.name}: the server holds {', '.join(taken)}, which the cases would drop;"
                " remove it, or use another database"
            )
        self._mine = names

    def clear(self, database: Database) -> None:
        """Drop what has these names."""
        database.drop(self.of(database))

    def drop(self, database: Database) -> None:
        """Drop what was made since."""
        database.drop(self._mine)


def drop(database: Database, tables: Iterable[Table]) -> None:
    """Drop what a database has made for tables."""
    names = (name for table in tables for name in database.objects(table))
    database.drop([*dict.fromkeys(names)])  # tables may share a bucket


def created(target, database: Database, rows: int, batch_rows: int) -> Dataset:
    """Create the tables of `iot`; return rows of it, all of which are in the past."""
    if target.stand_in and target.module.startswith("cratedb"):
        pytest.skip("the stand-in's times are those of another workload")
    start_s = int(time.time()) - 9 * rows  # a row takes eight ticks
    changes = {"start_ms": start_s * 1000, "params": {"tick_ms": 1000}}
    dataset = target.iot().model_copy(update=changes)
    dataset = dataset.with_ranges([RowRange(start=0, stop=rows)])
    tables = DatasetReader(dataset).tables
    drop(database, tables)
    database.create(tables, batch_rows)
    return dataset


def send(session: Session, batch: Block, mode: str, batch_rows: int) -> None:
    """Send a block in batches; in mode IMPORT as one file, which is written in several portions."""
    if mode == IMPORT:
        with TemporaryDirectory() as folder:
            portions = [
                batch.slice(start, start + batch_rows) for start in range(0, len(batch), batch_rows)
            ]
            ((_, payload, rows),) = write_files(session, portions, Path(folder))
            assert rows.tolist() == batch.rows.tolist()
            session.send(payload)
        return
    payloads = session.encode(batch, mode, batch_rows)
    assert sum(payload.rows for payload in payloads) == len(batch)
    for payload in payloads:
        assert payload.rows <= batch_rows
        session.send(payload)


def rendered(database: Database, wide: Wideset) -> Iterator[tuple[str, Query, Statement]]:
    """Yield the queries that the database can express, with their names and statements."""
    for name, query in wide.queries.items():
        try:
            statement = database.render(query)
        except Unsupported:
            continue
        yield name, query, statement


def ask(session: Session, statement: Statement) -> Answer:
    return answer(statement.outputs, session.run(statement))


def count(database: Database, session: Session, table: Table) -> int:
    query = AggregateQuery(table, (Aggregate(Function.COUNT),))
    ((rows,),) = ask(session, database.render(query)).rows
    return rows


def refusal(database: Database) -> list[str]:
    """Return the messages of every way in; each is one line and appears within seconds."""
    texts = []
    for attempt in (
        database.connect,
        database.describe,
        lambda: database.create([SCRATCH], 1),
        lambda: drop(database, [SCRATCH]),
    ):
        start = time.monotonic()
        with pytest.raises(SetupError) as raised:
            attempt()
        texts.append(str(raised.value))
        assert time.monotonic() - start < REFUSED_WITHIN_S
    assert all("\n" not in text and len(text) < 600 for text in texts)
    return texts


def encoded(session: Session, batch: Block, mode: str, rows: int) -> Payload:
    """The first rows of a block as one payload."""
    (payload,) = session.encode(batch.slice(0, rows), mode, rows)
    return payload
