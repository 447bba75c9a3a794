"""What distinguishes series in pictures: a colour for each target, a marker and a dash for each."""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

COLOURS = 8
"""As many as `page.css` has, for light and for dark; safe for colour-blind readers."""
_INKS = {"#000001": "ink", "#000002": "muted", "#000003": "line", "#000004": "paper"}
INK, MUTED, LINE, PAPER = _INKS
"""Colours of what is no series, as they are drawn."""
_FIRST = 0xA0
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (5, 2),
    (1.5, 1.5),
    (6, 2, 1.5, 2),
    (9, 3),
    (3, 1, 1, 1, 1, 1),
)
"""On and off, in points: what a printer without colours shows."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a series looks."""

    colour: int = 0
    """The same for all results of a target."""
    order: int = 0
    """Which result of the page it is; decides marker and dash."""

    @property
    def ink(self) -> str:
        """Return the colour as it is drawn."""
        return series_ink(self.colour)

    @property
    def marker(self) -> str:
        """Return the marker of matplotlib."""
        return MARKERS[self.order % len(MARKERS)]

    @property
    def dash(self) -> tuple[float, ...]:
        """Return the lengths of the line's dashes; empty for a solid line."""
        return DASHES[self.order % len(DASHES)]


def series_ink(colour: int) -> str:
    """Return the colour of a series as it is drawn."""
    return f"#0000{_FIRST + colour % COLOURS:02x}"


def variables() -> dict[str, str]:
    """Return the colours as they are drawn -> the variables of `page.css`."""
    series = {series_ink(colour): f"var(--s{colour})" for colour in range(COLOURS)}
    return {**{drawn: f"var(--{name})" for drawn, name in _INKS.items()}, **series}


def colours_of(targets: Iterable[str]) -> dict[str, int]:
    """Return a colour for each target: by its name, so that most pages agree, and no two alike."""
    found: dict[str, int] = {}
    for target in sorted(set(targets)):
        wanted = zlib.crc32(target.encode()) % COLOURS
        free = [c for c in _around(wanted) if c not in found.values()]
        found[target] = free[0] if free else wanted
    return found


def _around(wanted: int) -> Sequence[int]:
    return [(wanted + step) % COLOURS for step in range(COLOURS)]
