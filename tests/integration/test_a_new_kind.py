"""A kind of measurement is one file and one line, as CONTRIBUTING.md says."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WHAT_RUNS = ("iotbench", "simulator", "run.py", "config.yaml", "requirements.txt", "deployment")
LINE = 'NAMES = ("insert", "query", "mixed", "change", "verify")'


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the program with the kind of `tests/standins/once.py`, and rows in its database."""
    tree = tmp_path_factory.mktemp("tree")
    for name in WHAT_RUNS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tree / name)
    (tree / "iotbench/measurements/once").mkdir()
    shutil.copy(ROOT / "tests/standins/once.py", tree / "iotbench/measurements/once/kind.py")
    table = tree / "iotbench/results/kinds.py"
    assert LINE in table.read_text()
    table.write_text(table.read_text().replace(LINE, LINE.replace(")", ', "once")')))
    run(tree, "insert", "-t", "sqlite", "-w", "1", "-r", "1", "--num-inserts", "2000",
        "--batch", "100", "-q")  # fmt: skip
    for _ in range(2):
        run(tree, "once", "-t", "sqlite", "--types", "count-events,newest-per-device", "-q")
    return tree


def run(tree, *arguments, code=0):
    done = subprocess.run(
        [sys.executable, "run.py", *arguments], cwd=tree, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_it_is_a_command(tree):
    assert "Time the first answer" in run(tree, "--help")
    assert "python run.py once --target sqlite" in run(tree, "once", "--help")
    assert "queries, each twice: count-events" in run(
        tree, "once", "-t", "sqlite", "--types", "count-events", "--dry-run"
    )


def test_it_is_measured_verified_and_held_against_thresholds(tree):
    words = ("once", "-t", "sqlite", "--types", "count-events", "--tag", "limited", "-q")
    shown = json.loads(run(tree, *words, "--format", "json"))
    assert (shown["kind"], shown["status"]) == ("once", "done")
    (row,) = shown["rows"]
    assert (row["query"], row["verdict"], row["first_ms"] > 0) == ("count-events", "verified", True)
    assert "first_ms > 0" in run(tree, *words, "--fail-if", "first_ms > 0", code=99)


def test_its_results_are_listed_shown_compared_exported_and_drawn(tree):
    entries = json.loads(run(tree, "results", "list", "--kind", "once", "--format", "json"))
    first, second = [each["id"] for each in entries if "limited" not in each["tags"]][:2]
    assert "once target=sqlite" in run(tree, "show", first)
    assert "count-events" in run(tree, "compare", first, second)
    assert "once" in run(tree, "results", "export", first)
    run(tree, "report", first, second, "--page", "page.html")
    page = (tree / "page.html").read_text()
    assert "First answers, workload iot" in page
    assert "First answer" in page
