"""A page of results in stages."""

import re

from iotbench.output.page.build import page_of, render
from iotbench.output.page.measured import Sources
from tests.unit.output.page import shown
from tests.unit.output.terminal.test_stages import asked, inserted, staged


def html(*results):
    return render(page_of(Sources(shown.named([*results]), ())))


def test_inserts_in_stages_have_a_section_with_a_picture_for_each_figure():
    page = html(inserted(staged(), staged(run=2)))

    assert "Inserts by stage, workload iot" in page
    assert "stage 2, 2 workers" in page
    for title in ("Rate by stage", "Median latency"):
        assert title in page
    assert "99th percentile of latency" not in page, "there are fewer than 100 sends"
    assert "In the last stage, all runs together." in page
    assert "Client share of the time" not in page
    assert not re.search(r">\s*1\.[1-9]\s*</text>", page), "there is no stage between two"


def test_queries_in_stages_are_drawn_by_their_number_of_workers():
    page = html(asked())

    assert "Wait by query type, 1 worker" in page
    assert "q, stage 1" in page
    assert "Wait by query type, 2 workers" in page
    assert "q, stage 2" in page
