"""Batches that mix the rows of several tables in the order of time."""

from collections.abc import Sequence

import numpy as np

from simulator.data.block import Block, Rows
from simulator.modules.base import BATCH, MixedEncoder, Payload, Session


def edges(blocks: Sequence[Block], batch_rows: int) -> list[Rows]:
    """Return, for each block, where its share of each batch begins, and where the last one ends.

    The rows of each block are in the order of time. A batch has `batch_rows` rows, the last one
    fewer; rows of the same time are in the order of the blocks.
    """
    times = [block.data[block.table.time.name].values() for block in blocks]
    merged = np.sort(np.concatenate(times), kind="stable")  # merges what is sorted
    starts = np.arange(0, len(merged), batch_rows)
    first = merged[starts]
    found, left = [], starts.copy()
    earlier = [np.searchsorted(each, first, "left") for each in times]
    left -= np.sum(earlier, axis=0)
    for each, before in zip(times, earlier, strict=True):
        same = np.searchsorted(each, first, "right") - before
        taken = np.minimum(left, same)
        left -= taken
        found.append(np.append(before + taken, len(each)))
    return found


class Mixer:
    """Encodes blocks of several tables as payloads that each have rows of all of them."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._encoders: dict[tuple[str, ...], MixedEncoder] = {}

    def encode(
        self, session: Session, blocks: Sequence[Block], places: Sequence[Rows]
    ) -> Sequence[Payload]:
        """Return the payloads: of each block the rows between two of its places (see `edges`)."""
        if session is not self._session:
            self._session, self._encoders = session, {}
        names = tuple(block.name for block in blocks)
        if names not in self._encoders:
            self._encoders[names] = session.mixed_encoder([block.table for block in blocks])
        encoded = self._encoders[names](blocks, places)
        counts = np.diff(np.sum(places, axis=0)).tolist()
        return [
            Payload(rows, BATCH, data, session.size_of(data))
            for rows, data in zip(counts, encoded, strict=True)
        ]
