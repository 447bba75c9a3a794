"""A bundle: written as a whole, refused if it would mislead, and checked by anyone."""

import hashlib
import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from iotbench.commands.main import commands
from iotbench.config.targets import config
from iotbench.output.published import folder as bundle
from iotbench.output.published.configuration import Targets
from iotbench.output.published.gather import gather
from iotbench.plans.record import ItemRecord
from iotbench.results import packed, result_files
from iotbench.results.command import GivenCommand
from iotbench.results.result import Manifest
from simulator.errors import ConfigError
from simulator.protocol.verdict import Status, Verdict
from tests import ROOT
from tests.unit.output.terminal import made
from tests.unit.store.made import id_of, plan_of, store

COMMAND = GivenCommand(
    name="insert",
    options={"target": ("lite",), "config": ("mine.yaml",), "workers": ("1",), "batch": ("10",)},
)
OPTIONS = {"path": "x.db", "synchronous": "full"}


def run(*arguments):
    done = CliRunner().invoke(
        commands, ["publish", *map(str, arguments)], catch_exceptions=False, standalone_mode=False
    )
    return done.return_value or 0, done.output


def stored(folder, number=0, **changes):
    fields = {"command": COMMAND, "target_options": OPTIONS, "packages": {"driver": "1.2"}}
    return store(folder, number, **fields | changes)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A bundle of one result; tests change copies of it only."""
    folder = tmp_path_factory.mktemp("bundle")
    stored(folder)
    code, text = run("last", "-o", folder / "out", "--output", folder)
    assert (code, text.startswith(f"{folder}/out: 7 files, ")) == (0, True)
    return folder / "out"


@pytest.fixture
def copied(written, tmp_path):
    for path in written.rglob("*"):
        if path.is_file():
            place = tmp_path / "out" / path.relative_to(written)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(path.read_bytes())
    return tmp_path / "out"


def signed_again(folder):
    names = sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())
    digests = {n: hashlib.sha256((folder / n).read_bytes()).hexdigest() for n in names}
    lines = [f"{digest}  {n}\n" for n, digest in digests.items() if str(n) != bundle.SUMS]
    (folder / bundle.SUMS).write_text("".join(lines))


def test_others_can_check_it_with_and_without_this_program(written):
    subprocess.run(["sha256sum", "-c", "--strict", bundle.SUMS], cwd=written, check=True)

    assert run("--check", written) == (0, f"{written}: no problems\n")


def test_the_readme_has_verdict_figures_versions_and_the_command(written):
    text = (written / "README.md").read_text()

    assert "insert on lite: **verified**" in text
    assert "| 50 (n=1) |" in text
    assert "driver 1.2" in text
    assert (
        "    iotbench insert --config config.yaml --target lite --workers 1 --batch 10 --start-time"
        in text
    )
    (versions,) = json.loads((written / "versions.json").read_text())
    assert versions["packages"] == {"driver": "1.2"}
    assert len(versions["results"]) == 1
    assert (written / "site/lite.html").read_text().count(str(written.parent)) == 0


def altered(folder):
    (folder / "config.yaml").write_text("targets: {}\n")
    return "config.yaml: has been altered"


def missing(folder):
    (folder / "site/lite.html").unlink()
    return "site/lite.html: is missing"


def added(folder):
    (folder / "more.txt").write_text("")
    return "more.txt: has no checksum"


def outside(folder):
    with (folder / bundle.SUMS).open("a") as file:
        file.write(f"{'0' * 64}  ../../etc/passwd\n")
    return f"{bundle.SUMS}: line 7: expected a checksum and the name of a file"


def broken(folder):
    (path,) = packed.find_files(folder / bundle.RESULTS, "*.json")
    content = packed.read(path).replace(b'"program_version"', b'"programme_version"')
    path.parent.write_bytes(packed.pack({path.name: content}))
    signed_again(folder)
    return "is not a result file of format 2: program_version: Field required"


@pytest.mark.parametrize("change", [altered, missing, added, outside, broken])
def test_every_change_is_found(copied, change):
    expected = change(copied)
    code, text = run("--check", copied)

    assert code == 1
    assert expected in text
    assert text.count("error: ") == 1


def test_what_would_mislead_is_refused_and_nothing_is_left(tmp_path):
    wrong = made.run(made.outcome(made.worker(0), verdict=Verdict(status=Status.MISMATCH)))
    stored(tmp_path, 1, found=made.result([wrong]))
    stored(tmp_path, 2, status="interrupted", cause="stopped by the user")
    stored(tmp_path, 3, found=made.result([]))
    with pytest.raises(ConfigError) as error:
        run("last", "last~1", "last~2", "-o", tmp_path / "out", "--output", tmp_path)

    every = "; ".join(error.value.problems)
    assert len(error.value.problems) == 3
    assert "is not complete: it has no run" in every
    assert "is not complete: stopped by the user" in every
    assert "has the verdict mismatch" in every
    assert made.result([]).exit_code == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_in_it_is_refused(tmp_path):
    stored(tmp_path)
    for place in (tmp_path, tmp_path / "none" / "out", next(tmp_path.glob("*.json"))):
        with pytest.raises(ConfigError, match="--folder"):
            run("last", "-o", place, "--output", tmp_path)
    for words in (["last"], ["-o", "x"], ["last", "--check", tmp_path], ["--check", tmp_path]):
        with pytest.raises(ConfigError):
            run(*words, "--output", tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_bundle_is_written_as_a_whole_or_not_at_all(tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()  # empty, so it may be replaced
    bundle.write(tmp_path / "out", {"a/b": b"c"})
    assert (tmp_path / "out" / "a" / "b").read_bytes() == b"c"

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bundle.os, "replace", fails)
    with pytest.raises(ConfigError, match="cannot be written: No space left on device"):
        bundle.write(tmp_path / "other", {"a": b"b"})
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_queries_bring_the_insert_of_their_rows_and_a_plan_its_sweeps(tmp_path):
    manifest = Manifest(dataset=made.stored(100), rows=100, complete=True)
    insert = stored(tmp_path, 1, manifest=manifest)
    stored(tmp_path, 2, manifest=manifest.model_copy(update={"dataset": made.stored(7)}))
    asked = {"kind": "query", "dataset": made.stored(100)}
    query = store(tmp_path, 3, found=made.result([made.run()], **asked))
    item = ItemRecord(id="i", target="lite", setting="s", repeat=1, verdict="verified",
                      files=(insert.name,))  # fmt: skip
    record = plan_of((item,), last=datetime(2026, 11, 23, tzinfo=UTC))
    plan = tmp_path / "plan-tiny-00000000.json"
    result_files.write(plan, record)

    assert gather(tmp_path, [id_of(3)]).paths == [insert, query]
    assert gather(tmp_path, ["plan-tiny-00000000"]).paths == [insert, plan]

    run("plan-tiny-00000000", "-o", tmp_path / "out", "--output", tmp_path)
    text = (tmp_path / "out" / "README.md").read_text()
    assert f"- `{plan.name}`: plan tiny on lite: **verified**, 1 result file\n" in text
    assert "### plan tiny on lite\n" in text
    assert "plan tiny: 1 item, 1 measured to the end" in text
    assert insert.name not in text
    assert "`commands.sh` has the commands of all results, 1 result file." in text
    (command,) = (tmp_path / "out" / "commands.sh").read_text().splitlines()[1:]
    assert command.startswith("iotbench insert --config config.yaml --target lite --workers 1")


def test_many_results_of_a_plan_have_a_short_readme(tmp_path):
    slow = "the database was slow"
    inserts = [
        stored(tmp_path, n, warnings=[slow] * (n % 2), target=f"t{n % 6}") for n in range(40)
    ]
    items = [
        ItemRecord(id=str(n), target=f"t{n % 6}", setting="s", repeat=n, verdict="verified",
                   files=(path.name,)) for n, path in enumerate(inserts)
    ]  # fmt: skip
    record = plan_of(items)
    result_files.write(tmp_path / "plan-tiny-00000000.json", record)
    run("plan-tiny-00000000", "-o", tmp_path / "out", "--output", tmp_path)
    text = (tmp_path / "out" / "README.md").read_text()

    assert text.startswith("# Benchmark results: insert on 6 targets\n")
    assert f"  - warning of 20 results: {slow}\n" in text
    assert len(text.splitlines()) < 60
    assert run("--check", tmp_path / "out") == (0, f"{tmp_path / 'out'}: no problems\n")


@pytest.mark.parametrize("name", config.load(ROOT / "config.yaml").targets)
def test_a_target_is_configured_as_it_was_measured(name, tmp_path, monkeypatch):
    target = config.load(ROOT / "config.yaml").resolve(name, {})
    options = json.loads(json.dumps(target.options.public(), default=str))
    about = {"target": name, "module": target.module, "runner": target.runner}
    result = made.result([], target_options=options, **about)
    targets = Targets([(Path("r.json"), result)])
    for variable in targets.variables:
        monkeypatch.setenv(variable, "dbname=x" if "CONNECTION" in variable else "word")
    path = tmp_path / "config.yaml"
    path.write_text(targets.text())
    again = config.load(path).resolve(name, {})

    assert again.options.public() == target.options.public()
    assert (again.module, again.runner) == (target.module, target.runner)


def test_a_target_that_was_measured_with_other_options_gets_another_name():
    one, two = (made.result([], target_options={"path": p}, command=COMMAND) for p in "ab")
    targets = Targets([(Path("1"), one), (Path("2"), two), (Path("3"), one)])

    names = [targets.command(Path(n), one)[4] for n in "123"]
    assert names == ["lite", "lite-2", "lite"]
    assert "--config" in targets.command(Path("1"), one)
    assert "mine.yaml" not in targets.command(Path("1"), one)
