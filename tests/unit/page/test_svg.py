"""Files of Vega as small elements of a page that look the same."""

import random
import re
from xml.etree import ElementTree as ET

import pytest

from cli.page.svg import embedded, shortened

NUMBER = re.compile(r"-?(?:\d+\.\d*|\.\d+|\d+)")
SVG = "{http://www.w3.org/2000/svg}"


def places(path):
    """Follow a short path of lines; return the places it leads to."""
    x = y = 0.0
    found = []
    for command, text in re.findall("([Mlhvz])([^Mlhvz]*)", path):
        numbers = [float(each) for each in NUMBER.findall(text)]
        steps = {
            "h": [(each, 0.0) for each in numbers],
            "v": [(0.0, each) for each in numbers],
            "z": [],
        }.get(command, [*zip(numbers[::2], numbers[1::2], strict=True)])
        for step in steps:
            x, y = step if command == "M" else (x + step[0], y + step[1])
            found.append((x, y))
    return found


def element(inner):
    text = f'<svg xmlns="{SVG[1:-1]}" width="9" height="9" viewBox="0 0 9 9">{inner}</svg>'
    return ET.fromstring(embedded(text, "title"))


@pytest.mark.parametrize(
    ("path", "moved", "expected"),
    [
        ("M24.07,2.41L72.2,49.84L120.3,33", (0, 0), "M24.1 2.4l48.1 47.4 48.1-16.8"),
        ("M0,0L0.5,0.5L1,0", (0, 0), "M0 0l.5.5.5-.5"),
        ("M0,5.4h323.9v21.1h-323.9Z", (0, 0), "M0 5.4h323.9v21.1h-323.9z"),
        ("M-3.7,-3.7h7.4v7.4h-7.4Z", (10, 20), "M6.3 16.3h7.4v7.4h-7.4z"),
        ("M0,0L5,0L9,0L9,4L9,2", (0, 0), "M0 0h9v4-2"),
        ("M1,1L1,1L2,3", (0, 0), "M1 1h0l1 2"),
        ("M1,1L2,3L2.01,3.04L3,9", (0, 0), "M1 1l1 2 1 6"),
        ("M3,4Z", (0, 0), "M3 4z"),
        ("M0,0L1,1M5,5L6,6", (0, 0), "M0 0l1 1M5 5l1 1"),
        ("M-1e-15,0L1,0", (0, 0), "M0 0h1"),
        (
            "M2.93,0A2.93,2.93,0,1,1,-2.93,0A2.93,2.93,0,1,1,2.93,0",
            (0, 0),
            "M2.9 0a2.9 2.9 0 1 1-5.8 0 2.9 2.9 0 1 1 5.8 0",
        ),
    ],
)
def test_a_path_has_short_steps(path, moved, expected):
    assert shortened(path, moved) == expected


def test_a_path_of_whole_pixels_keeps_equal_steps():
    path = "M1.5,10.2L4.5,10.4L7.5,10.1L10.5,12.6L13.5,9.49"

    assert shortened(path, unit=10) == "M2 10h6l3 3 3-4"


def test_a_long_path_leads_to_the_same_places_rounded():
    noise = random.Random(7)
    given = [(each * 1.17, noise.uniform(0, 120)) for each in range(300)]
    path = "M" + "L".join(f"{x:.3f},{y:.3f}" for x, y in given)
    found = places(shortened(path))

    assert len(shortened(path)) < 0.85 * len(re.sub(r"\.(\d)\d+", r".\1", path))
    assert len(found) == len(given)
    for place, expected in zip(found, given, strict=True):
        assert place == pytest.approx(expected, abs=0.0511)


def test_lines_and_markers_that_look_the_same_are_one_path():
    line = '<line transform="translate(0,{0})" x2="9" y2="0" stroke="red" stroke-width="1"/>'
    marker = '<path transform="translate({0},2)" d="M-1,0L1,0L0,1Z" fill="{1}"/>'
    lines = "".join(line.format(each) for each in (1, 2, 3))
    markers = "".join(marker.format(*each) for each in ((1, "red"), (3, "red"), (5, "blue")))
    grid, reds, blue = element(lines + markers)

    assert grid.attrib == {"d": "M0 1h9M0 2h9M0 3h9", "stroke": "red", "stroke-width": "1"}
    assert reds.attrib == {"d": "M0 2h2l-1 1zM2 2h2l-1 1z", "fill": "red"}
    assert blue.attrib == {"d": "M4 2h2l-1 1z", "fill": "blue"}


def test_curves_stay_apart_though_they_look_the_same():
    curve = '<path d="M0,0L1,1" stroke="red"/>'

    assert len(element(curve * 2)) == 2


def test_what_all_elements_of_a_group_have_is_the_groups():
    text = '<text transform="translate({0},-8.04)" fill="red" text-anchor="end">{0}</text>'
    group = f'<g transform="translate(0.5,0.5)">{text.format(1)}{text.format(2)}</g>'
    (found,) = element(group)

    assert found.attrib == {
        "transform": "translate(.5,.5)",
        "fill": "red",
        "text-anchor": "end",
    }
    assert [each.attrib for each in found] == [{"x": "1", "y": "-8"}, {"x": "2", "y": "-8"}]


def test_what_not_all_have_is_not_the_groups():
    drawn = '<path d="M0,0L1,1" stroke="red"/><path d="M0,0h1v1h-1Z" fill="red" opacity="0.5"/>'
    (group,) = element(f'<g transform="translate(1,1)">{drawn}</g>')

    assert group.attrib == {"transform": "translate(1,1)"}
    assert [each.get("stroke") for each in group] == ["red", None]
    assert [each.get("fill") for each in group] == [None, "red"]
    assert [each.get("opacity") for each in group] == [None, "0.5"]


@pytest.mark.parametrize(
    "hidden",
    [
        '<path d="M0,0h9v9h-9Z"/>',
        '<path d="M0,0h9v9h-9Z" fill="transparent"/>',
        '<path d="M0,0h9v9h-9Z" fill="red" opacity="0"/>',
        '<path d="" fill="red"/>',
        '<text fill="red"/>',
        '<g class="x"><g role="y"/></g>',
    ],
)
def test_what_nobody_sees_is_left_out(hidden):
    assert len(element(hidden)) == 0


def test_a_path_with_other_commands_stays_as_it_is():
    path = '<path transform="translate(1,2)" d="M0,0C1,1,2,2,3,3" stroke="red"/>'
    (found,) = element(path)

    assert found.attrib == {
        "transform": "translate(1,2)",
        "d": "M0,0C1,1,2,2,3,3",
        "stroke": "red",
    }


def test_the_picture_has_a_name_and_scales():
    found = element('<path d="M0,0L1,1" stroke="red"/>')

    assert found.attrib == {"viewBox": "0 0 9 9", "role": "img", "aria-label": "title"}
