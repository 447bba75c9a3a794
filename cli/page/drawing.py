"""Specifications of Vega-Lite -> SVG whose colours are variables of the page's style sheet."""

import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as ET

from cli.page.style import INK, LINE, MUTED

Spec = dict[str, Any]
"""A specification of Vega-Lite, or a part of one."""
WIDTH_PX = 430.0
"""Of every picture: columns of the page are about as wide, so that letters keep their size."""
LETTER_PX = 6.6
"""About the mean width of a letter."""
_MEASURED_PX = 12
"""Letters are shown with 10 px: a reader's font may be wider than the one that is measured."""
_SVG = "http://www.w3.org/2000/svg"
_GROUP, _LINE, _PATH = (f"{{{_SVG}}}{name}" for name in ("g", "line", "path"))
_FONT = "sans-serif"
"""About as wide as the page's own, which replaces it."""
_DROPPED = ("class", "role", "pointer-events", "font-family", "font-size")
_QUIET = {
    "opacity": "1", "text-anchor": "start", "font-weight": "normal", "stroke-dasharray": "1,0",
    "transform": "translate(0,0)",
}  # fmt: skip
"""Attributes that the page does not need: whatever their value, or with this one."""
_PLACES = ("d", "transform", "x", "y", "x2", "y2")
_PLACE = re.compile(r"translate\((-?[\d.]+),(-?[\d.]+)\)")
_NUMBER = re.compile(r"-?\d+\.\d+")
_SNIPPET = """
window.drawn = (element, spec) => vegaEmbed(element, spec, {
  mode: "vega", renderer: "svg", actions: false, ast: true, tooltip: false, defaultStyle: false,
  logLevel: 1,
});
"""
"""Expressions are interpreted (`ast`), so the page's policy need not allow `eval`. No warnings: a
figure without ranges has empty layers, which is no fault."""
ORIGIN = (
    "Vega, github.com/vega/vega: Copyright (c) University of Washington Interactive Data Lab"
    " and contributors, BSD 3-Clause License; with modules of D3, github.com/d3: Copyright Mike"
    " Bostock, ISC License. Provided as is, without warranty of any kind."
)
"""Of `library`."""
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


def drawn(title: str, spec: Spec) -> str:
    """Return a picture as an SVG element."""
    import vl_convert  # noqa: PLC0415 - only a page needs it

    whole = {"padding": {"left": 8, "right": 10, "top": 4, "bottom": 2}, "config": LOOK} | spec
    return _embedded(vl_convert.vegalite_to_svg(whole, allowed_base_urls=[]), title)


def compiled(spec: Spec) -> Spec:
    """Return a specification of Vega-Lite as one of Vega, which `library` draws."""
    import vl_convert  # noqa: PLC0415

    found: Spec = vl_convert.vegalite_to_vega(spec)
    return found


def library() -> str:
    """Return the script that draws specifications of Vega in a browser."""
    import vl_convert  # noqa: PLC0415

    found: str = vl_convert.javascript_bundle(_SNIPPET)
    return found


def _embedded(text: str, title: str) -> str:
    """Return a file of Vega as an element of a page: scalable, named, and without what is empty."""
    ET.register_namespace("", _SVG)
    root = ET.fromstring(text)  # noqa: S314 - the library wrote it
    for name in [each for each in root.attrib if each != "viewBox"]:
        del root.attrib[name]
    _tidy(root)
    root.set("role", "img")
    root.set("aria-label", title)
    return ET.tostring(root, encoding="unicode")


def _tidy(parent: ET.Element) -> None:
    for child in [*parent]:
        _tidy(child)
        if _is_empty(child):
            parent.remove(child)
            continue
        _trim(child)
        if child.tag == _GROUP and not child.attrib:
            place = [*parent].index(child)
            parent[place : place + 1] = [*child]
    _join_lines(parent)


def _trim(element: ET.Element) -> None:
    """Remove attributes that change nothing, and digits that nobody sees."""
    if element.get("stroke-width") == "0":
        element.attrib.pop("stroke", "")
    if "stroke" not in element.attrib:
        element.attrib.pop("stroke-width", "")
    for name, value in [*element.attrib.items()]:
        if name in _DROPPED or name.startswith("aria-") or _QUIET.get(name) == value:
            del element.attrib[name]
        elif name in _PLACES:
            element.set(name, _NUMBER.sub(_rounded, value))


def _join_lines(parent: ET.Element) -> None:
    """Make one path of lines that look the same, such as those of a grid."""
    earlier: ET.Element | None = None
    for child in [*parent]:
        place = _PLACE.fullmatch(child.get("transform", ""))
        if child.tag != _LINE or not place:
            earlier = None
            continue
        look = {name: child.attrib[name] for name in child.attrib if name not in _PLACES}
        path = f"M{place[1]},{place[2]}l{child.get('x2', '0')},{child.get('y2', '0')}"
        if earlier is not None and earlier.attrib == look | {"d": earlier.get("d", "")}:
            earlier.set("d", earlier.get("d", "") + path)
            parent.remove(child)
            continue
        child.tag, child.attrib = _PATH, look | {"d": path}
        earlier = child


def _is_empty(element: ET.Element) -> bool:
    """Whether nothing of an element is seen."""
    if element.tag == _GROUP:
        return not len(element)
    is_frame = "background" in element.get("class", "") or element.get("fill") == "transparent"
    without_length = element.get("d", "-") in ("", "M0,0h0v0h0Z")
    return is_frame or without_length or element.get("opacity") == "0"


def _rounded(found: re.Match[str]) -> str:
    return f"{float(found[0]):.1f}".removesuffix(".0")
