"""Pictures for terminals: their bars, their width, and when they are drawn."""

import io

import pytest

from iotbench.machine.streams import has_room
from iotbench.measurements import summary_of
from iotbench.output.terminal.plots import plot_of
from iotbench.output.terminal.tables import format_record
from tests.unit.output.page import shown
from tests.unit.output.terminal import made


def plot(result, width=60):
    return [*plot_of(summary_of(result), width)]


def test_bars_are_rates():
    assert plot(shown.insert(), 50) == [
        "Rows/s (░ up to the fastest run)",
        " 1 worker ████████▍                            945",
        "2 workers ████████████████▉                  1,891",
        "4 workers █████████████████████████████████▋ 3,782",
        "",
    ]


def test_a_bar_goes_on_to_the_fastest_run():
    slow, fast = made.timed(10), made.timed(2)

    # 300 of 500 rows/s in 37 characters: 22 and two eighths
    assert plot(made.result([slow, fast]), 50)[1] == (
        "1 worker ██████████████████████▎░░░░░░░░░░░░░░ 300"
    )


def test_a_wait_goes_on_to_its_99th_percentile_if_that_is_known(monkeypatch):
    assert plot(shown.query(counts=(1,)), 50)[1:-1] == [
        "     count-events ████████▏                   4.44",
        "newest-per-device ███████████████████████████ 14.8",
    ]
    monkeypatch.setattr("iotbench.results.latency.FEWEST", {"p99_ms": 1, "p999_ms": 1})
    assert plot(shown.query(counts=(1,)), 50) == [
        "Wait in ms: median (░ up to p99)",
        "     count-events ████▌░               4.44 ░ 5.94",
        "newest-per-device ███████████████░░░░░ 14.8 ░ 19.8",
        "",
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("result", [shown.insert(), shown.steps(), shown.query()], ids=str)
def test_it_fits_its_width(width, result):
    assert max(map(len, plot(result, width))) <= max(width, 60)


def test_a_result_without_numbers_has_none():
    assert plot(shown.verify()) == []
    assert plot(shown.every()[-1]) == []


@pytest.mark.parametrize("form", ["json", "csv"])
def test_other_forms_have_none(form):
    assert "█" not in format_record(shown.insert(), None, form, plotted=True)


def test_it_is_drawn_only_where_it_is_wanted():
    assert "█" in format_record(shown.insert(), None, "table", plotted=True)
    assert "█" not in format_record(shown.insert(), None, "table")


@pytest.mark.parametrize(
    ("columns", "is_terminal", "drawn"),
    [
        ("80", True, True),
        ("59", True, False),
        ("80", False, False),
    ],
)
def test_a_terminal_that_is_wide_enough_has_room(monkeypatch, columns, is_terminal, drawn):
    monkeypatch.setenv("COLUMNS", columns)

    class Stream(io.StringIO):
        def isatty(self):
            return is_terminal

    assert has_room(Stream()) is drawn
