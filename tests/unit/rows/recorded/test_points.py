"""Rows of points: which lines are a row, and what a missing or damaged line does."""

import pytest

from simulator.errors import ConfigError
from simulator.protocol.records import RecordFormat
from tests.unit.rows.recorded.test_scan import POINT_TABLES, kept
from tests.unit.rows.recorded.test_scan import scanned as scan_bytes

WHOLE = ["note", "load", "free"]
"""The fields of a row; `load` is never NULL."""


def opentsdb(table, second, fields, host="a"):
    return [
        f'{{"metric":"{table}.{field}","timestamp":{second}000,"value":-1.5e-07,'
        f'"tags":{{"host":"{host}"}}}}\n'
        for field in fields
    ]


def graphite(table, second, fields, host="a"):
    return [f"{table}.{host}.{field} -1.5e-07 {second}\n" for field in fields]


FORMS = pytest.mark.parametrize(
    ("form", "lines"),
    [(RecordFormat.OPENTSDB, opentsdb), (RecordFormat.GRAPHITE, graphite)],
    ids=["opentsdb", "graphite"],
)


def scanned(form, rows, *, skip=False):
    content = "".join(line for row in rows for line in row).encode()
    found = scan_bytes(form, POINT_TABLES, content, batch_rows=1, skip=skip)
    return found, kept(content, found).decode()


@FORMS
def test_a_row_ends_where_table_tags_or_time_change_or_fields_begin_again(form, lines):
    rows = [
        lines("cpu", 1, WHOLE),
        lines("cpu", 1, ["load"], host="b"),
        lines("cpu", 2, ["load", "free"], host="b"),
        lines("mem", 2, ["note", "load"], host="b"),
        lines("cpu-total", 2, ["load"], host="b"),
        lines("cpu-total", 2, ["load"], host="b"),  # equal rows, which a table without a key has
        lines("cpu", 3, ["note", "load"], host="b"),
    ]
    found, _ = scanned(form, rows)

    sizes = [sum(map(len, row)) for row in rows]
    assert (found.index[1:, 0] - found.index[:-1, 0]).tolist() == sizes
    assert found.rows == (4, 2, 1)


@FORMS
def test_a_row_without_a_field_that_is_never_null_is_named(form, lines):
    rows = [lines("cpu", 1, WHOLE), lines("cpu", 2, ["note", "free"]), lines("cpu", 3, WHOLE)]
    begin = sum(map(len, rows[0]))

    with pytest.raises(ConfigError, match=rf"record 2 \(byte {begin:,}\): .* is not the points"):
        scanned(form, rows)
    found, kept = scanned(form, rows, skip=True)
    assert (found.skipped_rows, found.rows) == (1, (2, 0, 0))
    assert kept == "".join(rows[0] + rows[2])


@FORMS
@pytest.mark.parametrize("lost", [1, 12, 20])
def test_a_file_that_ends_within_a_line_costs_one_row(form, lines, lost):
    rows = [lines("cpu", 1, WHOLE), lines("cpu", 2, WHOLE)]
    rows[1][2] = rows[1][2][:-lost]
    begin = sum(map(len, rows[0]))

    with pytest.raises(ConfigError, match=rf"record 2 \(byte {begin:,}\): the file ends with"):
        scanned(form, rows)
    found, _ = scanned(form, rows, skip=True)
    assert (found.skipped_rows, found.rows) == (1, (1, 0, 0))


@FORMS
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize(
    "damage",
    [
        lambda line: "#" + line[1:],
        lambda line: line.replace("cpu", "gpu"),
        lambda line: line.replace("-1.5e-07", "null"),
        lambda line: line[: len(line) // 2] + "\n",
    ],
    ids=["letter", "table", "value", "cut"],
)
def test_a_damaged_line_costs_its_own_row_only(form, lines, place, damage):
    rows = [lines("cpu", second, WHOLE) for second in range(1, 6)]
    rows[2][place] = damage(rows[2][place])
    found, kept = scanned(form, rows, skip=True)

    assert (found.skipped_rows, found.rows) == (1, (4, 0, 0))
    assert kept == "".join(line for row in rows[:2] + rows[3:] for line in row)
