"""Finds the stored rows among rows of unknown outcome; reads only rows with their times."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from simulator.data.block import Rows
from simulator.data.dataset import Dataset
from simulator.data.hashes import block_hashes
from simulator.data.mixer import Hashes
from simulator.data.query import RowsQuery, Selection
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import Table
from simulator.modules.contract import Database, Session
from simulator.verify.stored.accounting import PASS_ROWS, SentHashes
from simulator.verify.stored.reader import stream_hashes, takes_windows
from simulator.verify.truth.folding import VERIFY_BLOCK_ROWS

MOST_SPANS = 100
"""Maximum number of spans; each is a query, and further neighbours are joined."""


class TimeSpan(NamedTuple):
    """The times from one instant until another."""

    since: int
    until: int


def absent_rows(
    database: Database,
    session: Session,
    dataset: Dataset,
    table: Table,
    uncertain: Sequence[RowRange],
) -> Rows | None:
    """Return the numbers of the uncertain rows of a table that are not stored.

    Among equal rows, the acknowledged ones count as stored first. Return None if the whole table
    has to be read: the rows are not in the order of time, the database cannot select by time, or
    too many rows have the same times as uncertain rows.
    """
    reader = DatasetReader(dataset)
    place = reader.place(table)
    mine = [each for each in uncertain if each.table == place]
    if not (reader.time_rises and takes_windows(database, table)):
        return None
    spans = spans_of(reader, mine)
    ranges = [item for item in dataset.ranges if item.table == place]
    parts = [part for item in ranges for part in _within(reader, item, spans)]
    if sum(map(len, parts)) > PASS_ROWS:
        return None
    statements = [
        database.render(RowsQuery(table, selection=Selection(since=each.since, until=each.until)))
        for each in spans
    ]
    found = (hashes for statement in statements for hashes, _ in stream_hashes(session, statement))
    stored, copies = np.unique(np.concatenate([np.empty(0, np.uint64), *found]), return_counts=True)
    known, rows, hashes = SentHashes(stored, copies), [np.empty(0, np.int64)], [stored[:0]]
    maybe = np.concatenate([each.numbers() for each in mine])
    turns = (turn for item in parts for turn in reader.blocks((item,), VERIFY_BLOCK_ROWS))
    for block in chain.from_iterable(turns):
        own, is_unsure = block_hashes(statements[0].outputs, block), np.isin(block.rows, maybe)
        known.add(own, is_unsure)
        rows.append(block.rows[is_unsure])
        hashes.append(own[is_unsure])
    left = np.maximum(copies - known.certain, 0)
    return _exceed(np.concatenate(rows), np.concatenate(hashes), stored, left)


def spans_of(reader: DatasetReader, rows: Sequence[RowRange]) -> list[TimeSpan]:
    """Return the times of rows as few ascending and disjoint spans."""
    found: list[TimeSpan] = []
    times = (
        TimeSpan(reader.time_at(item, 0), reader.time_at(item, len(item) - 1) + 1)
        for item in rows
        if item
    )
    for span in sorted(times):
        if found and span.since <= found[-1].until:
            found[-1] = TimeSpan(found[-1].since, max(found[-1].until, span.until))
        else:
            found.append(span)
    together = max(-(-len(found) // MOST_SPANS), 1)
    groups = (found[place : place + together] for place in range(0, len(found), together))
    return [TimeSpan(each[0].since, each[-1].until) for each in groups]


def _within(reader: DatasetReader, item: RowRange, spans: Sequence[TimeSpan]) -> Iterator[RowRange]:
    places = reader.places_at(item, [time for span in spans for time in span]).tolist()
    for low, high in zip(places[::2], places[1::2], strict=True):
        yield from item.part(low, high)


def _exceed(rows: Rows, hashes: Hashes, stored: Hashes, left: Rows) -> Rows:
    """Return the rows in excess of the stored copies left for their hash."""
    order = np.argsort(hashes, kind="stable")
    rows, hashes = rows[order], hashes[order]
    firsts = np.searchsorted(hashes, hashes)
    places = np.searchsorted(stored, hashes)
    known = np.append(stored, np.uint64(0))[places] == hashes
    copies = np.where((places < len(stored)) & known, np.append(left, 0)[places], 0)
    return rows[np.arange(len(rows)) - firsts >= copies]
