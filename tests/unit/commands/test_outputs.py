"""Files that commands write: nothing that they did not write themselves is overwritten."""

import os
from contextlib import suppress

import pytest
from click.testing import CliRunner

import iotbench.commands.reproduce as reproduce_command
import iotbench.commands.run as run_command
from iotbench.commands.main import commands
from iotbench.execution import roster
from iotbench.machine import outfile
from iotbench.store.export import FORMATS
from simulator.errors import ConfigError
from tests.unit.store.made import store, timed

FOREIGN = {
    "a program": "import os\n",
    "JSON": '[{"id": "a"}]',
    "CSV": "id,name\n1,a\n",
    "XML": "<?xml version='1.0'?>\n<testsuites><testsuite name='pytest'/></testsuites>",
    "metrics of others": "# TYPE node_load1 gauge\nnode_load1 0.5 1\n",
    "Markdown": "### Notes of mine\n\nwords\n",
    "a page": "<!DOCTYPE html>\n<p>mine</p>",
}
OUTPUTS = {
    **{
        f"export {form}": ("results", "export", "last", f"--format={form}", "--to=FILE")
        for form in FORMATS
    },
    "report": ("report", "last", "--page=FILE"),
    "compare": ("compare", "last~1", "last", "--junit=FILE"),
    "contract": ("contract", "-tlite", "--evidence=FILE"),
    "insert": ("insert", "-tlite", "-w1", "-r1", "--num-inserts=9", "--junit=FILE"),
    "metrics": ("insert", "-tlite", "-w1", "-r1", "--num-inserts=9", "--metrics-out=FILE"),
    "generate": ("generate", "--format=csv", "--num-inserts=9", "--quiet", "--output=FILE"),
    "manifest": (
        "generate", "--format=csv", "--num-inserts=9", "--output=x.csv", "--manifest=FILE",
    ),
    "init": ("init", "FILE"),
    "prepare": ("prepare", "rows.csv", "--output=FILE"),
    "publish": ("publish", "last", "--folder=FILE"),
}  # fmt: skip
"""Every option that names a file or folder to write; insert writes none before it is checked."""
ONCE = {"init", "prepare", "publish", "metrics"}
"""Outputs that are never replaced; `tests/unit/output/live` replaces the file of metrics."""
SLOW = {"contract", "insert"}
"""Commands that need a database."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text(
        "targets: {lite: {module: sqlite, runner: local, path: x.db}}\n"
    )
    (tmp_path / "rows.csv").write_text("time,v\n2026-01-01T00:00:00Z,1\n")
    (tmp_path / "results").mkdir()
    store(tmp_path / "results", 0)
    store(tmp_path / "results", 1, found=timed())
    return tmp_path


def run(name, path):
    words = [word.replace("FILE", str(path)) for word in OUTPUTS[name]]
    return CliRunner().invoke(commands, words, standalone_mode=False)


def test_every_option_that_writes_is_among_them():
    """An option whose help says that it writes a file or folder has a case above."""
    found = set()
    for name, command in [
        *commands.commands.items(),
        *commands.commands["results"].commands.items(),
    ]:
        for option in getattr(command, "params", ()):
            about = getattr(option, "help", None) or ""
            if "File to write" in about or "to this file" in about or "Folder to write" in about:
                found.add((name, max(option.opts, key=len)))
    known = {word.split("=")[0] for words in OUTPUTS.values() for word in words}
    assert {option for _, option in found} <= known, found


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("name", OUTPUTS)
def test_a_foreign_file_is_not_overwritten(folder, name, content):
    path = folder / "theirs"
    path.write_text(content)
    done = run(name, path)

    assert isinstance(done.exception, ConfigError), done.output
    assert "theirs" in str(done.exception)
    assert path.read_text() == content
    assert not (folder / "x.db").exists()


@pytest.mark.parametrize("name", ["init", "prepare", "publish"])
def test_a_link_to_nothing_is_not_replaced(folder, name):
    path = folder / "theirs"
    path.symlink_to("nowhere")
    done = run(name, path)

    assert isinstance(done.exception, ConfigError), done.output
    assert "theirs: " in str(done.exception)
    assert path.is_symlink()


@pytest.mark.parametrize("name", [name for name in OUTPUTS if name not in SLOW | ONCE])
def test_an_own_file_is_replaced_and_so_is_an_empty_one(folder, name):
    path = folder / "ours"
    if name != "manifest":
        path.touch()
    for _ in range(2):
        done = run(name, path)
        assert done.exception is None, done.exception
        assert path.stat().st_size


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", [f"export {form}" for form in FORMATS])
def test_a_pipe_or_device_is_written_as_it_is(name):
    done = run(name, "/dev/null")

    assert done.exception is None, done.exception
    assert not os.path.isfile("/dev/null")  # noqa: PTH113


def test_a_new_file_is_never_one_that_exists(tmp_path):
    path = tmp_path / "a"
    path.write_text("theirs")
    with pytest.raises(FileExistsError), outfile.whole(path, is_new=True):
        pass
    with pytest.raises(ConfigError, match="exists, and is not overwritten"):
        outfile.write(path, "x", None)
    assert path.read_text() == "theirs"


@pytest.mark.parametrize("is_new", [True, False])
def test_no_half_file_remains(tmp_path, is_new):
    error = OSError(28, "No space left on device")
    with suppress(OSError), outfile.whole(tmp_path / "a", is_new=is_new) as handle:
        os.write(handle, b"x")
        raise error

    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("mask", [0o077, 0o022])
def test_others_may_read_what_the_umask_allows(tmp_path, mask):
    before = os.umask(mask)
    try:
        for name, is_new in (("a", True), ("b", False)):
            with outfile.whole(tmp_path / name, is_new=is_new) as handle:
                os.write(handle, b"x")
    finally:
        os.umask(before)

    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o666 & ~mask}


RECORDS = {
    "plan": (run_command, ("run", "plan.yaml", "-q")),
    "reproduction": (reproduce_command, ("reproduce", "iot", "--targets=lite", "-q")),
}
"""Commands whose records have the same name each time."""


@pytest.mark.parametrize("name", RECORDS)
def test_a_foreign_file_with_the_name_of_a_record_is_kept_before_anything_is_measured(
    folder, monkeypatch, name
):
    (folder / "plan.yaml").write_text(
        "{name: tiny, targets: [lite], repeats: 1, settings: [{name: one, insert: {workers: 1}}]}"
    )
    module, words = RECORDS[name]
    # Real checks of the target, one a call, would name the record by those that succeeded in time.
    monkeypatch.setattr(roster, "explain_silence", lambda *_: "")
    measured = []
    monkeypatch.setattr(
        module, "measure_all", lambda *_, **__: measured.append(1) or ([], "done", {})
    )
    before = {*(folder / "results").iterdir()}
    for _ in range(2):  # an own one is replaced
        CliRunner().invoke(commands, words, standalone_mode=False)
    (record,) = {*(folder / "results").iterdir()} - before
    assert len(measured) == 2
    for content in (FOREIGN["JSON"], '{"kind": "mine"}'):
        record.write_text(content)
        done = CliRunner().invoke(commands, words, standalone_mode=False)

        assert isinstance(done.exception, ConfigError), done.output
        assert "this program did not write it" in str(done.exception)
        assert record.read_text() == content
    assert len(measured) == 2


def test_the_name_of_a_record_depends_on_the_targets_that_answer(folder, monkeypatch):
    monkeypatch.setattr(reproduce_command, "measure_all", lambda *_, **__: ([], "done", {}))
    names = []
    for why in ("", "does not answer within 60 s"):
        monkeypatch.setattr(roster, "explain_silence", lambda *_, why=why: why)
        before = {*(folder / "results").iterdir()}
        CliRunner().invoke(commands, RECORDS["reproduction"][1], standalone_mode=False)
        names += {*(folder / "results").iterdir()} - before
    assert len({*names}) == 2


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("insert -tlite -w1 -r1 --junit=x --metrics-out=./x", ("--metrics-out", "--junit")),
        ("query -tlite --junit=link --metrics-out=x", ("--metrics-out", "--junit")),
        ("insert -tlite -w1 -r1 --output=new --junit=new", ("--junit", "--output")),
        ("generate --format=csv --output=a.csv --manifest=a.csv", ("--manifest", "--output")),
    ],
)
def test_two_outputs_of_a_command_cannot_name_the_same_file(folder, words, options):
    (folder / "link").symlink_to("x")
    before = sorted(folder.rglob("*"))
    with pytest.raises(ConfigError) as refused:
        CliRunner().invoke(commands, words.split(), standalone_mode=False, catch_exceptions=False)
    (problem,) = refused.value.problems
    assert problem.startswith(f"{options[0]}: ")
    assert f"{options[1]} names the same file" in problem
    assert sorted(folder.rglob("*")) == before


@pytest.mark.usefixtures("folder")
def test_two_outputs_may_go_to_a_device():
    words = ("report", "last", "--page=/dev/null", "--output=results")
    assert CliRunner().invoke(commands, words, standalone_mode=False).exception is None
    generate = "generate --format=csv --num-inserts=9 -q --output=/dev/null --manifest=/dev/null"
    assert CliRunner().invoke(commands, generate.split(), standalone_mode=False).exception is None
