"""A file of Vega -> a small element of a page: scalable, named, and without what nobody sees."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import floor
from xml.etree import ElementTree as ET

_SVG = "http://www.w3.org/2000/svg"
_GROUP, _LINE, _PATH, _TEXT = (f"{{{_SVG}}}{name}" for name in ("g", "line", "path", "text"))
_DROPPED = ("class", "role", "pointer-events", "font-family", "font-size")
_QUIET = {
    "opacity": "1", "text-anchor": "start", "font-weight": "normal", "stroke-dasharray": "1,0",
    "transform": "translate(0,0)",
}  # fmt: skip
"""Attributes that the page does not need: whatever their value, or with this one."""
_INHERITED = ("fill", "stroke", "stroke-width", "stroke-dasharray", "text-anchor", "font-weight")
_SHAPE = ("d", "transform", "x2", "y2")
_PLACE = re.compile(r"translate\((-?[\d.]+),(-?[\d.]+)\)")
_DECIMAL = re.compile(r"-?\d+\.\d+")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?")
_COMMANDS = re.compile(r"([MLhvAZ])([^MLhvAZ]*)")
_KNOWN = re.compile(r"[MLhvAZ0-9.,e\s-]*")
"""The commands of Vega's lines, bars and markers."""
_ARC = 7
"""Numbers of an arc: two radii, the rotation, two flags, and where it ends."""


def embedded(text: str, title: str) -> str:
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
    for child in [*parent]:
        _tidy(child)
        if _is_empty(child):
            parent.remove(child)
            continue
        _trim(child)
        if child.tag == _GROUP and not child.attrib:
            place = [*parent].index(child)
            parent[place : place + 1] = [*child]
    _join(parent)
    if parent.tag == _GROUP:
        _inherit(parent)


def _is_empty(element: ET.Element) -> bool:
    """Whether nothing of an element is seen."""
    if element.tag == _GROUP:
        return not len(element)
    if element.tag == _TEXT:
        return not element.text and not len(element)
    is_frame = "background" in element.get("class", "") or element.get("fill") == "transparent"
    is_bare = element.tag in (_LINE, _PATH) and not {"fill", "stroke"} & element.attrib.keys()
    without_length = element.get("d", "-") in ("", "M0,0h0v0h0Z")
    return is_frame or is_bare or without_length or element.get("opacity") == "0"


def _trim(element: ET.Element) -> None:
    """Remove attributes that change nothing, and digits that nobody sees."""
    if element.tag != _GROUP:
        if element.get("stroke-width") == "0":
            element.attrib.pop("stroke", "")
        if "stroke" not in element.attrib:
            element.attrib.pop("stroke-width", "")
    for name, value in [*element.attrib.items()]:
        if name in _DROPPED or name.startswith("aria-") or _QUIET.get(name) == value:
            del element.attrib[name]
    if element.tag in (_LINE, _PATH):
        return
    for name in ("transform", "x", "y"):
        if name in element.attrib:
            element.set(name, _DECIMAL.sub(lambda found: _tenths(found[0]), element.attrib[name]))
    place = _PLACE.fullmatch(element.get("transform", ""))
    if element.tag == _TEXT and place and not {"x", "y"} & element.attrib.keys():
        del element.attrib["transform"]
        element.attrib |= {
            name: at for name, at in zip("xy", place.groups(), strict=True) if at != "0"
        }


def _join(parent: ET.Element) -> None:
    """Shorten paths, and make one of lines or of markers that look the same, such as a grid."""
    earlier: ET.Element | None = None
    for child in [*parent]:
        path = _path_of(child)
        if path is None:
            earlier = None
            continue
        may_join = child.tag == _LINE or "transform" in child.attrib
        look = {name: child.attrib[name] for name in child.attrib if name not in _SHAPE}
        if may_join and earlier is not None and earlier.attrib == look | {"d": earlier.attrib["d"]}:
            earlier.set("d", earlier.attrib["d"] + path)
            parent.remove(child)
            continue
        child.tag, child.attrib = _PATH, look | {"d": path}
        earlier = child if may_join else None


def _path_of(element: ET.Element) -> str | None:
    """Return the path of a line or of a shape at its place; None of what Vega does not use here."""
    place = _PLACE.fullmatch(element.get("transform", "translate(0,0)"))
    if element.tag not in (_LINE, _PATH) or not place:
        return None
    path = element.get("d", f"M0,0L{element.get('x2', '0')},{element.get('y2', '0')}")
    if not _KNOWN.fullmatch(path):
        return None
    is_area = {"fill", "opacity"} <= element.attrib.keys() and "stroke" not in element.attrib
    return shortened(path, (float(place[1]), float(place[2])), 10 if is_area else 1)


def _inherit(group: ET.Element) -> None:
    """Give a group the attributes that all of its elements have, and take out bare groups."""
    for name in _INHERITED if len(group) > 1 else ():
        values = {child.get(name) for child in group}
        if len(values) == 1 and (value := values.pop()) is not None:
            group.set(name, value)
            for child in group:
                del child.attrib[name]
    group[:] = [
        each
        for child in group
        for each in (child if child.tag == _GROUP and not child.attrib else [child])
    ]


def shortened(path: str, moved: tuple[float, float] = (0.0, 0.0), unit: int = 1) -> str:
    """Return a path of Vega, moved, with steps in `unit` tenths of a pixel.

    A step leads to the rounded place, so roundings do not add up. Steps of the same direction are
    one.
    """
    pen = _Pen(*moved, *moved, unit)
    for command, numbers in _commands(path):
        pen.draw(command, numbers)
    return _written(pen.steps)


def _commands(path: str) -> Iterator[tuple[str, Sequence[float]]]:
    """Yield each command with its own numbers: `L1,2,3,4` is two."""
    for command, text in _COMMANDS.findall(path):
        numbers = [float(each) for each in _NUMBER.findall(text)]
        count = {"M": 2, "L": 2, "h": 1, "v": 1, "A": _ARC, "Z": 0}[command]
        if not count:
            yield command, ()
        for start in range(0, len(numbers), count or 1):
            yield command, numbers[start : start + count]


@dataclass(slots=True)
class _Pen:
    """Draws a path again, in steps from one rounded place to the next."""

    left: float
    top: float
    """Where the path's own place 0, 0 is."""
    x: float
    y: float
    unit: int
    begin: tuple[float, float] = (0.0, 0.0)
    steps: list[tuple[str, list[int]]] = field(default_factory=list)
    """Commands, and numbers in tenths; flags are tenths, too."""

    def draw(self, command: str, numbers: Sequence[float]) -> None:
        """Draw a command of Vega."""
        match command:
            case "M":
                self.x, self.y = self.begin = self.left + numbers[0], self.top + numbers[1]
                self.steps.append(("M", [*self._rounded()]))
            case "Z":
                self.x, self.y = self.begin
                self.steps.append(("z", []))
            case "A":
                *shape, x, y = numbers
                step = self._move(self.left + x, self.top + y)
                self.steps.append(("a", [*(round(10 * each) for each in shape), *step]))
            case "L":
                self._line(self.left + numbers[0], self.top + numbers[1])
            case "h":
                self._line(self.x + numbers[0], self.y)
            case _:
                self._line(self.x, self.y + numbers[0])

    def _move(self, x: float, y: float) -> list[int]:
        was = self._rounded()
        self.x, self.y = x, y
        return [now - then for now, then in zip(self._rounded(), was, strict=True)]

    def _rounded(self) -> tuple[int, int]:
        """Return its place in tenths; halves are rounded up, so equal steps stay equal."""
        x, y = (floor(10 * each / self.unit + 0.5) * self.unit for each in (self.x, self.y))
        return x, y

    def _line(self, x: float, y: float) -> None:
        step = self._move(x, y)
        command, earlier = self.steps[-1]
        if step == [0, 0] and command != "M":
            return
        if command == "l" and _is_onward(earlier, step):
            self.steps[-1] = ("l", [earlier[0] + step[0], earlier[1] + step[1]])
        else:
            self.steps.append(("l", step))


def _is_onward(earlier: Sequence[int], step: Sequence[int]) -> bool:
    """Whether two steps have the same direction."""
    is_straight = earlier[0] * step[1] == earlier[1] * step[0]
    return is_straight and earlier[0] * step[0] + earlier[1] * step[1] > 0


def _written(steps: Sequence[tuple[str, list[int]]]) -> str:
    """Return steps as a path, without a command that is repeated or a space that is not needed."""
    text, letter, before = "", "", ""
    for command, numbers in steps:
        shown, named = numbers, command
        if command == "l" and 0 in numbers:
            shown, named = ([numbers[0]], "h") if numbers[1] == 0 else ([numbers[1]], "v")
        if named != letter or named in "Mz":
            text, before, letter = text + named, "", named
        for number in shown:
            found = _tenths(number / 10)
            if before and found[0] != "-" and not (found[0] == "." and "." in before):
                text += " "
            text, before = text + found, found
    return text


def _tenths(number: float | str) -> str:
    """Return a number with one decimal at most, and no needless 0: 12, 0, -.5."""
    text = f"{float(number):.1f}".removesuffix(".0")
    return {"-0": "0"}.get(text, re.sub(r"^(-?)0\.", r"\1.", text))
