"""A page of mixed loads."""

from iotbench.output.page.build import page_of, render
from iotbench.output.page.measured import Sources
from tests.unit.output.page import shown
from tests.unit.output.terminal.test_mixed import mixed


def test_inserts_stand_beside_the_queries_in_one_picture_and_its_table():
    page = page_of(Sources(shown.named([mixed(), mixed(inserted=(2.0,))]), ()))
    (section,) = page.sections

    assert section.title == "Inserts beside queries, workload iot"
    latencies, rates = section.pictures
    loads = [row["Load"] for row in latencies.table.rows]
    assert loads == ["inserts", "count-events", "newest-per-device"] * 2
    assert latencies.svg.count("count-events") == 1
    assert [row["Workers"] for row in rates.table.rows] == ["2", "2"]
    assert "Rows per second beside queries" in render(page)


def test_queries_that_could_not_be_asked_are_left_out_of_the_picture():
    page = page_of(Sources(shown.named([mixed(waits=((5,), ()))]), ()))
    (section,) = page.sections

    assert [row["Load"] for row in section.pictures[0].table.rows] == ["inserts", "count-events"]
