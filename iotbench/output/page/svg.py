"""Conversion of a Vega file to an element of a page: scalable, named, without hidden parts."""

from xml.etree import ElementTree as ET

_SVG = "http://www.w3.org/2000/svg"
_GROUP, _LINE, _PATH, _TEXT = (f"{{{_SVG}}}{name}" for name in ("g", "line", "path", "text"))
_DROPPED = ("class", "role", "pointer-events", "font-family", "font-size")
_QUIET = {
    "opacity": "1", "text-anchor": "start", "font-weight": "normal", "stroke-dasharray": "1,0",
    "transform": "translate(0,0)",
}  # fmt: skip
"""Attributes that the page does not need: with any value, or with this one."""


def embed(text: str, title: str) -> str:
    """Return a file of Vega as an element of a page."""
    ET.register_namespace("", _SVG)
    root = ET.fromstring(text)  # noqa: S314 - the library wrote it
    for name in [each for each in root.attrib if each != "viewBox"]:
        del root.attrib[name]
    _tidy(root)
    root.set("role", "img")
    root.set("aria-label", title)
    return ET.tostring(root, encoding="unicode").replace(" />", "/>")


def _tidy(parent: ET.Element) -> None:
    """Remove what is hidden, attributes that change nothing, and groups without attributes."""
    children: list[ET.Element] = []
    for child in parent:
        _tidy(child)
        if not _is_empty(child):
            _trim(child)
            children += child if child.tag == _GROUP and not child.attrib else [child]
    parent[:] = children


def _is_empty(element: ET.Element) -> bool:
    """Return whether an element is fully hidden."""
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
