"""Batches and the origins of their rows; a batch may hold rows of several tables."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.data.block import Block, Rows
from simulator.modules.contract import BATCH, MixedEncoder, Payload, Session


@dataclass(slots=True)
class Held:
    """Rows of one physical table."""

    table: int
    part: int
    rows: Rows
    """Numbers of the rows."""


class Origin:
    """Blocks from which batches are cut, and the place of each batch in each block.

    Most batches are acknowledged, and their rows are never looked up; a batch therefore only has a
    number.
    """

    def __init__(self, blocks: Sequence[Held], places: Sequence[Sequence[int] | Rows]) -> None:
        """Store, for each block, the first row of each batch, and the end of the last batch."""
        self._blocks, self._places = blocks, places
        self.sent = 0
        """Number of batches that were sent, in order."""

    @classmethod
    def of(cls, block: Held, batch_rows: int) -> "Origin":
        """Return the origin of batches of `batch_rows` rows; the last one may be smaller."""
        return cls((block,), (range(0, len(block.rows) + batch_rows, batch_rows),))

    @classmethod
    def of_one(cls, held: Sequence[Held]) -> "Origin":
        """Return the origin of a single batch that has all of these rows."""
        return cls(held, [(0, len(each.rows)) for each in held])

    def list_held(self, first: int, stop: int) -> Sequence[Held]:
        """Return the rows of batches first..stop, by physical table."""
        parts = (
            Held(block.table, block.part, block.rows[place[first] : place[stop]])
            for block, place in zip(self._blocks, self._places, strict=True)
        )
        return tuple(each for each in parts if len(each.rows))


@dataclass(slots=True)
class Batch:
    """A payload, and the origin of its rows."""

    payload: Payload
    origin: Origin
    number: int
    """Number of the batch among the batches of its origin."""
    logged: int = -1
    """Number of the batch in the worker's SendLog, if there is one."""

    def list_held(self) -> Sequence[Held]:
        """Return the rows of the batch, by physical table."""
        return self.origin.list_held(self.number, self.number + 1)


class Mixer:
    """Encodes blocks of several tables as payloads, each with rows of all tables."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._encoders: dict[tuple[str, ...], MixedEncoder] = {}

    def encode(
        self, session: Session, blocks: Sequence[Block], places: Sequence[Rows]
    ) -> Sequence[Payload]:
        """Return payloads; each has the rows of every block between two places (see `edges`)."""
        if session is not self._session:
            self._session, self._encoders = session, {}
        names = tuple(block.name for block in blocks)
        if names not in self._encoders:
            self._encoders[names] = session.make_mixed_encoder([block.table for block in blocks])
        encoded = self._encoders[names](blocks, places)
        counts = np.diff(np.sum(places, axis=0)).tolist()
        return [
            Payload(rows, BATCH, data, session.size_of(data))
            for rows, data in zip(counts, encoded, strict=True)
        ]
