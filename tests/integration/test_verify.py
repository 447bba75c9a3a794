"""`verify`: what is stored against what an insert left, any time later."""

import pytest

from tests.integration.conftest import CommandLine

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet")
ROWS = (*SQLITE, "--runs=1", "--batch=100", "--num-inserts=500")
INSERT = ("insert", *ROWS, "--workers=2")


def swap(cli: CommandLine) -> None:
    """Swap two values of the only device: no aggregate of them changes."""
    (one, first), (other, second) = cli.sql("SELECT rowid, temperature FROM events LIMIT 2")
    assert first != second
    for row, value in ((one, second), (other, first)):
        cli.sql(f"UPDATE events SET temperature = {value!r} WHERE rowid = {row}")


@pytest.mark.parametrize("mode", ["counts", "full"])
def test_what_an_insert_left_is_verified(cli: CommandLine, mode: str) -> None:
    assert cli.run(*INSERT).code == 0
    done = cli.run("verify", *SQLITE, f"--verify={mode}", "--format=json")

    assert done.code == 0, done.err
    checks = {row["check"]: row for row in done.json["rows"]}
    assert checks["events: count"]["found"] == "1000"
    assert ("events: every row" in checks) == (mode == "full")
    assert {row["verdict"] for row in done.json["rows"]} == {"verified"}
    assert [result["kind"] for result in cli.results()] == ["insert", "verify"]
    assert cli.leftovers() == []


def test_two_swapped_values_are_found_by_full_and_by_counts(cli: CommandLine) -> None:
    cli.run("insert", *ROWS, "--workers=1")
    swap(cli)

    assert cli.run("query", *SQLITE).code == 0
    for level in ("counts", "full"):
        done = cli.run("verify", *SQLITE, f"--verify={level}")
        assert done.code == 3
        assert "missing 2" in done.out
        assert "mismatch" in done.out


ROW = "rowid = (SELECT min(rowid) FROM events)"
CHANGES = {
    "UPDATE events SET temperature = temperature + CASE rowid WHEN 1 THEN 2e-7 ELSE -2e-7 END"
    " WHERE rowid < 3": (3, "missing 2 (0, 1)"),
    f"UPDATE events SET temperature = 'warm' WHERE {ROW}": (3, "missing 1 (0)"),
    f"UPDATE events SET device_id = device_id || char(0) WHERE {ROW}": (3, "missing 1 (0)"),
    f"UPDATE events SET device_id = CAST(device_id AS BLOB) WHERE {ROW}": (3, "missing 1 (0)"),
    f"UPDATE events SET timestamp = timestamp + 0.5 WHERE {ROW}": (3, "missing 1 (0)"),
    "UPDATE events SET device_id = CAST(device_id AS BLOB)": (3, "mismatch"),
    "DELETE FROM events WHERE rowid = 7": (3, "events: count,500,499,mismatch"),
    "DROP TABLE events": (3, "nothing: it was dropped or renamed,mismatch"),
}
"""Statement -> exit code of `verify` afterwards, and what it prints."""


def test_every_change_is_found_and_the_row_is_named(cli: CommandLine) -> None:
    cli.run("insert", *ROWS, "--workers=1")
    file = cli.folder / "bench.db"
    stored = file.read_bytes()
    for statement, (code, words) in CHANGES.items():
        file.write_bytes(stored)
        cli.sql(statement)
        done = cli.run("verify", *SQLITE, "--format=csv")

        assert done.code == code, (statement, done)
        assert words in done.out + done.err, (statement, done)


def test_what_stores_nothing_cannot_be_verified(cli: CommandLine) -> None:
    done = cli.run("verify", "--target=null")

    assert done.code == 4
    assert "null stores nothing to verify" in done.err
