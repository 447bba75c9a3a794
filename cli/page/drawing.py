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
_GROUP = f"{{{_SVG}}}g"
_FONT = "sans-serif"
"""About as wide as the page's own, which replaces it."""
_DROPPED = ("class", "role", "pointer-events", "font-family", "font-size")
_QUIET = {"opacity": "1", "stroke-width": "0"}
"""Attributes that the page needs not, whatever their value or with this one."""
_PLACES = ("d", "transform", "x", "y", "x2", "y2")
_NUMBER = re.compile(r"-?\d+\.\d+")
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
        for name, value in [*child.attrib.items()]:
            if name in _DROPPED or name.startswith("aria-") or _QUIET.get(name) == value:
                del child.attrib[name]
            elif name in _PLACES:
                child.set(name, _NUMBER.sub(_rounded, value))
        if child.tag == _GROUP and not child.attrib:
            place = [*parent].index(child)
            parent[place : place + 1] = [*child]


def _is_empty(element: ET.Element) -> bool:
    """Whether nothing of an element is seen."""
    if element.tag == _GROUP:
        return not len(element)
    is_frame = "background" in element.get("class", "") or element.get("fill") == "transparent"
    without_length = element.get("d", "-") in ("", "M0,0h0v0h0Z")
    return is_frame or without_length or element.get("opacity") == "0"


def _rounded(found: re.Match[str]) -> str:
    return f"{float(found[0]):.1f}".removesuffix(".0")
