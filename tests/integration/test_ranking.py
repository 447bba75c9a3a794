"""All results on one axis, in a browser: chosen, sorted, filtered, pointed at, compared, linked."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from iotbench.output.page.build import page_of, render
from iotbench.output.page.measured import RepeatedItem, Sources
from iotbench.results.result import Result
from simulator.protocol.verdict import Status, Verdict
from tests.browser import WIDTHS, Tab
from tests.perf.page import many
from tests.unit.output.page import shown

_NAMES = "[...document.querySelectorAll('#overview tbody a')].map(each => each.textContent)"
_MARKS = """[...document.querySelectorAll('#ranking-picture [aria-roledescription="point"]')].map(
    each => each.getAttribute('aria-label'))"""
_TEXTS = """[...document.querySelectorAll("#ranking-picture text")].map(
    each => each.textContent).filter(text => text)"""
_UNKNOWN = Verdict(status=Status.UNKNOWN, reason="rows were not counted")


def _slower(target: str, number: int, *, durable: bool = True, known: bool = True) -> Result:
    """Return an insert whose runs take `number` times as long as those of `lite`."""
    found = shown.insert(target, counts=(1, 2))
    runs = []
    for run in found.runs:
        assert run.metrics
        assert run.outcome.server
        metrics = run.metrics.model_copy(update={"rows_per_s": run.metrics.rows_per_s / number})
        server = replace(run.outcome.server, durable=durable)
        verdict = run.outcome.verdict if known else _UNKNOWN
        outcome = run.outcome.model_copy(update={"server": server, "verdict": verdict})
        runs.append(run.model_copy(update={"metrics": metrics, "outcome": outcome}))
    return found.model_copy(update={"runs": runs})


def _results() -> list[Result]:
    return [
        _slower("middle", 20),
        _slower("fast", 1, durable=False),
        _slower("slow", 400, known=False),
        _slower(shown.HOSTILE, 30),
        shown.query("fast"),
        shown.query("slow"),
    ]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(page_of(Sources(shown.named(_results()), ()))))
    return path


@pytest.fixture
def tab(chrome: Tab, page: Path) -> Tab:
    return opened(chrome, page)


def opened(tab: Tab, page: Path, fragment: str = "") -> Tab:
    tab.look(1600)
    tab.open("about:blank")
    tab.open(page.as_uri() + fragment)
    tab.wait("document.documentElement.dataset.ready === 'yes'")
    return tab


def choose(tab: Tab, name: str, value: str) -> None:
    before = tab.evaluate(_MARKS)
    tab.evaluate(
        f"""(() => {{
            const select = document.querySelector('#ranking-choice [name={name}]');
            select.value = {json.dumps(value)};
            select.dispatchEvent(new Event('change', {{ bubbles: true }}));
        }})()"""
    )
    assert before
    tab.wait("new Promise(done => setTimeout(() => done(true), 150))")


def test_the_first_choice_has_all_results_of_a_kind_the_best_first(tab: Tab) -> None:
    marks = tab.evaluate(_MARKS)

    assert [mark.split(", ")[0] for mark in marks] == ["fast", "middle", shown.HOSTILE, "slow"]
    assert marks[0] == (
        "fast, Rows/s: 1,891, 2 workers, lowest to highest: 1,873 to 1,909, spread: 1.9%, n: 3,"
        " durability: not durable, verdict: verified"
    )
    assert tab.evaluate(_NAMES) == ["fast", "middle", shown.HOSTILE, "slow", "fast", "slow"]
    assert "Rows/s, higher is better, log scale" in tab.evaluate(_TEXTS)
    assert "5 · unknown" in tab.evaluate(_TEXTS)


def test_without_a_program_the_page_has_the_same_picture_and_every_result(
    tab: Tab, page: Path
) -> None:
    drawn = sorted(tab.evaluate(_TEXTS))
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        tab.open("about:blank")
        tab.open(page.as_uri())
        ready = tab.evaluate("document.documentElement.dataset.ready || 'no'")
        static = sorted(tab.evaluate(_TEXTS))
        controls = tab.evaluate("document.querySelector('#ranking-choice').checkVisibility()")
        lines = tab.evaluate("document.querySelectorAll('#overview tbody tr').length")
    finally:
        tab.call("Emulation.setScriptExecutionDisabled", value=False)

    assert ready == "no"
    assert static == drawn
    assert controls is False
    assert lines == 6


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("durability", "not durable", ["fast"]),
        ("durability", "durable", ["middle", shown.HOSTILE, "slow"]),
        ("verdict", "unknown", ["slow"]),
        ("workers", "1", ["fast", "middle", shown.HOSTILE, "slow"]),
        ("kind", "query iot", ["fast", "slow"]),
        ("figure", "p95_ms", ["fast", "middle", "slow", shown.HOSTILE]),
    ],
)
def test_a_filter_leaves_what_fits_in_picture_and_table(
    tab: Tab, name: str, value: str, expected: list[str]
) -> None:
    choose(tab, "kind", "insert iot")
    choose(tab, name, value)

    assert sorted(mark.split(", ")[0] for mark in tab.evaluate(_MARKS)) == sorted(expected)
    assert sorted(tab.evaluate(_NAMES)) == sorted(expected)
    assert f"{name}=" in tab.evaluate("location.hash")
    if name == "workers":
        assert all("1 worker," in mark for mark in tab.evaluate(_MARKS))


def test_each_number_of_workers_is_a_row_if_wanted(tab: Tab) -> None:
    choose(tab, "workers", "every")

    assert len(tab.evaluate(_MARKS)) == 8


def test_the_scale_is_linear_or_logarithmic(tab: Tab) -> None:
    logarithmic = tab.evaluate(_TEXTS)
    choose(tab, "scale", "linear")
    linear = tab.evaluate(_TEXTS)

    assert "0" in linear
    assert "0" not in logarithmic
    assert "100" in logarithmic


def test_every_column_sorts_both_ways(tab: Tab) -> None:
    titles = tab.evaluate("[...document.querySelectorAll('#overview th')].map(h => h.textContent)")
    first = {}
    for column, title in enumerate(titles):
        orders = []
        for _ in range(2):
            tab.evaluate(f"document.querySelectorAll('#overview th button')[{column}].click()")
            rows = tab.evaluate(
                f"""[...document.querySelectorAll('#overview tbody tr')].map(
                    row => row.cells[{column}].textContent)"""
            )
            ways = tab.evaluate(
                f"document.querySelectorAll('#overview th')[{column}].getAttribute('aria-sort')"
            )
            orders.append((ways, [row for row in rows if row != "-"]))
        assert [ways for ways, _ in orders] == ["ascending", "descending"]
        assert orders[0][1] == orders[1][1][::-1] or len({*orders[0][1]}) < len(orders[0][1])
        first[title] = orders[0][1]

    rates = [float(rate.replace(",", "")) for rate in first["Rate"]]
    assert rates == sorted(rates)
    assert len({*rates}) == 5


def test_the_pointer_shows_value_n_range_spread_and_verdict(tab: Tab) -> None:
    assert tab.evaluate("document.querySelector('#ranking-hint').hidden") is True
    at = tab.centre('#ranking-picture [aria-roledescription="point"]')
    tab.move(*at)

    hint = tab.evaluate("document.querySelector('#ranking-hint').innerText")
    assert hint.splitlines() == [
        "fast", "Rows/s: 1,891", "2 workers", "lowest to highest: 1,873 to 1,909", "spread: 1.9%",
        "n: 3", "durability: not durable", "verdict: verified",
    ]  # fmt: skip
    tab.move(2, 2)
    assert tab.evaluate("document.querySelector('#ranking-hint').hidden") is True


def test_a_click_on_two_compares_them_and_says_which_is_better(tab: Tab) -> None:
    tab.click(*tab.centre('#ranking-picture [aria-roledescription="point"]'))
    tab.wait("!document.querySelector('#ranking-compared').hidden")
    pair = tab.evaluate("document.querySelector('#ranking-pair').textContent")
    assert pair == "A: fast, 2 workers · choose another one to compare with"
    tab.evaluate("document.querySelectorAll('#overview button.pick')[1].click()")
    lines = tab.evaluate(
        "[...document.querySelectorAll('#ranking-figures tbody tr')].map(row => row.innerText)"
    )
    note = tab.evaluate("document.querySelector('#ranking-note').textContent")

    assert lines[0].split("\t") == [
        "Rows/s", "1,891 (spread 1.9%)", "95 (spread 1.9%)", "A is 20 times B; A is better",
    ]  # fmt: skip
    assert "Their durability differs: compare only results of equal durability." in note
    assert "the ranges of their runs do not overlap" in note


def test_a_link_keeps_the_choice(tab: Tab, page: Path) -> None:
    choose(tab, "scale", "linear")
    choose(tab, "figure", "p95_ms")
    tab.evaluate("document.querySelectorAll('#overview th button')[8].click()")
    tab.evaluate("document.querySelectorAll('#overview button.pick')[0].click()")
    fragment, names = tab.evaluate("location.hash"), tab.evaluate(_NAMES)
    opened(tab, page, fragment)

    assert tab.evaluate("document.querySelector('[name=figure]').value") == "p95_ms"
    assert tab.evaluate("document.querySelector('[name=scale]').value") == "linear"
    assert tab.evaluate(_NAMES) == names
    assert tab.evaluate("location.hash") == fragment
    assert tab.evaluate("document.querySelector('[aria-pressed=true]').textContent") == "A"
    assert "p95 ms, lower is better" in tab.evaluate(_TEXTS)


@pytest.mark.parametrize(
    "fragment", ["#figure=nonsense&sort=99&compare=7777.x&scale=%3Cb%3E", "#=&=", "#%%%=1"]
)
def test_a_link_that_is_damaged_shows_the_first_choice(
    chrome: Tab, page: Path, fragment: str
) -> None:
    tab = opened(chrome, page, fragment)

    assert tab.evaluate(_NAMES) == ["fast", "middle", shown.HOSTILE, "slow", "fast", "slow"]


def test_a_link_to_a_result_opens_it(chrome: Tab, page: Path) -> None:
    tab = opened(chrome, page, "#result-2")

    assert tab.evaluate("document.querySelector('#result-2').checkVisibility()") is True


def test_all_of_it_works_with_the_keyboard(tab: Tab) -> None:
    reached: list[Any] = []
    for _ in range(60):
        tab.key("Tab")
        reached.append(
            tab.evaluate("document.activeElement.name || document.activeElement.className")
        )
    tab.evaluate("document.querySelector('#overview button.pick').focus()")
    tab.key("Enter")
    tab.wait("!document.querySelector('#ranking-compared').hidden")

    assert {"figure", "durability", "scale", "sort", "pick"} <= {*reached}
    assert tab.evaluate("document.activeElement.className") == "pick"
    assert tab.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    tab.key("Enter")
    assert tab.evaluate("document.querySelector('#ranking-compared').hidden") is True


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_each_width_in_both_schemes(tab: Tab, width: int, scheme: str) -> None:
    tab.look(width, scheme)
    tab.wait("new Promise(done => setTimeout(() => done(true), 400))")
    right = tab.evaluate(
        """Math.max(...[...document.querySelectorAll('#ranking-picture text')].map(
            each => each.getBoundingClientRect().right))"""
    )
    left = tab.evaluate(
        """Math.min(...[...document.querySelectorAll('#ranking-picture text')].map(
            each => each.getBoundingClientRect().left))"""
    )

    assert left >= 0
    assert right <= width
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert len(tab.evaluate(_MARKS)) == 4


def test_it_prints_with_its_picture_and_without_its_controls(tab: Tab) -> None:
    printed = tab.printed()
    tab.call("Emulation.setEmulatedMedia", media="print")
    hidden = "getComputedStyle(document.querySelector('#ranking-choice')).display"
    drawn = "document.querySelector('#ranking-picture svg').getBoundingClientRect().height"
    try:
        assert tab.evaluate(hidden) == "none"
        assert tab.evaluate(drawn) > 80
    finally:
        tab.call("Emulation.setEmulatedMedia", media="")
    assert printed.startswith(b"%PDF")


def test_a_page_of_100_results_is_below_3_mb_and_says_it_all_at_first(
    chrome: Tab, tmp_path: Path
) -> None:
    page = tmp_path / "100.html"
    page.write_text(render(page_of(many(100))))
    tab = opened(chrome, page)
    folded = "[...document.querySelectorAll('details.fold, details.result')].map(each => each.open)"

    assert page.stat().st_size < 3_000_000
    assert len(tab.evaluate(_MARKS)) > 40
    assert len(tab.evaluate(_NAMES)) == 100
    assert not any(tab.evaluate(folded))
    assert (
        tab.evaluate("document.querySelector('#ranking-picture').getBoundingClientRect().top") < 500
    )
    assert tab.evaluate("document.documentElement.scrollHeight") < 12_000


def _planned(tmp_path: Path) -> Path:
    """A page of a plan: two settings on five targets, the second one three times as slow."""
    results, repeated = [], {}
    for place, setting in enumerate(("quick", "thorough")):
        for number in range(1, 6):
            path, target = Path(f"{setting}-{number}.json"), f"target-{number}"
            results.append((path, _slower(target, number * (1 + 2 * place))))
            repeated[path] = RepeatedItem(Path("plan-p.json"), setting, target, place)
    page = tmp_path / "plan.html"
    page.write_text(render(page_of(Sources(results, (), repeated))))
    return page


def test_of_a_plan_each_target_is_shown_once_until_all_are_wanted(
    chrome: Tab, tmp_path: Path
) -> None:
    page = _planned(tmp_path)
    tab = opened(chrome, page)
    targets = [f"target-{number}" for number in range(1, 6)]
    first = [mark.split(", Rows/s")[0] for mark in tab.evaluate(_MARKS)]
    table = tab.evaluate(_NAMES)
    choose(tab, "setting", "thorough")
    other = tab.evaluate(_MARKS)
    fragment = tab.evaluate("location.hash")
    choose(tab, "setting", "every")

    assert first == targets
    assert table == [f"{name}, quick" for name in targets]
    assert other[0].startswith("target-1, Rows/s: 630, ")
    assert fragment == "#setting=thorough"
    assert len(tab.evaluate(_MARKS)) == len(tab.evaluate(_NAMES)) == 10
    assert tab.evaluate(_MARKS)[0].startswith("target-1, quick, Rows/s: 1,891, ")
    folded = (
        "[...document.querySelectorAll('details.fold, details.result')].every(each => !each.open)"
    )
    assert tab.evaluate(f"document.querySelectorAll('#all details.result').length && {folded}")


def test_the_console_is_empty_and_nothing_is_requested(tab: Tab) -> None:
    choose(tab, "figure", "p50_ms")

    assert tab.complaints() == []
    assert all(each.startswith(("file:", "data:", "about:")) for each in tab.requests())
