"""The machine's clock is set while a run goes on: no figure changes by it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.conftest import CommandLine

STEPPED = """
import time
from pathlib import Path

real, real_ns = time.time, time.time_ns

def step_s():
    try:
        return int(Path({file!r}).read_text())
    except OSError:
        return 0

time.time = lambda: real() + step_s()
time.time_ns = lambda: real_ns() + step_s() * 10**9
"""
"""What Python imports at its start, here in all processes of a run."""


@pytest.fixture
def set_clock(cli: CommandLine) -> Callable[[int], None]:
    """Change the time of day, by seconds, for all processes of the run."""
    file = cli.folder / "step"
    (own := cli.folder / "own").mkdir()
    (own / "sitecustomize.py").write_text(STEPPED.format(file=str(file)))
    cli.environment["PYTHONPATH"] = str(own)

    def set_clock(seconds: int) -> None:
        new = file.with_suffix(".new")
        new.write_text(str(seconds))
        new.replace(file)

    return set_clock


@pytest.mark.parametrize("step_s", [-7200, pytest.param(7200, marks=pytest.mark.rare)])
def test_a_step_of_the_clock_changes_no_figure(
    cli: CommandLine,
    set_clock: Callable[[int], None],
    eventually: Callable[[Callable[[], Any]], Any],
    step_s: int,
) -> None:
    stored = cli.run("insert", "--target=sqlite", "--workers=1", "--runs=1", "--num-inserts=1000")
    assert stored.code == 0, stored.err
    running = cli.start(
        "mixed", "--target=sqlite", "--insert-workers=2", "--insert-rate=1000", "--batch=50",
        "--query-workers=1", "--query-rate=20", "--duration=6s", "--warmup=1s",
        "--fault=kill-worker", "--at=1s", "--for=500ms", "--verify=full",
    )  # fmt: skip
    eventually(lambda: (cli.results()[-1].get("in_progress") or {}).get("rows", 0) > 2000)
    set_clock(step_s)
    done = cli.finish(running)

    assert done.code == 0, done.err
    (run,) = cli.results()[-1]["runs"]
    outcome, metrics = run["outcome"], run["metrics"]
    assert outcome["rows_verdict"]["status"] == outcome["verdict"]["status"] == "verified"
    assert metrics["rows_per_s"] == pytest.approx(1000, rel=0.1)
    assert metrics["overlap"] > 0.9
    phases = outcome["phases_s"]
    assert phases["mixed"] == pytest.approx(6, abs=1.5)
    assert all(0 <= each < 10 for each in phases.values()), phases
    (outage,) = run["outages"]
    assert 0.3 < outage["silent_s"] < 3
    began = [each["faults"][0]["began_s"] - each["started_s"] for each in outcome["workers"][:2]]
    assert began == pytest.approx([1, 1], abs=0.5)
    assert all(worker["ended_s"] - worker["started_s"] < 10 for worker in outcome["workers"])


def test_an_insert_with_an_earlier_clock_is_the_last_one(
    cli: CommandLine, set_clock: Callable[[int], None]
) -> None:
    """The mark in the database of a second insert, whose clock was set back two hours."""
    small = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet")
    load = ("--workers=1", "--runs=1", "--batch=50")
    first = cli.run("insert", *small, *load, "--num-inserts=100", "--seed=1")
    set_clock(-7200)
    second = cli.run("insert", *small, *load, "--num-inserts=300", "--seed=2")
    asked = cli.run("verify", *small, f"--output={cli.output}")
    for file in cli.output.glob("*.json"):
        file.unlink()
    verified = cli.run("verify", *small, "--format=json", f"--output={cli.output}")

    codes = [each.code for each in (first, second, asked, verified)]
    assert codes == [0] * 4, second.err + asked.err + verified.err
    counts = [row["expected"] for row in verified.json["rows"] if row["check"] == "events: count"]
    assert counts == ["300"]
