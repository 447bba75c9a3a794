"""Times on the clocks of a zone, in summer and in winter, once, twice and never."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotbench.rows.files.zones import in_utc
from simulator.data.workloads.file import FileReading, RepeatedHour
from tests.unit.rows.files.test_reading import written

BERLIN = "Europe/Berlin"
ONCE, TWICE, NEVER = "2024-07-01 12:00:00", "2024-10-27 02:30:00", "2024-03-31 02:30:00"
FORM = "%d/%m/%Y %H:%M:%S"
US = timedelta(microseconds=1)


def us(*when):
    return int(datetime(*when, tzinfo=UTC).timestamp()) * 10**6


def as_text(*times):
    return "t,x\n" + "".join(f"{each},{n}\n" for n, each in enumerate(times))


def as_format(*times):
    return as_text(*(f"{datetime.fromisoformat(each):{FORM}}" for each in times))


def as_parquet(*times):
    found = pa.array([datetime.fromisoformat(each) for each in times], pa.timestamp("ms"))
    return written(t=found, x=[*range(len(times))])


@pytest.mark.parametrize(
    ("form", "said"),
    [(as_text, ""), (as_format, FORM), (as_parquet, "")],
    ids=["iso", "format", "pq"],
)
def test_times_without_a_zone_are_those_of_the_clocks_that_are_named(prepare, refused, form, said):
    given = {"time_format": said, "time_zone": BERLIN}
    file = prepare(form(ONCE, "2024-12-01 12:00:00", "2024-10-27 03:00:00"), **given)

    assert file.values["t"] == [us(2024, 7, 1, 10), us(2024, 12, 1, 11), us(2024, 10, 27, 2)]
    twice = refused(form(ONCE, ONCE, ONCE, TWICE), **given)
    assert f"is not one time of {BERLIN}, whose clocks show it twice (--repeated-hour" in twice
    assert "; correct it, or use --on-error skip, as every row needs a time" in twice
    never = refused(form(ONCE, ONCE, ONCE, NEVER), **given)
    assert f"is not a time of {BERLIN}, whose clocks skip it; correct it" in never
    skipped = prepare(form(ONCE, ONCE, NEVER, TWICE, ONCE), on_error="skip", **given)
    assert skipped.values["x"] == [0, 1, 4]


@pytest.mark.parametrize(("choice", "hour"), [("first", 0), ("second", 1)])
def test_a_time_that_clocks_show_twice_is_the_one_that_is_chosen(prepare, refused, choice, hour):
    given = {"time_zone": BERLIN, "repeated_hour": choice}

    assert prepare(as_text(TWICE, ONCE), **given).values["t"][0] == us(2024, 10, 27, hour, 30)
    assert "whose clocks skip it" in refused(as_text(ONCE, ONCE, NEVER), **given)


@pytest.mark.parametrize(
    ("zone", "hour"), [("+02:00", 10), ("-0530", 17), ("CET", 11), ("UTC", 12), ("Asia/Tokyo", 3)]
)
def test_a_zone_may_be_an_offset_or_a_name(prepare, zone, hour):
    minute = 30 if zone == "-0530" else 0
    assert prepare(as_text(ONCE), time_zone=zone).values["t"] == [us(2024, 7, 1, hour, minute)]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (f"{ONCE} {BERLIN}", us(2024, 7, 1, 10)),
        (f"{ONCE}+02:00[{BERLIN}]", us(2024, 7, 1, 10)),
        (f"{TWICE}+01:00[{BERLIN}]", us(2024, 10, 27, 1, 30)),
        ("2024-07-01T12:00:00Z[UTC]", us(2024, 7, 1, 12)),
        (f"{ONCE} America/Argentina/Buenos_Aires", us(2024, 7, 1, 15)),
        (f"{ONCE} UTC", us(2024, 7, 1, 12)),
        (f"{ONCE} CET", us(2024, 7, 1, 11)),
        (f"{ONCE.replace(' ', 'T')} CEST", us(2024, 7, 1, 10)),
        (f"{ONCE} EST", us(2024, 7, 1, 17)),
        (f"{ONCE} +02:00", us(2024, 7, 1, 10)),
        (f"{ONCE}-0330", us(2024, 7, 1, 15, 30)),
    ],
)
def test_a_zone_may_be_named_in_the_cell(prepare, cell, expected):
    file = prepare(as_text(f"{ONCE}.5 Asia/Tokyo", cell))

    assert file.values["t"] == [us(2024, 7, 1, 3) + 500_000, expected]


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        (f"{TWICE} {BERLIN}", f"is not one time of {BERLIN}, whose clocks show it twice"),
        (f"{NEVER} {BERLIN}", f"is not a time of {BERLIN}, whose clocks skip it"),
        (f"{ONCE} Europe/Atlantis", "in a zone that is known, as 'Europe/Atlantis' is not"),
    ],
)
def test_a_cell_whose_zone_does_not_have_it_once_is_bad(refused, cell, reason):
    said = refused(as_text(*[f"{ONCE} {BERLIN}"] * 3, cell))

    assert f"line 5, column 't': {cell!r} " in said
    assert reason in said


@pytest.mark.parametrize(
    ("cell", "form", "hour"),
    [
        ("Mon Jul 01 12:00:00 CEST 2024", "%a %b %d %H:%M:%S %Z %Y", 10),
        (f"01.07.2024 12:00 {BERLIN}", "%d.%m.%Y %H:%M %Z", 10),
        ("01.07.2024 12:00:00.0 GMT", "%d.%m.%Y %H:%M:%S.%f %Z", 12),
        ("01.07.2024 12:00 +0200", "%d.%m.%Y %H:%M %z", 10),
    ],
)
def test_a_format_may_have_the_name_of_a_zone(prepare, refused, cell, form, hour):
    file = prepare(as_text(cell, cell), time_format=form)

    assert file.values["t"] == [us(2024, 7, 1, hour)] * 2
    if "%Z" in form:
        unknown = cell.replace("CEST", "XYT").replace(BERLIN, "XYT").replace("GMT", "XYT")
        assert f"{unknown!r} is not a time in" in refused(
            as_text(cell, cell, unknown), time_format=form
        )


@pytest.mark.parametrize(
    ("content", "zone", "problem"),
    [
        (as_text(ONCE), "Europe/Berln", "'Europe/Berln' on this machine (did you mean"),
        (as_text(ONCE), "summer", "'summer' on this machine (such as Europe/Berlin"),
        (as_text(ONCE), "../x", "no time zone '../x'"),
        (as_text(f"{ONCE}Z"), BERLIN, "have a zone, or count from 1970; leave it out"),
        (as_text(1719828000), BERLIN, "or count from 1970; leave it out"),
        ("m v=1 1719828000\n", BERLIN, "or count from 1970; leave it out"),
    ],
)
def test_a_zone_that_is_unknown_or_needless_is_refused(refused, content, zone, problem):
    said = refused(content, time="" if content.startswith("m ") else "t", time_zone=zone)

    assert said.startswith("--time-zone: ")
    assert problem in said


def test_times_that_show_late_in_a_column_are_of_the_same_zone(prepare):
    rows = f"{ONCE},\n" * 25_000
    file = prepare(f"t,other\n{rows}{ONCE},{ONCE}\n", time="t", time_zone=BERLIN)

    assert file.values["other"][-1] == us(2024, 7, 1, 10)


ZONES = st.sampled_from(
    [BERLIN, "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca",
     "Pacific/Apia", "America/St_Johns", "Antarctica/Troll"]
)  # fmt: skip
TIMES = st.datetimes(datetime(1980, 1, 1), datetime(2037, 1, 1))  # noqa: DTZ001 - clocks


@given(ZONES, TIMES, st.sampled_from([*RepeatedHour]))
def test_an_instant_is_that_of_the_standard_library(zone, time, choice):
    local = (time.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // US
    micros, exists = in_utc(
        np.array([local]), "", FileReading(time_zone=zone, repeated_hour=choice)
    )
    found = {
        fold: time.replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC) for fold in (0, 1)
    }
    is_real = found[0].astimezone(ZoneInfo(zone)).replace(tzinfo=None) == time
    is_once = found[0] == found[1]

    assert exists[0] == (is_real and (is_once or choice is not RepeatedHour.STOP))
    if exists[0]:
        expected = found[int(choice is RepeatedHour.SECOND)]
        assert datetime.fromtimestamp(0, UTC) + int(micros[0]) * US == expected


def test_a_time_outside_the_years_has_no_remedy_that_leaves_out_the_time(refused):
    said = refused("t,x\n9999-12-31 23:00,1\n", time_zone="America/New_York")

    assert said.endswith("column 't': outside the years 1 to 9999; correct the value")
