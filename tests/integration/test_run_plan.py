"""`run`: a plan on two SQLite files, killed at a random moment, and gone on with."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from tests import ROOT
from tests.integration.conftest import CommandLine, Wait

PLAN = """
name: tiny
targets: [one, two]
repeats: 2
settings:
  - name: bulk
    insert: {workload: iot, workers: 1, num_inserts: 2k, batch: 500}
  - name: asked
    insert: {workload: iot, workers: 1, num_inserts: 2k, batch: 500}
    query: {runs: 2, types: [count-events, newest-per-device]}
"""
ITEMS = 8


@pytest.fixture
def planned(cli: CommandLine) -> CommandLine:
    cli.configure(**{
        name: {"module": "sqlite", "path": f"{cli.folder / name}.db"} for name in ("one", "two")
    })  # fmt: skip
    (cli.folder / "plan.yaml").write_text(PLAN)
    return cli


def arguments(cli: CommandLine, *more: str) -> list[str]:
    return ["plan.yaml", f"--output={cli.output}", *more]


@pytest.mark.rare
def test_killed_at_a_random_moment_it_goes_on_to_the_same_report(planned: CommandLine) -> None:
    process = planned.start("run", *arguments(planned))
    time.sleep(random.uniform(3, 10))
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)

    done = planned.run("run", *arguments(planned, "--format=json"))
    assert done.code == 0, done.err
    record = done.json
    (path,) = planned.output.glob("plan-tiny-*.json")
    assert json.loads(path.read_text()) == record
    assert [item["verdict"] for item in record["items"]] == ["verified"] * ITEMS
    keys = [(line["setting"], line["target"], line["repeats"]) for line in record["lines"]]
    assert keys == [(s, t, 2) for s in ("bulk", "asked") for t in ("one", "two")]
    assert all(len(line["measures"]["rows_per_s"]) == 2 for line in record["lines"])
    assert len(record["lines"][2]["measures"]["avg_ms count-events"]) == 2
    complete = Counter(
        (each["sweep_id"], each["kind"])
        for each in planned.results()
        if each.get("kind") in ("insert", "query") and each["status"] == "done"
    )
    assert len({sweep_id for sweep_id, _ in complete}) == ITEMS

    page = planned.folder / "report.html"
    made = planned.run("report", str(path), "-o", str(page), f"--output={planned.output}")
    assert made.code == 0, made.err
    text = page.read_text()
    names = [name for item in record["items"] for name in item["files"]]
    assert all(name in text for name in names)
    assert text.count("2 repeats, spread") == text.count('class="card"') == len(names) / 2

    again = planned.run("run", *arguments(planned))
    assert again.err.count("measured before") == ITEMS
    assert json.loads(path.read_text())["lines"] == record["lines"]
    assert "plan tiny: 8 items, 8 measured to the end" in again.out
    assert "hardware" not in again.err + again.out

    first = planned.output / names[0]
    moved = json.loads(first.read_text())
    moved["machine"]["processor"] = "Another CPU"
    first.write_text(json.dumps(moved))
    elsewhere = planned.run("run", *arguments(planned))
    hardware = json.loads(path.read_text())["hardware"]

    assert elsewhere.err.count("measured before on other hardware: Another CPU, ") == 1
    assert "warning: measured on different hardware" in elsewhere.out
    assert sorted(hardware.values()) == [1, len(names) - 1]


def test_a_dry_run_lists_the_items_and_touches_nothing(planned: CommandLine) -> None:
    done = planned.run("run", *arguments(planned, "--dry-run"))
    assert done.code == 0, done.err
    assert "8 items" in done.out
    assert not planned.output.exists()
    assert not (planned.folder / "one.db").exists()


def test_all_that_is_wrong_with_a_plan_is_named_at_once(planned: CommandLine) -> None:
    (planned.folder / "plan.yaml").write_text(
        PLAN.replace("batch: 500", "bacth: 500", 1).replace("count-events", "count-event")
    )
    said = planned.refuse("run", *arguments(planned))
    assert "plan.yaml: settings.0.insert.bacth: unknown key (did you mean 'batch'?)" in said
    (planned.folder / "plan.yaml").write_text(
        PLAN.replace("count-events", "count-event").replace("one, two", "one, tow")
    )
    said = planned.refuse("run", *arguments(planned))
    assert "did you mean 'count-events'?" in said
    (planned.folder / "plan.yaml").write_text(f"{PLAN}until_settled: 9\n")
    said = planned.refuse("run", *arguments(planned))
    assert "until_settled: only the claims of `reproduce` can be settled" in said
    assert planned.run("run", "nowhere.yaml").code == 2
    assert not planned.output.exists()


MIXED = """
name: beside
targets: [one]
repeats: 2
settings:
  - name: both
    insert: {workload: iot, workers: 1, num_inserts: 2k, batch: 500}
    query: {runs: 2, types: [count-events]}
    mixed: {duration: 1s, warmup: 500ms, batch: 50, insert_rate: 1000, query_rate: 20}
thresholds: ["rows_per_s < 1 at query=inserts", "queries_per_s < 1M at query=all*"]
"""


def test_a_mixed_load_follows_the_insert_and_its_measures_are_in_the_report(
    planned: CommandLine,
) -> None:
    (planned.folder / "plan.yaml").write_text(MIXED)
    done = planned.run("run", *arguments(planned, "--format=json"))

    assert done.code == 99, done.err
    assert done.err.count("threshold failed: queries_per_s") == 2
    assert done.err.count("threshold failed") == 2
    (line,) = done.json["lines"]
    assert line["verdict"] == "verified"
    assert len(line["measures"]["mixed_rows_per_s inserts"]) == 2
    assert len(line["measures"]["mixed_queries_per_s all queries"]) == 2
    assert len(line["measures"]["mixed_p95_ms count-events"]) == 2
    assert [len(item["files"]) for item in done.json["items"]] == [3, 3]
    by_kind = [(each["kind"], each["manifest"]["rows"] if each["manifest"] else None)
               for each in planned.results() if "sweep_id" in each]  # fmt: skip
    assert [kind for kind, _ in by_kind] == ["insert", "query", "mixed"] * 2
    assert by_kind[2][1] > by_kind[0][1] == 2000

    again = planned.run("run", *arguments(planned))
    assert again.err.count("measured before") == 2
    assert "Load" in again.out


def test_a_setting_that_leaves_no_row_for_the_mixed_load_is_refused(planned: CommandLine) -> None:
    whole = "{workload: cpu, parameters: {scale: 2}, start: 2026-01-01, batch: 500}"
    plan = MIXED.replace("{workload: iot, workers: 1, num_inserts: 2k, batch: 500}", whole)
    (planned.folder / "plan.yaml").write_text(plan.replace("[count-events]", "[lastpoint]"))
    done = planned.run("run", *arguments(planned, "--dry-run"))

    assert "0 items" in done.out
    assert "the tables already hold all 17,280 rows" in done.out


LEFT_OUT = """
name: left-out
targets: [one]
repeats: 1
settings:
  - name: bulk
    insert: {workload: iot, workers: 1, num_inserts: 100, batch: 10}
  - name: killed
    insert: {workload: iot, workers: 1, batch: 10, duration: 9s, fault: kill-database, for: 1s}
"""


def test_what_a_target_cannot_do_is_left_out_and_named_before_anything_runs(
    planned: CommandLine,
) -> None:
    (planned.folder / "plan.yaml").write_text(LEFT_OUT)
    dry = planned.run("run", *arguments(planned, "--dry-run"))
    done = planned.run("run", *arguments(planned, "--trust"))
    left_out = "not measured: one, killed: --fault: sqlite is part of the workers"

    assert (dry.code, done.code) == (0, 0), done.err
    assert left_out in dry.out
    assert 0 <= done.err.find(left_out) < done.err.find("[1/1] one, bulk")
    assert left_out in done.out
    assert "1 item, 1 measured to the end" in done.out


SEARCHED = """
name: search
targets: [one]
repeats: 2
until_within: 5%
most_repeats: 3
settings:
  - name: find
    batches: 3000
    repeats: 2
    insert: {workload: iot, workers: 1, num_inserts: 12k}
  - name: taken
    batch_of: find
    insert: {workload: iot, workers: 1, num_inserts: 12k}
"""


def test_a_batch_is_searched_and_taken_and_the_time_may_be_divided(planned: CommandLine) -> None:
    (planned.folder / "plan.yaml").write_text(SEARCHED)
    first = planned.run("run", *arguments(planned, "--stop-after=100ms", "--format=json"))
    assert first.code == 130, first.err
    assert "--stop-after: the time is over; left to measure: at least 1 item;" in first.err
    (one,) = first.json["items"]
    assert (one["setting"], one["repeat"]) == ("find", 1)

    left = planned.run("run", *arguments(planned, "--dry-run"))
    assert left.code == 0, left.err
    assert "6 items, 1 measured before" in left.out
    assert "1,000 to 3,000" in left.out
    assert "best of find" in left.out

    done = planned.run("run", *arguments(planned, "--format=json"))
    assert done.code == 0, done.err
    assert "repeat 1: measured before" in done.err
    (curve,) = done.json["curves"]
    assert (curve["sought"], [point["number"] for point in curve["points"]]) == (
        "batch", [1000, 3000]
    )  # fmt: skip
    found, taken = done.json["lines"]
    assert (found["setting"], found["repeats"], taken["setting"]) == ("find", 2, "taken")
    ids = {item["id"] for item in done.json["items"] if item["setting"] == "taken"}
    results = (each for each in planned.results() if each.get("sweep_id") in ids)
    batches = {each["configuration"]["batch"] for each in results}
    assert batches == {curve["best"]}
    rates = taken["measures"]["rows_per_s"]
    assert taken["repeats"] == len(rates) in (2, 3)
    shown = planned.run("run", *arguments(planned)).out
    assert f"best size of a batch of one, find: {curve['best']:,}; tried 1,000, 3,000" in shown


LONG = """
name: long
targets: [one]
repeats: 2
settings:
  - name: bulk
    insert: {workload: iot, workers: 1, num_inserts: 50000k, batch: 1000}
"""
MEASURING = """
from sys import argv
from tests.published.measuring import program
program(*argv[1:])
"""


def test_the_published_measurement_waits_for_its_plan_when_interrupted(
    planned: CommandLine, eventually: Wait
) -> None:
    """Ctrl-C interrupts both; the plan tidies up, as after a Ctrl-C of its own."""
    (planned.folder / "plan.yaml").write_text(LONG)
    planned.temporary.mkdir()
    running = subprocess.Popen(
        [sys.executable, "-c", MEASURING, "run", planned.folder / "plan.yaml",
         f"--config={planned.config}", f"--output={planned.output}"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=ROOT,
        env={**os.environ, "TMPDIR": str(planned.temporary)},
    )  # fmt: skip
    eventually(lambda: planned.processes("worker"))
    os.killpg(running.pid, signal.SIGINT)
    done = planned.finish(running)

    assert "run ended with exit code 130" in done.err
    assert planned.leftovers() == []
    _, result = planned.results()  # the first is the plan's record
    assert result["status"] == "interrupted"
