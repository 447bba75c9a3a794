"""The command `compare`: names of results, formats, thresholds, exit codes."""

import json
import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner

from iotbench.commands.main import commands
from iotbench.comparison.calibration import keep
from iotbench.plans.record import ItemRecord, PlanLine
from iotbench.results import result_files
from simulator.errors import ConfigError
from tests.unit.comparison.test_comparison import asked, calibrated, sweep
from tests.unit.output.terminal.made import histogram, outcome, result, run, worker
from tests.unit.store.made import plan_of


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    keep(calibrated(1))
    for name, seconds in (("a", (1.0, 1.01, 0.99)), ("b", (1.2, 1.21, 1.19)), ("c", (1.0, 1.01))):
        result_files.write(tmp_path / f"{name}.json", sweep(name, *seconds))
    return tmp_path


def compare(folder, *words):
    paths = [",".join(str(folder / f"{name}.json") for name in word.split("+"))
             if len(word) < 4 else word for word in words]  # fmt: skip
    arguments = ["compare", f"--output={folder}", *paths]
    found = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    return found.exit_code, found.output


def test_every_other_side_is_compared_with_the_base(folder):
    code, out = compare(folder, "a", "b", "c")

    assert code == 0
    assert "judgement of b by rows_per_s: 1 slower" in out
    assert "judgement of c by rows_per_s: 1 noise" in out


def test_joined_results_count_together(folder):
    _, out = compare(folder, "a+c", "b")

    assert "runs of base: 5 runs in 2 sweeps of each row" in out


def test_json_and_markdown(folder):
    found = json.loads(compare(folder, "a", "b", "--format=json")[1])
    markdown = compare(folder, "a", "b", "--format=markdown")[1]

    assert found["comparisons"][0]["judgements"] == {"slower": 1}
    assert "|---:|---|---:|---:|---:|---:|---|" in markdown


def test_a_plan_of_queries_is_compared_by_these(folder):
    items, lines = [], []
    for name, waits in (("d", (10, 11, 12)), ("e", (20, 21, 22))):
        result_files.write(folder / f"{name}.json", asked(name, *waits))
        of = {"target": name, "setting": "query", "verdict": "verified"}
        items.append(ItemRecord(id=name, repeat=1, files=(f"{name}.json",), **of))
        lines.append(PlanLine(repeats=1, measures={}, **of))
    file = folder / "plan-query-0123abcd.json"
    result_files.write(file, plan_of(tuple(items)).model_copy(update={"lines": tuple(lines)}))

    assert "count-events" in compare(folder, str(file))[1]
    with pytest.raises(ConfigError, match=r"results of mixed; got 0; use --of query$"):
        compare(folder, str(file), "--of=mixed")


def test_a_threshold_that_fails_exits_with_99_and_names_the_number(folder):
    file = folder / "out.xml"
    code, out = compare(folder, "a", "b", "--fail-if=slower > 0", f"--junit={file}")
    (suite,) = ET.parse(file).getroot()

    assert code == 99
    assert "threshold failed: slower > 0: 1, b" in out
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert compare(folder, "a", "c", "--fail-if=slower > 0")[0] == 0


def test_any_percentile_is_in_the_table_and_in_thresholds(folder):
    for name, waits in (("d", range(1, 201)), ("e", range(2, 402, 2))):
        runs = [run(outcome(worker(0, latency=histogram(*waits))), number=n) for n in (1, 2)]
        result_files.write(folder / f"{name}.json", result(runs, sweep_id=name))
    words = ("--percentile=p90_ms", "--percentile=p99.9_ms")
    code, out = compare(folder, "d", "e", *words, "--fail-if=p75_ms_change > 50%")
    rows = {line.split()[0]: line.split()[2:5] for line in out.splitlines() if " ms  " in line}

    assert code == 99
    assert "threshold failed: p75_ms_change > 50%: +100.0%" in out
    assert rows["p90"] == ["180", "360", "+100.0%"]
    assert rows["p75"][2] == "+100.0%"
    assert "not compared: p99.9_ms of 1 worker: a run has fewer than 1,000 samples" in out
    figures = json.loads(compare(folder, "d", "e", *words, "--format=json")[1])
    assert figures["comparisons"][0]["rows"][0]["figures"]["p90_ms"]["unit"] == "ms"
    with pytest.raises(ConfigError, match=r"--percentile: expected a name such as p99.99_ms, got"):
        compare(folder, "d", "e", "--percentile=90")


def test_the_figures_of_the_others_have_thresholds_too(folder):
    code, out = compare(folder, "a", "b", "--fail-if=rows_per_s < 900 at workers=1")

    assert code == 99
    assert "threshold failed: rows_per_s < 900 at workers=1: 833 rows/s, b, 1 worker" in out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("a", "a"), "is named twice"),
        (("last,", "b"), "expected names of results, separated by commas"),
        (("nothing", "b"), "nothing: no such result in"),
        (("a", "b", "--fail-if=slow > 1"), r"unknown figure 'slow' \(did you mean 'slower'\?\)"),
        (("a", "b", "--noise=2"), "expected a share such as 5% or 0.05, below 100%, got '2'"),
        (
            ("a", "b", "--junit=/no/where.xml"),
            "--junit: /no/where.xml: cannot be written",
        ),
    ],
)
def test_what_cannot_be_compared_is_an_error(folder, words, problem):
    with pytest.raises(ConfigError, match=problem):
        compare(folder, *words)
