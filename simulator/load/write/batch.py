"""Batches, the origin of their rows, and batches with rows of several tables."""

from abc import ABC, abstractmethod
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


class Origin(ABC):
    """The source from which the batches of one block, or of several, are cut.

    Most batches are acknowledged, and their rows are never looked up; so a batch is only a number.
    """

    sent = 0
    """Batches that were sent; they are sent in order."""

    @abstractmethod
    def held(self, first: int, stop: int) -> Sequence[Held]:
        """Return the rows of batches first..stop, by physical table."""


@dataclass(slots=True)
class Batch:
    """A payload, and the rows that it holds."""

    payload: Payload
    origin: Origin
    number: int
    """Number among the batches of its origin."""
    logged: int = -1
    """Number among all batches of the worker, where these are logged."""

    def held(self) -> Sequence[Held]:
        """Return its rows, by physical table."""
        return self.origin.held(self.number, self.number + 1)


class OfBlock(Origin):
    """Batches of `batch_rows` rows each, of one block; the last one may be smaller."""

    def __init__(self, block: Held, batch_rows: int) -> None:
        self._block, self._batch_rows = block, batch_rows

    def held(self, first: int, stop: int) -> Sequence[Held]:
        """Return the rows of batches first..stop, by physical table."""
        block, step = self._block, self._batch_rows
        return (Held(block.table, block.part, block.rows[first * step : stop * step]),)


class OfBlocks(Origin):
    """Batches with rows of several blocks: of each block, the rows between two of its places."""

    def __init__(self, blocks: Sequence[Held], places: Sequence[Rows]) -> None:
        self._blocks, self._places = blocks, places

    def held(self, first: int, stop: int) -> Sequence[Held]:
        """Return the rows of batches first..stop, by physical table."""
        parts = (
            Held(block.table, block.part, block.rows[place[first] : place[stop]])
            for block, place in zip(self._blocks, self._places, strict=True)
        )
        return tuple(each for each in parts if len(each.rows))


class OfRecords(Origin):
    """One batch of a file."""

    def __init__(self, held: Sequence[Held]) -> None:
        self._held = held

    def held(self, first: int, stop: int) -> Sequence[Held]:
        """Return the rows of batches first..stop, by physical table."""
        return self._held if first < stop else ()


class Mixer:
    """Encodes blocks of several tables as payloads that each have rows of all of them."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._encoders: dict[tuple[str, ...], MixedEncoder] = {}

    def encode(
        self, session: Session, blocks: Sequence[Block], places: Sequence[Rows]
    ) -> Sequence[Payload]:
        """Return payloads with the rows of each block between two of its places (see `edges`)."""
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
