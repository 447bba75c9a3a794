"""`capacity`: the highest rate that keeps an objective, on a database whose capacity is known."""

import json

import pytest

from tests.integration.conftest import CommandLine

SLOW = """
import time

from simulator.modules.sqlite import Sqlite, SqliteSession

BATCH_S = 0.025


class Slow(Sqlite):
    '''SQLite that takes 25 ms for each batch: 40 batches/s at most.'''

    def connect(self):
        session = super().connect()
        send = session.send

        def slow(payload):
            end_s = time.monotonic() + BATCH_S
            send(payload)
            time.sleep(max(end_s - time.monotonic(), 0))

        session.send = slow
        return session


class SlowToAnswer(Sqlite):
    '''SQLite that takes 25 ms for each answer: 40 queries/s at most.'''

    def connect(self):
        session = super().connect()
        run = session.run

        def slow(statement):
            time.sleep(BATCH_S)
            return run(statement)

        session.run = slow
        return session


class Losing(Sqlite):
    '''SQLite that acknowledges every batch, and stores the first five of a session.'''

    def connect(self):
        session = super().connect()
        send, sent = session.send, []

        def losing(payload):
            sent.append(payload)
            if len(sent) <= 5:
                send(payload)

        session.send = losing
        return session
"""


@pytest.fixture
def slow(cli: CommandLine) -> CommandLine:
    cli.add_modules("slow", SLOW)
    use(cli, "Slow")
    return cli


def use(cli: CommandLine, database: str) -> None:
    cli.configure(slow={"module": f"slow:{database}", "path": "slow.db", "synchronous": "off"})


@pytest.mark.parametrize(
    "beside",
    [(), pytest.param(("--insert-workers=1", "--insert-rate=500"), marks=pytest.mark.rare)],
)
def test_the_capacity_of_a_database_that_answers_40_queries_a_second(
    slow: CommandLine, beside: tuple[str, ...]
) -> None:
    use(slow, "SlowToAnswer")
    filled = slow.run("insert", "--target=slow", "--runs=1", "--workers=1", "--batch=500",
                      "--num-inserts=2000", "--quiet")  # fmt: skip
    assert filled.code == 0, filled.err
    done = slow.run(
        "capacity", "--target=slow", "--of=queries", "--slo=p99_ms < 400", "--workers=1",
        "--types=count-events", "--duration=1s", "--repeats=1", "--tolerance=0.3", "--batch=50",
        "--format=json", f"--output={slow.output}", *beside,
    )  # fmt: skip
    assert done.code == 0, done.err
    found = done.json
    assert "capacity of slow for queries: p99_ms < 400; each rate 1 times for 1 s" in done.err
    assert (found["of"], found["verdict"]) == ("queries", "verified")
    assert 20 <= found["holds_per_s"] <= 42
    assert found["fails_per_s"] is None or found["fails_per_s"] > found["holds_per_s"]
    behind = [rate for rate in found["rates"] if rate["reached"] == "database"]
    assert all(sum(rate["unsent"]) > 0 for rate in behind), behind
    kinds = {json.loads((slow.output / name).read_text())["kind"] for name in found["files"]}
    assert kinds == {"mixed" if beside else "query"}


OWN = """
queries:
  of-a-device:
    parameters: {device: {column: device_id}}
    columns: {readings: int64}
    text: {sql: "SELECT count(*) FROM {table} WHERE device_id = {device}"}
"""


@pytest.mark.rare
def test_the_capacity_for_queries_of_your_own_over_several_connections(cli: CommandLine) -> None:
    (cli.folder / "own.yaml").write_text(OWN)
    target = ("--target=sqlite", "--workers=1")
    filled = cli.run("insert", *target, "--runs=1", "--num-inserts=2000", "--quiet")
    done = cli.run(
        "capacity", *target, "--of=queries", "--queries=own.yaml", "--connections=2",
        "--slo=p99_ms < 400", "--duration=1s", "--repeats=1", "--tolerance=0.5", "--format=json",
    )  # fmt: skip

    assert (filled.code, done.code) == (0, 4), done.err
    assert (done.json["of"], done.json["verdict"]) == ("queries", "not checked")
    assert done.json["holds_per_s"] > 40
    runs = [json.loads((cli.output / name).read_text())["runs"] for name in done.json["files"]]
    asked = [q for each in runs for run in each for q in run["outcome"]["workers"][0]["queries"]]
    assert {each["name"] for each in asked} == {"of-a-device"}
    assert all(run["outcome"]["workers"][0]["connects"] for each in runs for run in each)


def test_options_of_inserts_and_of_queries_are_kept_apart(cli: CommandLine) -> None:
    wrong = {
        ("--of=queries", "--seed=5"): "--seed: is about the rows of an insert",
        ("--of=queries", "--devices=5"): "--devices: is about the rows of an insert",
        ("--types=count-events",): "--types: is about queries; give --of queries as well",
        ("--of=queries", "--insert-rate=5"): "--insert-rate: give --insert-workers as well",
    }
    for options, text in wrong.items():
        assert text in cli.refuse("capacity", "--target=sqlite", "--slo=p99_ms < 5", *options)


@pytest.mark.rare
def test_an_objective_that_no_rate_keeps(slow: CommandLine) -> None:
    done = slow.run(
        "capacity", "--target=slow", "--slo=max_ms <= 10", "--workers=1", "--batch=10",
        "--duration=1s", "--repeats=1", f"--output={slow.output}", "--quiet",
    )  # fmt: skip
    assert done.code == 99, done.err
    assert "no rate was found at which slow keeps max_ms <= 10" in done.out
    assert "verdict: verified" in done.out


def test_rows_that_are_lost_are_no_matter_of_a_rate(slow: CommandLine) -> None:
    use(slow, "Losing")
    done = slow.run(
        "capacity", "--target=slow", "--slo=p99_ms < 500", "--workers=1", "--batch=10",
        "--duration=1s", "--repeats=1", "--quiet",
        f"--output={slow.output}",
    )  # fmt: skip
    assert done.code == 3, done.err
    assert "capacity failed: the rows or answers of a run are not right: mismatch" in done.out
    assert "no rate was found" not in done.out


def test_a_dry_run_measures_nothing_and_makes_no_folder(slow: CommandLine) -> None:
    done = slow.run(
        "capacity", "--target=slow", "--slo=p99_ms < 500", "--dry-run", f"--output={slow.output}"
    )
    assert (done.code, done.out.startswith("capacity of slow for inserts: p99_ms")) == (0, True)
    assert not slow.output.exists()


def test_all_that_is_wrong_is_named_before_anything_starts(cli: CommandLine) -> None:
    said = cli.refuse(
        "capacity", "--target=sqlite", "--slo=p98ms < 50", "--slo=fast", "--duration=0",
        "--tolerance=2", f"--output={cli.output}",
    )  # fmt: skip
    assert "did you mean 'p99_ms'?" in said
    assert not cli.output.exists()
