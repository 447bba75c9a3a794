"""Results over time, from the outside."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from iotbench.results import result_files
from tests.integration.conftest import CommandLine

pytest.importorskip("ruptures")
SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet", "--output=results")
ROWS = (*SQLITE, "--workers=1", "--runs=1", "--num-inserts=2000")


def copy_to(folder: Path, path: Path, days: int, factor: float) -> None:
    """Write a copy of a result that was made days before, with a multiple of its rate."""
    result = result_files.read(path)
    (run,) = result.runs
    assert run.metrics
    metrics = run.metrics.model_copy(update={"rows_per_s": factor * run.metrics.rows_per_s})
    runs = [run.model_copy(update={"metrics": metrics})]
    created = result.created - timedelta(days=days)
    fields = {"created": created, "sweep_id": f"{created:%Y%m%d-%H%M%S}-{days:04x}"}
    folder.mkdir(exist_ok=True)
    copy = result.model_copy(update={**fields, "runs": runs, "program_version": "0.0.1"})
    result_files.write(result_files.path_of(folder, copy), copy)


def test_a_loss_over_nights_is_a_step_and_fails_the_threshold(cli: CommandLine) -> None:
    for batch in (50, 100):  # the first has other settings
        done = cli.run("insert", *ROWS, f"--batch={batch}")
        assert done.code == 0, done.err
    results = cli.folder / "results"
    newest = max(results.glob("*-insert-*.json"))
    for days in range(1, 9):
        scattered = 1 + 0.01 * (days % 3)
        copy_to(results / f"nightly-{days}", newest, days, scattered * (2 if days > 2 else 1))
    limit = "--fail-if=rows_per_s_change < -5%"
    table = cli.run("history", "--output=results", limit, "--fail-if=slower > 0")
    alone = cli.run("history", "last~1", "--output=results", limit)
    records = cli.run("history", "last", "--output=results", "--format=json").json
    recent = cli.run("history", "--output=results", "--since=36h", "--row=1 worker", "--format=csv")

    assert table.code == 99, table.err
    assert table.out.count("█") > 9
    assert "program 0.0.1 -> " in table.out
    assert "rows/s in 6 results until" in table.out
    assert "threshold failed: rows_per_s_change < -5%: -" in table.err
    assert "threshold failed: slower > 0: 1" in table.err
    assert alone.code == 0, alone.err
    assert "no earlier result with these rows and settings" in alone.out
    assert [number for number, each in enumerate(records) if each["step"]] == [6]
    assert [each["since_good"] is None for each in records] == [True] * 8 + [False]
    assert recent.out.count("\n") == 3


PLAN = """
name: nightly
targets: [sqlite]
repeats: 2
settings:
  - name: small
    insert: &rows {workload: iot, workers: 1, num_inserts: 1k, batch: 100}
    query: {count: 3, types: [count-events]}
  - name: large
    insert: {<<: *rows, batch: 500}
"""


def test_every_setting_of_the_newest_plan_has_a_history(cli: CommandLine) -> None:
    (cli.folder / "nightly.yaml").write_text(PLAN)
    (cli.folder / "results").mkdir(exist_ok=True)  # for the database
    done = cli.run("run", "nightly.yaml", "--quiet", "--output=claim/nightly-1")
    assert done.code == 0, done.err
    shutil.copytree(cli.folder / "claim/nightly-1", cli.folder / "claim/nightly-2")
    done = cli.run("run", "nightly.yaml", "--quiet", "--output=claim/nightly-3")
    assert done.code == 0, done.err
    found = cli.run("history", "--output=claim", "--format=json")
    wrong = cli.run("history", "--output=claim", "--figure=p90_rows")
    empty = cli.run("history", "--output=nowhere")

    assert found.code == 0, found.err
    places = {(each["kind"], each["what"], each["query"]) for each in found.json}
    assert {kind for kind, *_ in places} == {"insert", "query"}
    assert {each["results"] for each in found.json} == {2}
    for place in places:
        own = [e for e in found.json if (e["kind"], e["what"], e["query"]) == place]
        assert len(own) == 2, place  # a copied folder is not another night
    assert (wrong.code, empty.code) == (2, 2)
    assert "--figure p90_rows: unknown" in wrong.err
    assert "nowhere: neither this folder nor a folder in it has results" in empty.err
