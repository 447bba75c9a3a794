"""Pages of few and of many results: seconds to make, size, and seconds until they can be used.

The results are those of `results/published` of one workload, so that all are shown at first, under
other names and with other figures: as short as they are, and as if each run had lasted an hour,
with the resources that it used and the work of its server.
"""

import random
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

from iotbench.machine.resources import Resources, Sample, Used
from iotbench.output.page.build import page_of, render
from iotbench.output.page.measured import Sources
from iotbench.results import packed, result_files
from iotbench.results.result import Result, RunRecord
from simulator.protocol.events import Occurrence
from tests import ROOT
from tests.browser import Tab, browser

COUNTS = (2, 19, 100)
LONG_S = 3600
MOST_MB = 3.0
"""Of a page of 100 results."""
_FACTOR = 0.97
_SEEDS = 5
_SAMPLE_S = 2.0
_CHECKPOINT_S = 60.0
_WORKLOAD = "iot"
_TARGET = '#ranking-choice [name="scale"]'


def many(count: int, *, long: bool = False) -> Sources:
    """Return as many results as wanted, of targets of that many names."""
    found = [*_renamed(count, "2*.json" if count > 2 and not long else "*-insert-*.json")]
    if long:
        used = [Resources(server="process 7", samples=_samples(seed)) for seed in range(_SEEDS)]
        found = [(number, _lasting(each, used[number % _SEEDS])) for number, each in found]
    return Sources([(Path(f"{number}.json"), each) for number, each in found], ())


def _renamed(count: int, names: str) -> Iterator[tuple[int, Result]]:
    paths = sorted(packed.find_files(ROOT / "results/published/results.zip", names))
    of_workload = (
        each for each in map(result_files.read, paths) if each.dataset.workload == _WORKLOAD
    )
    known = [*islice(of_workload, count)]
    for number in range(count):
        found, turn = known[number % len(known)], number // len(known)
        name = f"{found.target}_{number}"
        yield number, found.model_copy(update={"target": name, "runs": _slower(found, turn)})


def _slower(found: Result, turn: int) -> list[RunRecord]:
    factor = _FACTOR ** (turn + 1)
    return [
        run.model_copy(update={"metrics": run.metrics.model_copy(
            update={"rows_per_s": run.metrics.rows_per_s * factor})})
        if run.metrics else run
        for run in found.runs
    ]  # fmt: skip


def _lasting(found: Result, used: Resources) -> Result:
    """Return an insert whose runs have lasted an hour each."""
    noise = random.Random(found.target)
    return found.model_copy(update={"runs": [_hour(run, used, noise) for run in found.runs]})


def _hour(run: RunRecord, used: Resources, noise: random.Random) -> RunRecord:
    outcome = run.outcome
    assert run.metrics
    assert outcome.released_s is not None
    mean = run.metrics.rows_per_s / len(outcome.workers)
    workers = [
        worker.model_copy(update={
            "rows_by_second": tuple(round(mean * noise.uniform(0.6, 1.2)) for _ in range(LONG_S)),
            "ended_s": outcome.released_s + LONG_S,
        })
        for worker in outcome.workers
    ]  # fmt: skip
    checkpoints = tuple(
        Occurrence(at_s=_CHECKPOINT_S * each, what="checkpoints")
        for each in range(1, int(LONG_S / _CHECKPOINT_S))
    )
    phases = outcome.phases_s | {"insert": float(LONG_S)}
    changes = {"workers": tuple(workers), "occurrences": checkpoints, "phases_s": phases}
    return run.model_copy(update={"outcome": outcome.model_copy(update=changes), "resources": used})


def _samples(seed: int) -> tuple[Sample, ...]:
    noise = random.Random(seed)

    def used(most: float) -> Used:
        return Used(cores=noise.uniform(0, most), memory_bytes=2**30)

    return tuple(
        Sample(
            phase="insert", ended_s=_SAMPLE_S * (each + 1), duration_s=_SAMPLE_S,
            machine_cores=noise.uniform(1, 2), machine_load=2.0, machine_memory_bytes=2**33,
            client=used(0.5), server=used(1.5),
        )
        for each in range(int(LONG_S / _SAMPLE_S))
    )  # fmt: skip


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


def main() -> int:
    """Print a line for each number of results; return 1 if a page is too large."""
    largest_mb = 0.0
    print(
        f"{'results':>8} {'runs':>8} {'made in s':>10} {'MB':>6} {'usable in s':>12}"
        f" {'choice drawn in s':>18}"
    )
    with TemporaryDirectory() as folder, browser() as tab:
        for long in (False, True):
            for count in COUNTS:
                given = many(count, long=long)
                start = time.monotonic()
                text = render(page_of(given))
                made_s = time.monotonic() - start
                page = Path(folder) / f"{count}.html"
                page.write_text(text)
                opened_s, chosen_s = usable_s(tab, page)
                size_mb = len(text.encode()) / 1e6
                largest_mb = max(largest_mb, size_mb)
                print(
                    f"{count:>8} {'1 h' if long else 'short':>8} {made_s:>10.1f} {size_mb:>6.2f}"
                    f" {opened_s:>12.2f} {chosen_s:>18.2f}"
                )
    if largest_mb >= MOST_MB:
        print(f"expected less than {MOST_MB:g} MB, got {largest_mb:.2f}", file=sys.stderr)
    return int(largest_mb >= MOST_MB)


if __name__ == "__main__":
    sys.exit(main())
