"""Times that are not ISO 8601: never guessed, read in the format that is given."""

import re
from datetime import UTC, datetime

import pytest

from iotbench.rows.files.roles import suggest

NOON = int(datetime(2024, 3, 5, 12, 0, tzinfo=UTC).timestamp()) * 10**6
DAY = 86_400 * 10**6


@pytest.mark.parametrize(
    ("time", "formats"),
    [
        ("03/05/2024", ["%d/%m/%Y", "%m/%d/%Y"]),
        ("03/25/2024", ["%m/%d/%Y"]),
        ("25.03.2024 12:00", ["%d.%m.%Y %H:%M"]),
        ("3/5/24 1:02:03 PM", ["%d/%m/%y %I:%M:%S %p", "%m/%d/%y %I:%M:%S %p"]),
        ("2024/03/25 12:00:00.5", ["%Y/%m/%d %H:%M:%S.%f"]),
        ("25/03/2024T12:00+01:00", ["%d/%m/%YT%H:%M%z"]),
        ("5 Mar 2024", ["%d %b %Y"]),
        ("05-March-2024", ["%d-%B-%Y"]),
        ("12/25/2024 noon", None),
        ("25/03/2024 1 x 2", None),
        ("25/03/2024 12:00 CET", ["%d/%m/%Y %H:%M %Z"]),
        ("2024-03-25 12:00:00 CST", ["%Y-%m-%d %H:%M:%S CST"]),
    ],
)
def test_a_format_is_suggested_and_not_guessed(refused, time, formats):
    said = refused(f"v,at\n1,{time}\n2,{time}\n")

    if formats is None:
        assert "expected one timestamp column, found none" in said
        return
    assert f"no column is a timestamp; column 'at' looks like dates ('{time}')" in said
    assert re.findall("--time-format '(.*?)'", said) == formats
    assert f"--time-column: column 'at' looks like dates ('{time}')" in refused(
        f"v,at\n1,{time}\n", time="at"
    )


@pytest.mark.parametrize("time", ["", "at"])
def test_a_value_that_no_format_reads_is_named(refused, time):
    said = refused("v,at\n0,\n1,2024-05-01 25:00:00\n2,2024-05-01 26:00:00\n", time=time)

    assert "line 3: '2024-05-01 25:00:00' is not a time in the format %Y-%m-%d %H:%M:%S" in said
    assert said.endswith("correct it, or name another order of its parts with --time-format")


@pytest.mark.parametrize("other", ["2024-03-05 23:00:00", "2024-03-05T23:00:00 CST"])
def test_the_first_value_of_another_form_is_named_with_what_reads_the_others(
    prepare, refused, other
):
    content = "v,at\n" + f"1,2024-03-05T12:00:00Z\n2,{other}\n" * 2
    said, time_format = refused(content), "%Y-%m-%dT%H:%M:%S%z"

    assert f"line 3: {other!r} is not a time in the format {time_format}, and no format" in said
    options = f"--time-column at --time-format '{time_format}' --on-error skip"
    assert said.endswith(f"write all in one form, or leave the rows of others out: {options}")
    file = prepare(content, time="at", time_format=time_format, on_error="skip")
    assert file.values == {"v": [1, 1], "at": [NOON, NOON]}


def test_a_zone_of_several_meanings_is_to_be_named(prepare, refused):
    content = "v,at\n1,2024-03-05 06:00:00 CST\n"

    assert "--time-zone with what CST means, such as America/Chicago" in refused(content)
    said = {"time_format": "%Y-%m-%d %H:%M:%S CST", "time_zone": "America/Chicago"}
    assert prepare(content, **said).values["at"] == [NOON]


def test_all_dates_have_the_suggested_format():
    assert suggest(["01/02/2024", "01/13/2024"]) == ["%m/%d/%Y"]
    assert suggest(["01/02/2024", "13/01/2024", "01/13/2024"]) == []
    assert suggest(["word", "01/02/2024"]) is None
    assert suggest([]) is None


@pytest.mark.parametrize(
    ("time", "time_format"),
    [
        ("05/03/2024 12:00", "%d/%m/%Y %H:%M"),
        ("03/05/2024 12:00:00 PM", "%m/%d/%Y %I:%M:%S %p"),
        (" 5 Mar 2024 12 ", "%d %b %Y %H"),
        ("05.03.24 12:00:00.0", "%d.%m.%y %H:%M:%S.%f"),
        ("05/03/2024 14:00 +0200", "%d/%m/%Y %H:%M %z"),
        ("202403051200", "%Y%m%d%H%M"),
        ("1709640000", "s"),
        ("1709640000000", "ms"),
        ("1709640000000000", "us"),
        ("1709640000000000000", "ns"),
    ],
)
def test_a_time_is_read_in_the_given_format(prepare, time, time_format):
    file = prepare(f"at,x\n{time},0.5\n{time},1.5\n", time_format=time_format)

    assert file.values["at"] == [NOON, NOON]
    assert file.types["at"] == "timestamp"
    assert [c.role.value for c in file.params.columns] == ["time", "field"]


def test_a_day_that_does_not_exist_is_refused(prepare, refused):
    days = "".join(f"{day:02}/03/2024,1\n" for day in range(1, 29))
    content = "at,x\n" + days + "31/02/2024,2\n"

    said = refused(content, time_format="%d/%m/%Y")
    assert "line 30, column 'at': '31/02/2024' is not a time in the format %d/%m/%Y" in said
    file = prepare(content, time_format="%d/%m/%Y", on_error="skip")
    assert file.values["at"] == [NOON - DAY // 2 + (day - 5) * DAY for day in range(1, 29)]


@pytest.mark.parametrize(
    ("cell", "second_us"),
    [("04.05.2024101112.123", 12_123_000), ("04.05.2024101112.5", 12_500_000)],
)
def test_digits_before_the_second_are_no_part_of_it(prepare, cell, second_us):
    file = prepare(f"t,x\n{cell},1\n", time="t", time_format="%d.%m.%Y%H%M%S.%f")

    assert file.values["t"] == [1714817460_000_000 + second_us]


TWO = "a,b\n05/03/2024,06/03/2024\n"
REFUSED = [
    (TWO, "", "%d/%m/%Y", "expected it to fit one column, and it fits a, b"),
    (TWO, "", "%Y", "expected it to fit one column, and it fits none"),
    (TWO, "", "%Q", "expected a format such as"),
    (TWO, "", "", "no column is a timestamp"),
    (TWO, "", "%d/%m", "has no year"),
    (TWO, "", "minutes", "has no year"),
    ("t,x\n16/12/06,1\n", "t", "%d/%m/%Y", "is not a time in the format"),
    ("t,x\n16/12/206,1\n", "t", "%d/%m/%Y", "is not a time in the format"),
    ("t,x\n04/05/2024 10:00:60,1\n", "t", "%d/%m/%Y %H:%M:%S", "is not a time in the format"),
    ("t,x\n04.05.202410605.5,1\n", "t", "%d.%m.%Y%H%M.%f", "is not a time in the format"),
    (
        "t,x\n2024-05-01T10:00:00+99:99,1\n2024-05-01T10:00:00 UTC,1\n2024-05-02T24:00:00Z,1\n",
        "", "", "line 2, column 't': '2024-05-01T10:00:00+99:99' is not",
    ),
    ("d,c,x\n2024-05-01,10:00:00,1\n2024-05-02, ,2\n", "d,c", "", "no value"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "time", "time_format", "reason"), REFUSED)
def test_what_is_no_time_is_refused(refused, content, time, time_format, reason):
    assert reason in refused(content, time=time, time_format=time_format)


def test_the_time_column_decides_between_two(prepare):
    file = prepare(TWO, time_format="%d/%m/%Y", time="b")

    assert file.types == {"a": "text", "b": "timestamp"}
