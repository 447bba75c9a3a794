"""Files of Vega as elements of a page that look the same."""

from xml.etree import ElementTree as ET

import pytest

from iotbench.output.page.drawing import embed

SVG = "{http://www.w3.org/2000/svg}"


def element(inner):
    text = f'<svg xmlns="{SVG[1:-1]}" width="9" height="9" viewBox="0 0 9 9">{inner}</svg>'
    return ET.fromstring(embed(text, "title"))


def test_what_changes_nothing_is_left_out_and_the_rest_stays():
    drawn = '<path d="M24.07,2.41L0.5,49.84" stroke="red" class="x" aria-label="y" opacity="1"/>'
    (group,) = element(f'<g><g transform="translate(0.5,0.5)">{drawn}</g></g>')

    assert group.attrib == {"transform": "translate(0.5,0.5)"}
    assert [each.attrib for each in group] == [{"d": "M24.07,2.41L0.5,49.84", "stroke": "red"}]


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
