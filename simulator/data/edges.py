"""The limits of batches that mix the rows of several tables in the order of time."""

from collections.abc import Sequence

import numpy as np

from simulator.data.block import Block, Rows


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
