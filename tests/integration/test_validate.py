"""`validate`: the same questions to SQLite and to another database, from the outside."""

from typing import Any

import pytest
import yaml

from tests.integration.conftest import CommandLine, rows
from tests.integration.test_databases import edited
from tests.servers import Postgres

FLEET = (
    "--workload=devops", "--scale=2", "--start=2026-01-01", "--end=2026-01-01T02:00:00Z",
    "--interval=60s", "--workers=1", "--batch=500", "--runs=1", "--quiet",
)  # fmt: skip
ONE_RUN = ("--workers=1", "--batch=500", "--runs=1", "--quiet")
TYPES = "--types=?-host-1-hr,count-cpu,cpu-mean-by-hour-and-host"
PG = {"module": "postgres", "connection_string": "${BENCH_POSTGRES}"}


def targets(cli: CommandLine, **more: dict[str, Any]) -> None:
    """Give the command line two SQLite files as targets, and more."""
    lite = {name: {"module": "sqlite", "path": f"{name}.db"} for name in ("lite", "other")}
    cli.configure(**lite, **more)


def insert(cli: CommandLine, *names: str, words: tuple[str, ...] = FLEET) -> None:
    for name in names:
        done = cli.run("insert", f"--target={name}", *words)
        assert done.code == 0, done.err


@pytest.mark.server("postgres")
def test_two_databases_answer_alike_and_a_wrong_row_is_seen(
    pg: CommandLine, server: Postgres, server_database: str
) -> None:
    targets(pg, pg=PG)
    insert(pg, "lite", "pg")
    alike = pg.run(
        "validate", "--targets=lite,pg", TYPES, "--count=20", "--format=json", "--quiet",
    )  # fmt: skip
    wrong = "UPDATE cpu SET usage_user = 99.5 WHERE usage_user < 99.5"
    rows(server, server_database, wrong)
    differ = pg.run("validate", "--targets=lite,pg", TYPES, "--count=5", "--quiet")

    assert alike.code == 0, alike.out + alike.err
    counts = {each["query"]: (each["answers"], each["different"]) for each in alike.json["queries"]}
    assert counts == {
        "1-host-1-hr": (21, 0),
        "2-host-1-hr": (21, 0),
        "count-cpu": (1, 0),
        "cpu-mean-by-hour-and-host": (1, 0),
    }
    assert all(each["equal"] + each["rounded"] == each["answers"] for each in alike.json["queries"])
    assert [each["verdict_pg"] for each in alike.json["queries"]] == ["verified"] * 4
    assert differ.code == 3
    lines = {line.split()[0]: line.split() for line in differ.out.splitlines() if line.split()}
    assert lines["1-host-1-hr"][1:] == ["6", "0", "0", "6", "verified", "mismatch"]
    assert lines["count-cpu"][1:] == ["1", "1", "0", "0", "verified", "verified"]
    assert "99.5" in differ.out
    assert "equal to the truth" in differ.out


LOADS = {
    "devops": ("--scale=3", "--end=2026-06-01T13:00:00Z", "--interval=240s"),
    "dashboard": ("--scale=12", "--end=2026-06-01T01:10:00Z", "--interval=30s"),
    "metaquery": ("--scale=40",),
    "multi-measurement": (),
    "cpu": ("--scale=9", "--end=2026-06-02T01:00:00Z", "--interval=240s"),
    "homes": ("--scale=2", "--end=2026-06-01T13:00:00Z", "--interval=30m"),
    "trucks": ("--scale=6", "--end=2026-06-02T01:00:00Z", "--interval=240s"),
}
OTHERS = ("dashboard", "metaquery", "multi-measurement")
FILTERED = {"high-cpu-all", "high-cpu-1", "avg-vs-projected-fuel-consumption"}
DERIVED = {
    "low-fuel", "high-load", "stationary-trucks", "long-driving-sessions", "long-daily-sessions",
    "avg-daily-driving-duration", "avg-daily-driving-session", "daily-activity",
    "breakdown-frequency",
}  # fmt: skip
REAL = [
    ("postgres", "postgresql", ["devops"], set()),
    pytest.param("postgres", "postgresql", [*LOADS], set(), marks=pytest.mark.rare),
    ("influxdb", "influxdb", ["devops", "cpu", "homes", "trucks"], DERIVED),
    ("questdb", "questdb", ["devops", "cpu", "homes", "trucks"], set()),
    *(
        pytest.param(name, name, [*OTHERS], set(), marks=pytest.mark.rare)
        for name in ("influxdb", "questdb")
    ),
    ("victoriametrics", "victoriametrics", ["cpu", "trucks"], FILTERED | DERIVED),
]
"""Server, target, the workloads that it can store, and the query types that it cannot answer."""


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("server_name", "target", "workloads", "refused"), REAL)
def test_every_type_is_answered_by_a_real_server_as_by_sqlite(
    cli: CommandLine,
    server_options: dict[str, Any],
    target: str,
    workloads: list[str],
    refused: set[str],
) -> None:
    cli.config = edited(target, server_options, cli)
    config = yaml.safe_load(cli.config.read_text())
    config["targets"]["lite"] = {"module": "sqlite", "runner": "local", "path": "lite.db"}
    cli.config.write_text(yaml.safe_dump(config))
    for workload in workloads:
        words = (f"--workload={workload}", "--start=2026-06-01", *LOADS[workload])
        insert(cli, "lite", target, words=(*words, *ONE_RUN))
        alike = cli.run(
            "validate", f"--targets=lite,{target}", "--count=2", "--format=json", "--quiet",
        )  # fmt: skip

        assert alike.code == 0, alike.out + alike.err
        found = {each["query"]: each for each in alike.json["queries"]}
        apart = {name for name, each in found.items() if not each["answers"]}
        assert apart == refused & {*found}
        assert {name for name in found if found[name]["not_compared"]} == apart
        assert {each["different"] for name, each in found.items() if name not in apart} == {0}
        assert {each["verdict_lite"] for each in found.values()} == {"verified"}


SENSORS = "time,rack,v\n2024-05-01T00:00:00Z,a,1\n2024-05-01T00:01:00Z,b,2\n"


def insert_file(cli: CommandLine, *names: str, file: str = "sensors.csv") -> None:
    words = (f"--data={file}", "--tags=rack", "--workers=1", "--runs=1", "--quiet")
    insert(cli, *names, words=words)


@pytest.mark.server("postgres")
def test_two_databases_with_the_rows_of_a_file_answer_alike_until_a_row_is_altered(
    pg: CommandLine,
) -> None:
    targets(pg, pg=PG)
    (pg.folder / "sensors.csv").write_text(SENSORS)
    insert_file(pg, "lite", "pg")
    alike = pg.run("validate", "--targets=lite,pg", "--format=json", "--quiet")
    pg.sql("UPDATE sensors SET v = 3 WHERE rack = 'b'", "lite.db")
    differ = pg.run("validate", "--targets=lite,pg", "--quiet")

    assert alike.code == 0, alike.err
    counts = [(q["query"], q["equal"] + q["rounded"]) for q in alike.json["queries"]]
    assert counts == [
        ("count-sensors", 1), ("v-min-max", 1), ("v-stats", 1), ("v-stats-per-rack", 1),
        ("newest-per-rack", 1),
    ]  # fmt: skip
    assert {q[f"verdict_{name}"] for q in alike.json["queries"] for name in ("lite", "pg")} == {
        "verified"
    }
    assert differ.code == 3, differ.out + differ.err


def test_a_file_of_the_same_rows_may_be_elsewhere_and_another_file_is_refused(
    cli: CommandLine,
) -> None:
    targets(cli)
    (cli.folder / "sensors.csv").write_text(SENSORS)
    (cli.folder / "away").mkdir()
    (cli.folder / "away" / "sensors.csv").write_text(SENSORS)
    insert_file(cli, "lite")
    insert_file(cli, "other", file="away/sensors.csv")
    alike = cli.run("validate", "--targets=lite,other", "--quiet")
    (cli.folder / "away" / "sensors.csv").write_text(SENSORS.replace(",2", ",3"))
    insert_file(cli, "other", file="away/sensors.csv")
    others = cli.refuse("validate", "--targets=lite,other", "--quiet")

    assert alike.code == 0, alike.err
    first, second = cli.folder / "sensors.csv", cli.folder / "away" / "sensors.csv"
    assert f"do not hold the same rows: the file {first} and {second}, sha256 " in others
    assert "folder" not in others


def test_only_targets_with_the_same_rows_are_compared(cli: CommandLine) -> None:
    targets(cli)
    insert(cli, "lite")
    none = cli.refuse("validate", "--targets=lite,other", TYPES)
    insert(cli, "other", words=(*FLEET, "--seed=7"))
    others = cli.refuse("validate", "--targets=lite,other", TYPES)
    insert(cli, "other", words=(*FLEET, "--limit=100"))
    fewer = cli.refuse("validate", "--targets=lite,other", TYPES)

    assert "no insert of other in" in none
    assert "lite and other do not hold the same rows: seed 1 and 7; insert with" in others
    assert "do not hold the same rows: 2,160 rows and 100; insert with" in fewer


def test_every_wrong_option_is_named(cli: CommandLine) -> None:
    targets(cli)
    said = cli.refuse("validate", "--targets=lite,lite,litle", "--count=5000")
    insert(cli, "lite", "other")
    unknown = cli.refuse("validate", "--targets=lite,other", "--types=count-cpus,33-*")

    for words in (
        "--count: must be at most 1,000, got 5,000",
        "--targets: expected two targets or more, each once, got lite,lite,litle",
        "litle",
    ):
        assert words in said
    assert unknown.count("did you mean 'count-cpu'?") == 1
    assert "--types: '33-*' is not a query of workload devops" in unknown


@pytest.mark.rare
def test_a_target_that_fails_ends_the_comparison(cli: CommandLine) -> None:
    targets(cli)
    insert(cli, "lite", "other")
    (cli.folder / "other.db").unlink()
    done = cli.run("validate", "--targets=lite,other", TYPES, "--count=2", "--quiet")
    cli.sql("UPDATE cpu SET usage_user = 99.5 WHERE rowid = 101", "lite.db")
    wrong = cli.run("validate", "--targets=other,lite", TYPES, "--count=2", "--quiet")

    assert done.code == 1, done.out
    assert "other failed: " in done.out
    assert wrong.code == 1
