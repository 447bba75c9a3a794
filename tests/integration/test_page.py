"""The page of results in a browser: drawn, quiet, within its width, and on paper."""

from pathlib import Path

import pytest

from iotbench.output.page.build import page_of, render
from iotbench.output.page.measured import Sources
from iotbench.output.site.build import list_pages
from tests.browser import WIDTHS, Tab
from tests.unit.output.page import shown

_BOXES = """[...document.querySelectorAll("figure svg")].map(svg => {
    const box = svg.getBoundingClientRect(), marks = [...svg.querySelectorAll("path, line, text")];
    const lefts = marks.map(each => each.getBoundingClientRect().left);
    return [box.left, box.width, box.height, marks.length, Math.min(...lefts)];
})"""
_COLOURS = "getComputedStyle(document.body).color + getComputedStyle(document.body).backgroundColor"
_STROKES = """[...new Set([...document.querySelectorAll("svg path")].map(
    path => getComputedStyle(path).stroke))]"""


@pytest.fixture(scope="module")
def tab(tmp_path_factory, chrome: Tab) -> Tab:
    page: Path = tmp_path_factory.mktemp("page") / "report.html"
    page.write_text(render(page_of(Sources(shown.named(shown.every()), ()))))
    return chrome.open(page.as_uri())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_picture_is_drawn_within_the_page(tab: Tab, width: int, scheme: str) -> None:
    tab.look(width, scheme)
    boxes = tab.evaluate(_BOXES)

    assert len(boxes) > 20
    for left, wide, high, marks, leftmost in boxes:
        assert left >= 0
        assert left + wide <= width
        assert wide > 200
        assert high > 50
        assert marks >= 8
        assert leftmost >= left - 2
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert len(tab.evaluate(_STROKES)) >= 3
    assert len(tab.picture()) > 50_000


def test_light_and_dark_differ(tab: Tab) -> None:
    colours = []
    for scheme in ("light", "dark"):
        tab.look(900, scheme)
        colours.append(tab.evaluate(_COLOURS))

    assert colours[0] != colours[1]


def test_it_prints(tab: Tab) -> None:
    printed = tab.printed()

    assert printed.startswith(b"%PDF")
    assert 3 <= printed.count(b"/Type /Page\n") <= 40


def test_the_console_is_empty_and_nothing_was_requested(tab: Tab) -> None:
    tab.evaluate("1")  # what the page has reported comes first

    assert tab.complaints() == []
    assert all(each.startswith(("file:", "data:")) for each in tab.requests())
    assert tab.requests()


def test_a_site_fits_every_width_and_asks_for_nothing(tmp_path: Path, chrome: Tab) -> None:
    given = Sources(shown.named(shown.every()), ())
    for name, text in list_pages(given, {"../README.md": "the verdicts"}).items():
        (tmp_path / name).write_text(text)
    tab = chrome.open((tmp_path / "index.html").as_uri())

    for width in WIDTHS:
        tab.look(width, "light")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate("document.querySelectorAll('td[class*=heat-]').length") >= 4
    assert tab.complaints() == []
    assert [each for each in tab.requests() if not each.startswith(("file:", "data:"))] == []


def test_a_page_runs_no_script_of_a_result(tmp_path: Path, chrome: Tab) -> None:
    """Hostile names and texts are letters on the page: no element, dialog or request of theirs."""
    texts = ("<img src=x onerror=window.owned=1>", "</script><script>window.owned=1</script>",
             "'];window.owned=1;['", "\x1b[31m", "https://example.com/x")  # fmt: skip
    results = [
        result.model_copy(update={"target": text, "module": text, "warnings": [text], "cause": text,
                                  "ran_on": {text: text}, "target_options": {text: text}})
        for text, result in zip(texts, shown.every() * len(texts), strict=False)
    ]  # fmt: skip
    page = tmp_path / "report.html"
    page.write_text(render(page_of(Sources(shown.named(results), ()))))
    tab = chrome.open(page.as_uri())
    assert tab.evaluate("window.owned === undefined")
    assert tab.evaluate("document.images.length") == 0
    assert "onerror=window.owned=1" in tab.evaluate("document.body.innerText")
    assert tab.complaints() == []
    assert [each for each in tab.requests() if not each.startswith(("file:", "data:"))] == []
