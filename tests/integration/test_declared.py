"""Tables that a user declares, from the outside: inserted, queried, continued, verified."""

import yaml

from tests.integration.conftest import CommandLine

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet")
DECLARED = {
    "duration": "10m",
    "tables": {
        "meters": {
            "series": 50,
            "interval": "1s",
            "tags": {"meter": {}, "site": {"values": ["north", "south"]}},
            "fields": {
                "watts": {"type": "float64", "normal": [230, 15]},
                "state": {"type": "text", "values": ["idle", "busy"], "nulls": "10%"},
            },
        },
        "gates": {
            "series": 1,
            "interval": "10s",
            "time": "at",
            "fields": {"is_open": {"type": "bool", "true_share": "20%"}},
        },
    },
}


def declare(cli: CommandLine, **changes: object) -> None:
    (cli.folder / "meters.yaml").write_text(yaml.safe_dump(DECLARED | changes))


def test_declared_tables_are_inserted_queried_continued_and_verified(cli: CommandLine) -> None:
    declare(cli)
    words = (*SQLITE, "--workload=meters.yaml", "--start-time=2026-01-01")
    done = cli.run(
        "insert", *words, "--workers=2", "--runs=1", "--batch=100", "--limit=10000",
        "--verify=full",
    )  # fmt: skip
    assert done.code == 0, done.err
    asked = cli.run("query", *SQLITE, "--format=json")
    mixed = cli.run(
        "mixed", *SQLITE, "--fresh=1m", "--duration=2s", "--batch=10", "--insert-rate=500",
        "--query-rate=40", "--format=json",
    )  # fmt: skip
    more = cli.run(
        "insert", *words, "--no-clean", "--workers=3", "--runs=1", "--batch=100",
        "--limit=20000",
    )  # fmt: skip
    verified = cli.run("verify", *SQLITE[:2], "--verify=full", "--format=json")

    assert {row["verdict"] for row in asked.json["rows"]} == {"verified"}
    names = [row["query"] for row in asked.json["rows"]]
    assert "meters-watts-stats-per-site" in names
    assert "gates-count" in names
    assert {row["verdict"] for row in mixed.json["rows"]} == {"verified"}, mixed.err
    assert (more.code, verified.code) == (0, 0), more.err + verified.err
    (first, *_) = cli.results()
    assert first["dataset"]["workload"] == "declared"
    assert len(first["configuration"]["declared"]) == 12
    assert first["configuration"]["tables"] == "single"


def test_other_tables_than_those_that_are_stored_are_refused(cli: CommandLine) -> None:
    declare(cli)
    words = (*SQLITE, "--workload=meters.yaml", "--start-time=2026-01-01", "--runs=1",
             "--workers=1", "--batch=100", "--limit=2000")  # fmt: skip
    assert cli.run("insert", *words).code == 0
    declare(cli, duration="20m")
    refused = cli.refuse("insert", *words, "--no-clean")

    assert "--workload: the file declares other tables than the stored ones" in refused
    assert "did you mean 'iot'?" in cli.refuse("insert", *SQLITE, "--workload=iott")


def test_a_plan_names_a_file_relative_to_itself(cli: CommandLine) -> None:
    folder = cli.folder / "plans"
    folder.mkdir()
    (folder / "meters.yaml").write_text(yaml.safe_dump(DECLARED))
    plan = {
        "name": "declared",
        "targets": ["lite"],
        "repeats": 1,
        "settings": [
            {
                "name": "small",
                "insert": {"workload": "meters.yaml", "workers": 1, "limit": 2000, "batch": 100},
            }
        ],
    }
    (folder / "plan.yaml").write_text(yaml.safe_dump(plan))
    cli.config = cli.folder / "config.yaml"
    cli.config.write_text("targets: {lite: {module: sqlite, runner: local, path: lite.db}}\n")
    done = cli.run("run", "plans/plan.yaml")

    assert done.code == 0, done.err
