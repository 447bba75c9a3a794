"""`reproduce` on SQLite: measured, killed at a random moment, and gone on with."""

import os
import random
import subprocess
import sys
import time
from collections import Counter

import pytest

from tests import ROOT
from tests.integration.conftest import CommandLine
from tests.servers import Postgres

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
from cli.cluster.options import ClusterOptions
from cli.commands.measure import Measuring
from cli.commands.reproduce import reproduced
from cli.commands.roster import candidates_of, roster_of
from cli.config import load
from cli.experiment.plan import read_plan
from cli.host.interrupts import caught_interrupts, stop_on_signals
from cli.reproduce.documents import read_document

stop_on_signals()
plan, cluster = read_plan(Path("plan.yaml")), ClusterOptions()
loaded = load(Path("config.yaml"))
candidates = candidates_of(loaded, None)
roster = roster_of(plan, candidates, loaded, None, cluster, force=False, quiet=True)
with caught_interrupts() as interrupts:
    measuring = Measuring(Path("results"), interrupts, cluster, 0.0, force=False, quiet=False)
    record, _ = reproduced("iot", "demo", read_document("iot"), plan, roster, measuring)
print(record.model_dump_json())
sys.exit(record.exit_code)
"""
DONE = ("done", "insert")
ITEMS = 6
"""Three settings that SQLite can be measured with, twice."""


@pytest.fixture
def folder(cli: CommandLine) -> CommandLine:
    (cli.folder / "plan.yaml").write_text(PLAN)
    (cli.folder / "config.yaml").write_text(CONFIG)
    cli.output.mkdir()
    cli.temporary.mkdir()
    return cli


MODES = """
name: iot-modes
repeats: 3
settings:
  - name: bulk
    insert: {workload: iot, workers: 1, num_inserts: 20k, batch: 1000}
  - name: values
    insert: {workload: iot, workers: 1, num_inserts: 10k, batch: 1000}
    options: {use_values_lists: true}
  - name: transaction
    insert: {workload: iot, workers: 1, num_inserts: 3k, batch: 1000}
    options: {transaction: true}
"""


@pytest.mark.server("postgres")
def test_the_modes_of_postgresql_stand_beside_the_documents(
    folder: CommandLine, server: Postgres, server_database: str
) -> None:
    (folder.folder / "plan.yaml").write_text(MODES)
    reach = f"connection_string: {server.connection_string(server_database)}"
    (folder.folder / "config.yaml").write_text(
        f"targets:\n  pg: {{module: postgres, runner: local, {reach}, password: '${{PGSECRET}}'}}\n"
    )
    folder.environment["PGSECRET"] = server.password
    done = folder.finish(start(folder), within_s=120)

    assert done.code == 0, done.err
    assert server.password not in done.out + done.err
    lines = [line for line in done.json["lines"] if line["target"] == "pg" and line["values"]]
    found = {
        line["title"]: (line["system"], line["published"], len(line["values"])) for line in lines
    }
    assert found["best bulk path"] == ("PostgreSQL", 428_000, 3)
    assert found["values lists"] == ("PostgreSQL", 215_000, 3)
    assert found["single rows in a transaction"] == ("PostgreSQL", 44_000, 3)
    claims = {claim["text"]: claim for claim in done.json["claims"] if claim["target"] == "pg"}
    for text in (
        "COPY is faster than values lists",
        "values lists are faster than single rows in a transaction",
    ):
        assert claims[text]["seen"] in ("seen", "within the spread"), claims[text]
        assert all(len(side["values"]) == 3 for side in claims[text]["sides"])


def start(cli: CommandLine) -> subprocess.Popen[str]:
    own = {"TMPDIR": str(cli.temporary), "XDG_STATE_HOME": str(cli.state.parent)}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cli.folder,
        env={**os.environ, **own, **cli.environment, "PYTHONPATH": str(ROOT)},
    )


def test_killed_at_a_random_moment_it_goes_on_to_the_same_report(folder: CommandLine) -> None:
    process = start(folder)
    time.sleep(random.uniform(4, 12))
    process.kill()
    process.communicate(timeout=30)
    before = {r["sweep_id"] for r in folder.results() if (r["status"], r["kind"]) == DONE}

    done = folder.finish(start(folder), within_s=120)
    assert done.code == 0, done.err
    swept = [r for r in folder.results() if "sweep_id" in r]
    finished = Counter((r["sweep_id"], r["kind"]) for r in swept if r["status"] == "done")
    assert len({sweep_id for sweep_id, _ in finished}) == ITEMS
    assert {count for (_, kind), count in finished.items() if kind == "query"} == {1}
    with_queries = {sweep_id for sweep_id, kind in finished if kind == "query"}
    assert {finished[each, "insert"] for each in before - with_queries} <= {1}

    record = done.json
    assert [item["verdict"] for item in record["items"]] == ["verified"] * ITEMS
    of_lite = [line for line in record["lines"] if line["target"] == "lite" and line["values"]]
    assert {len(line["values"]) for line in of_lite} == {2}
    assert record["not_had"]["PostgreSQL"].startswith("away: ")
    assert record["refused"] == {"lite, values": "module sqlite has no option use_values_lists"}
    claims = {claim["text"]: claim["seen"] for claim in record["claims"] if claim["target"]}
    assert claims["batches are faster than single rows, each of which is acknowledged"] == "seen"

    again = folder.finish(start(folder))
    assert again.json["lines"] == record["lines"]
    assert again.err.count("measured before") == ITEMS


def test_ctrl_c_keeps_what_is_measured_and_says_how_to_go_on(folder, interrupt, eventually) -> None:
    process = start(folder)
    eventually(lambda: any(r.get("status") == "done" for r in folder.results()))
    interrupt(process)
    done = folder.finish(process)

    assert (done.code, done.json["status"]) == (130, "interrupted")
    assert done.json["items"]
    assert folder.processes() == []


def test_wrong_words_are_refused_before_anything_starts(cli: CommandLine) -> None:
    unknown = cli.run("reproduce", "iot", "--targets=nowhere")
    document = cli.run("reproduce", "sqlite")

    assert (unknown.code, document.code) == (2, 2)
    assert "target 'nowhere' is not in" in unknown.err
    assert "'sqlite' is not" in document.err
    assert not cli.output.exists()


def test_a_target_that_does_not_answer_is_named_and_the_document_printed(cli: CommandLine) -> None:
    (cli.folder / "config.yaml").write_text(CONFIG)
    cli.output.mkdir()
    done = cli.run(
        "reproduce", "iot", "--targets=away", f"--output={cli.output}", "--quiet",
        f"--config={cli.folder / 'config.yaml'}",
    )  # fmt: skip

    assert done.code == 1
    assert "428,000  not had" in done.out
    assert "not had: PostgreSQL: away: " in done.out
    assert [path.name[:18] for path in cli.output.iterdir()] == ["reproduce-iot-demo"]
