"""What this program did not make is neither dropped, emptied, altered nor written into.

On every database: something under each name that a run needs, with rows in it, and no mark. Every
kind of run is refused with exit code 2, names it, and leaves it as it was.
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from simulator.control.marks import TABLE as MARKS
from simulator.control.upkeep import Upkeep
from simulator.data.block import Block, Values
from simulator.data.query import RowsQuery
from simulator.data.schema import Column, Role, Table, Type
from simulator.errors import ConfigError
from simulator.modules.base import BATCH, Database
from simulator.protocol.spec import Ask, Insert, Kind, RunSpec
from tests.contract.harness import Wideset, ask, drop, send
from tests.contract.targets import Target
from tests.unit.specs import run_spec

OTHER_MARKS = replace(
    MARKS,
    columns=(
        Column("time", Type.INT64, Role.TIME),
        Column("value", Type.FLOAT64, Role.FIELD),
    ),
)
"""A table of somebody else with the name of the marks."""
STORED = r"\(([\d,]+ (rows|points|paths?)|rows unknown), [^)]+\)"


def _runs(wide: Wideset, database: Database) -> Iterator[RunSpec]:
    """Yield a run of every kind that would drop, create, write or alter."""
    rows, empty = wide.dataset.ranges, wide.dataset.with_ranges(())
    writes = Insert(timed=rows)
    yield run_spec(workers=(writes,), dataset=empty)
    yield run_spec(workers=(Insert(prefill=rows),), dataset=empty, clean=False)
    yield run_spec(workers=(writes,), dataset=wide.dataset, clean=False)
    asks = Ask(place=0, every=1, runs=1)
    yield run_spec(kind=Kind.MIXED, workers=(writes, asks), dataset=wide.dataset, clean=False)
    if database.capabilities.indices:
        yield run_spec(
            kind=Kind.QUERY, workers=(asks,), dataset=wide.dataset, clean=False,
            options={"create_indices": True},
        )  # fmt: skip


@contextmanager
def _made_by_others(database: Database, wide: Wideset, table: Table) -> Iterator[Database]:
    """A table with rows and without a mark, for as long as the context lasts."""
    mine = [block for block in wide.batches if block.table.name == table.name]
    if table is OTHER_MARKS:
        database = database.for_own_tables()
        now_ms = int(time.time()) * 1000
        times = {"time": Values(now_ms - 1000 * np.arange(3)), "value": Values(np.arange(3) + 0.5)}
        mine = [Block(table, 0, np.arange(3), times)]
    database.create([table], 100)
    try:
        with database.connect() as session:
            for block in mine:
                send(session, block, BATCH, 100)
        database.visible([table])
        yield database
    finally:
        drop(database, [table])


def _rows(database: Database, table: Table) -> object:
    with database.connect() as session:
        return ask(session, database.render(RowsQuery(table))).rows


def test_what_others_made_is_refused_and_stays_as_it_is(target: Target, database: Database):
    wide = target.wide()
    for table in (*wide.tables, OTHER_MARKS):
        with _made_by_others(database, wide, table) as others:
            before, names = _rows(others, table), others.objects(table)
            found = others.existing(names)
            assert before
            assert found
            for spec in _runs(wide, database):
                with pytest.raises(ConfigError) as refused:
                    Upkeep(spec, database, lambda _: None).prepare()
                assert refused.value.exit_code == 2
                for name, each in found.items():
                    assert f"{each.kind} {name} (" in str(refused.value)
            assert _rows(others, table) == before
            assert others.existing(names) == found


def test_what_is_replaced_by_name_is_ours_from_then_on(target: Target, database: Database):
    wide = target.wide()
    spec = next(_runs(wide, database))
    table = wide.tables[0]
    try:
        with _made_by_others(database, wide, table):
            named = {"replace_tables": tuple(database.objects(table))}
            Upkeep(spec.model_copy(update=named), database, lambda _: None).prepare()
            database.visible(wide.tables)
            assert _rows(database, table) == ()
            Upkeep(spec, database, lambda _: None).prepare()
    finally:
        drop(database, wide.tables)


def test_the_refusal_says_how_much_is_stored(target: Target, database: Database):
    wide = target.wide()
    spec, table = next(_runs(wide, database)), wide.tables[0]
    with (
        _made_by_others(database, wide, table),
        pytest.raises(ConfigError, match=STORED) as refused,
    ):
        Upkeep(spec, database, lambda _: None).prepare()
    counts = re.findall(r"\(([\d,]+) rows", str(refused.value))
    assert not counts or any(int(count.replace(",", "")) for count in counts)
