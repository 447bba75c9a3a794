"""Pages of few and of many results: seconds to make, size, and seconds until they can be used.

The results are those of `results/published`, under other names and with other figures.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

from cli.page.build import page_of
from cli.page.html import rendered
from cli.page.sources import Sources
from cli.results import result_files
from cli.results.result import Result
from tests import ROOT
from tests.browser import Tab, browser

COUNTS = (2, 19, 100)
_FACTOR = 0.97
_TARGET = '#ranking-choice [name="scale"]'


def many(count: int) -> Sources:
    """Return as many results as wanted, of targets of that many names."""
    return Sources([(Path(f"{number}.json"), each) for number, each in _renamed(count)], ())


def _renamed(count: int) -> Iterator[tuple[int, Result]]:
    names = "*.json" if count > 2 else "*-insert-*.json"
    paths = sorted((ROOT / "results/published/results").glob(names))
    known = [result_files.read(path) for path in paths[: min(count, len(paths))]]
    for number in range(count):
        found, turn = known[number % len(known)], number // len(known)
        name = f"{found.target}_{number}"
        yield number, found.model_copy(update={"target": name, "runs": _slower(found, turn)})


def _slower(found: Result, turn: int) -> list[object]:
    factor = _FACTOR ** (turn + 1)
    return [
        run.model_copy(update={"metrics": run.metrics.model_copy(
            update={"rows_per_s": run.metrics.rows_per_s * factor})})
        if run.metrics else run
        for run in found.runs
    ]  # fmt: skip


def usable_s(tab: Tab, page: Path) -> tuple[float, float]:
    """Return the seconds until the page has been drawn, and until a choice is drawn."""
    tab.look(1600)
    tab.open("about:blank")
    start = time.monotonic()
    tab.open(page.as_uri())
    tab.wait("document.documentElement.dataset.ready === 'yes'")
    opened_s = time.monotonic() - start
    start = time.monotonic()
    tab.wait(
        f"""new Promise(done => {{
            const select = document.querySelector({_TARGET!r});
            new MutationObserver(() => done(true)).observe(
                document.querySelector("#ranking-picture"), {{ childList: true }});
            select.value = select.value === "log" ? "linear" : "log";
            select.dispatchEvent(new Event("change", {{ bubbles: true }}));
        }})"""
    )
    return opened_s, time.monotonic() - start


def main() -> None:
    """Print a line for each number of results."""
    print(
        f"{'results':>8} {'made in s':>10} {'MB':>6} {'usable in s':>12} {'choice drawn in s':>18}"
    )
    with TemporaryDirectory() as folder, browser() as tab:
        for count in COUNTS:
            given = many(count)
            start = time.monotonic()
            text = rendered(page_of(given))
            made_s = time.monotonic() - start
            page = Path(folder) / f"{count}.html"
            page.write_text(text)
            opened_s, chosen_s = usable_s(tab, page)
            size = len(text.encode()) / 1e6
            print(f"{count:>8} {made_s:>10.1f} {size:>6.2f} {opened_s:>12.2f} {chosen_s:>18.2f}")


if __name__ == "__main__":
    main()
