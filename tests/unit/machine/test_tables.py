"""Tables at any width: no word is broken, figures stay whole, and what is dropped is named."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from iotbench.machine.tables import CellKind, TextTable, draw
from tests import ROOT
from tests.fuzzing import CASES

WIDTHS = (40, 60, 80, 100, 120)
WORDS = st.text("abcdefgh,:-東京", min_size=1, max_size=45)
TEXTS = st.lists(WORDS, max_size=5).map(" ".join)
FIGURES = st.integers(0, 10**9).map("{:,}".format)
ONE = {CellKind.NAME: WORDS, CellKind.TEXT: TEXTS, CellKind.FIGURE: FIGURES, CellKind.ID: WORDS}
COLUMN = st.sampled_from(CellKind).flatmap(
    lambda holds: st.tuples(
        TEXTS, st.just(holds), st.integers(0, 3), st.lists(ONE[holds], min_size=3, max_size=3)
    )
)


def is_whole(word, words):
    """Return whether a printed word is one of the words, or one without its middle."""
    head, cut, tail = word.partition("…")
    return word in words or (bool(cut) and any(
        each.startswith(head) and each.endswith(tail) and cell_len(each) > cell_len(word) >= 10
        for each in words
    ))  # fmt: skip


@CASES
@given(st.lists(COLUMN, min_size=1, max_size=7), st.sampled_from(WIDTHS))
def test_no_word_is_broken_and_no_figure_is_cut(columns, width):
    columns[0] = (*columns[0][:2], 0, columns[0][3])
    table = TextTable()
    for title, holds, drop, _ in columns:
        table.add_column(title, holds, drop=drop)
    for cells in zip(*(cells for *_, cells in columns), strict=True):
        table.add_row(*cells)
    lines, dropped = table.format(width)
    words = {word for title, *_, cells in columns for text in (title, *cells)
             for word in text.split()}  # fmt: skip
    printed = [word for line in lines for word in line.split() if set(word) != {"─"}]

    assert [word for word in printed if not is_whole(word, words)] == []
    for _, holds, drop, cells in columns:
        if holds in (CellKind.FIGURE, CellKind.ID) and not drop:
            whole = {each for each in cells if holds is CellKind.FIGURE or cell_len(each) <= 20}
            assert whole <= set(printed)
    assert {*dropped} <= {" ".join(title.split()) for title, _, drop, _ in columns if drop}
    if max(map(cell_len, lines)) > width:
        assert len(dropped) == sum(drop > 0 for *_, drop, _ in columns)


def test_columns_give_way_in_their_order_then_text_is_wrapped_then_names_are_shortened():
    name = "postgresql-db.example.com-5432-iot-bench"
    table = TextTable()
    table.add_column("Target", CellKind.NAME)
    table.add_column("Avg rows/s")
    table.add_column("p99", drop=2)
    table.add_column("Max", drop=1)
    table.add_column("Verdict", CellKind.TEXT)
    table.add_row(name, "1,234,567", "1.25", "12.5", "not verified, since rows are missing")
    table.add_section()
    table.add_row("sqlite", "1", "-", "-", "verified")

    assert draw([table], 120).splitlines()[0] == f"Target{' ' * 36}Avg rows/s   p99   Max  Verdict"
    assert draw([table, "", "end"], 80).splitlines()[-3:] == [
        "",
        "not shown in 80 columns: p99, Max (see them with --format json)",
        "end",
    ]
    assert draw([table], 60).splitlines() == [
        "                                              Avg",
        "Target                                     rows/s  Verdict",
        "─" * 60,
        "postgresql-db.examp…com-5432-iot-bench  1,234,567  not",
        "                                                   verified,",
        "                                                   since",
        "                                                   rows are",
        "                                                   missing",
        "",
        "sqlite                                          1  verified",
        "not shown in 60 columns: p99, Max (see them with --format json)",
    ]


def test_every_table_in_a_terminal_has_this_layout():
    others = [
        path
        for path in (ROOT / "iotbench").rglob("*.py")
        if re.search(r"rich\.(table|columns|panel)|import tabulate", path.read_text())
    ]

    assert others == []


@pytest.mark.parametrize("width", [1, 5, 12])
def test_a_width_below_any_sense_loses_no_figure(width):
    table = TextTable("A", quiet=True)
    table.add_column("B")
    table.add_row("some words of a text", "1,234,567")

    text = draw([table], width)
    assert "1,234,567" in text
    assert "words" in text
