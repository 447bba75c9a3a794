"""Files as people have them: shapes of public data sets and exports, with values of our own."""

import re
import shlex

import pyarrow as pa
import pytest
from click.testing import CliRunner

from iotbench.commands.prepare import prepare
from simulator.errors import ConfigError
from simulator.records.prepared import read_prepared_file
from tests import ROOT
from tests.unit.rows.files.made import written

TAXI = {
    "VendorID": pa.array([1, 2], pa.int64()),
    "tpep_pickup_datetime": pa.array([1, 2], pa.timestamp("us")),
    "tpep_dropoff_datetime": pa.array([3, 4], pa.timestamp("us")),
    "passenger_count": pa.array([1.0, None]),
    "store_and_fwd_flag": pa.array(["N", "Y"], pa.large_string()),
    "airport_fee": pa.nulls(2),
}

SHAPES = {
    "smart meters, half-hourly with blanks": (
        (
            "LCLid,tstp,energy(kWh/hh)\nMAC002,2012-10-12 00:30:00.0000000, 0 \n"
            "MAC002,2012-10-12 01:00:00.0000000,Null\n"
        ),
        "--tags LCLid",
        "LCLid text, tstp timestamp, energy(kWh/hh) int64 NULL: 2",
    ),
    "air quality, Italian": (
        "Date;Time;CO(GT);T;;\n10/03/2004;18.00.00;2,6;13,6;;\n10/03/2004;19.00.00;-200;13,3;;\n;;;;;\n",
        (
            "--time-column Date,Time --time-format '%d/%m/%Y %H.%M.%S' --decimal comma --null -200"
            " --on-error skip --drop-columns column_5,column_6"
        ),
        "Date_Time timestamp, CO(GT) float64 NULL, T float64: 2",
    ),
    "particulate matter by hour": (
        "No,year,month,day,hour,pm2.5,cbwd\n1,2010,1,1,0,NA,NW\n2,2010,1,1,1,129,NW\n",
        "--time-column year,month,day,hour --time-format '%Y %m %d %H' --drop-columns No",
        "year_month_day_hour timestamp, pm2.5 int64 NULL, cbwd text: 2",
    ),
    "lab sensors separated by blanks": (
        "2004-03-31 03:38:15.757551 2 1 122.153\n2004-03-31 03:38:16 3 1 -3.91901\n",
        "--no-heading --delimiter ' ' --time-column column_1,column_2",
        "column_1_column_2 timestamp, column_3 int64, column_4 int64, column_5 float64: 2",
    ),
    "telemetry with a time in seconds as a float": (
        '"ts","device","co","light"\n"1.5945120943859746E9","b8:27","0.004","false"\n',
        "--time-column ts --time-format s --tags device",
        "'1.5945120943859746E9' is not a count of seconds since 1970",
    ),
    "positions of ships": (
        "# Timestamp,MMSI,Latitude,SOG,Name\n01/03/2024 00:00:00,219,56.1,0.0,\n",
        "--time-format '%d/%m/%Y %H:%M:%S' --tags MMSI",
        "# Timestamp timestamp, MMSI text, Latitude float64, SOG float64, Name text NULL: 1",
    ),
    "taxi trips, undescribed": (
        written(**TAXI),
        "",
        "found several (tpep_pickup_datetime, tpep_dropoff_datetime); name the column",
    ),
    "prices with a thousands separator": (
        'Date,Close\n2024-05-01,"1,234.5"\n2024-05-02,"1,235.5"\n',
        "",
        "Date timestamp, Close text: 2",
    ),
    "Excel, Germany": (
        "\ufeffsep=;\r\nDatum;Wert\r\n25.05.2024 13:05;1,5\r\n26.05.2024 13:05;\r\n",
        "--time-format '%d.%m.%Y %H:%M' --decimal comma",
        "Datum timestamp, Wert float64 NULL: 2",
    ),
    "occupancy of rooms, R with row names and no name for them": (
        (
            '"date","Temperature","Occupancy"\n"1","2015-02-04 17:51:00",23.18,1\n'
            '"2","2015-02-04 17:52:00",23.15,0\n'
        ),
        "",
        "line 2",
    ),
    "spot prices by periods": (
        '"MTU (CET/CEST)","Price [EUR/MWh]"\n"01.01.2024 00:00 - 01.01.2024 01:00","0.10"\n',
        "",
        "expected one timestamp column, found none",
    ),
    "Parquet with categories, lists and durations": (
        written(
            t=pa.array([1, 2], pa.timestamp("ms", tz="UTC")),
            room=pa.array(["a", "b"]).dictionary_encode(),
            raw=pa.array([[1], [2, 3]]),
            took=pa.array([1, 2], pa.duration("s")),
        ),
        "--drop-columns raw,took --tags room",
        "t timestamp, room text: 2",
    ),
    "PostgreSQL's COPY": (
        "t,v,s\n2024-05-01 10:00:00+00,1,\\N\n2024-05-01 10:01:00+00,\\N,x\n",
        "--null '\\N'",
        "t timestamp, v int64 NULL, s text NULL: 2",
    ),
}


def outcome(folder, content, words):
    """Return what `prepare` makes of a file: columns and rows, or the error."""
    path = folder / "data.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    rows = folder / "rows"
    found = CliRunner().invoke(prepare, [str(path), *shlex.split(words), f"--output={rows}", "-q"])
    if isinstance(found.exception, ConfigError):
        return "\n".join(found.exception.problems)
    assert found.exit_code == 0, found.output
    params = read_prepared_file(rows, "rows").params
    columns = (f"{c.name} {c.type.value}{' NULL' * c.nullable}" for c in params.columns)
    return f"{', '.join(columns)}: {params.rows}"


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_is_read_or_refused_in_one_line(tmp_path, shape):
    content, words, expected = SHAPES[shape]
    found = outcome(tmp_path, content, words)

    is_read = re.fullmatch(r".* (timestamp|text|bool|u?int\d+|float\d+)( NULL)?: \d+", expected)
    assert found == expected if is_read else expected in found
    assert len(found.splitlines()) == 1


def documented():
    page = (ROOT / "docs" / "data-files.md").read_text()
    (rows,) = re.findall(
        r"\| What a file looks like .*?\n\|---\|---\|---\|\n(.*?)\n\n", page, re.DOTALL
    )
    for row in rows.splitlines():
        lines, words, expected = (cell.strip() for cell in row.strip("|").split("|"))
        text = "".join(f"{line}\n" for line in re.findall("`(.*?)`", lines))
        yield text, words.strip("`"), re.findall("`(.*?)`", expected)


@pytest.mark.parametrize(("text", "words", "expected"), [*documented()])
def test_what_the_documentation_says_of_a_file_is_what_happens(tmp_path, text, words, expected):
    found = outcome(tmp_path, text, words)

    assert text.count("\n") > 1
    assert [each for each in expected if each not in found] == []
