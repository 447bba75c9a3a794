"""Batches that mix the rows of several tables in the order of time."""

from collections.abc import Sequence

import numpy as np

from simulator.data.block import Block, Rows
from simulator.modules.contract import BATCH, MixedEncoder, Payload, Session


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
            self._encoders[names] = session.make_mixed_encoder([block.table for block in blocks])
        encoded = self._encoders[names](blocks, places)
        counts = np.diff(np.sum(places, axis=0)).tolist()
        return [
            Payload(rows, BATCH, data, session.size_of(data))
            for rows, data in zip(counts, encoded, strict=True)
        ]
