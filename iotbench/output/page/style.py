"""The appearance of series in pictures: colours of targets, markers and dashes."""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

COLOURS = 8
"""Number of colours in `page.css`; colour-blind readers can distinguish these colours."""
INK, MUTED, LINE, PAPER = "var(--ink)", "var(--muted)", "var(--line)", "var(--paper)"
"""Variables of `page.css` for text, axes and background."""
MARKERS = (
    "circle", "square", "triangle-up", "diamond",
    "triangle-down", "cross", "triangle-left", "triangle-right",
)  # fmt: skip
"""Marker shapes of Vega."""
DASHES: tuple[tuple[float, ...], ...] = (
    (1, 0),
    (7, 3),
    (2, 2),
    (8, 3, 2, 3),
    (12, 4),
    (4, 2, 1, 2, 1, 2),
)
"""Lengths of dashes and gaps in pixels; the patterns distinguish series in black and white."""


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """The appearance of a series."""

    colour: int = 0
    """Number of the colour, which is the same for all results of a target."""
    order: int = 0
    """Index of the result on the page, which determines marker and dash."""

    @property
    def ink(self) -> str:
        """Colour of the series, as a variable of `page.css`."""
        return f"var(--s{self.colour % COLOURS})"

    @property
    def marker(self) -> str:
        """Shape of the markers."""
        return MARKERS[self.order % len(MARKERS)]

    @property
    def dash(self) -> Sequence[float]:
        """Lengths of dashes and gaps."""
        return DASHES[self.order % len(DASHES)]


def colours_of(targets: Iterable[str]) -> dict[str, int]:
    """Return target -> colour.

    A colour depends on the name of the target, so that pages usually agree. Colours differ if
    possible.
    """
    found: dict[str, int] = {}
    for target in sorted(set(targets)):
        wanted = zlib.crc32(target.encode()) % COLOURS
        near = ((wanted + step) % COLOURS for step in range(COLOURS))
        free = [colour for colour in near if colour not in found.values()]
        found[target] = free[0] if free else wanted
    return found
