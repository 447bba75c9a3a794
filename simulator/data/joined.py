"""Columns joined into one text, row by row, as a key made of other columns is."""

from collections.abc import Sequence

import numpy as np

from simulator.data.block import Array
from simulator.data.digits import integers
from simulator.data.octets import octets, side_by_side, unpadded


def joined(columns: Sequence[Array]) -> Array:
    """Return each row's texts and integers one after the other, as an 'S' array.

    Rows in which nothing is padded are only viewed as text; about 20 ns a row for a device, an
    instant and a number.
    """
    rows = len(columns[0])
    pieces: list[Array] = []
    for values in columns:
        is_text = values.dtype.kind == "S"
        pieces += [values.view(f"V{values.dtype.itemsize}")] if is_text else integers(values)
    side = side_by_side(pieces, rows)
    letters, written = octets(side), unpadded(side)
    if written is not None:
        # To the left with what is written; NUL, which ends a text, fills up on the right.
        shifted = np.zeros_like(letters)
        shifted[np.arange(letters.shape[1]) < written.sum(axis=1)[:, None]] = letters[written]
        letters = shifted
    return letters.reshape(-1).view(f"S{letters.shape[1]}")
