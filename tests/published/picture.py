"""The picture of the published results, in the order of their tables."""

import re
from collections.abc import Iterator, Mapping, Sequence

from iotbench.output.page import charts
from iotbench.output.page.charts import Axis, Bar
from iotbench.output.page.style import SeriesStyle
from iotbench.output.site.entries import PROMISES
from tests.published.row import Row

_COLOURS = {
    "ink": "#16191d", "muted": "#5a626c", "line": "#d9dde3", "paper": "#fff",
    "s0": "#0072b2", "s1": "#00846b", "s2": "#a87900",
}  # fmt: skip
"""Colours of the picture, which has no style sheet; s0 to s2 are for promises."""
_DARK = {
    "ink": "#e8eaed", "muted": "#a3abb5", "line": "#3a414a", "paper": "#14171b",
    "s0": "#56b4e9", "s1": "#2fc39f", "s2": "#e6b23c",
}  # fmt: skip
_ROW_PX = 16
_BOX = re.compile(r'viewBox="0 0 (\d+) (\d+)"')


def picture(found: Sequence[Row]) -> str:
    """Return an SVG file with the median of the highest rates of each target, and its runs."""
    names = [_label(row) for row in found]
    bars = []
    for name, row in zip(names, found, strict=True):
        label = name if names.count(name) == 1 else f"{name} ({row.target.partition('_')[2]})"
        rates = row.fastest or (0.0,)
        style, ends = SeriesStyle(row.promise), (min(rates), max(rates))
        bars.append(Bar(label, style, (row.speed,), *ends, runs=row.fastest))
    svg = charts.draw_bars("Rows per second", Axis("rows/s"), bars)
    size = _BOX.search(svg)
    assert size
    width_px, height_px = int(size[1]), int(size[2])
    promises = sorted({row.promise for row in found})
    svg = _BOX.sub(f'viewBox="0 0 {width_px} {height_px + _ROW_PX * (len(promises) + 1)}"', svg)
    opening, _, rest = svg.partition(">")
    legend = "".join(_legend_lines(promises, height_px))
    style = f"svg {{{_variables(_COLOURS)} background: var(--paper); font: 10px sans-serif}}"
    style += f" @media (prefers-color-scheme: dark) {{svg {{{_variables(_DARK)}}}}}"
    return f"{opening}><style>{style}</style>{rest.removesuffix('</svg>')}{legend}</svg>\n"


def _variables(colours: Mapping[str, str]) -> str:
    return "".join(f"--{name}: {colour};" for name, colour in colours.items())


def _legend_lines(promises: Sequence[int], top_px: int) -> Iterator[str]:
    """Yield a square and its meaning for each promise, below a title."""
    yield f'<text x="8" y="{top_px + 10}" fill="var(--muted)">An acknowledged row survives</text>'
    for number, promise in enumerate(promises, 1):
        y_px = top_px + _ROW_PX * number
        yield f'<rect x="8" y="{y_px + 1}" width="10" height="10" fill="var(--s{promise})"/>'
        yield f'<text x="24" y="{y_px + 10}" fill="var(--ink)">{PROMISES[promise]}</text>'


def _label(row: Row) -> str:
    """Return the product and its version, and `advised` for advised settings."""
    product = re.sub(r" on .*|, .*", "", row.product)
    return f"{product}, advised" if row.is_advised else product
