"""`--before-run`: a command of the user's before each run of `insert` and `query`, and of plans."""

import json
import signal
import time

import psutil
import pytest

from tests.integration.conftest import CommandLine, Wait

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet")
FEW = ("--batch=100", "--num-inserts=500")


def test_it_runs_before_each_run_and_its_output_is_kept(cli: CommandLine) -> None:
    command = "echo run >> runs; echo said; test ! -e bench.db || echo again >&2"
    inserted = cli.run("insert", *SQLITE, *FEW, "--workers=1,2", "--runs=2",
                       f"--before-run={command}")  # fmt: skip
    asked = cli.run("query", *SQLITE, "--workers=1,2", "--before-run=echo query >> runs")

    assert (inserted.code, asked.code) == (0, 0), inserted.err + asked.err
    assert (cli.folder / "runs").read_text() == "run\n" * 4 + "query\n" * 2
    first, second = cli.results()
    assert first["configuration"]["before_run"] == command
    assert second["configuration"]["before_run"] == "echo query >> runs"
    (log,) = cli.output.glob("*insert*.log")
    assert log.read_text() == f"$ {command}\nsaid\n" + f"$ {command}\nsaid\nagain\n" * 3
    shown = cli.run("show", str(*cli.output.glob("*-insert-*.json")))
    assert f"before_run={command}" in shown.out
    assert cli.leftovers() == []


def test_a_command_that_fails_ends_the_sweep_with_its_last_lines(cli: CommandLine) -> None:
    command = "test ! -e second || { seq 9; echo no such unit >&2; exit 5; }; touch second"
    done = cli.run("insert", *SQLITE, *FEW, "--workers=1", "--runs=3", f"--before-run={command}")

    assert done.code == 1
    (result,) = cli.results()
    assert (result["status"], len(result["runs"])) == ("failed", 1)
    assert result["manifest"]["complete"]  # that of the run before
    assert result["cause"].startswith(f"--before-run: `{command}`: exit code 5: 6 | 7 | 8 | 9 | no")
    assert "no such unit; see " in done.out.replace("\n", " ")
    assert cli.leftovers() == []


def test_ctrl_c_ends_a_command_that_does_not_end(cli: CommandLine, eventually: Wait) -> None:
    running = cli.start("insert", *SQLITE, "--before-run=echo $$ > number; sleep 300; echo never")
    eventually(lambda: (cli.folder / "number").exists() and (cli.folder / "number").read_text())
    shell = psutil.Process(int((cli.folder / "number").read_text()))
    running.send_signal(signal.SIGINT)
    began_s = time.monotonic()
    done = cli.finish(running)

    assert time.monotonic() - began_s < 8
    assert done.code == 130
    assert not shell.is_running()
    (result,) = cli.results()
    assert (result["status"], result["runs"]) == ("interrupted", [])
    assert cli.leftovers() == []


def test_a_result_is_repeated_with_a_command_only_if_the_user_gives_it(cli: CommandLine) -> None:
    given = ("insert", *SQLITE, *FEW, "--workers=1", "--runs=1", "--before-run=echo x >> runs")
    assert cli.run(*given).code == 0
    (stored,) = cli.results()
    assert stored["command"]["options"]["before-run"] == ["echo x >> runs"]

    def repeated(*more: str) -> tuple[int, str, int]:
        done = cli.run("repeat", "last", f"--output={cli.output}", SQLITE[1], *more)
        return done.code, done.err, len((cli.folder / "runs").read_text().splitlines())

    code, said, runs = repeated()
    assert (code, runs) == (2, 1)
    assert "add `--before-run 'echo x >> runs'`, or --before-run '' to go without it" in said
    assert repeated("--before-run=")[::2] == (0, 1)
    assert "before_run" not in cli.results()[-1]["configuration"]
    assert repeated("--before-run=echo y >> runs")[::2] == (0, 2)
    assert cli.results()[-1]["configuration"]["before_run"] == "echo y >> runs"


PLAN = """
name: tiny
targets: [one]
repeats: 1
settings:
  - name: own
    insert: {workload: iot, workers: 1, num_inserts: 500, batch: 500, before_run: echo own >> runs}
    query: {runs: 1, types: [count-events]}
  - name: plain
    insert: {workload: iot, workers: 1, num_inserts: 500, batch: 500}
    mixed: {duration: 1s, batch: 10, types: [count-events]}
"""


@pytest.fixture
def planned(cli: CommandLine) -> CommandLine:
    cli.configure(one={"module": "sqlite", "path": str(cli.folder / "one.db")})
    (cli.folder / "plan.yaml").write_text(PLAN)
    return cli


@pytest.mark.rare
def test_a_plan_has_commands_of_its_own_and_the_user_adds_one(planned: CommandLine) -> None:
    def ran(*more: str) -> list[str]:
        done = planned.run("run", "plan.yaml", "--trust", f"--output={planned.output}", *more)
        assert done.code == 0, done.err + done.out
        return (planned.folder / "runs").read_text().splitlines()

    shown = planned.run("run", "plan.yaml", "--dry-run", "--before-run=echo of user >> runs")
    assert shown.out.endswith("needs --trust: insert --before-run 'echo own >> runs'\n")
    assert ran() == ["own"]
    assert ran() == ["own"]  # all is measured already
    assert ran("--before-run=echo user >> runs") == ["own", "own", "user", "user"]

    results = [each for each in planned.results() if each["kind"] in ("insert", "query", "mixed")]
    found = [(each["kind"], each["configuration"].get("before_run")) for each in results]
    user = "echo user >> runs"
    assert sorted(found, key=str) == sorted([
        ("insert", "echo own >> runs"), ("query", None), ("insert", None), ("mixed", None),
        ("insert", "echo own >> runs"), ("query", user), ("insert", user), ("mixed", None),
    ], key=str)  # fmt: skip
    (command,) = [each["command"] for each in results
                  if each["kind"] == "query" and "before_run" in each["configuration"]]  # fmt: skip
    assert command["options"]["before-run"] == [user]


def test_an_item_whose_command_fails_is_failed_and_the_plan_goes_on(planned: CommandLine) -> None:
    plan = (planned.folder / "plan.yaml").read_text().replace("echo own >> runs", "exit 7")
    (planned.folder / "plan.yaml").write_text(plan)
    done = planned.run("run", "plan.yaml", "--trust", f"--output={planned.output}")

    assert done.code == 1
    (path,) = planned.output.glob("plan-tiny-*.json")
    items = json.loads(path.read_text())["items"]
    assert [item["verdict"] for item in items] == ["failed", "verified"]
    assert items[0]["cause"].startswith("--before-run: `exit 7`: exit code 7; see ")
