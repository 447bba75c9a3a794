"""Repeats of an item of a plan on a page: one entry, with means and spreads over the repeats."""

import json
import re
from pathlib import Path

import pytest

from iotbench.figures.figures import FigureValue
from iotbench.figures.rows import Place, Row
from iotbench.figures.summary import Summary
from iotbench.measurements import summary_of
from iotbench.measurements.insert.figures import WORKERS
from iotbench.measurements.query.figures import QUERY
from iotbench.output.page.build import page_of, render
from iotbench.output.page.measured import (
    RepeatedItem,
    Sources,
    find_repeated,
    join_summary,
    order_results,
)
from iotbench.output.page.ranking import ranking_of
from iotbench.plans.record import Curve, ItemRecord
from simulator.protocol.verdict import Status, Verdict
from tests.unit.output.page import shown
from tests.unit.store.made import plan_of

PLAN = Path("plan-x.json")


def of_plan(*settings):
    """Return results, and what they are repeats of: each setting with its results."""
    results, repeated = [], {}
    for name, found in settings:
        for result in found:
            path = Path(f"{len(results)}.json")
            results.append((path, result))
            repeated[path] = RepeatedItem(PLAN, name, result.target)
    return results, repeated


def asked(rows):
    found = shown.query(counts=(1,))
    return found.model_copy(update={"configuration": found.configuration | {"rows": rows}})


def rows_of(page, *beginning):
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>.*", page)]
    return [row for row in cells if tuple(row[: len(beginning)]) == beginning]


def test_repeats_are_one_entry_with_mean_and_spread():
    results, repeated = of_plan(("small", shown.repeats(slower_by=5)))
    (entry,) = order_results(results, repeated)
    (row,) = entry.summary.rows
    figure = row.figures["rows_per_s"]
    each = [summary_of(r).rows[0].figures["rows_per_s"].value for _, r in results]

    assert figure.n == 3
    assert figure.value == pytest.approx(sum(each) / 3)
    assert figure.spread == pytest.approx((max(each) - min(each)) / (sum(each) / 3))
    assert (figure.low, figure.high) == (min(each), max(each))
    assert [path.name for path in entry.files] == ["0.json", "1.json", "2.json"]
    assert [run.run for run in entry.result.runs] == [1, 2, 3]


def test_every_picture_and_table_has_the_repeats():
    results, repeated = of_plan(
        ("small", shown.repeats(slower_by=5)),
        ("ask", [asked(rows) for rows in (100, 120, 90)]),
    )
    page = render(page_of(Sources(results, (), repeated)))

    rate, *_ = [row for row in rows_of(page, "lite", "1") if len(row) == 9]
    assert rate[5] == "3"
    assert rate[6].endswith("%")
    waits = [row for row in rows_of(page, "lite", "count-events") if len(row) == 16]
    assert [row[12:14] for row in waits] == [["3", "0.0%"]]
    assert "3 repeats, spread" in page
    assert "0.json, 1.json, 2.json" in page
    assert page.count('<article id="') == 2
    assert "from its lowest to its highest repeat" in page
    assert "so the difference between runs is unknown" not in page


def test_the_course_is_that_of_the_median_repeat():
    fast, slow, middle = (
        shown.insert(counts=(1,)).model_copy(update={"runs": [shown.run(1, number)]})
        for number in (1, 30, 10)
    )
    results, repeated = of_plan(("s", [fast, slow, middle]))
    page = render(page_of(Sources(results, (), repeated)))
    (course,) = [row for row in rows_of(page, "1 worker") if len(row) > 6]

    assert course[1] == "3", "the run of the third repeat"


def test_settings_and_plans_are_kept_apart_and_named():
    results, repeated = of_plan(("small", shown.repeats(2)), ("large", shown.repeats(2)))
    labels = [each.label for each in order_results(results, repeated)]
    assert labels == ["lite, small", "lite, large"]

    others = {path: RepeatedItem(Path(f"plan-{path}"), "s", "lite") for path, _ in results}
    assert len(order_results(results, others)) == 4
    assert len(order_results(results)) == 4


def tried(target, batch):
    given = {"configuration": {"batch": batch}}
    return shown.insert(target, counts=(1,)).model_copy(update=given)


def published_results():
    """A plan of three settings on four targets, one of them a search; one target has less."""
    results, repeated = [], {}
    for target in ("a", "b", "c", "d"):
        batches = (("search", 1000), ("search", 3000), ("two", 5), ("one", 3))
        for place, (setting, batch) in enumerate(batches):
            if (target, setting) != ("d", "two"):
                path = Path(f"{target}-{place}.json")
                results.append((path, tried(target, batch)))
                order = ("search", "one", "two").index(setting)
                repeated[path] = RepeatedItem(
                    Path(f"plan-{target}.json"), setting, target, order, setting == "search"
                )
    return results, repeated


def test_what_a_search_tried_is_named_by_the_setting_and_the_number():
    labels = [each.label for each in order_results(*published_results())]

    assert labels[:4] == ["a, search, batch 1000", "a, search, batch 3000", "a, two", "a, one"]


def test_of_many_results_of_plans_a_setting_that_most_targets_have_is_shown_first():
    results, repeated = published_results()
    ranking = ranking_of(order_results(results, repeated))
    data = json.loads(ranking.data)
    few = [(path, result) for path, result in results if path.name < "c"]
    alone = {path: item for path, item in repeated.items() if path.name > "b"}

    assert data["chosen"]["setting"] == "one"
    (settings,) = [each.options for each in ranking.choices if each.name == "setting"]
    assert [*settings] == ["every", "search", "one", "two"]
    names = re.findall(r">([abcd])</text>", ranking.svg)
    assert sorted(names) == ["a", "b", "c", "d"]
    assert ", one" not in ranking.svg
    for shown_results, of_plans in ((few, repeated), (results, alone)):
        other = ranking_of(order_results(shown_results, of_plans))
        assert json.loads(other.data)["chosen"]["setting"] == "every"


def test_the_settings_of_a_record_have_the_order_of_its_plan():
    curve = Curve(setting="find", target="lite", points=(), best=1)
    items = [
        ItemRecord(id=name, target="lite", setting=name, repeat=1, verdict="verified",
                   files=(f"{name}.json",)) for name in ("last", "find")
    ]  # fmt: skip
    record = plan_of(
        items, plan={"settings": [{"name": "find"}, {"name": "never"}, {"name": "last"}]},
        curves=(curve,),
    )  # fmt: skip

    assert find_repeated(PLAN, record) == {
        Path("last.json"): RepeatedItem(PLAN, "last", "lite", 2),
        Path("find.json"): RepeatedItem(PLAN, "find", "lite", 0, is_search=True),
    }


def test_other_options_within_an_item_are_other_entries():
    shards = [
        shown.insert(counts=(1,), configuration={"tables": tables})
        for tables in (1, 2) for _ in range(2)
    ]  # fmt: skip
    found = order_results(*of_plan(("shards", shards)))

    assert [len(each.results) for each in found] == [2, 2]


def test_the_worst_verdict_of_the_repeats_counts():
    repeats = shown.repeats()
    wrong = Verdict(status=Status.MISMATCH, reason="events: count")
    repeats[1].runs[0] = shown.run(1, verdict=wrong)
    results, repeated = of_plan(("s", repeats))
    page = page_of(Sources(results, (), repeated))

    assert page.verdict.startswith("mismatch")
    assert [detail.verdict for detail in page.details] == ["mismatch"]
    assert [row["Verdict"] for row in page.overview.rows] == ["mismatch"]
    assert [kind for kind, _ in page.details[0].alerts] == ["mismatch"]
    assert page.details[0].alerts[0][1].startswith("repeat 2: ")


def test_a_repeat_that_failed_leaves_the_others_and_is_named():
    repeats = shown.repeats(2)
    ended = {"runs": [], "status": "failed", "cause": "disk full"}
    gone = shown.repeats(3)[2].model_copy(update=ended)
    results, repeated = of_plan(("s", [*repeats, gone]))
    page = page_of(Sources(results, (), repeated))

    assert [detail.verdict for detail in page.details] == ["failed"]
    assert [alert for alert in page.details[0].alerts if alert[0] == "failed"] == [
        ("failed", "repeat 3: disk full")
    ]
    assert page.overview.rows[0]["n"] == "2"


def row(place, value, verdict="verified", **more):
    figures = {name: FigureValue(value, 9) for name in ("rows_per_s", "max_ms", "min_ms")}
    return Row(place, 1, figures | more, verdict)


def test_extremes_stay_extremes_and_a_figure_may_be_missing():
    one, two, more = Place(workers=1), Place(workers=2), FigureValue(0.5, 1)
    subject = WORKERS
    summaries = [
        Summary(subject, (row(one, 10.0, client_share=more),)),
        Summary(subject, (row(one, 30.0, "unknown"), row(two, 5.0))),
    ]
    first, second = join_summary(summaries).rows

    assert first.figures["rows_per_s"] == FigureValue(20.0, 2, 10.0, 30.0)
    assert first.figures["max_ms"] == FigureValue(30.0, 2)
    assert first.figures["min_ms"] == FigureValue(10.0, 2)
    assert first.figures["client_share"] == FigureValue(0.5, 1)
    assert (first.verdict, first.runs) == ("unknown", 2)
    assert (second.place, second.figures["rows_per_s"].n) == (two, 1)


def test_rows_of_the_same_name_are_joined_in_their_order():
    rows = [row(Place(query="q", workers=workers), 9.0 / workers) for workers in (9, 1)]
    summary = Summary(QUERY, tuple(rows))
    joined = join_summary([summary, summary])

    assert [each.figures["rows_per_s"].value for each in joined.rows] == [1.0, 9.0]
    assert join_summary([summary]) is summary
