"""`mixed`: inserts and queries at the same time, both verified, on SQLite and PostgreSQL."""

import json
import urllib.request
from collections import Counter

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.browser import WIDTHS, Tab
from tests.integration.conftest import POSTGRES, CommandLine
from tests.integration.test_live import url_of

BOUNDLESS = """
from simulator.data.query import RowsQuery
from dataclasses import replace

from simulator.modules.sqlite import Sqlite


class Boundless(Sqlite):
    '''SQLite that is asked without the end of time, as if it were not in the query.'''

    def translate(self, query):
        selection = getattr(query, "selection", None)
        if selection is None or isinstance(query, RowsQuery):
            return super().translate(query)
        return super().translate(replace(query, selection=replace(selection, until=None)))
"""


LITE = {"module": "sqlite", "path": "lite.db", "synchronous": "off"}


@pytest.fixture
def lite(cli: CommandLine) -> CommandLine:
    cli.add_modules("boundless", BOUNDLESS)
    cli.configure(lite=LITE)
    return cli


def filled(line: CommandLine, *options: str) -> None:
    done = line.run("insert", "--target=lite", "--runs=1", "--batch=500", "--quiet", *options)
    assert done.code == 0, done.err


def test_rows_are_added_while_the_queries_keep_their_answers(lite: CommandLine) -> None:
    filled(lite, "--workers=2", "--num-inserts=3000")
    done = lite.run(
        "mixed", "--target=lite", "--insert-workers=1", "--query-workers=2", "--batch=20",
        "--duration=2s", "--insert-rate=1000", "--query-rate=10", "--format=json",
        "--fail-if=queries_per_s < 0.1 at query=all*", "--fail-if=p99_ms > 100us at query=inserts",
    )  # fmt: skip

    assert done.code == 99, done.err
    assert done.err.count("threshold failed") == 1
    rows = {row.get("load") or row["query"]: row for row in done.json["rows"]}
    assert {row["verdict"] for row in rows.values()} == {"verified"}
    assert 300 < rows["inserts"]["rows_per_s"] < 1200
    assert [row["workers"] for row in rows.values()] == [1, *[2] * 5]
    (total,) = done.json["all_queries"]
    assert total["timed"] == sum(r["timed"] for n, r in rows.items() if n != "inserts")
    assert 2 < total["queries_per_s"] < 15

    result = lite.results()[-1]
    outcome = result["runs"][0]["outcome"]
    added = sum(worker["rows"] for worker in outcome["workers"])
    assert (result["kind"], result["dataset"]["ranges"][0]["stop"]) == ("mixed", 3000)
    assert result["manifest"]["rows"] == 6000 + added > 6000
    assert {query["verdict"]["status"] for query in outcome["queries"]} == {"verified"}
    assert outcome["rows_verdict"]["status"] == outcome["verdict"]["status"] == "verified"

    rest = ("--target=lite", f"--output={lite.output}")
    verified = lite.run("verify", *rest, "--format=json")
    assert (verified.code, verified.json["configuration"]["rows"]) == (0, 6000 + added)
    again = lite.run("insert", "--target=lite", "--runs=1", "--workers=3", "--no-clean")
    assert again.code == 0, again.err


def test_an_answer_that_changes_is_found_and_the_rows_are_verified_nonetheless(
    lite: CommandLine,
) -> None:
    filled(lite, "--workers=1", "--num-inserts=1000")
    lite.configure(lite={**LITE, "module": "boundless:Boundless"})
    done = lite.run(
        "mixed", "--target=lite", "--types=count-events", "--duration=1s", "--batch=10",
        "--insert-rate=1000", "--format=json",
    )  # fmt: skip

    assert done.code == 3, done.err
    assert [row["verdict"] for row in done.json["rows"]] == ["verified", "mismatch"]


def test_random_windows_are_in_the_time_that_is_stored(lite: CommandLine) -> None:
    fleet = ("--workload=cpu", "--scale=2", "--start-time=2026-01-01", "--end=2026-01-02")
    filled(lite, *fleet, "--workers=2", "--limit=4000")  # 5 h 33 min of a day
    done = lite.run(
        "mixed", "--target=lite", "--types=single-groupby-1-1-*,lastpoint", "--duration=1s",
        "--batch=100", "--mix=insert=1,query=1", "--rate=40", "--format=json",
    )  # fmt: skip

    assert done.code == 0, done.err
    assert "query single-groupby-1-1-12 is left out: it asks about 12 h" in done.err
    rows = {row.get("load") or row["query"]: row["verdict"] for row in done.json["rows"]}
    names = ("inserts", "single-groupby-1-1-1", "lastpoint")
    assert rows == dict.fromkeys(names, "verified")
    assert done.json["configuration"]["until"] == "2026-01-01T05:33:20Z"
    statement = lite.results()[-1]["runs"][0]["outcome"]["queries"][-1]["statement"]
    assert "1767245600000" in statement


def test_rows_and_queries_are_in_the_metrics_and_on_the_page(lite: CommandLine) -> None:
    filled(lite, "--workers=1", "--num-inserts=1000")
    started = lite.start(
        "mixed", "--target=lite", "--warmup=1s", "--duration=3s", "--batch=20",
        "--insert-rate=1000", "--query-rate=10", "--metrics-out=m.txt", "--ui=:0",
    )  # fmt: skip
    with urllib.request.urlopen(url_of(started) + "events", timeout=30) as stream:
        lines = stream.read().decode().splitlines()
    done = lite.finish(started)

    assert done.code == 0, done.err
    writer, asker = lite.results()[-1]["runs"][0]["outcome"]["workers"]
    asked = sum(each["runs"] + each["warmup_runs"] for each in asker["queries"])
    messages = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    samples = [each for each in messages if each["kind"] == "sample"]
    assert (samples[-1]["count"], samples[-1]["asked_count"]) == (writer["rows"], asked)
    assert any(each["per_s"] > 0 and each["asked_per_s"] > 0 for each in samples)

    text = (lite.folder / "m.txt").read_text()
    families = {each.name: each.samples for each in text_string_to_metric_families(text)}
    assert families["iotbench_rows"][-1].value == writer["rows"]
    assert families["iotbench_queries"][-1].value == asked
    assert families["iotbench_queries"][-1].labels["query"] == "all queries"
    assert not lite.leftovers()


def test_a_browser_draws_four_pictures_of_rows_and_queries(
    lite: CommandLine, chrome: Tab, eventually
) -> None:
    filled(lite, "--workers=1", "--num-inserts=1000")
    started = lite.start(
        "mixed", "--target=lite", "--duration=6s", "--batch=20", "--insert-rate=500",
        "--query-rate=10", "--verify=none", "--ui=:0",
    )  # fmt: skip
    chrome.open(url_of(started))
    eventually(lambda: chrome.evaluate("samples.length") >= 2)
    drawn = "[...document.querySelectorAll('svg path')].filter(p => p.getTotalLength()).length"
    for width in WIDTHS:
        chrome.look(width, "light")
        eventually(lambda: chrome.evaluate(drawn) == 6)
        assert chrome.evaluate("document.documentElement.scrollWidth") <= width
    chrome.evaluate("document.querySelector('details').open = true")
    cells = "document.querySelector('#samples tr')?.cells.length"
    eventually(lambda: chrome.evaluate(cells) == 10)
    assert chrome.evaluate("document.querySelectorAll('th:not([hidden])').length") == 10 + 3
    assert chrome.complaints() == []
    assert lite.finish(started).code == 0


def test_all_that_is_wrong_is_named_and_nothing_is_left_behind(lite: CommandLine) -> None:
    wrong = lite.refuse(
        "mixed", "--target=lite", "--query-workers=0", "--duration=0s", "--rate=5",
        "--fail-if=rows_per_h < 5",
    )  # fmt: skip
    assert wrong.count("error: --") == 4
    assert "insert --target lite` first" in lite.refuse("mixed", "--target=lite")
    assert not lite.output.exists()


@pytest.mark.server("postgres")
def test_postgres_takes_rows_and_answers_at_the_same_time(pg: CommandLine) -> None:
    filled = pg.run(
        "insert", *POSTGRES, "--runs=1", "--workers=2", "--batch=1000", "--num-inserts=5000", "-q"
    )
    assert filled.code == 0, filled.err
    done = pg.run(
        "mixed", *POSTGRES, "--insert-workers=2", "--query-workers=2", "--batch=100",
        "--duration=2s", "--mix=insert=80,query=20", "--rate=50", "--verify=full", "--format=json",
        "--types=count-events:9,*",
    )  # fmt: skip

    assert done.code == 0, done.err
    rows = {row.get("load") or row["query"]: row for row in done.json["rows"]}
    assert len(rows) == 6
    assert {row["verdict"] for row in rows.values()} == {"verified"}
    assert 1000 < rows["inserts"]["rows_per_s"] < 4800
    result = pg.results()[-1]
    assert result["manifest"]["rows"] > 10_000
    timed = Counter[str]()
    for worker in result["runs"][0]["outcome"]["workers"]:
        timed.update({each["name"]: each["runs"] for each in worker["queries"]})
    assert timed["count-events"] / timed.total() == pytest.approx(9 / 13, abs=0.2)
