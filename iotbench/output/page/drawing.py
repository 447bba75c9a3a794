"""Draws pictures from Vega-Lite specifications, in the colours of the page's style sheet."""

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as ET

from iotbench.machine.cleaning import in_picture, plain
from iotbench.output.page.style import INK, LINE, MUTED

Spec = dict[str, Any]
"""A specification of Vega-Lite, or a part of one."""
WIDTH_PX = 430.0
"""Width of pictures: about the width of the page's columns, so that letters keep their size."""
LETTER_PX = 6.6
"""Approximate mean width of a letter."""
_MEASURED_PX = 12
"""Font size for the layout: larger than the drawn 10 px, since the reader's font may be wider."""
_FONT = "sans-serif"
"""Font for the layout; pictures are drawn in the font of the page, which is about as wide."""
_SNIPPET = """
window.drawn = (element, spec) => vegaEmbed(element, spec, {
  mode: "vega", renderer: "svg", actions: false, ast: true, tooltip: false, defaultStyle: false,
  logLevel: 1,
});
"""
"""Script that draws a compiled specification. `ast` interprets expressions, so that the policy of
the page can forbid `eval`. The log level hides warnings about empty layers, which occur for figures
without ranges."""
ORIGIN = (
    "Vega, github.com/vega/vega: Copyright (c) University of Washington Interactive Data Lab"
    " and contributors, BSD 3-Clause License; with modules of D3, github.com/d3: Copyright Mike"
    " Bostock, ISC License. Provided as is, without warranty of any kind."
)
"""Origin and licence of the script that `bundle_library` returns."""
LOOK: Mapping[str, Any] = {
    "background": "transparent",
    "font": _FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "labelFontSize": _MEASURED_PX,
        "titleFontSize": _MEASURED_PX,
        "titleFontWeight": "normal",
        "domainColor": LINE,
        "tickColor": LINE,
        "gridColor": LINE,
        "gridWidth": 0.7,
        "labelPadding": 5,
        "titlePadding": 7,
    },
    "axisY": {
        "domain": False,
        "ticks": False,
        "titleAngle": 0,
        "titleAlign": "left",
        "titleAnchor": "end",
        "titleX": 0,
        "titleY": -7,
        "titleBaseline": "bottom",
    },
    "axisX": {"grid": False, "tickSize": 4},
    "legend": {
        "orient": "top",
        "title": None,
        "labelColor": INK,
        "labelFontSize": _MEASURED_PX,
        "columnPadding": 18,
        "rowPadding": 2,
        "offset": 24,
        "symbolSize": 55,
        "layout": {"top": {"direction": "vertical", "anchor": "start", "margin": 3}},
    },
    "line": {"strokeWidth": 1.8},
    "point": {"filled": True, "size": 34, "opacity": 1},
    "rule": {"strokeWidth": 1.2},
    "tick": {"thickness": 1.2, "opacity": 1},
}
"""The configuration of every picture."""


def draw(title: str, spec: Spec) -> str:
    """Return a picture as an SVG element."""
    import vl_convert  # noqa: PLC0415 - only a page needs it

    whole = {"padding": {"left": 8, "right": 10, "top": 4, "bottom": 2}, "config": LOOK} | spec
    svg = vl_convert.vegalite_to_svg(in_picture(whole), allowed_base_urls=[])
    return embed(svg, plain(title))


def compile_spec(spec: Spec) -> Spec:
    """Return a Vega-Lite specification, compiled for a browser."""
    import vl_convert  # noqa: PLC0415

    found: Spec = vl_convert.vegalite_to_vega(in_picture(spec))
    return found


def bundle_library() -> str:
    """Return the script that draws compiled specifications in a browser."""
    import vl_convert  # noqa: PLC0415

    found: str = vl_convert.javascript_bundle(_SNIPPET)
    return found


_SVG = "http://www.w3.org/2000/svg"
_GROUP, _LINE, _PATH, _TEXT = (f"{{{_SVG}}}{name}" for name in ("g", "line", "path", "text"))
_DROPPED = ("class", "role", "pointer-events", "font-family", "font-size")
_QUIET = {
    "opacity": "1", "text-anchor": "start", "font-weight": "normal", "stroke-dasharray": "1,0",
    "transform": "translate(0,0)",
}  # fmt: skip
"""Attributes that are removed if they have these default values; `_DROPPED` are always removed."""


def embed(text: str, title: str) -> str:
    """Return the SVG text that Vega wrote, as an SVG element of a page."""
    ET.register_namespace("", _SVG)
    root = ET.fromstring(text)  # noqa: S314 - the library wrote it
    for name in [each for each in root.attrib if each != "viewBox"]:
        del root.attrib[name]
    _tidy(root)
    root.set("role", "img")
    root.set("aria-label", title)
    return ET.tostring(root, encoding="unicode").replace(" />", "/>")


def _tidy(parent: ET.Element) -> None:
    """Remove hidden elements, needless attributes, and groups without attributes."""
    children: list[ET.Element] = []
    for child in parent:
        _tidy(child)
        if not _is_empty(child):
            _trim(child)
            children += child if child.tag == _GROUP and not child.attrib else [child]
    parent[:] = children


def _is_empty(element: ET.Element) -> bool:
    if element.tag == _GROUP:
        return not len(element)
    if element.tag == _TEXT:
        return not element.text and not len(element)
    is_frame = "background" in element.get("class", "") or element.get("fill") == "transparent"
    is_bare = element.tag in (_LINE, _PATH) and not {"fill", "stroke"} & element.attrib.keys()
    without_length = element.get("d", "-") in ("", "M0,0h0v0h0Z")
    return is_frame or is_bare or without_length or element.get("opacity") == "0"


def _trim(element: ET.Element) -> None:
    if element.tag != _GROUP:
        if element.get("stroke-width") == "0":
            element.attrib.pop("stroke", "")
        if "stroke" not in element.attrib:
            element.attrib.pop("stroke-width", "")
    for name, value in [*element.attrib.items()]:
        if name in _DROPPED or name.startswith("aria-") or _QUIET.get(name) == value:
            del element.attrib[name]
