"""A kind of measurement is one file and one line, as CONTRIBUTING.md says."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import ROOT

WHAT_RUNS = ("iotbench", "simulator", "run.py", "config.yaml", "requirements.txt", "deployment")
LINE = 'NAMES = ("insert", "query", "mixed", "change", "verify")'
PROGRAM = """
import json, sys
from contextlib import closing
from pathlib import Path
from tests.commands import KeptForks, run_here

with closing(KeptForks()) as forks:
    for line in sys.stdin:
        done = run_here(json.loads(line), Path.cwd(), {}, forks)
        print(json.dumps([done.code, done.out + done.err]), flush=True)
"""
"""Runs commands of a copy of the program, in one process."""
Run = Callable[..., str]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Runs commands of a copy with the kind of `tests/standins/once.py`, which has two results."""
    tree = tmp_path_factory.mktemp("tree")
    for name in WHAT_RUNS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tree / name)
    (tree / "iotbench/measurements/once").mkdir()
    shutil.copy(ROOT / "tests/standins/once.py", tree / "iotbench/measurements/once/kind.py")
    table = tree / "iotbench/results/kinds.py"
    assert LINE in table.read_text()
    table.write_text(table.read_text().replace(LINE, LINE.replace(")", ', "once")')))
    environment = {"PYTHONPATH": f"{tree}:{ROOT}", "XDG_STATE_HOME": str(tree / "state")}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=tree, env={**os.environ, **environment}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout

        def run(*words: str, code: int = 0) -> str:
            print(json.dumps(words), file=process.stdin, flush=True)
            found, text = json.loads(process.stdout.readline())
            assert found == code, text
            return text

        run("insert", "-t", "sqlite", "-w", "1", "-r", "1", "--num-inserts", "2000",
            "--batch", "100", "-q")  # fmt: skip
        for _ in range(2):
            run("once", "-t", "sqlite", "--types", "count-events,newest-per-device", "-q")
        yield run
        process.stdin.close()


def test_it_is_measured_verified_and_held_against_thresholds(run: Run) -> None:
    words = ("once", "-t", "sqlite", "--types", "count-events", "--tag", "limited", "-q")
    shown = json.loads(run(*words, "--format", "json"))
    assert (shown["kind"], shown["status"]) == ("once", "done")
    (row,) = shown["rows"]
    assert (row["query"], row["verdict"], row["first_ms"] > 0) == ("count-events", "verified", True)
    assert "first_ms > 0" in run(*words, "--fail-if", "first_ms > 0", code=99)


def test_its_results_are_listed_shown_compared_exported_and_drawn(run: Run, tmp_path: Path) -> None:
    entries = json.loads(run("results", "list", "--kind", "once", "--format", "json"))
    first, second = [each["id"] for each in entries if "limited" not in each["tags"]][:2]
    assert "once target=sqlite" in run("show", first)
    assert "count-events" in run("compare", first, second)
    assert "once" in run("results", "export", first)
    page = tmp_path / "page.html"
    run("report", first, second, "--page", str(page))
    assert "First answers, workload iot" in page.read_text()
    assert "First answer" in page.read_text()


# The last one: a process that has shown help keeps what it shows, as no command does.
def test_it_is_a_command(run: Run) -> None:
    assert "Time the first answer" in run("--help")
    assert "python run.py once --target sqlite" in run("once", "--help")
    assert "queries, each twice: count-events" in run(
        "once", "-t", "sqlite", "--types", "count-events", "--dry-run"
    )
