"""Malformed records are named and never repaired; every other row is read."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotbench.rows.files.records import MOST_CELL_BYTES, Scanner
from simulator.data.workloads.file import OnError

HEADING = "time,sensor,note,v\n"
INNER = (
    HEADING + '2024-05-01T00:00:00Z,a,"3"" pipe",1\n'
    '2024-05-01T00:01:00Z,a,"5 inch,2\n'
    "2024-05-01T00:02:00Z,a,ok,3\n"
    '2024-05-01T00:03:00Z,b,12" tube,4\n'
    "2024-05-01T00:04:00Z,b,ok,5\n"
)


def test_an_inner_quote_is_a_bad_row_and_swallows_no_other(prepare, refused):
    said = refused(INNER)
    assert "bars.csv: line 3: a quote is not closed, or is inside a cell and not doubled" in said
    assert """'2024-05-01T00:01:00Z,a,"5 inch,2'""" in said
    assert "leave such rows out with --on-error skip" in said

    file = prepare(INNER, on_error=OnError.SKIP)
    assert file.values["v"] == [1, 3, 5]
    assert file.values["note"] == ['3" pipe', "ok", "ok"]
    (bad,) = file.params.bad_cells
    assert bad.count == 2
    assert [each.partition(":")[0] for each in bad.first] == ["line 3", "line 5"]
    assert "2 rows do not have quotes that open and close a cell (line 3: " in bad.describe()


LATE = 12_503


@pytest.mark.parametrize("closing", ["", '\n2024-05-01T00:00:00Z,b,12 inch",4'])
@pytest.mark.parametrize("place", [2, 6_000, LATE])
def test_an_unclosed_quote_in_a_long_file_loses_no_row(prepare, refused, place, closing):
    row = "2024-05-01T00:00:00Z,a,ok,1\n"
    broken = '2024-05-01T00:01:00Z,a,"5 inch,2'
    content = HEADING + row * (place - 2) + broken + closing + "\n" + row * (LATE - place)
    where = f"lines {place} to {place + 1}" if closing else f"line {place}"
    said = refused(content)
    assert f"{where}: a quote is not closed" in said

    file = prepare(content, on_error=OnError.SKIP)
    assert file.params.rows == LATE - 2
    (bad,) = file.params.bad_cells
    assert bad.count == 1
    assert bad.first[0].startswith(f"{where}: ")
    assert ("1 row on 2 lines does not have" in bad.describe()) == bool(closing)


def test_a_quoted_text_may_have_line_breaks_delimiters_and_doubled_quotes(prepare):
    text = 'a "quoted" one,\nin two lines;\r\n\rand more'
    quoted = text.replace('"', '""')
    file = prepare(f't,s,v\r\n2024-05-01,"{quoted}",1\r\n2024-05-02,"",2\r\n2024-05-03,"""",3\r\n')

    assert file.values["s"] == [text, "", '"']


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ('2024-05-01,"a" b,1', "a quote is not closed, or is inside a cell"),
        ('2024-05-01, "a",1', "a quote is not closed, or is inside a cell"),
        ('2024-05-01,""a"",1', "a quote is not closed, or is inside a cell"),
        (f'2024-05-01,"{"x" * MOST_CELL_BYTES}",1', "a quote is not closed, or is inside a cell"),
        ("2024-05-01,a\rb,1", "a carriage return without a line feed"),
        ("2024-05-01,a,b,1", "expected 3 cells as in the heading, found 4"),
    ],
)
def test_what_is_malformed_is_named_with_its_line(refused, prepare, row, reason):
    content = "t,s,v\n2024-05-01,a,1\n" + row + "\n2024-05-02,b,2\n"

    assert f"bars.csv: line 3: {reason}" in refused(content)
    assert prepare(content, on_error=OnError.SKIP).values["v"] == [1, 2]


def test_a_malformed_heading_is_an_error_even_where_rows_are_skipped(refused):
    content = 't,"s,v\n2024-05-01,a,1\n2024-05-02,b,2\n'

    assert "line 1: a quote is not closed" in refused(content, on_error=OnError.SKIP)


def test_a_file_of_blank_lines_is_empty(refused):
    assert "is empty" in refused("\n" * 600_000)
    assert "has no rows, only the heading (t, v)" in refused("t,v\n" + "\r\n" * 200_000)
    content = "\n" * 350_000 + "t,v\n" + "\n" * 350_000 + "2024-05-01,1\n2024-05-02,x\n"
    assert "line 700003, column 'v': 'x' is not" in refused(content + "2024-05-01,3\n" * 9)


def test_all_rows_left_out_is_another_thing_than_no_rows(refused):
    said = refused("t,v\n2024-05-01\n2024-05-02,1,2\n", on_error=OnError.SKIP)
    assert (
        "no row is left by --on-error skip: 2 rows do not have 2 cells (line 2: 1, line 3: 3)"
        in (said)
    )
    said = refused("t,v\nsoon,1\n2024-05-02x,2\n", on_error=OnError.SKIP, time="t", time_format="s")
    assert "no row is left by --on-error skip: column 't': 2 cells are not a count" in said


def scanned(text, block_bytes):
    scanner = Scanner(",", "", 1)
    found = [*scanner.records(io.BytesIO(text.encode()), block_bytes)]
    content = b"".join(each.content for each in found).decode()
    lines = [int(line) for each in found for line in each.lines]
    return content, lines, [wrong for each in found for wrong in each.malformed]


CELLS = st.sampled_from(["", "a", '""', '"b"', '"c,d"', '"e\nf"', '"g""h"', '"\r\n"', "i j"])
ROWS = st.lists(st.lists(CELLS, min_size=1, max_size=4).map(",".join), max_size=8)


@given(
    rows=ROWS, end=st.sampled_from(["\n", "\r\n"]), block_bytes=st.sampled_from([5, 64, 1 << 20])
)
def test_well_formed_text_is_cut_as_the_standard_library_reads_it(rows, end, block_bytes):
    text = end.join(["t,n,v", *rows])
    records = [each for each in csv.reader(io.StringIO(text, newline=""), strict=True) if each]
    content, lines, malformed = scanned(text, block_bytes)

    good = [each for each in records if len(each) == 3]
    if not any(each.reason for each in malformed):  # no lines that look like rows in quotes
        assert [r for r in csv.reader(io.StringIO(content, newline="")) if r] == good
        assert len(lines) == len(good)
    assert len(lines) + len(malformed) == len(records)


@given(st.text('ab,"\n', max_size=60))
def test_every_line_of_any_text_is_a_row_or_malformed_or_blank_whatever_the_blocks(text):
    found = {
        (tuple(lines), tuple(malformed))
        for _, lines, malformed in (scanned(text, size) for size in (3, 17, 1 << 20))
    }
    ((lines, malformed),) = found

    begins = {*lines, *(each.line for each in malformed)}
    assert len(begins) == len(lines) + len(malformed)
    content, _, _ = scanned(text, 1 << 20)
    rows = [r for r in csv.reader(io.StringIO(content, newline=""), strict=True) if r]
    assert len(rows) == len(lines)
