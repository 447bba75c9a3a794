"""A figure is declared once: then it is in table, page, comparison, thresholds and exports."""

import json
from pathlib import Path

import pytest

from iotbench.comparison.comparison import compare_sides
from iotbench.comparison.sides import Side
from iotbench.comparison.tables import format_record as compared_text
from iotbench.comparison.thresholds import Scope, checks_of, list_failures, parse
from iotbench.figures.figures import FIGURES, Better, Figure, Unit
from iotbench.measurements import summary_of
from iotbench.measurements.insert.figures import WORKERS
from iotbench.output.page.build import page_of, render
from iotbench.output.page.measured import Sources
from iotbench.output.terminal.tables import format_record
from iotbench.plans.measures import is_measure, measures_of, unit_of
from iotbench.results.metrics import InsertMetrics
from iotbench.store.export import export
from tests.unit.output.page import shown
from tools.reference import PARTS

NAME = "rows_per_retry"


@pytest.fixture(autouse=True)
def declared(monkeypatch):
    """Declare a figure, and what measures it."""
    figure = Figure(
        NAME, Unit.ROWS, "Rows per retry", "Rows for each batch that was sent again.",
        Better.HIGHER, columns={"workers": 0}, compared=True, picture="Rows per retry",
    )  # fmt: skip
    monkeypatch.setitem(FIGURES, NAME, figure)
    value = property(lambda metrics: metrics.rows / (metrics.retried + 1))
    monkeypatch.setattr(InsertMetrics, NAME, value, raising=False)


def test_it_is_in_every_form_of_a_result(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    result = shown.insert(counts=(1,))
    value = summary_of(result).rows[0].figures[NAME].value

    assert f"{value:,.0f}" in format_record(result, None, "table")
    assert "retry" in format_record(result, None, "table").splitlines()[1]
    (row,) = json.loads(format_record(result, None, "json"))["rows"]
    assert row[NAME] == value
    assert NAME in format_record(result, None, "csv").splitlines()[0].split(",")
    for form in ("csv", "json", "openmetrics"):
        assert NAME in export([("id", result)], form)
    assert "Rows per retry" in export([("id", result)], "markdown")
    assert "Rows per retry over workers" in render(page_of(Sources(shown.named([result]), ())))
    assert f"`{NAME}`" in PARTS["figures"]()


def test_it_is_compared_and_has_thresholds():
    result = shown.insert(counts=(1,))
    sides = [Side(((Path(name), result),)) for name in ("a", "b")]
    assert "Rows per retry" in compared_text([compare_sides(*sides)], "table", 100)

    problems = []
    texts = [f"{NAME} < 1e9", f"{NAME}_min < 1e9 at workers=1"]
    thresholds = parse(texts, Scope((WORKERS,), workers=(1,), queries=()), problems)
    assert problems == []
    assert len(list_failures(tuple(checks_of(thresholds, summary_of(result))))) == 2


def test_plans_and_documents_have_it():
    found = measures_of([shown.insert(counts=(1,))])

    assert found[NAME] > 0
    assert (is_measure(NAME), unit_of(NAME)) == (True, "rows")
