"""Pages: complete, self-contained, safe, and small."""

import base64
import gzip
import hashlib
import json
import re
import time
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from iotbench.output.page.build import page_of, render
from iotbench.output.page.measured import Sources, order_results
from iotbench.output.page.style import COLOURS, colours_of
from simulator.protocol.events import Occurrence
from simulator.protocol.verdict import Status, Verdict
from tests.unit.output.page import shown

SVG = re.compile(r"<svg .*?</svg>", re.DOTALL)
SCRIPT = re.compile(r"<script(.*?)>(.*?)</script>", re.DOTALL)


def html(results):
    return render(page_of(Sources(shown.named(results), ())))


@pytest.fixture(scope="module")
def whole():
    return html(shown.every())


@pytest.fixture(scope="module")
def page(whole):
    """The page without the program and its data."""
    return SCRIPT.sub("", whole)


class Elements(HTMLParser):
    """Collects tags and ids."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.addresses = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.addresses += [found[name] for name in ("src", "href") if name in found]


def test_the_only_programs_are_ours_and_the_library(whole):
    (kind, data), (packed, library), (attributes, program) = SCRIPT.findall(whole)
    library = gzip.decompress(base64.b64decode(library)).decode()
    hashes = {
        f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'"
        for each in (program, library)
    }
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', whole)
    (scripts,) = [part for part in policy.split("; ") if part.startswith("script-src ")]

    assert kind == ' type="application/json" id="ranking-data"'
    assert "<" not in data
    assert json.loads(data)["results"][1]["name"] == shown.HOSTILE
    assert packed == ' type="application/gzip" id="ranking-library"'
    assert "vega" in library
    assert attributes == ""
    assert policy.startswith("default-src 'none'; ")
    assert {*scripts.split()[1:]} == hashes
    assert "BSD 3-Clause License" in whole


def test_a_page_without_anything_to_compare_has_no_program():
    page = html([shown.insert()])

    assert "<script" not in page
    assert "script-src" not in page


def test_nothing_is_loaded(page):
    found = Elements(page)

    assert {"script", "img", "iframe", "object", "embed"}.isdisjoint(found.tags)
    assert all(each.startswith("#") or each == "data:," for each in found.addresses)
    assert not re.search(r"@import|url\((?!#)", page)


def test_what_a_result_contains_is_text(page):
    assert "<script" not in page
    assert "<i>disk full" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "&lt;i&gt;disk full&lt;/i&gt;" in page
    assert "SELECT &#39;&lt;b&gt;&#39;" in page


def test_ids_are_unique_and_links_lead_to_one(page):
    found = Elements(page)

    assert len(found.ids) == len(set(found.ids))
    assert {each[1:] for each in found.addresses if each.startswith("#")} <= set(found.ids)


def test_every_picture_is_xml_in_colours_of_the_style_sheet_with_a_table(page):
    pictures = SVG.findall(page)

    assert len(pictures) == 1 + page.count("<figure>")
    assert page.count("<figure>") == page.count("<summary>Table</summary>")
    assert len(pictures) > 20
    for each in pictures:
        root = ET.fromstring(each)
        assert root.get("viewBox")
        assert root.get("aria-label")
        assert set(re.findall(r'(?:fill|stroke)="([^"v].*?)"', each)) <= {"none"}


@pytest.mark.parametrize(
    "title",
    [
        "Rate over workers",
        "Rate over fill level",
        "Median latency over workers",
        "99th percentile of latency over workers",
        "Latency distribution",
        "Client share of the time over workers",
        "Size on disk",
        "Wait by query type, 1 worker",
        "Queries per second",
        "lite: wait and client time, 1 worker",
        "Ramp of newest-per-device",
        "lite: rate over time",
        "lite: cores in use, 4 workers",
    ],
)
def test_there_is_a_picture_of(page, title):
    captions = re.findall(r"<figcaption>(.*?)(?:<small|</fig)", page)

    assert title in captions


def test_numbers_stand_with_n_spread_durability_and_verdict(page):
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>.*", page)]
    rate, *_ = [row for row in cells if row[:2] == ["lite", "4"] and len(row) == 9]

    # 4 workers x 5,250, 5,200 and 5,150 rows / 5.5 s
    assert rate[2:8] == ["3,782", "3,745", "3,818", "3", "1.9%", "durable"]
    assert "verified" in rate[8]


def test_the_course_marks_work_of_the_server_and_failures(page):
    picture = next(
        each for each in SVG.findall(page) if 'aria-label="lite: rate over time"' in each
    )
    texts = [each.text for each in ET.fromstring(picture).iter() if each.text]
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>.*", page)]
    marks = [row[2:] for row in cells if row[:1] == ["2 workers"] and len(row) == 5]

    for kind in ("checkpoints", "waits for a free page", "connections lost", "batches retried"):
        assert kind in texts
    assert marks[:4] == [
        ["checkpoints", "3", "1.2, 4.1 (2 times)"],
        ["connections lost", "1", "2.5"],
        ["batches retried", "3", "2.5 (3 times)"],
        ["connections restored", "1", "3.5"],
    ]


def test_a_run_that_failed_has_a_course_with_the_moment_of_its_end():
    lost = Occurrence(at_s=5.9, what="worker lost", is_failure=True)
    failed = shown.run(2, status="failed", cause="worker 0 is gone", occurrences=(lost,))
    result = shown.insert(counts=(1,), status="failed", cause="worker 0 is gone")
    page = html([result.model_copy(update={"runs": [*result.runs, failed]})])

    assert "2 workers, failed" in page
    assert ">worker lost<" in page


def test_a_result_of_an_earlier_version_has_a_course_without_marks():
    (run,) = [shown.run(1, occurrences=())]
    page = html([shown.insert(counts=(1,)).model_copy(update={"runs": [run]})])

    assert "lite: rate over time" in page
    assert "<caption>Marks" not in page


def test_the_worst_verdict_stands_first(page):
    banner = re.search(r'<p class="banner (\S+)">', page)

    assert banner
    assert banner[1] == "mismatch"
    assert "do not publish" in page


def test_a_result_without_runs_has_a_page():
    page = html([shown.every()[-1]])

    assert "disk full" in page
    assert "<figure>" not in page


def test_results_of_other_rows_are_named(whole):
    other = shown.query("duck")
    other = other.model_copy(update={"dataset": other.dataset.model_copy(update={"seed": 2})})

    named = "refuses them. duck: the seed is 2, and 1 in lite; compare"
    assert named in html([shown.query(), other])
    assert "of different rows" not in whole


def test_labels_name_what_differs():
    small, large = ({"batch": batch, "workers": [1]} for batch in (10, 1000))
    results = [shown.insert(configuration=small), shown.insert(configuration=large)]
    named = shown.named([*results, results[0]])
    labels = [each.label for each in order_results([*named, named[0]])]  # a file named twice

    assert labels == ["lite, batch 10 #1", "lite, batch 1000", "lite, batch 10 #2"]


def test_targets_keep_their_colours_and_never_share_one_needlessly():
    names = [f"target{number}" for number in range(COLOURS)]

    assert len(set(colours_of(names).values())) == COLOURS
    assert colours_of(["postgresql"]) == {"postgresql": colours_of(["postgresql"])["postgresql"]}
    assert len(colours_of([*names, "one", "more"])) == COLOURS + 2


def test_an_own_query_is_marked_in_each_place():
    unchecked = Verdict(status=Status.UNCHECKED, reason="no truth")
    found = shown.query(counts=(1,))
    (run,) = found.runs
    own = [
        each.model_copy(update={"own": True, "verdict": unchecked}) for each in run.outcome.queries
    ]
    outcome = run.outcome.model_copy(update={"queries": tuple(own), "verdict": unchecked})
    found.runs[0] = run.model_copy(update={"outcome": outcome})
    page = html([found])

    assert page.count('verdict not-checked"') > 4
    assert "not checked: the answers to own queries have no known truth" in page
    assert 'verdict verified"' not in page


def test_the_same_results_make_the_same_page():
    results = [shown.insert(), shown.query()]

    assert html(results) == html(results)


@pytest.mark.rare
def test_a_page_of_fifty_sweeps_is_small_and_made_in_seconds():
    results = [shown.insert(f"t{number % 10}", counts=(1, 2)) for number in range(50)]
    start = time.process_time()
    page = html(results)

    assert len(page.encode()) < 3_000_000
    assert time.process_time() - start < 40  # about 0.1 s a picture


def test_warnings_stand_with_the_verdict_above_every_picture():
    busy = shown.insert("busy").model_copy(update={"warnings": [f"reason {n}" for n in range(7)]})
    page = html([shown.insert("calm"), busy])

    head = page[page.index("<body>") : page.index("<svg")]
    assert head.index("banner") < head.index("reason 0") < head.index("reason 4")
    assert "busy" in head[head.index("weak") : head.index("reason 0")]
    assert "2 more warnings, at each result below" in head
    assert 'class="weak"' not in html([shown.insert("calm")])
