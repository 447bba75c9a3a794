"""A plan with several kinds of settings, and the site of its results: a page for each question."""

import re
from pathlib import Path

import pytest

from tests.integration.conftest import CommandLine
from tests.servers import Postgres
from tests.servers.restarting import restarter

PLAN = """
name: questions
targets: [postgresql, lite]
repeats: 1
settings:
  - name: series-10
    insert: &rows {workload: cpu, limit: 2k, batch: 500, parameters: {scale: 10, fields: 1}}
    query: &newest {types: [single-lastpoint], runs: 3}
  - {name: series-100, insert: {<<: *rows, parameters: {scale: 100, fields: 1}}, query: *newest}
  - {name: series-1000, insert: {<<: *rows, parameters: {scale: 1000, fields: 1}}, query: *newest}
  - name: fresh
    repeats: 2
    insert: {workload: iot, workers: 1, batch: 100, num_inserts: 1k}
    mixed: {fresh: 1h, types: [fresh-count], batch: 10, insert_rate: 500, duration: 1s}
  - {name: growing, insert: {workload: iot, workers: 1, batch: 500, num_inserts: 2k, steps: 3}}
  - name: killed
    insert: {workload: iot, workers: 2, batch: 20, rate: 2k, duration: 5s, fault: kill-database,
      at: 1s, for: 500ms}
  - {name: own-client, only: [postgres],
     insert: &sent {workload: iot, workers: 1, batch: 100, num_inserts: 2k}}
  - {name: driver, options: {client: driver}, insert: *sent}
  - {name: rates, insert: {workload: iot, workers: 1, batch: 500, num_inserts: 2k}}
"""
PAGES = {
    "cardinality.html": "What does a higher cardinality cost?",
    "freshness.html": "How soon is a row seen?",
    "growth.html": "What does a growing table cost?",
    "drivers.html": "What does a driver cost?",
    "kill-database.html": "What does a killed server cost?",
}
_REQUESTS = re.compile(r"""(?:\bsrc=|<link[^>]*\bhref=|url\()["']?(?:https?:)?//""")


@pytest.mark.server("postgres")
def test_a_plan_has_a_page_for_each_question_that_it_answers(cli: CommandLine) -> None:
    (cli.folder / "plan.yaml").write_text(PLAN)
    with Postgres() as server:
        server.create_database("bench")
        with restarter(cli.folder, server.start) as command:
            cli.reach_postgres(server, "bench")
            target = {"module": "postgres", "connection_string": "${BENCH_POSTGRES}"}
            lite = {"module": "sqlite", "path": "lite.db"}
            cli.configure(postgresql=target | {"restart_with": command}, lite=lite)
            running = cli.start("run", "plan.yaml", "--trust", f"--output={cli.output}")
            done = cli.finish(running, within_s=200)
    assert done.code == 0, done.err
    (record,) = cli.output.glob("plan-questions-*.json")

    done = cli.run("publish", str(record), "-o", "bundle")

    assert done.code == 0, done.err
    site = cli.folder / "bundle" / "site"
    pages = {path.name: path.read_text() for path in site.iterdir()}
    index = pages["index.html"]
    assert pages.keys() >= PAGES.keys()
    for name, title in PAGES.items():
        assert f'<a href="{name}">{title}</a>' in index
        assert f"<h1>{title}</h1>" in pages[name]
        assert "verified" in pages[name]
    assert not any(_REQUESTS.search(text) for text in pages.values())
    _expect_links(pages)

    bars, *_ = re.findall(r"<thead>.*?Fastest setting.*?</thead>", index)
    columns = re.findall(r"<th>([^<]+)</th>", bars)
    assert columns == ["rates", "bytes/row of iot"]  # of no setting that a question has
    cells = _cells_of(pages["cardinality.html"])
    assert {"10 series, rows/s", "1,000 series, rows/s", "Rate kept"} <= cells.keys()
    fresh = _cells_of(pages["freshness.html"])
    assert fresh["Rows are visible"] == "at once"
    assert fresh["Median, ms"].endswith(" (2)")
    assert "4,000 rows before, rows/s" in _cells_of(pages["growth.html"])
    clients = _cells_of(pages["drivers.html"])
    assert clients["Driver"] == "driver"
    assert float(clients["Driver, µs/row of CPU"].split()[0]) > 0
    killed = _cells_of(pages["kill-database.html"])
    assert float(killed["Without acknowledgement, s"].split()[0]) > 0.4
    assert (killed["Lost"], killed["Stored in part, twice, never sent"]) == ("0", "0, 0, 0")
    assert "; no acknowledged row was lost" in index
    refused = {"kill-database.html": "killed: --fault: sqlite is", "drivers.html": "driver: module"}
    assert all(f"Not measured: lite, {why}" in pages[name] for name, why in refused.items())
    assert "where rows were counted" not in index


def _expect_links(pages: dict[str, str]) -> None:
    """Expect that each link to a page leads to an element of that page."""
    for name, text in pages.items():
        for link in re.findall(r'href="([^"]+)"', text):
            page, _, anchor = link.partition("#")
            if not link.startswith(("data:", "../")):
                assert not anchor or f'id="{anchor}"' in pages[Path(page).name or name], link


def _cells_of(text: str) -> dict[str, str]:
    """Return column -> text of the first row of the first table of a page."""
    (head, body) = re.findall(r"<thead>(.*?)</thead>\s*<tbody>(.*?)</tbody>", text, re.DOTALL)[0]
    titles = re.findall(r"<th[^>]*>(.*?)</th>", head)
    row = body.partition("</tr>")[0]
    found = [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]
    return dict(zip(titles, found, strict=True))
