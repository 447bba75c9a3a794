"""The site of a published folder: what decides between databases, and where each number leads."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from iotbench.output.page.measured import RepeatedItem, Sources, order_results
from iotbench.output.site.build import list_pages
from iotbench.output.site.entries import Entry, bytes_per_row, choose_fastest, describe_values
from iotbench.output.site.index import columns_of, head_of, list_heats, list_promises
from simulator.protocol.events import Server
from tests.unit.output.page import shown

PLAN = Path("plan.json")


def server(version, *, durable):
    return Server(version=version, nodes=1, durability="-", durable=durable, settings={})


def of(target, product="Lite 1.0", *, durable=True, module="sqlite", **changes):
    """Return the repeats of two inserts and a query of a target, with their places in a plan."""
    facts = server(product, durable=durable)
    settings = {"one": shown.repeats(4), "two": shown.repeats(4, slower_by=1)}
    found = []
    for place, (setting, results) in enumerate(settings.items()):
        for number, result in enumerate(results):
            runs = [
                run.model_copy(update={"outcome": run.outcome.model_copy(update={"server": facts})})
                for run in result.runs
            ]
            name = Path(f"{target}-{setting}-{number}.json")
            named = result.model_copy(update={"target": target, "module": module, "runs": runs})
            found.append((name, named, RepeatedItem(PLAN, setting, target, place)))
    asked = shown.query(target, counts=(1,)).model_copy(update={"module": module} | changes)
    asked = asked.model_copy(update={"created": asked.created + timedelta(days=1)})
    found.append((Path(f"{target}-query.json"), asked, RepeatedItem(PLAN, "asked", target, 2)))
    return found


def sources(*targets):
    found = [each for target in targets for each in target]
    return Sources(
        [(path, result) for path, result, _ in found], (), {path: item for path, _, item in found}
    )


def entries(*targets):
    given = sources(*targets)
    found = order_results(given.results, given.repeated)
    names = dict.fromkeys(each.result.target for each in found)
    return [Entry(name, [each for each in found if each.result.target == name]) for name in names]


@pytest.fixture(scope="module")
def pages():
    """The pages of a database with two sets of settings, and of one with markup as its name."""
    given = sources(
        of("lite"),
        of("lite_advised", "<img src=x>"),
        of(shown.HOSTILE, "Other 2", module="os:system"),
    )
    return list_pages(given, {"../results.zip": "the result files"})


def test_the_run_that_chooses_a_setting_is_not_counted():
    assert choose_fastest([(5.0, 9.0), (7.0, 1.0, 2.0)]) == (1.0, 2.0)
    assert choose_fastest([(5.0, 9.0)]) == (5.0, 9.0)
    assert choose_fastest([(5.0,), (7.0,)]) == (7.0,)
    assert choose_fastest([]) == ()


def test_space_of_an_empty_table_is_not_counted():
    assert bytes_per_row({1000: [90_000], 3000: [130_000]}) == 20
    assert bytes_per_row({1000: [90_000, 110_000]}) == 100


def test_few_runs_have_no_mean():
    assert describe_values([3.0, 1.0]) == "1 to 3 (2)"
    assert describe_values([2.0] * 5) == "2, mean 2 ±0% (5)"


def test_databases_are_grouped_by_promise_and_sorted_by_rate():
    found = entries(
        of("sure", "Sure 1"), of("quick", "Quick 2", durable=False), of("vague", durable=None)
    )
    heads = {each.target: head_of(each, is_single=True) for each in found}
    workload, settings = columns_of(found)

    promises = [*list_promises(found, heads, workload, settings, ["iot"])]

    assert promises[0].title == "a loss of power"
    assert {line.head.name for each in promises for line in each.lines} == {
        "Sure 1", "Quick 2", "Lite 1.0",
    }  # fmt: skip
    assert settings == ["one", "two"]
    (line,) = promises[0].lines
    assert line.cells[0].text.replace(",", "").isdigit()
    assert line.cells[0].link.endswith(found[0].inserts["one"].anchor)
    assert line.bar.low <= line.bar.length <= line.bar.high <= 100
    assert promises[0].answer.startswith("Sure 1: ")
    assert promises[0].answer.endswith(" rows/s, in 3 runs only")


def test_databases_with_overlapping_runs_are_named_together():
    found = entries(of("a", "First 1"), of("b", "Second 1"))
    heads = {each.target: head_of(each, is_single=True) for each in found}
    (promise,) = list_promises(found, heads, *columns_of(found), [])

    assert "First 1, Second 1 are fastest, and their runs overlap" in promise.answer


def test_waits_are_factors_of_the_shortest():
    slow = of("slow", "Slow 1")
    path, asked, item = slow[-1]
    runs = [run.model_copy(deep=True) for run in asked.runs]
    queries = tuple(shown.times(name, 30.0) for name in ("count-events", "newest-per-device"))
    worker = runs[0].outcome.workers[0].model_copy(update={"queries": queries})
    outcome = runs[0].outcome.model_copy(update={"workers": (worker,)})
    slow[-1] = (
        path,
        asked.model_copy(update={"runs": [runs[0].model_copy(update={"outcome": outcome})]}),
        item,
    )
    found = entries(of("fast", "Fast 1"), slow)
    heads = {each.target: head_of(each, is_single=True) for each in found}

    (heat,) = list_heats(found, heads, {})

    assert [head.name for head in heat.heads] == ["Fast 1", "Slow 1"]
    rows = dict(heat.rows)
    assert [cell.text for _, cell in rows["count-events"]] == ["1.00", "10.0"]
    assert [cell.text for _, cell in rows["newest-per-device"]] == ["1.00", "3.00"]
    assert [cell.text for _, cell in rows["all queries"]] == ["1.00", "5.48"]
    assert rows["count-events"][0][1].shade == 0 < rows["count-events"][1][1].shade
    assert heat.answer.startswith("Fast 1 answers fastest")


def test_every_link_leads_to_an_element_of_a_page(pages):
    links = {
        (name, *link.partition("#")[::2])
        for name, text in pages.items()
        for link in re.findall(r'href="([^"]+)"', text)
        if not link.startswith(("data:", "../"))
    }
    assert len(links) > 20
    for name, page, anchor in links:
        text = pages[page or name]
        assert not anchor or f'id="{anchor}"' in text, (name, page, anchor)


def test_a_database_has_one_page_for_both_sets_of_settings(pages):
    assert {name for name in pages if "workload" not in name} == {
        "index.html", "lite.html", "script-alert-1-script-x-2-y.html",
    }  # fmt: skip
    assert "also those that vendors advise" in pages["index.html"]
    assert 'class="promise-0 advised"' in pages["index.html"]


def test_settings_of_a_vendor_are_shown_if_there_are_no_others():
    (entry,) = entries(of("lite_advised"))

    assert head_of(entry, is_single=True).classes == "promise-0"
    assert head_of(entry, is_single=False).classes == "promise-0 advised"


def test_the_module_that_a_result_names_is_not_imported(pages):
    assert "after kill -9" in pages["lite.html"]
    assert "after kill -9" not in pages["script-alert-1-script-x-2-y.html"]


def test_markup_of_a_result_is_text(pages):
    assert all("<script>alert" not in text and "<img" not in text for text in pages.values())
