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
    (cli.folder / "slow.py").write_text(SLOW)
    cli.environment["PYTHONPATH"] = str(cli.folder)
    cli.config = cli.folder / "config.yaml"
    path = cli.folder / "slow.db"
    cli.config.write_text(
        f"targets:\n  slow:\n    module: slow:Slow\n    runner: local\n    path: {path}\n"
        '    synchronous: "off"\n'
    )
    return cli


def test_the_capacity_of_a_database_that_takes_40_batches_a_second(slow: CommandLine) -> None:
    done = slow.run(
        "capacity", "--target=slow", "--slo=p99_ms < 500", "--workers=1", "--batch=10",
        "--duration=2s", "--repeats=1", "--tolerance=0.1", "--format=json",
        f"--output={slow.output}",
        within_s=240,
    )  # fmt: skip
    assert done.code == 0, done.err
    found = done.json
    assert found["verdict"] == "verified"
    assert 200 <= found["holds_rows_per_s"] <= 400
    assert found["bound"] in {"database", "objective"}
    assert found["fails_rows_per_s"] > found["holds_rows_per_s"]
    assert all((slow.output / name).is_file() for name in found["files"])
    (file,) = slow.output.glob("capacity-slow-*.json")
    assert json.loads(file.read_text()) == found


@pytest.mark.rare
def test_an_objective_that_no_rate_keeps(slow: CommandLine) -> None:
    done = slow.run(
        "capacity", "--target=slow", "--slo=max_ms <= 10", "--workers=1", "--batch=10",
        "--duration=1s", "--repeats=1", f"--output={slow.output}", "--quiet",
        within_s=240,
    )  # fmt: skip
    assert done.code == 99, done.err
    assert "no rate was found at which slow keeps max_ms <= 10" in done.out
    assert "verdict: verified" in done.out


def test_rows_that_are_lost_are_no_matter_of_a_rate(slow: CommandLine) -> None:
    slow.config.write_text(slow.config.read_text().replace("slow:Slow", "slow:Losing"))
    done = slow.run(
        "capacity", "--target=slow", "--slo=p99_ms < 500", "--workers=1", "--batch=10",
        "--duration=1s", "--repeats=1", "--quiet",
        f"--output={slow.output}",
        within_s=120,
    )  # fmt: skip
    assert done.code == 3, done.err
    assert "capacity failed: the rows of a run are not as they should be: mismatch" in done.out
    assert "no rate was found" not in done.out


def test_a_dry_run_measures_nothing_and_makes_no_folder(slow: CommandLine) -> None:
    done = slow.run(
        "capacity", "--target=slow", "--slo=p99_ms < 500", "--dry-run", f"--output={slow.output}"
    )
    assert (done.code, done.out.startswith("capacity of slow: p99_ms < 500;")) == (0, True)
    assert not slow.output.exists()


def test_all_that_is_wrong_is_named_before_anything_starts(slow: CommandLine) -> None:
    done = slow.run(
        "capacity", "--target=slow", "--slo=p98_ms < 50", "--slo=fast", "--duration=0",
        "--tolerance=2", f"--output={slow.output}",
    )  # fmt: skip
    assert done.code == 2
    assert "did you mean 'p99_ms'?" in done.err
    assert not slow.output.exists()
