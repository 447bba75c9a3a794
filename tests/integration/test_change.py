"""`change`: stored rows are corrected and deleted, and what is left is verified, on SQLite."""

import pytest

from tests.integration.conftest import CommandLine

FORGETFUL = """
import time

from simulator.modules.sqlite import Sqlite, SqliteSession


class Session(SqliteSession):
    def delete_before(self, table, until):
        "Leave the last second."
        super().delete_before(table, until - 1000)

    def send(self, payload):
        "Lose every third batch of corrections."
        if payload.mode != "correct":
            super().send(payload)
            return
        self.corrected = getattr(self, "corrected", 0) + 1
        if self.corrected % 3:
            super().send(payload)


class Forgetful(Sqlite):
    def connect(self):
        return Session(super().connect().connection)


class Slow(Sqlite):
    def connect(self):
        return SlowSession(super().connect().connection)


class SlowSession(SqliteSession):
    def delete_before(self, table, until):
        time.sleep(60)


class Broken(Sqlite):
    def connect(self):
        return BrokenSession(super().connect().connection)


class BrokenSession(SqliteSession):
    def delete_before(self, table, until):
        self.connection.execute("DELETE FROM nowhere")
"""


@pytest.fixture
def lite(cli: CommandLine) -> CommandLine:
    cli.add_modules("faulty", FORGETFUL)
    use(cli, "sqlite")
    return cli


def use(cli: CommandLine, module: str) -> None:
    cli.configure(lite={"module": module, "path": "lite.db", "synchronous": "off"})


def filled(line: CommandLine, *options: str) -> None:
    done = line.run("insert", "--target=lite", "--runs=1", "--batch=500", "--quiet", *options)
    assert done.code == 0, done.err


def changed(line: CommandLine, *options: str):
    return line.run("change", "--target=lite", "--format=json", *options)


def asked(line: CommandLine) -> dict[str, str]:
    done = line.run("query", "--target=lite", "--runs=1", "--format=json")
    assert done.code == 0, done.err
    return {row["query"]: row["verdict"] for row in done.json["rows"]}


def test_rows_are_deleted_and_corrected_and_later_commands_go_on_with_what_is_left(
    lite: CommandLine,
) -> None:
    filled(lite, "--workers=2", "--num-inserts=3000", "--primary-key=client")
    done = changed(lite, "--delete-oldest=50%", "--delete-steps=3", "--correct=10%",
                   "--correct-workers=2", "--batch=50", "--verify=full",
                   "--fail-if=rows_per_s < 1 at change=deletion",
                   "--fail-if=p50_ms > 100us at change=correct*")  # fmt: skip

    assert (done.code, done.err.count("threshold failed")) == (99, 1), done.err
    rows = {row["change"]: row for row in done.json["rows"]}
    assert {row["verdict"] for row in rows.values()} == {"verified"}
    assert (rows["deletion"]["rows"], rows["deletion"]["workers"]) == (3000, 1)
    assert (rows["corrections"]["rows"], rows["corrections"]["workers"]) == (300, 2)
    assert rows["deletion"]["p50_ms"] > 0 < rows["corrections"]["rows_per_s"]

    result = lite.results()[-1]
    outcome = result["runs"][0]["outcome"]
    assert result["manifest"]["rows"] == 3000
    assert len(result["manifest"]["dataset"]["corrections"]) == 1
    assert outcome["size_bytes"] < 0.8 * outcome["size_before_bytes"]

    assert {*asked(lite).values()} == {"verified"}
    again = changed(lite, "--correct=50%", "--batch=100")
    assert again.code == 0, again.err
    more = lite.run("insert", "--target=lite", "--runs=1", "--workers=2", "--num-inserts=500",
                    "--no-clean", "--verify=full", "--primary-key=client")  # fmt: skip
    assert more.code == 0, more.err
    assert lite.results()[-1]["manifest"]["rows"] == 4000
    assert len(lite.results()[-1]["manifest"]["dataset"]["corrections"]) == 2


def test_tags_are_updated_also_of_rows_that_come_meanwhile_and_later(lite: CommandLine) -> None:
    fleet = ("--workload=cpu", "--scale=20", "--start-time=2026-01-01", "--end=2026-01-02")
    filled(lite, *fleet, "--workers=2", "--limit=20000")
    done = changed(lite, "--retag=30%", "--insert-workers=1", "--insert-rate=1000", "--batch=50",
                   "--duration=3s", "--at=1s", "--verify=full")  # fmt: skip
    assert done.code == 0, done.err
    rows = {row.get("load") or row["change"]: row for row in done.json["rows"]}
    assert 6000 <= rows["tag updates"]["rows"] < 8000
    assert lite.results()[-1]["runs"][0]["outcome"]["workers"][1]["changes"][0]["count"] == 6
    assert {*asked(lite).values()} == {"verified"}
    more = lite.run("insert", "--target=lite", "--runs=1", "--workers=2", "--limit=500", *fleet,
                    "--no-clean", "--verify=full")  # fmt: skip
    assert more.code == 0, more.err
    refused = lite.refuse("change", "--target=lite", "--retag=30%", "--correct=10%")
    assert "use one after the other" in refused


TRIGGERS = {
    "tags undone": ("--retag=30%", """CREATE TRIGGER undo AFTER UPDATE OF region ON cpu BEGIN
        UPDATE cpu SET region = old.region WHERE rowid = old.rowid; END"""),
    "tags of some rows undone": ("--retag=30%", """CREATE TRIGGER undo AFTER UPDATE OF region ON cpu
        WHEN old.rowid = 1 BEGIN
        UPDATE cpu SET region = old.region WHERE rowid = old.rowid; END"""),
    "tags of other rows": ("--retag=30%", """CREATE TRIGGER undo AFTER UPDATE OF region ON cpu BEGIN
        UPDATE cpu SET rack = 'elsewhere' WHERE rowid = (SELECT max(rowid) FROM cpu); END"""),
    "corrections undone": ("--correct=10%", """CREATE TRIGGER undo AFTER UPDATE OF usage_user ON cpu
        WHEN old.usage_user <> new.usage_user BEGIN
        UPDATE cpu SET usage_user = old.usage_user WHERE rowid = old.rowid; END"""),
    "corrections of other rows": ("--correct=10%", """CREATE TRIGGER undo
        AFTER UPDATE OF usage_user ON cpu WHEN new.usage_idle <> 7 BEGIN
        UPDATE cpu SET usage_idle = 7 WHERE rowid = (SELECT max(rowid) FROM cpu); END"""),
    "a deleted row kept": ("--delete-oldest=50%", """CREATE TRIGGER undo BEFORE DELETE ON cpu
        WHEN old.rowid = 1 BEGIN SELECT RAISE(IGNORE); END"""),
    "another row deleted": ("--delete-oldest=50%", """CREATE TRIGGER undo BEFORE DELETE ON cpu
        WHEN old.rowid = 1 BEGIN
        DELETE FROM cpu WHERE rowid = (SELECT max(rowid) FROM cpu); END"""),
}  # fmt: skip


OFTEN = ("tags of some rows undone", "corrections of other rows", "another row deleted")


@pytest.mark.parametrize(
    ("change", "level"),
    [
        *((change, "none") for change in OFTEN),
        *(
            pytest.param(change, "none", marks=pytest.mark.rare)
            for change in sorted({*TRIGGERS} - {*OFTEN})
        ),
        pytest.param("tags undone", "counts", marks=pytest.mark.rare),
    ],
)
def test_a_change_that_a_trigger_undoes_or_extends_is_found(
    lite: CommandLine, change: str, level: str
) -> None:
    option, trigger = TRIGGERS[change]
    filled(lite, "--workload=cpu", "--scale=10", "--start-time=2026-01-01", "--end=2026-01-02",
           "--workers=1", "--limit=500", "--primary-key=client")  # fmt: skip
    lite.sql(trigger, "lite.db")
    done = changed(lite, option, "--batch=50", f"--verify={level}")

    assert done.code == 3, done.err
    checks = lite.results()[-1]["runs"][0]["outcome"]["verdict"]["checks"]
    (rows,) = (check for check in checks if check["name"] == "cpu: every row")
    assert "missing " in rows["found"], rows


@pytest.mark.rare
def test_another_machine_knows_the_changes_from_the_mark_in_the_database(
    lite: CommandLine,
) -> None:
    filled(lite, "--workers=1", "--num-inserts=1000", "--primary-key=client")
    assert changed(lite, "--delete-oldest=20%", "--correct=20%").code == 0
    for file in lite.output.glob("*.json"):
        file.unlink()
    assert {*asked(lite).values()} == {"verified"}
    verified = lite.run("verify", "--target=lite")
    assert verified.code == 0, verified.err


def test_rows_are_inserted_meanwhile_and_the_result_says_how_fast(lite: CommandLine) -> None:
    filled(lite, "--workers=1", "--num-inserts=20000", "--primary-key=client")
    done = changed(lite, "--delete-oldest=50%", "--correct=5%", "--insert-workers=1",
                   "--insert-rate=1000", "--duration=3s", "--at=1s", "--batch=100")  # fmt: skip

    assert done.code == 0, done.err
    names = [row.get("load") or row["change"] for row in done.json["rows"]]
    assert names == ["inserts", "deletion", "corrections"]
    assert 700 < done.json["rows"][0]["rows_per_s"] < 1100
    result = lite.results()[-1]
    added = sum(worker["rows"] for worker in result["runs"][0]["outcome"]["workers"])
    assert result["manifest"]["rows"] == 10_000 + added
    shown = lite.run("show", str(max(lite.output.glob("*.json"))))
    assert "rows/s before" in shown.out
    assert "rows/s during the change" in shown.out


def test_rows_that_a_database_did_not_delete_or_correct_are_found(lite: CommandLine) -> None:
    filled(lite, "--workers=1", "--num-inserts=1000", "--primary-key=client")
    use(lite, "faulty:Forgetful")
    deleted = changed(lite, "--delete-oldest=50%")
    assert deleted.code == 3, deleted.err
    filled(lite, "--workers=1", "--num-inserts=1000", "--primary-key=client")
    corrected = changed(lite, "--correct=50%", "--batch=10", "--verify=full")
    assert corrected.code == 3, corrected.err


@pytest.mark.rare
def test_after_a_change_that_failed_or_was_killed_the_rows_are_of_no_use(
    lite: CommandLine, eventually
) -> None:
    filled(lite, "--workers=1", "--num-inserts=1000")
    use(lite, "faulty:Broken")
    broken = changed(lite, "--delete-oldest=50%")
    assert broken.code == 1
    assert "nobody knows which rows it has changed: " in broken.err
    assert "no such table: nowhere" in broken.err
    for command in ("query", "verify"):
        refused = lite.run(command, "--target=lite")
        assert refused.code == 1
        assert "were being changed by a run that did not end" in refused.err

    filled(lite, "--workers=1", "--num-inserts=1000")
    use(lite, "faulty:Slow")
    running = lite.start("change", "--target=lite", "--delete-oldest=50%")
    eventually(lambda: "change" in str(lite.results()[-1].get("in_progress")))
    running.kill()
    lite.finish(running)
    eventually(lambda: not lite.processes())
    refused = lite.run("query", "--target=lite")
    assert "were being changed by a run that did not end" in refused.err


def test_what_cannot_be_changed_is_refused_before_anything_is_touched(lite: CommandLine) -> None:
    filled(lite, "--workers=1", "--num-inserts=1000")
    wrong = {
        (): "nothing is changed: give --correct, --retag, --delete-oldest or --delete-before",
        ("--correct=5%",): "run insert with --primary-key client first",
        ("--delete-oldest=5%", "--delete-by=retention"): "use --delete-by statement",
        ("--delete-before=2020-01-01",): "no row is before 2020-01-01T00:00:00Z: the rows are from",
        ("--delete-oldest=5%", "--insert-workers=1"): "give --duration as well",
        ("--delete-oldest=5%", "--at=5s"): "give --insert-workers as well",
        ("--delete-oldest=5%", "--delete-before=2020-01-01"): "leave one out",
        ("--correct=110%",): "below 100%",
        ("--retag=10%",): "has a tag of several values besides the one that names the series",
    }  # fmt: skip
    for options, text in wrong.items():
        assert text in lite.refuse("change", "--target=lite", *options), options
    assert {*asked(lite).values()} == {"verified"}


def test_a_table_of_somebody_else_is_not_changed(lite: CommandLine) -> None:
    filled(lite, "--workers=1", "--num-inserts=1000")
    lite.sql("DELETE FROM iotbench_marks", "lite.db")
    refused = changed(lite, "--delete-oldest=50%")
    assert refused.code == 2
    assert "this program did not make table events" in refused.err
    assert lite.sql("SELECT count(*) FROM events", "lite.db") == [(1000,)]
