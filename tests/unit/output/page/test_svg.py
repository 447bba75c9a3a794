"""Files of Vega as small elements of a page that look the same."""

from xml.etree import ElementTree as ET

import pytest

from iotbench.output.page.svg import embed

SVG = "{http://www.w3.org/2000/svg}"


def element(inner):
    text = f'<svg xmlns="{SVG[1:-1]}" width="9" height="9" viewBox="0 0 9 9">{inner}</svg>'
    return ET.fromstring(embed(text, "title"))


def test_places_have_a_tenth_of_a_pixel():
    path = (
        '<path transform="translate(0.04,-8.06)" d="M24.07,2.41L0.5,49.84h-1e-15Z" stroke="red"/>'
    )
    (found,) = element(path)

    assert found.get("transform") == "translate(0,-8.1)"
    assert found.get("d") == "M24.1,2.4L.5,49.8h-1e-15Z"


def test_what_all_elements_of_a_group_have_is_the_groups():
    text = '<text transform="translate({0},-8.04)" fill="red" text-anchor="end">{0}</text>'
    group = f'<g transform="translate(0.5,0.5)">{text.format(1)}{text.format(2)}</g>'
    (found,) = element(group)

    assert found.attrib == {
        "transform": "translate(.5,.5)",
        "fill": "red",
        "text-anchor": "end",
    }
    assert [each.attrib for each in found] == [
        {"transform": "translate(1,-8)"},
        {"transform": "translate(2,-8)"},
    ]


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


def test_the_picture_has_a_name_and_scales():
    found = element('<path d="M0,0L1,1" stroke="red"/>')

    assert found.attrib == {"viewBox": "0 0 9 9", "role": "img", "aria-label": "title"}
