"""Figures of matplotlib -> SVG whose colours are variables of the page's style sheet."""

import io
import logging
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from cli.page.style import INK, LINE, MUTED, variables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_PT = 430.0
"""Of every picture: columns of the page are about as wide, so that letters keep their size."""
LETTER_PT = 5.6
"""About the mean width of a letter."""
_SVG = "http://www.w3.org/2000/svg"
_HREF = "{http://www.w3.org/1999/xlink}href"
_RIGHT_PT, _BOTTOM_PT, _LEGEND_PT = 12.0, 34.0, 15.0
_METADATA = ("Date", "Creator", "Format", "Type")
_LOOKS: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 10.0,
    "text.parse_math": False,
    "text.color": INK,
    "svg.fonttype": "none",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.edgecolor": LINE,
    "axes.labelcolor": MUTED,
    "axes.titlecolor": MUTED,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "ytick.major.size": 0.0,
    "ytick.minor.size": 0.0,
    "xtick.minor.size": 0.0,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.5,
    "lines.markeredgewidth": 0.0,
    "errorbar.capsize": 3.0,
    "legend.frameon": False,
    "legend.borderaxespad": 0.0,
    "legend.handlelength": 2.6,
}


def drawn(  # noqa: PLR0913
    name: str,
    title: str,
    draw: "Callable[[Sequence[Axes]], None]",
    *,
    height_pt: float = 190.0,
    left_pt: float = 48.0,
    top_pt: float = 22.0,
    legend: Sequence[str] = (),
    ratios: Sequence[float] = (1.0,),
) -> str:
    """Return a picture as an SVG element.

    `draw` fills in the axes, one below the other with the heights of `ratios`. `legend` has the
    labels that stand above them. The name is unique in the page.
    """
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # of its cache of fonts
    import matplotlib as mpl  # noqa: PLC0415 - only a page needs it, and it is slow to load
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    columns, rows = _legend_grid(legend)
    top_pt += _LEGEND_PT * rows
    height_pt += _LEGEND_PT * rows
    with mpl.rc_context(_LOOKS | {"svg.hashsalt": name}):
        figure = Figure((WIDTH_PT / 72, height_pt / 72), dpi=72)
        figure.subplots_adjust(
            left=left_pt / WIDTH_PT,
            right=1 - _RIGHT_PT / WIDTH_PT,
            bottom=_BOTTOM_PT / height_pt,
            top=1 - top_pt / height_pt,
            hspace=0.08,
        )
        shape: dict[str, Any] = {"squeeze": False, "sharex": True, "height_ratios": ratios}
        axes = figure.subplots(len(ratios), 1, **shape)[:, 0]
        draw(axes)
        if legend:
            _add_legend(figure, axes, legend, columns)
        out = io.StringIO()
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(out, metadata=dict.fromkeys(_METADATA))
    return _embedded(out.getvalue(), title)


def _legend_grid(labels: Sequence[str]) -> tuple[int, int]:
    """Return how many columns and rows the labels take above the axes."""
    if not labels:
        return 1, 0
    widest_pt = max(map(len, labels)) * LETTER_PT + 48
    columns = min(max(int(WIDTH_PT / widest_pt), 1), len(labels))
    return columns, math.ceil(len(labels) / columns)


def _add_legend(
    figure: "Figure", axes: "Sequence[Axes]", labels: Sequence[str], columns: int
) -> None:
    handles: dict[str, Any] = {}
    for each in axes:
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(
        [handles[label] for label in labels if label in handles],
        [label for label in labels if label in handles],
        loc="upper left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        columnspacing=1.4,
        labelspacing=0.3,
        borderpad=0.1,
    )


def _embedded(text: str, title: str) -> str:
    """Return a file of matplotlib as an element of a page: no sizes, ids only where referenced."""
    for ink, variable in variables().items():
        text = text.replace(ink, variable)
    ET.register_namespace("", _SVG)
    root = ET.fromstring(text)  # noqa: S314 - matplotlib wrote it
    referenced = {each.get(_HREF, "") for each in root.iter()}
    for parent in root.iter():
        for child in [each for each in parent if each.tag == f"{{{_SVG}}}metadata"]:
            parent.remove(child)
    for each in root.iter():
        target = each.attrib.pop(_HREF, None)
        if target:
            each.set("href", target)
        name = each.get("id", "")
        if name and f"#{name}" not in referenced and f"url(#{name})" not in text:
            del each.attrib["id"]
    for attribute in ("width", "height", "version"):
        with suppress(KeyError):
            del root.attrib[attribute]
    root.set("role", "img")
    root.set("aria-label", title)
    return ET.tostring(root, encoding="unicode")
