"""`insert --data` and the queries after it, from the outside."""

import gzip
import re
from pathlib import Path

import pytest

from tests import ROOT
from tests.files import ohlcv
from tests.integration.conftest import POSTGRES, CommandLine, combined

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db")
WHOLE = ("--runs=1", "--batch=1000", "--verify=full", "--format=json")
ROWS = 12_345
SENSORS = '''at,sensor,"State, in %: ""it""",reading,ok,note
2024-05-01T00:00:00.25Z,s1,on,1.5,true,"a ""quoted"", one"
2024-05-01T00:00:00.25Z,s2,on,,false,
2024-05-01T00:00:01.25Z,s1,off,-2.25,,two
2024-05-01T00:00:02.25Z,s1,on,0.1,true,"a line
break"
2024-05-01T00:00:02.25Z,s2,off,1e9,true,50%?
'''


@pytest.fixture(params=["csv", "parquet"])
def bars(request: pytest.FixtureRequest, cli: CommandLine) -> Path:
    path = cli.folder / f"Dow Jones.{request.param}"
    ohlcv.write(path, rows=ROWS)
    return path


@pytest.fixture
def sensors(cli: CommandLine) -> Path:
    path = cli.folder / "sensors.csv"
    path.write_text(SENSORS)
    return path


def test_a_file_is_inserted_verified_and_asked(cli: CommandLine, bars: Path) -> None:
    done = cli.run("insert", *SQLITE, f"--data={bars.name}", "--workers=1,2", *WHOLE)

    assert done.code == 0, done.err
    assert [(row["workers"], row["verdict"]) for row in done.json["rows"]] == [
        (1, "verified"),
        (2, "verified"),
    ]
    assert f"{ROWS:,} rows for table dow_jones" in done.err
    assert "key: no two rows have the same (timestamp)" in done.err
    (result,) = cli.results()
    configuration = result["configuration"]
    assert configuration["data"] == str(bars)
    assert (configuration["rows"], configuration["time_column"]) == (ROWS, "timestamp")
    assert not {"num_inserts", "seed", "devices", "workload"} & set(configuration)
    assert [run["metrics"]["rows"] for run in result["runs"]] == [ROWS, ROWS]
    shares = [worker["rows"] for worker in result["runs"][1]["outcome"]["workers"]]
    assert sum(shares) == ROWS
    assert abs(shares[0] - shares[1]) <= 1000  # a batch
    assert result["manifest"]["rows"] == ROWS

    asked = cli.run("query", *SQLITE, "--runs=1", "--quiet", "--format=json")
    assert asked.code == 0, asked.err
    assert asked.err == ""
    assert {row["query"]: row["verdict"] for row in asked.json["rows"]} == dict.fromkeys(
        ("count-dow_jones", "open-min-max", "open-stats", "high-min-max", "high-stats"), "verified"
    )
    assert cli.leftovers() == []


@pytest.mark.parametrize(
    ("primary_key", "tables"),
    combined(
        ("db", "client", "none"),
        ("single", "multiple"),
        often=[("client", "multiple")],
    ),
)
def test_tags_nulls_and_odd_texts_arrive(
    cli: CommandLine, sensors: Path, primary_key: str, tables: str
) -> None:
    done = cli.run(
        "insert", *SQLITE, f"--data={sensors}", "--tags=sensor", "--workers=2", *WHOLE,
        f"--primary-key={primary_key}", f"--tables={tables}",
    )  # fmt: skip

    assert done.code == 0, done.out
    asked = cli.run("query", *SQLITE, "--runs=1", "--format=json")
    assert asked.code == 0, asked.out
    assert {row["query"] for row in asked.json["rows"]} == {
        *("count-sensors", "reading-min-max", "reading-stats"),
        *("reading-stats-per-sensor", "newest-per-sensor"),
    }
    if tables == "single":
        statement = 'SELECT at, "State, in %: ""it""", reading, ok, note FROM sensors ORDER BY note'
        assert (1714521600250000, "on", None, 0, None) in cli.sql(statement)


@pytest.mark.server("postgres")
def test_postgresql_takes_the_same_file(pg: CommandLine, sensors: Path) -> None:
    bars = pg.folder / "bars.parquet"
    ohlcv.write(bars, rows=ROWS)
    for arguments in ([f"--data={sensors}", "--tags=sensor"], [f"--data={bars}"]):
        done = pg.run("insert", *POSTGRES, *arguments, "--workers=1,2", *WHOLE)
        assert done.code == 0, done.out + done.err
        asked = pg.run("query", *POSTGRES, "--runs=1", "--format=json")
        assert asked.code == 0, asked.out + asked.err
        assert {row["verdict"] for row in asked.json["rows"]} == {"verified"}
    assert pg.leftovers() == []


def test_a_file_with_fewer_rows_than_workers_is_still_inserted_once(
    cli: CommandLine, sensors: Path
) -> None:
    done = cli.run("insert", *SQLITE, f"--data={sensors}", "--workers=8", *WHOLE)

    assert done.code == 0, done.out
    assert cli.results()[0]["manifest"]["rows"] == 5


def test_the_preview_is_on_standard_error_and_not_with_quiet(
    cli: CommandLine, sensors: Path
) -> None:
    insert = ("insert", *SQLITE, f"--data={sensors}", "--tags=sensor", "--workers=1", *WHOLE)
    loud, quiet = cli.run(*insert), cli.run(*insert, "--quiet")

    for shown in (
        'State, in %: "it"',
        "timestamp[us, tz=UTC]",
        "float64, has NULLs",
        "tag",
        "5 rows",
    ):
        assert shown in loud.err
    assert loud.json["rows"]
    assert quiet.err == ""
    assert quiet.json["rows"]


BAD = {
    "a wrong time column": (["--time-column=att"], ["--time-column", "did you mean 'at'"]),
    "a text as time": (["--time-column=note"], ["'note' is text", "at"]),
    "a timestamp as tag": (["--tags=at,sensr"], ["'at' is the time column", "'sensor'"]),
    "a delimiter of two": (["--delimiter=::"], ["--delimiter: expected one character"]),
    "options of a generator": (
        ["--num-inserts=5", "--prefill=1", "--devices=2", "--seed=1", "--no-clean"],
        ["--num-inserts", "--prefill", "--devices", "--seed", "--no-clean"],
    ),
    "steps": (["--steps=2", "--workers=1"], ["--steps: every row of the file is written once"]),
    "no key for the client": (["--primary-key=client"], ["(at)", "another primary key"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_reported_before_anything_starts(
    cli: CommandLine, sensors: Path, case: str
) -> None:
    arguments, reported = BAD[case]
    said = cli.refuse("insert", *SQLITE, f"--data={sensors}", *arguments)

    assert [word for word in reported if word not in said] == []
    assert cli.results() == []
    assert not (cli.folder / "bench.db").exists()


US = """taken;rack;load
03/25/2024 01:00 PM;7;0.5
03/25/2024 02:00 PM;12;n/a
03/25/2024 03:00 PM;7;high
03/25/2024 04:00 PM;12;0.75
"""


@pytest.mark.parametrize(("action", "rows"), [("null", 4), ("skip", 3), ("text", 4)])
def test_bad_cells_are_treated_as_chosen_and_stay_in_the_result(
    cli: CommandLine, action: str, rows: int
) -> None:
    path = cli.folder / "load.csv.gz"
    path.write_bytes(gzip.compress(US.encode()))
    given = ("--tags=rack", "--time-format=%m/%d/%Y %I:%M %p", f"--on-error={action}")
    done = cli.run("insert", *SQLITE, f"--data={path}", "--workers=2", *given, *WHOLE)
    asked = cli.run("query", *SQLITE, "--runs=1", "--format=json")

    assert (done.code, asked.code) == (0, 0), done.err + asked.err
    (warning,) = [text for text in done.json["warnings"] if "column 'load'" in text]
    assert "column 'load': 1 cell is not a finite number (line 4: 'high')" in warning
    assert warning in done.err
    assert warning in asked.json["warnings"]
    inserted, _ = cli.results()
    assert inserted["manifest"]["rows"] == rows
    assert inserted["dataset"]["params"]["bad_cells"][0]["count"] == 1
    assert inserted["configuration"]["on_error"] == action
    loads = cli.sql("SELECT load FROM load ORDER BY taken")
    racks = cli.sql("SELECT DISTINCT rack FROM load ORDER BY rack")
    expected: dict[str, list[object]] = {
        "null": [0.5, None, None, 0.75],
        "skip": [0.5, None, 0.75],
        "text": ["0.5", "n/a", "high", "0.75"],
    }
    assert [load for (load,) in loads] == expected[action]
    assert racks == [("12",), ("7",)]


def test_a_query_needs_the_file_as_it_was_inserted(cli: CommandLine, sensors: Path) -> None:
    cli.run("insert", *SQLITE, f"--data={sensors}", "--workers=1", *WHOLE)
    sensors.write_text(SENSORS.replace("1.5", "1.6"))
    assert "has changed since it was inserted" in cli.refuse("query", *SQLITE, "--quiet")
    sensors.unlink()
    gone = cli.refuse("query", *SQLITE, "--quiet")
    assert "no such file: the answers cannot be checked" in gone


def test_a_file_is_prepared_once_and_inserted_twice(cli: CommandLine, bars: Path) -> None:
    made = cli.run("prepare", bars.name, "--output=bars.rows")
    assert made.code == 0, made.err
    assert f"{ROWS:,} rows for table dow_jones" in made.err
    assert f"bars.rows: {ROWS:,} rows, " in made.out
    bars.unlink()

    done = cli.run("insert", *SQLITE, "--data=bars.rows", "--workers=1,2", *WHOLE)
    assert done.code == 0, done.err
    assert [row["verdict"] for row in done.json["rows"]] == ["verified", "verified"]
    assert cli.results()[-1]["configuration"]["data"] == str(cli.folder / "bars.rows")
    asked = cli.run("query", *SQLITE, "--format=json")
    assert asked.code == 0, asked.err
    assert {row["verdict"] for row in asked.json["rows"]} == {"verified"}

    again = cli.refuse("prepare", "none.csv", "--output=bars.rows")
    assert "--output: bars.rows: exists; remove it" in again
    refused = cli.refuse("insert", *SQLITE, "--data=bars.rows", "--tags=open", *WHOLE)
    assert "--tags: it was read when it was prepared; leave it out" in refused
    (cli.folder / "other").mkdir()
    other = cli.refuse("insert", *SQLITE, "--data=other", *WHOLE)
    assert "other: is a folder without files" in other
    largest = max((cli.folder / "bars.rows").glob("*.values"), key=lambda path: path.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:-8])
    for command in (("insert", "--data=bars.rows"), ("query",)):
        damaged = cli.refuse(*command, *SQLITE)
        assert "bars.rows: has " in damaged
        assert "copy the whole folder again, or prepare the file again" in damaged


def test_what_cannot_be_prepared_leaves_nothing_behind(cli: CommandLine, sensors: Path) -> None:
    sensors.write_text(SENSORS.replace("0.1", "warm"))
    said = cli.refuse("prepare", sensors.name)
    assert "'warm' is not a finite number" in said
    assert [*cli.folder.glob("*.rows"), *cli.folder.glob(".*.rows.*")] == []


def test_two_columns_with_the_same_values_have_answers_of_their_own(cli: CommandLine) -> None:
    (cli.folder / "same.csv").write_text("time,a,b\n2026-01-01,1.5,1.5\n2026-01-02,2.5,2.5\n")
    cli.run("insert", *SQLITE, "--data=same.csv", "--workers=1", "--runs=1", "-q")
    done = cli.run("query", *SQLITE, "--workers=1", "--runs=1", "--quiet")

    assert (done.code, done.err) == (0, "")
    assert "mismatch" not in done.out


@pytest.mark.parametrize("stop", [pytest.param("terminate", marks=pytest.mark.rare), "interrupt"])
def test_a_file_being_read_can_be_interrupted(
    cli: CommandLine, eventually, interrupt, stop
) -> None:
    path = cli.folder / "bars.csv"
    ohlcv.write(path, size_bytes=60 << 20)
    running = cli.start("insert", *SQLITE, f"--data={path}", "--quiet")
    eventually(lambda: list(cli.temporary.rglob("*.values")))
    interrupt(running) if stop == "interrupt" else running.terminate()
    done = cli.finish(running)

    assert done.code == 130
    assert cli.leftovers() == []


def test_the_error_in_the_documentation_is_the_one_that_is_printed(cli: CommandLine) -> None:
    page = (ROOT / "docs" / "data-files.md").read_text()
    (content,) = re.findall(r"cat > loads.csv <<'END'\n(.*?)END\n", page, re.DOTALL)
    (cli.folder / "loads.csv").write_text(content)
    stop = cli.refuse(
        "insert", *SQLITE, "--data=loads.csv", "--time-format=%m/%d/%Y %I:%M %p", "-q"
    )

    assert f"    {stop.strip().removeprefix('error: ')}\n" in page
