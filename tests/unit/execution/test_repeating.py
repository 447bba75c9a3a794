"""A result's command, and what has changed since."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from iotbench.commands.main import commands
from iotbench.config.targets.packages import package_versions
from iotbench.execution.repeating import build_repeated, list_differences, suggest_comparison
from iotbench.machine.machine import this_machine
from iotbench.plans.record import PlanRecord
from iotbench.results import result_files
from iotbench.results.command import GivenCommand
from iotbench.results.result import Manifest
from simulator import __version__
from simulator.errors import ConfigError
from simulator.modules.sqlite import Sqlite
from tests.unit.output.terminal import made
from tests.unit.store.made import id_of, store

COMMAND = GivenCommand(
    name="insert", options={"target": ("lite",), "config": ("mine.yaml",), "batch": ("10",)}
)
KEPT = ("insert", "--target", "lite", "--batch", "10")
MINE = {"config": ("mine.yaml",)}
OPTIONS = {"create_indices": False, "path": "x.db", "synchronous": "normal", "busy_timeout_s": 60}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entry = "{module: sqlite, runner: local, path: x.db}"
    (tmp_path / "mine.yaml").write_text(f"targets: {{lite: {entry}}}\n")
    return tmp_path


def stored(folder, number=0, **changes):
    """A result of this program, machine and configuration."""
    fields = {
        "command": COMMAND,
        "target_options": OPTIONS,
        "packages": package_versions(Sqlite),
        "program_version": __version__,
        "machine": this_machine(),
    }
    return store(folder, number, **fields | changes)


@pytest.fixture(autouse=True)
def program():
    """The program's commands: a stored one is looked up among them."""
    with click.Context(commands):
        yield


def with_options(**options):
    return GivenCommand(name="insert", options={**COMMAND.options, **options})


def changed(path):
    return list(list_differences(build_repeated(path, MINE, ()), path.parent))


def test_nothing_differs_where_nothing_has_changed(folder):
    path = stored(folder)

    assert build_repeated(path, MINE, ()).command.words == (*KEPT, "--config", "mine.yaml")
    assert changed(path) == []


def test_what_differs_is_named(folder):
    machine = this_machine().model_copy(update={"cores": 999, "load_average": 77.0})
    options = OPTIONS | {"synchronous": "full"}
    path = stored(folder, machine=machine, target_options=options, program_version="0.0.1",
                  packages={"pydantic": "1"}, runner="kubernetes")  # fmt: skip
    text = "\n".join(changed(path))

    assert "runner: was kubernetes, is local" in text
    assert "program: was 0.0.1, is " in text
    assert "option synchronous: was full, is normal" in text
    assert "cores: was 999, is " in text
    assert "load_average" not in text
    other_driver = stored(folder, 1, packages={"pydantic": "1"})
    assert "package pydantic: was 1, is " in "\n".join(changed(other_driver))


def test_a_target_that_is_gone_is_an_error(folder):
    (folder / "mine.yaml").write_text("targets: {light: {module: sqlite, path: x.db}}\n")

    with pytest.raises(ConfigError, match=r"target 'lite' is not in mine\.yaml"):
        changed(stored(folder))


def test_queries_meet_other_rows_and_no_clean_adds_to_them(folder):
    manifest = Manifest(dataset=made.stored(100), rows=100, complete=True)
    insert = stored(folder, 1, manifest=manifest)
    asked = {"kind": "query", "command": GivenCommand(name="query", options={"target": ("lite",)})}
    same = stored(folder, 2, found=made.result([made.run()], dataset=made.stored(100)), **asked)
    other = stored(folder, 3, found=made.result([made.run()], dataset=made.stored(7)), **asked)

    assert changed(same) == []
    (text,) = changed(other)
    assert str(insert) in text
    (text,) = changed(stored(folder, 4, command=with_options(clean=False)))
    assert text.startswith("rows: with --no-clean")


def test_a_credential_has_to_be_given_again(folder):
    command = with_options(**{"extra-option": ("password=***", "path=y.db")})
    path = stored(folder, command=command)
    with pytest.raises(ConfigError, match="--extra-option password: was a credential"):
        build_repeated(path, {}, ())
    with pytest.raises(ConfigError, match=r"add `--extra-option path=y\.db`"):
        build_repeated(path, {**MINE, "extra-option": ("password=${PG}",)}, ())

    again = ("path=z.db", "password=${PG}")
    found = build_repeated(path, {"extra-option": again, "config": ("other.yaml",)}, ())
    assert found.command.values("extra-option") == again
    assert found.command.values("config") == ("other.yaml",)


def test_a_result_without_a_command_says_which_one_to_run(folder):
    with pytest.raises(ConfigError, match="does not hold the command"):
        build_repeated(stored(folder, command=()), {}, ())
    with pytest.raises(ConfigError, match="standard input"):
        build_repeated(stored(folder, 1, command=with_options(data=("-",))), MINE, ())
    record = PlanRecord(
        program_version="1", name="tiny", plan={}, machine=this_machine(), status="done",
        first=None, last=None, items=(), lines=(), curves=(), not_had={}, refused={},
    )  # fmt: skip
    result_files.write(folder / "plan-tiny-00000000.json", record)
    with pytest.raises(ConfigError, match=r"`python run\.py run PLAN\.yaml --output NEW`"):
        build_repeated(folder / "plan-tiny-00000000.json", {}, ())


def test_the_new_result_is_compared_with_the_one_that_was_repeated(folder):
    path = stored(folder)

    assert suggest_comparison(path, "last", Path("results")).endswith("compare 'last~1' last")
    assert suggest_comparison(path, "last~3", Path("results")).endswith(f"compare {id_of(0)} last")
    assert suggest_comparison(path, "r.json", Path("o")).endswith("compare r.json last --output o")


def test_a_dry_run_prints_the_command_and_what_differs(folder):
    stored(folder, program_version="0.0.1")
    arguments = ["repeat", "last", "--dry-run", "--output", str(folder), "--config", "mine.yaml"]
    done = CliRunner().invoke(commands, arguments, catch_exceptions=False)

    assert done.stdout.splitlines() == [
        "python run.py insert --target lite --batch 10 --config mine.yaml",
        f"program: was 0.0.1, is {__version__}",
    ]
