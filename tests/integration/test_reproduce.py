"""`reproduce`: whole documents, interrupted ones, and what is refused before anything starts."""

import os
import re
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
import yaml

from iotbench.plans.published.documents import NAMES
from tests import ROOT
from tests.integration.conftest import CommandLine, Finished
from tests.integration.test_databases import edited

PLAN = """
name: iot-tiny
repeats: 2
settings:
  - name: bulk
    insert: {workload: iot, workers: 1, num_inserts: 2k, batch: 500}
  - name: values
    insert: {workload: iot, num_inserts: 2k, batch: 500}
    options: {use_values_lists: true}
  - name: single
    insert: {workload: iot, workers: 1, num_inserts: 50}
  - name: queries
    insert: {workload: iot, num_inserts: 2k, batch: 500}
    query: {runs: 2}
    modules: {sqlite: {create_indices: true}}
"""
CONFIG = """
targets:
  lite: {module: sqlite, runner: local, path: bench.db}
  away: {module: postgres, runner: local, connection_string: host=127.0.0.1 port=1 dbname=x user=x}
"""
SCRIPT = """
import sys
from pathlib import Path
from iotbench.config.options.choice import ClusterOptions
from iotbench.execution.measure import ItemMeasuring
from iotbench.commands.reproduce import reproduce_document
from iotbench.config.options.choice import Reach
from iotbench.plans.options import PlanRun
from iotbench.execution.roster import roster_of
from iotbench.plans.plan import read_plan
from iotbench.machine.interrupts import catch_interrupts, stop_on_signals
from iotbench.plans.published.documents import read_document

stop_on_signals()
plan, cluster = read_plan(Path("plan.yaml")), ClusterOptions()
reach = Reach(Path("config.yaml"), None, cluster)
run = PlanRun(output=Path("results"))
roster = roster_of(plan, None, reach, PlanRun(quiet=True))
with catch_interrupts() as interrupts:
    measuring = ItemMeasuring(run, reach, interrupts)
    name = sys.argv[1]
    record, _ = reproduce_document(name, "demo", read_document(name), plan, roster, measuring)
print(record.model_dump_json())
sys.exit(record.exit_code)
"""


@pytest.fixture
def folder(cli: CommandLine) -> CommandLine:
    (cli.folder / "plan.yaml").write_text(PLAN)
    (cli.folder / "config.yaml").write_text(CONFIG)
    cli.output.mkdir()
    cli.temporary.mkdir()
    return cli


def test_the_loose_index_scan_finds_the_newest_row_of_each_device(folder: CommandLine) -> None:
    """Own queries are not checked, the same text instead of the workload's query is."""
    path = ROOT / "iotbench/plans/published/queries/loose-index-scan.yaml"
    (query,) = yaml.safe_load(path.read_text())["queries"].values()
    text = query["text"]["sql"].replace("{table}", "events")
    target = {"module": "sqlite", "runner": "local", "path": "bench.db"}
    config = {"targets": {"lite": {**target, "queries": {"newest-per-device": text}}}}
    (folder.folder / "config.yaml").write_text(yaml.safe_dump(config))
    words = (
        "--target=lite", f"--config={folder.folder / 'config.yaml'}", f"--output={folder.output}",
        "--quiet", "--format=json",
    )  # fmt: skip
    rows = ("--workers=2", "--runs=1", "--num-inserts=2k", "--batch=500", "--devices=20")
    inserted = folder.run("insert", *words, *rows, "--extra-option=create_indices=true")
    asked = folder.run("query", *words, "--types=newest-per-device")

    assert (inserted.code, asked.code) == (0, 0), inserted.err + asked.err
    (row,) = asked.json["rows"]
    assert row["verdict"] == "verified, tuned"


EXACT = {
    "devops": {
        "one host has 19,440 points in 6 hours",
        "one host has 77,760 points in a day",
        "the same seed gives the same rows and answers on each database (all equal to the truth)",
    },
    "ingress": {"all rows are there afterwards"},
    "cratedb": {"every acknowledged row is stored (a failed batch is never counted)"},
}
"""Document -> claims that follow from the rows alone, whatever the machine."""


def expect_repeated(done: Finished, name: str, target: str) -> None:
    """Check a whole document at demo size: every item verified, every figure that it names."""
    assert done.code == 0, done.err
    record = done.json
    assert (record["status"], record["size"]) == ("done", "demo")
    assert {item["verdict"] for item in record["items"]} == {"verified"}
    figures = [line for line in record["lines"] if line["target"] == target and line["values"]]
    assert figures
    assert all(len(line["values"]) >= 3 for line in figures)
    assert all(line["values"] or line["not_had"] for line in record["lines"])
    claims = [claim for claim in record["claims"] if claim["target"] == target]
    measured = [claim for claim in claims if claim["seen"] != "not measured"]
    exact = {
        claim["text"]: claim["seen"] for claim in measured if claim["text"] in EXACT.get(name, ())
    }
    assert exact == dict.fromkeys(EXACT.get(name, ()), "seen")


@pytest.mark.rare
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", NAMES)
def test_a_whole_document_is_repeated_on_sqlite(cli: CommandLine, name: str) -> None:
    words = ("--targets=sqlite", "--quiet", "--format=json")
    expect_repeated(cli.run("reproduce", name, *words), name, "sqlite")
    assert cli.leftovers() == []


@pytest.mark.rare
@pytest.mark.timeout(1800)
@pytest.mark.server("postgres")
@pytest.mark.parametrize("name", NAMES)
def test_a_whole_document_is_repeated_on_postgresql(
    cli: CommandLine, server_options: dict[str, Any], name: str
) -> None:
    cli.config = edited("postgresql", server_options, cli)
    words = ("--targets=postgresql", "--quiet", "--format=json")
    expect_repeated(cli.run("reproduce", name, *words), name, "postgresql")
    assert cli.leftovers() == []


IMPORTS = """
name: ingress-tiny
repeats: 2
until_settled: 3
settings:
  - name: one-thread
    insert: &bars {workload: ohlcv, parameters: {years: 0.1}, start: 2000-01-01, batch: 1000}
  - name: import
    insert: {<<: *bars, batch: 0, import: true}
"""


@pytest.mark.rare
def test_imports_of_files_stand_beside_batches(folder: CommandLine) -> None:
    (folder.folder / "plan.yaml").write_text(IMPORTS)
    duck = "duck: {module: duckdb, runner: local, path: duck.db}"
    lite = "lite: {module: sqlite, runner: local, path: bench.db}"
    (folder.folder / "config.yaml").write_text(f"targets:\n  {duck}\n  {lite}\n")
    done = folder.finish(start(folder, "ingress"), within_s=200)

    assert done.code == 0, done.err
    record = done.json
    (refused,) = record["refused"].items()
    assert refused[0] == "lite, import"
    assert refused[1].startswith("--import: sqlite: the library has none")
    modes = Counter(
        (result["target"], run["outcome"]["insert_mode"])
        for result in folder.results()
        for run in result.get("runs", ())
    )
    assert modes["lite", "batch"] == 2
    assert modes["duck", "import"] == modes["duck", "batch"]
    claims = {(claim["text"], claim["target"]): claim for claim in record["claims"]}
    imported = claims["all rows of imported files are there afterwards", "duck"]
    assert imported["seen"] == "seen"
    faster = "the database's own import, which the document prefers, is faster than batches"
    settled = claims[faster, "duck"]["seen"] in ("seen", "not seen")
    assert modes["duck", "import"] == 2 if settled else modes["duck", "import"] == 3
    assert record["in_memory"].keys() == {"duck", "lite"}
    assert folder.leftovers() == []


def start(cli: CommandLine, document: str = "iot") -> subprocess.Popen[str]:
    own = {"TMPDIR": str(cli.temporary), "XDG_STATE_HOME": str(cli.state.parent)}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, document],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cli.folder,
        env={**os.environ, **own, **cli.environment, "PYTHONPATH": str(ROOT)},
    )


def sweeps(cli: CommandLine) -> list[dict[str, Any]]:
    """Return the results of sweeps, without the record of the reproduction."""
    return [result for result in cli.results() if "sweep_id" in result]


SEARCH = """
name: nosql-tiny
repeats: 2
settings:
  - name: single
    insert: {workload: slim, num_inserts: 100}
  - name: best
    insert: {workload: slim, num_inserts: 2k, batch: 500}
    shards: 2
"""


def test_a_search_for_shards_is_verified_and_goes_on_as_well(folder: CommandLine) -> None:
    (folder.folder / "plan.yaml").write_text(SEARCH)
    done = folder.finish(start(folder), within_s=120)

    assert done.code == 0, done.err
    (curve,) = done.json["curves"]
    assert (curve["setting"], curve["target"]) == ("best", "lite")
    numbers = [point["number"] for point in curve["points"]]
    assert numbers in ([1], [1, 2])
    assert {(len(each["values"]), each["verdict"]) for each in curve["points"]} == {(2, "verified")}
    items = [item["setting"] for item in done.json["items"]]
    assert sorted(items) == ["best"] * 2 * len(numbers) + ["single"] * 2

    again = folder.finish(start(folder))
    assert again.json["curves"] == done.json["curves"]
    assert again.err.count("measured before") == len(items)


def test_a_published_document_has_a_page_whose_figures_lead_to_results(
    folder: CommandLine,
) -> None:
    done = folder.finish(start(folder), within_s=120)
    assert done.code == 0, done.err
    (record,) = folder.output.glob("reproduce-iot-demo-*.json")

    done = folder.run("publish", str(record), "-o", "bundle")

    assert done.code == 0, done.err
    site = folder.folder / "bundle" / "site"
    assert {path.name for path in site.iterdir()} == {"index.html", "document-iot.html"}
    index, page = ((site / name).read_text() for name in ("index.html", "document-iot.html"))
    title = "Which claims of Database performance comparison for IoT use cases are seen here?"
    assert f'<a href="document-iot.html">{title}</a>' in index
    assert "Of the claims on 1 database, at size demo: " in index
    assert "Fastest setting" not in index  # a demonstration is not a rate of the database
    assert f"<h1>{title}</h1>" in page
    links = {*re.findall(r'<td><a href="#(result-\d+)">', page)}
    assert len(links) == 3  # bulk, single and the queries
    assert all(f'id="{link}"' in page for link in links)


def test_ctrl_c_keeps_what_is_measured_and_says_how_to_go_on(folder, interrupt, eventually) -> None:
    process = start(folder)
    eventually(lambda: any(r.get("status") == "done" for r in folder.results()))
    interrupt(process)
    done = folder.finish(process)

    assert (done.code, done.json["status"]) == (130, "interrupted")
    assert done.json["items"]
    assert folder.processes() == []


def test_wrong_words_are_refused_before_anything_starts(cli: CommandLine) -> None:
    assert "target 'nowhere' is not in" in cli.refuse("reproduce", "iot", "--targets=nowhere")
    assert "'sqlite' is not" in cli.refuse("reproduce", "sqlite")
    assert not cli.output.exists()


def test_a_target_that_does_not_answer_is_named_and_the_document_printed(cli: CommandLine) -> None:
    (cli.folder / "config.yaml").write_text(CONFIG)
    cli.output.mkdir()
    done = cli.run(
        "reproduce", "iot", "--targets=away", f"--output={cli.output}", "--quiet",
        f"--config={cli.folder / 'config.yaml'}",
    )  # fmt: skip

    assert done.code == 1
    assert "428,000  not measured" in done.out
    assert "not measured: PostgreSQL: away: " in done.out
    (path,) = cli.output.iterdir()
    assert path.name[:18] == "reproduce-iot-demo"

    assert cli.run("show", str(path)).out == done.out
    assert cli.run("show", str(path), "--format=json").out == path.read_text() + "\n"
    refused = cli.run("show", str(path), "--disk=1GB")
    assert (refused.code, refused.err.count("use a result file that it names")) == (2, 1)
    path.write_text(path.read_text()[:-100])
    damaged = cli.run("show", str(path))
    assert (damaged.code, damaged.err.count("is not a result file of format 1")) == (2, 1)


def test_a_dry_run_says_what_it_would_take_and_does_nothing(cli: CommandLine) -> None:
    (cli.folder / "config.yaml").write_text(CONFIG)
    asked = (
        "reproduce", "nosql", "--targets=lite,away", f"--output={cli.output}", "--dry-run",
        f"--config={cli.folder / 'config.yaml'}", "--size",
    )  # fmt: skip
    done = cli.run(*asked, "demo")

    assert done.code == 0, done.err
    assert (
        "plan of document 4, size demo: 3 repeats of each setting; nothing is started" in done.out
    )
    lines = [line.split() for line in done.out.splitlines()]
    assert ["slim-transaction", "1", "10,000", "1", "20,000", "-"] in lines
    shards = "slim-shards 1 to 4 10,000 1 to 4 20,000 to 80,000 -"
    assert shards.split() in lines
    assert ["lite", "45", "0", "unknown", "-"] in lines
    assert [line[0] for line in lines if line[1:2] == ["45"]] == ["lite", "away"]
    assert not cli.output.exists()
    assert not (cli.folder / "bench.db").exists()

    inserted = cli.run(
        "insert", "--target=lite", "--workload=slim", "--batch=10000", "--num-inserts=20k",
        "--workers=1", "--runs=1", "--quiet", f"--output={cli.output}",
        f"--config={cli.folder / 'config.yaml'}",
    )  # fmt: skip
    assert inserted.code == 0, inserted.err
    document = cli.run(*asked, "document")
    (line,) = (line for line in document.out.splitlines() if line.startswith("lite"))
    assert "at least 10:30" in line, document.out
    assert line.endswith("B"), document.out
    assert "no earlier insert: lite, slim-naive; lite, light-naive" in document.out
