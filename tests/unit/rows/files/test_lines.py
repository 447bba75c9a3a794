"""A file of InfluxDB line protocol, as people have them, is read into typed columns."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotbench.rows.files.lines import _parse
from simulator.data.workloads.file import OnError

NOAA = r"""# DDL
CREATE DATABASE water_demo
# DML
# CONTEXT-DATABASE: water_demo

h2o_feet,location=coyote_bay water_level=8.120,level\ description="between 6 and 9 feet" 1439856000
h2o_feet,location=santa_rita water_level=2.064 1439856360
h2o_temperature,location=santa_rita degrees=60 1439856000
"""
ONE = "cpu,host=a v=1i 1439856000\n"


def test_comments_blank_lines_and_ddl_are_left_out_and_a_measurement_is_a_table(prepare):
    file = prepare(NOAA, name="noaa.lp", measurement="h2o_feet")

    assert file.params.table == "h2o_feet"
    assert file.values == {
        "time": [1439856000000000, 1439856360000000],
        "location": ["coyote_bay", "santa_rita"],
        "water_level": [8.12, 2.064],
        "level description": ["between 6 and 9 feet", None],
    }
    assert [c.role for c in file.params.columns] == ["time", "tag", "field", "field"]
    assert list(file.types.values()) == ["timestamp", "text", "float64", "text"]


def test_one_of_several_measurements_must_be_named(refused):
    assert refused(NOAA, name="noaa.lp").endswith(
        "/noaa.lp: has 2 measurements (h2o_feet, h2o_temperature); each makes a table: name one"
        " with --measurement, and insert the others apart"
    )
    unknown = refused(NOAA, name="noaa.lp", measurement="h2o_fet")
    assert unknown.startswith("--measurement: ")
    assert "has no 'h2o_fet' (did you mean 'h2o_feet'?)" in unknown


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_line_ends_and_compression_do_not_matter(prepare, end, pack):
    text = f"{ONE}\n# note\n{ONE.replace('=a', '=b')}".replace("\n", end)
    file = prepare(pack(text.encode()), name="rows.lp")

    assert file.values["v"] == [1, 1]
    assert file.values["host"] == ["a", "b"]
    assert file.types["v"] == "int64"


def test_every_type_is_stored_as_it_is_written(prepare):
    line = (
        r"m\,x,a\ b=c\=d\,e i=-9223372036854775808i,u=7u,f=-1.5e-3,g=3,t=T,n=false,"
        r's="a, \"b\" = \\ c",e="" 1439856000'
    )
    file = prepare(line, name="rows.lp")

    assert file.params.table == "m_x"
    assert {name: values[0] for name, values in file.values.items()} == {
        "time": 1439856000000000, "a b": "c=d,e", "i": -(2**63), "u": 7, "f": -0.0015, "g": 3.0,
        "t": True, "n": False, "s": 'a, "b" = \\ c', "e": "",
    }  # fmt: skip
    assert [file.types[name] for name in "iufgtns"] == [
        "int64", "int64", "float64", "float64", "bool", "bool", "text",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("cpu,host=a v=1i", "has no time; every row needs one"),
        ("cpu,host=a v=1i 1.5", "expected MEASUREMENT[,TAG=VALUE] FIELD=VALUE TIME"),
        ("cpu,host=a v=1i 99999999999999999999", "the time is beyond 64 bits"),
        ("cpu,host= v=1i 1439856000", "expected MEASUREMENT[,TAG=VALUE] FIELD=VALUE TIME"),
        ("cpu,host=a v= 1439856000", "expected MEASUREMENT[,TAG=VALUE] FIELD=VALUE TIME"),
        ("cpu,host=a v=9223372036854775808i 1439856000", "field 'v' is beyond 64 bits"),
        ("cpu,host=a v=nan 1439856000", "field 'v' is not a number, a boolean or a text in quotes"),
        ("cpu,host=a v=on 1439856000", "field 'v' is not a number, a boolean or a text in quotes"),
        ("cpu,host=a v=1.5 1439856000", "field 'v' is a float; expected an integer, as before"),
        ("cpu,host=a v=1i,v=2i 1439856000", "has field 'v' twice"),
        ("cpu,host=a,host=b v=1i 1439856000", "has tag 'host' twice"),
        ('cpu,host=a s="x 1439856000', "(a quote is not closed)"),
        ("nonsense", "expected MEASUREMENT[,TAG=VALUE] FIELD=VALUE TIME"),
    ],
)
def test_a_line_that_is_no_point_is_refused_with_its_number_or_left_out(
    prepare, refused, line, reason
):
    text = f'# note\n{ONE}{line}\ncpu,host=c v=3i,s="y" 1439856001\n'
    said = refused(text, name="rows.lp")
    file = prepare(text, name="rows.lp", on_error=OnError.SKIP)

    assert "rows.lp: line 3: " in said
    assert reason in said
    assert file.values["host"] == ["a", "c"]
    (bad,) = file.params.bad_cells
    assert (bad.count, bad.expected) == (1, "the form of line protocol")


def test_a_text_may_have_line_breaks_and_the_lines_after_it_keep_their_numbers(prepare, refused):
    text = f'm s="one\ntwo",n=1i 1439856000\n{ONE.replace("cpu", "m")}'

    assert prepare(text, name="rows.lp").values["s"] == ["one\ntwo", None]
    assert "line 4: " in refused(f"{text}m v=1\n", name="rows.lp")


@pytest.mark.parametrize(
    ("time", "time_format", "expected"),
    [
        ("1439856000123456000", "", 1439856000123456),
        ("100", "s", 100_000_000),
    ],
)
def test_the_unit_of_times_is_recognised_or_said(prepare, time, time_format, expected):
    text = ONE.replace("1439856000", time)

    assert prepare(text, name="r.lp", time_format=time_format).values["time"] == [expected]


def test_a_text_file_of_another_kind_is_not_taken_for_line_protocol(prepare):
    text = "t,note a=1,b=2\n2024-05-01,x=1,3\n"

    assert list(prepare(text).values) == ["t", "note a=1", "b=2"]


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\\"), min_size=1, max_size=8)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=12)


def escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in ",= " else letter for letter in text)


@given(NAMES, NAMES, NAMES, NAMES, TEXTS)
def test_whatever_is_written_is_read(measurement, tag, value, field, text):
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    key = escaped(field)
    key = f"\\{key}" if key[0] == '"' else key
    line = f'{escaped(measurement)},{escaped(tag)}={escaped(value)} {key}="{quoted}" 1'
    name, tags, fields, time = _parse(line.encode())

    assert (name.decode(), time) == (measurement, 1)
    assert {k.decode(): v.decode() for k, v in tags.items()} == {tag: value}
    ((read, (kind, found)),) = fields.items()
    assert (kind, found.decode()) == ("a text", text)
    assert read.decode() in (field, f"\\{field}")


def test_an_option_of_another_kind_of_file_is_refused(refused):
    said = refused(ONE, name="r.lp", delimiter=";", null=("x",))
    table = refused("t,v\n2024-05-01,1\n", measurement="m")

    assert [line.split(":")[0] for line in said.splitlines()] == ["--delimiter", "--null"]
    assert "r.lp, which is line protocol; omit it" in said
    assert "bars.csv, which is not line protocol; omit it" in table


@pytest.mark.parametrize(
    ("content", "values"),
    [
        ("m v=1 1439856000\n# DDL of old\nm v=2 1439856001\n", [1, 2]),
        ("# DDL\nCREATE DATABASE a\nm v=1 1439856000\nm v=2 1439856001\n", [1, 2]),
        ("# DDL\nCREATE DATABASE a\nm v=1 1439856000\n# DML\nm v=2 1439856001\n", [1, 2]),
    ],
)
def test_no_point_is_left_out_with_the_ddl(prepare, content, values):
    assert prepare(content, name="m.lp").values["v"] == values
