"""A cell that does not have its column's type stops the insert, or is treated as chosen."""

import pyarrow as pa
import pytest

from simulator.data.workloads.file import OnError

GOOD = "2024-01-01,1\n"
ONE_BAD = "t,x\n" + GOOD * 10_000 + "2024-01-02,one\n" + GOOD * 5


def test_one_bad_cell_among_ten_thousand_integers_stops_the_insert(refused):
    said = refused(ONE_BAD)

    assert "bars.csv: line 10002, column 'x': 'one' is not an integer" in said
    assert "correct it, or use --on-error text, null or skip" in said
    assert len(said.splitlines()) == 1


LATE = "t,x\n" + GOOD * 25_000 + "2024-01-02,one\n" + GOOD


@pytest.mark.parametrize(
    ("content", "line"), [(ONE_BAD, 10_002), (LATE, 25_002)], ids=["early", "late"]
)
@pytest.mark.parametrize("action", ["text", "null", "skip"])
def test_a_bad_cell_can_be_kept_as_text_as_null_or_left_out(prepare, content, line, action):
    file = prepare(content, on_error=action)
    rows, x = content.count("\n") - 1, file.values["x"]

    assert file.types["x"] == ("text" if action == "text" else "int64")
    assert len(x) == file.params.rows == rows - (action == "skip")
    expected = {"text": "one", "null": None, "skip": 1}[action]
    assert x[line - 2] == expected
    assert set(x) - {expected} == ({"1"} if action == "text" else {1} - {expected})
    (bad,) = file.params.bad_cells
    assert (bad.column, bad.action, bad.count) == ("x", OnError(action), 1)
    assert bad.first == (f"line {line}: 'one'",)
    assert "column 'x': 1 cell is not an integer of 64 bits" in bad.describe()
    assert bad.describe().endswith("correct the file")


def test_bad_cells_are_counted_and_the_first_ones_are_kept(prepare):
    rows = "".join(f"2024-01-01,{n if n % 10 else f'bad {n}'}\n" for n in range(1, 101))
    (bad,) = prepare("t,x\n" + rows, on_error="null").params.bad_cells

    assert (bad.count, bad.first) == (
        10,
        ("line 11: 'bad 10'", "line 21: 'bad 20'", "line 31: 'bad 30'"),
    )
    assert "10 cells are not" in bad.describe()
    assert "..." in bad.describe()  # fmt: skip


def test_every_column_with_a_bad_cell_is_named(refused):
    said = refused(
        "t,i,f,b,u\n" + "2024-01-01,1,1.5,true,2024-01-01T00:00:00Z\n" * 9
        + "2024-01-01,9223372036854775808,1.5.,yes,2024-02-30T00:00:00Z\n",
        time="t",
    )  # fmt: skip

    assert [line.partition(": line ")[2].partition(";")[0] for line in said.splitlines()] == [
        "11, column 'i': '9223372036854775808' is not an integer of 64 bits",
        "11, column 'f': '1.5.' is not a finite number",
        "11, column 'b': 'yes' is not true or false",
        ("11, column 'u': '2024-02-30T00:00:00Z' is not a timestamp in ISO 8601 with zone"),
    ]


def test_a_row_needs_a_time_whatever_is_chosen_but_skip(prepare, refused):
    content = "t,x\n2024-01-01,1\n2024-01-02,2\n2024-01-03,3\n,4\nsoon,5\n"

    for action in ("stop", "text", "null"):
        said = refused(content, on_error=action)
        assert "line 5, column 't': no value is not a timestamp" in said
        assert "use --on-error skip, as every row needs a time" in said
    file = prepare(content, on_error="skip")
    assert file.values["x"] == [1, 2, 3]
    assert file.params.bad_cells[0].first == ("line 5: no value", "line 6: 'soon'")


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", " 2", "+3", "NA"], "int64", [1, 2, 3, None]),
        (["1", "2.5", "1e3", "NaN"], "float64", [1.0, 2.5, 1000.0, None]),
        (["true", "False", "1", ""], "bool", [True, False, True, None]),
        (["a", "1", "b", ""], "text", ["a", "1", "b", None]),
        (["a", "1", "2", "b"], "text", ["a", "1", "2", "b"]),
        (["12345678901234567890", "22345678901234567890"], "text", None),
        (["9999999999999999999", "9999999999999999998"], "text", None),
        (["2024-01-01 00:00:00.123456000", "2024-01-01"], "timestamp", None),
        (["09:30:00", "09:31:00"], "text", ["09:30:00", "09:31:00"]),
        (["", "NULL"], "text", [None, None]),
    ],
)
def test_a_column_has_the_type_of_most_of_its_cells(prepare, cells, kind, values):
    file = prepare("at,x\n" + "".join(f"2024-01-01,{cell}\n" for cell in cells), time="at")

    assert file.types["x"] == kind
    assert values is None or file.values["x"] == values
    assert kind != "text" or values or file.values["x"] == cells


@pytest.mark.parametrize(
    ("late", "kind", "value"),
    [("2.5", "float64", 2.5), ("7", "int64", 7), ("word", "text", "word"), ("1e3", "float64", 1e3)],
)
@pytest.mark.parametrize("first", ["1", ""])
def test_a_type_that_shows_late_is_found_by_reading_again(  # noqa: PLR0917
    prepare, refused, first, late, kind, value
):
    content = "t,x\n" + f"2024-01-01,{first}\n" * 25_000 + f"2024-01-02,{late}\n"
    if (first, late) == ("1", "word"):
        assert "line 25002, column 'x': 'word' is not an integer" in refused(content)
        return
    file = prepare(content)

    assert file.types["x"] == kind
    assert file.values["x"][-1] == value
    assert file.values["x"][0] == (None if first == "" else 1)
    assert file.params.bad_cells == ()  # fmt: skip


def test_numbers_as_tags_are_text_as_written(prepare):
    file = prepare("t,rack,ok,x\n2024-01-01,007,true,1\n2024-01-01,12,,2\n", tags=("rack", "ok"))

    assert file.values["rack"] == ["007", "12"]
    assert file.values["ok"] == ["true", None]
    assert [c.role.value for c in file.params.columns] == ["time", "tag", "tag", "field"]


def test_a_parquet_number_is_a_tag_and_its_nan_is_treated_as_chosen(prepare, refused):
    content = pa.table(
        {
            "t": pa.array([1, 2, None], pa.timestamp("s")),
            "rack": pa.array([7, 12, None], pa.int16()),
            "x": [1.5, float("nan"), 2.5],
        }
    )

    assert "--on-error text: the columns of a Parquet file have types" in refused(
        content, on_error="text", tags=("rack",)
    )
    assert "row 2, column 'x': nan is not a finite number; correct it, or use --on-error null" in (
        refused(content, tags=("rack",))
    )
    file = prepare(content, on_error="skip", tags=("rack",))
    assert file.values == {"t": [10**6], "rack": ["7"], "x": [1.5]}
    assert [bad.count for bad in file.params.bad_cells] == [1, 1]


def test_nothing_left_is_refused(refused):
    content = pa.table({"t": pa.array([None], pa.timestamp("s"))})

    assert "no row is left by --on-error skip: column 't'" in refused(content, on_error="skip")


@pytest.mark.parametrize("many", [0, 25_000])
def test_integers_of_which_one_has_leading_zeros_are_text_as_written(prepare, many):
    rows = "".join(f"2024-01-01,{cell}\n" for cell in ("7", "12", *["0"] * many, "007", "12"))
    file = prepare("t,id\n" + rows)

    assert file.types["id"] == "text"
    assert file.values["id"] == ["7", "12", *["0"] * many, "007", "12"]
    assert file.params.bad_cells == ()


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["00", "01"], "text", ["00", "01"]),
        (["0", "-0", "+1"], "int64", [0, 0, 1]),
        (["5", " 05", "6"], "text", ["5", " 05", "6"]),
        (["5", "-05"], "text", ["5", "-05"]),
        (["0.5", "00.5", "007"], "float64", [0.5, 0.5, 7.0]),
        (["1", "0x1F"], "int64", [1, 31]),
    ],
)
def test_a_number_has_no_zeros_to_lose(prepare, cells, kind, values):
    file = prepare("t,x\n" + "".join(f"2024-01-01,{cell}\n" for cell in cells))

    assert (file.types["x"], file.values["x"]) == (kind, values)


def test_a_column_of_which_every_cell_means_null_has_no_values(prepare):
    file = prepare("t,x\n2024-01-01,NA\n2024-01-02,nan\n2024-01-03,\n")

    assert (file.types["x"], file.values["x"]) == ("text", [None] * 3)
