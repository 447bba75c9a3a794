"""A sweep as it goes: metrics in a file, and a page that a browser follows to the end."""

import json
import re
import socket
import urllib.request

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.browser import WIDTHS

_INSERT = ("--target", "sqlite", "--workers", "1", "--runs", "1", "--batch", "100", "--seed", "7")


def url_of(process):
    line = process.stderr.readline()
    while "live page" not in line:
        assert line, "it did not start"
        line = process.stderr.readline()
    return re.search(r"http://\S+", line)[0]


def test_a_sweep_is_in_the_metrics_and_on_the_page_as_it_is_in_the_result(cli):
    started = cli.start("insert", *_INSERT, "--duration=4s", "--metrics-out=m.txt", "--ui=:0")
    with urllib.request.urlopen(url_of(started) + "events", timeout=30) as stream:
        lines = stream.read().decode().splitlines()
    done = cli.finish(started)

    assert done.code == 0, done.err
    (result,) = cli.results()
    (worker,) = result["runs"][0]["outcome"]["workers"]
    messages = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    samples = [each for each in messages if each["kind"] == "sample"]
    assert [messages[0]["kind"], messages[-1]] == ["sweep", {"kind": "over", "status": "done"}]
    assert len(samples) >= 3
    assert samples[-1]["count"] == worker["rows"]
    assert all(each["per_s"] > 0 and each["p99_ms"] > 0 for each in samples[1:-1])

    text = (cli.folder / "m.txt").read_text()
    families = {each.name: each.samples for each in text_string_to_metric_families(text)}
    rows = families["iotbench_rows"]
    assert rows[-1].value == worker["rows"]
    assert rows[-1].labels["sweep"] == result["sweep_id"]
    assert len(rows) == len(samples)
    assert len(families["iotbench_p99_seconds"]) >= 2

    asked = cli.run(
        "query", "--target", "sqlite", "--types", "count-events", "--duration=2s",
        "--metrics-out=q.txt",
    )  # fmt: skip
    assert asked.code == 0, asked.err
    text = (cli.folder / "q.txt").read_text()
    families = {each.name: each.samples for each in text_string_to_metric_families(text)}
    (query,) = cli.results()[-1]["runs"][0]["outcome"]["workers"][0]["queries"]
    assert 0 < families["iotbench_queries"][-1].value <= query["runs"]
    assert not cli.leftovers()


def test_what_cannot_work_is_refused_together_before_anything_starts(cli):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = cli.refuse("insert", *_INSERT, f"--ui=:{port}", "--metrics-out=no/m.txt")

    assert f"--ui: cannot listen on 127.0.0.1:{port}: Address already in use" in said
    assert "--metrics-out: " in said
    assert not cli.output.exists()


def test_a_browser_draws_both_pictures_at_every_width_and_follows_to_the_end(
    cli, chrome, eventually
):
    started = cli.start("insert", *_INSERT, "--duration=6s", "--verify=none", "--ui=:0")
    url = url_of(started)
    chrome.open(url)
    eventually(lambda: chrome.evaluate("samples.length") >= 2)
    drawn = "[...document.querySelectorAll('svg path')].every(p => p.getTotalLength())"
    for width in WIDTHS:
        for scheme in ("light", "dark"):
            chrome.look(width, scheme)
            eventually(lambda: chrome.evaluate(drawn))
            assert chrome.evaluate("document.documentElement.scrollWidth") <= width
    eventually(lambda: chrome.evaluate("document.getElementById('state').textContent") == "done")
    assert chrome.evaluate("document.getElementById('runs').rows.length") == 1
    assert chrome.complaints() == []
    assert {*chrome.requests()} == {url, f"{url}events"}
    assert cli.finish(started).code == 0
