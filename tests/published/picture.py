"""The picture of the published results, in the order of their tables."""

import re
from collections.abc import Sequence

from iotbench.output.page import charts
from iotbench.output.page.charts import Axis, Bar
from iotbench.output.page.style import SeriesStyle
from tests.published.row import Row

_COLOURS = {
    "ink": "#16191d", "muted": "#5a626c", "line": "#d9dde3", "paper": "#fff",
    "s0": "#0072b2", "s1": "#00846b", "s2": "#a87900",
}  # fmt: skip
"""Of the picture, which stands alone: one for each promise."""


def picture(found: Sequence[Row]) -> str:
    """Return the medians of the highest rates of all targets as an SVG file."""
    names = [_label(row) for row in found]
    bars = []
    for name, row in zip(names, found, strict=True):
        label = name if names.count(name) == 1 else f"{name} ({row.target.partition('_')[2]})"
        rates = row.fastest or (0.0,)
        bars.append(Bar(label, SeriesStyle(row.promise), (row.speed,), min(rates), max(rates)))
    svg = charts.bars("Rows per second", Axis("rows/s"), bars)
    variables = "".join(f"--{name}: {colour};" for name, colour in _COLOURS.items())
    opening, _, rest = svg.partition(">")
    return f"{opening}><style>svg {{{variables} font: 10px sans-serif}}</style>{rest}\n"


def _label(row: Row) -> str:
    """Return the product and its version, and whether its settings are the advised ones."""
    product = re.sub(r" on .*|, .*", "", row.product)
    return f"{product}, advised" if row.is_advised else product
