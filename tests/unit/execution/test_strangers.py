"""A stranger's result that is repeated, or plan that is run, does nothing but measure."""

import json
import os
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from iotbench.commands.main import commands
from iotbench.config.options.basic import Parsed
from iotbench.config.options.given import divide, parse
from iotbench.measurements.change.options import Change
from iotbench.measurements.insert.options import Insert
from iotbench.measurements.query.options import Mixed, Query
from iotbench.results.command import GivenCommand
from simulator.errors import ConfigError
from tests.unit.store.made import store

MEASURING = ("insert", "query", "mixed", "change", "verify", "capacity")
TAKEN_TEXTS = {
    "target", "workload", "data", "manifest", "dataset", "time-column", "time-format", "time-zone",
    "tags",
    "delimiter", "null", "comment", "measurement", "fail-if", "slo",
}  # fmt: skip
"""Texts and files that `repeat` takes: they name rows to read, or say what figures must be."""
TAKEN_FLAGS = {"import", "clean", "heading", "resources", "align", "plans", "ramp"}
REFUSED_NUMBERS = {"ui", "tag", "runner", "fault", "format"}
"""Choices and the like that start, serve or name something."""
CANARY = "canary"


@pytest.fixture(autouse=True)
def program():
    with click.Context(commands):
        yield


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a configuration; whatever appears in it was written."""
    monkeypatch.chdir(tmp_path)
    entry = "{module: sqlite, runner: local, path: x.db}"
    (tmp_path / "config.yaml").write_text(f"targets: {{lite: {entry}}}\n")
    return tmp_path


def stored(folder, command, name=0):
    """A result file whose command is whatever a stranger writes."""
    path = store(folder, name)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"command": command}))
    return path


def repeat(path, *more):
    arguments = ["repeat", str(path), "--output", str(path.parent), *more]
    return CliRunner().invoke(commands, arguments, standalone_mode=False)


def options_of(name):
    """Yield the key and the option of each option of a command."""
    for option in commands.commands[name].params:
        if isinstance(option, click.Option) and option.name != "help":
            yield max(option.opts, key=len).removeprefix("--"), option


def is_taken(key, option):
    if option.is_flag:
        return key in TAKEN_FLAGS
    is_plain = isinstance(option.type, Parsed) or type(option.type) is click.Choice
    return key in TAKEN_TEXTS or (is_plain and key not in REFUSED_NUMBERS)


@pytest.mark.parametrize("name", MEASURING)
def test_only_what_measures_is_taken_of_every_option_of_every_command(name):
    for key, option in options_of(name):
        value = True if option.is_flag else (CANARY,)
        kept, left = divide(GivenCommand(name=name, options={key: value}), "r.json")

        safe = is_taken(key, option)
        assert ({*kept.options} == {key}) == safe, f"--{key}: is it safe from a stranger?"
        assert not {*kept.options} & {*left.options}


@pytest.mark.parametrize("name", MEASURING)
def test_whatever_form_an_option_has_its_words_mean_the_same(name):
    """`--x=y`, `--x y`, short names and `--no-x` are read by the command's own parser."""
    for key, option in options_of(name):
        for each in (*option.opts, *option.secondary_opts):
            joined = f"{each}={CANARY}" if each.startswith("--") else f"{each}{CANARY}"
            for words in [[each]] if option.is_flag else [[each, CANARY], [joined]]:
                found = parse((name, *words), "r.json")
                expected = each in option.opts if option.is_flag else (CANARY,)
                assert found.options == {key: expected}


HARMFUL = {
    "before-run": f"touch {CANARY}",
    "restart-with": f"touch {CANARY}",
    "crash-with": f"touch {CANARY}",
    "config": f"{CANARY}.yaml",
    "extra-option": f"path={CANARY}",
    "junit": CANARY,
    "metrics-out": CANARY,
    "output": CANARY,
    "disk": ".",
    "setup": f"{CANARY}.sql",
    "teardown": f"{CANARY}.sql",
    "queries": f"{CANARY}.yaml",
    "kubeconfig": CANARY,
    "context": CANARY,
    "namespace": CANARY,
    "image": CANARY,
    "values": CANARY,
    "set": f"image.name={CANARY}",
    "fault": "kill-database",
    "runner": "kubernetes",
    "ui": "0.0.0.0:8000",
    "data": "https://example.com/rows.csv",
}


@pytest.mark.parametrize("is_word", [True, False], ids=["word", "two"])
@pytest.mark.parametrize("key", HARMFUL)
def test_what_runs_reaches_or_writes_is_refused_before_anything_starts(folder, key, is_word):
    value, name = HARMFUL[key], "query" if key == "queries" else "insert"
    words = [f"--{key}={value}"] if is_word else [f"--{key}", value]
    option = GivenCommand(name=name, options={"target": ("lite",), key: (value,)})
    for number, command in enumerate(
        ([name, "--target", "lite", *words], json.loads(option.model_dump_json()))
    ):
        before = {*folder.iterdir()} | {stored(folder, command, number)}
        done = repeat(stored(folder, command, number))

        assert isinstance(done.exception, ConfigError), done.output
        (text,) = done.exception.problems
        assert shlex.join([f"--{key}", value]) in text
        assert "takes from a file, which may be a stranger's" in text
        assert {*folder.iterdir()} == before


IN_PLANS = {
    "shell command": ("insert: {before_run: CANARY}", "insert --before-run CANARY"),
    "before queries": (
        "insert: {}\n    query: {before_run: CANARY}", "query --before-run CANARY"
    ),
    "fault": ("insert: {duration: 30s, fault: kill-database}", "insert --fault kill-database"),
    "command of a fault": (
        "insert: {}\n    mixed: {fault: crash-node, crash_with: CANARY, restart_with: x}",
        "mixed --crash-with CANARY",
    ),
    "statements": ("insert: {setup: mine.sql}", "insert --setup"),
    "address": ("insert: {}\n    options: {path: CANARY}", "option path of a target"),
    "address of a module": (
        "insert: {}\n    modules: {sqlite: {path: CANARY}}", "option path of a target"
    ),
    "installation": ("insert: {}", "target lite: install, remove"),
    "URL": ("insert: {}", "target sqlite:CANARY"),
}  # fmt: skip
TARGETS = {
    "installation": "{name: lite, install: [touch CANARY], remove: [touch CANARY]}",
    "URL": "sqlite:CANARY",
}


@pytest.mark.parametrize("case", IN_PLANS)
def test_a_plan_is_refused_before_anything_starts_unless_it_is_trusted(folder, case):
    (folder / "mine.sql").write_text("SELECT 1;\n")
    setting, said = (text.replace("CANARY", CANARY) for text in IN_PLANS[case])
    target = TARGETS.get(case, "lite").replace("CANARY", CANARY)
    (folder / "plan.yaml").write_text(
        f"name: a\ntargets: [{target}]\nsettings:\n  - name: b\n    {setting}\n"
    )
    before = {*folder.iterdir()}
    done = CliRunner().invoke(commands, ["run", "plan.yaml"], standalone_mode=False)

    assert isinstance(done.exception, ConfigError), done.output
    first, *found = done.exception.problems
    assert first.endswith("contains more than measurements; read it, then add --trust")
    assert any(f"plan.yaml: {said}" in text for text in found), found
    assert {*folder.iterdir()} == before
    dry = CliRunner().invoke(commands, ["run", "plan.yaml", "--dry-run"], standalone_mode=False)
    assert f"needs --trust: {said}" in dry.output
    assert {*folder.iterdir()} == before


@pytest.mark.parametrize(
    ("kind", "model"),
    [("insert", Insert), ("query", Query), ("mixed", Mixed), ("change", Change)],
)
def test_every_key_of_a_plan_is_an_option_of_its_command_which_says_whether_it_needs_trust(
    kind, model
):
    for each in model.declare().values():
        if not each.opt.inner:
            value = True if each.is_flag else (CANARY,)
            key = each.names[0].removeprefix("--")
            divide(GivenCommand(name=kind, options={key: value}), "plan.yaml")


def test_a_consent_is_not_taken_and_the_rest_is(folder):
    words = ["insert", "--target=lite", "--replace-table=events", "--force", "--keep", "-w1"]
    done = repeat(stored(folder, words), "--dry-run")

    assert done.output.splitlines()[0] == "python run.py insert --target lite --workers 1"


HOSTILE = {
    "text": ("insert", "is not a result file"),
    "number": (3, "is not a result file"),
    "nested": ([["insert"]], "is not a result file"),
    "null": (None, "is not a result file"),
    "a million words": (["insert", *["--batch=1"] * 1_000_000], "1,000,001 words"),
    "a shell": (["bash", "-c", f"touch {CANARY}"], "'bash', which measures nothing"),
    "another command": (["run", "plan.yaml"], "'run', which measures nothing"),
    "repeat": (["repeat", "last"], "'repeat', which measures nothing"),
    "control characters": (["ins\x1b]0;x\x07ert"], "measures nothing"),
    "an abbreviation": (["insert", "--target=lite", "--befor=x"], "No such option '--befor'"),
    "positional words": (["insert", "--target=lite", "x"], "belongs to no option"),
    "after two dashes": (["insert", "--target=lite", "--", "--before-run=x"], "belongs to no"),
    "help": (["insert", "--help"], "no such options: 'help'"),
    "no target": (["insert"], "names no target"),
    "an option without its value": (["insert", "--target"], "requires an argument"),
    "a surrogate": (["insert", "--target=\ud800"], "is not a result file"),
    "an unknown option": (
        {"name": "insert", "options": {"exec": ["x"]}}, "no such options: 'exec'",
    ),
    "a flag with a text": (
        {"name": "insert", "options": {"clean": ["x"]}}, "no such options: 'clean'",
    ),
    "a path as a name": ({"name": "../insert", "options": {}}, "measures nothing"),
    "more keys": ({"name": "insert", "options": {}, "run": "x"}, "is not a result file"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_command_is_one_clear_error(folder, case):
    command, said = HOSTILE[case]
    done = repeat(stored(folder, command))

    assert isinstance(done.exception, ConfigError), done.exception
    assert said in str(done.exception)
    assert len(str(done.exception)) < 600
    assert not (folder / CANARY).exists()


def test_what_is_given_again_is_the_persons_own(folder):
    words = ["insert", "--target=lite", "--batch=10", "--before-run=evil", "--setup=evil.sql"]
    path = stored(folder, words)
    (folder / "mine.sql").write_text("SELECT 1;\n")
    again = ("--before-run", "true", "--dry-run", "--", "--setup", "mine.sql", "--batch", "20")
    done = repeat(path, *again)

    assert done.exception is None, done.exception
    shown = "insert --target lite --batch 20 --setup mine.sql --before-run true"
    assert done.output.splitlines()[0] == f"python run.py {shown}"


def test_rows_of_a_file_are_found_from_another_folder(folder, monkeypatch):
    (folder / "rows.csv").write_text("time,v\n2026-01-01T00:00:00Z,1\n")
    words = ["insert", "--target=lite", "--data=rows.csv"]
    with commands.commands["insert"].make_context("insert", words[1:]) as context:
        from iotbench.config.options.given import build_given_command  # noqa: PLC0415
        from simulator.modules.sqlite import SqliteOptions  # noqa: PLC0415

        assert context.info_name == "insert"
        found = build_given_command(SqliteOptions(path="x.db"))
    assert found.options["data"] == (str(folder / "rows.csv"),)

    (folder / "other").mkdir()
    monkeypatch.chdir(folder / "other")
    (Path("config.yaml")).write_text("targets: {lite: {module: sqlite, runner: local, path: y}}")
    done = repeat(stored(folder, json.loads(found.model_dump_json())), "--dry-run")
    assert f"--data {folder / 'rows.csv'}" in done.output
    done = repeat(stored(folder, words))
    assert "--data: rows.csv: no such file or folder here; add `-- --data FILE`" in str(
        done.exception
    )


@pytest.mark.parametrize("form", [(), ("--data-format=influx",)])
@pytest.mark.parametrize("data", ["/proc/kmsg", "pipe", "kernel.rows", "/dev/zero"])
def test_a_file_that_would_be_read_for_ever_is_refused_when_a_result_is_repeated(
    folder, data, form
):
    os.mkfifo(folder / "pipe")
    (folder / "kernel.rows").mkdir()
    (folder / "kernel.rows" / "file.json").symlink_to("/proc/kmsg")
    (folder / "config.yaml").write_text("targets: {nothing: {module: 'null', runner: local}}")
    words = ["insert", "--target=nothing", "--workers=1", f"--data={data}", *form]
    done = repeat(stored(folder, words))

    assert isinstance(done.exception, ConfigError)
    assert f"--data: {data}: " in str(done.exception)
    assert "pipe" in str(done.exception) or "is a folder" in str(done.exception)


@pytest.mark.parametrize("name", ["../secret.json", "/etc/passwd", "a/b.json", "..", "a\0b", ""])
def test_a_record_leads_to_no_other_folder(folder, name):
    item = {"id": "a", "target": "lite", "setting": "s", "repeat": 1, "verdict": "verified"}
    record = {
        "kind": "plan", "format_version": 1, "program_version": "1", "name": "tiny", "plan": {},
        "machine": json.loads(store(folder, 0).read_text())["machine"], "status": "done",
        "first": None, "last": None, "items": [{**item, "files": [name]}], "lines": [],
        "curves": [], "not_had": {}, "refused": {},
    }  # fmt: skip
    path = folder / "plan-tiny-00000000.json"
    path.write_text(json.dumps(record))
    for words in (
        ["show", str(path)],
        ["report", str(path), "--page", "page.html"],
        ["publish", str(path), "--folder", "bundle"],
    ):
        done = CliRunner().invoke(commands, words, standalone_mode=False)
        assert isinstance(done.exception, ConfigError), words
        assert "expected the name of a file in the same folder" in str(done.exception)
    assert not (folder / "bundle").exists()
    record["items"] = [{**item, "files": ["b.json"]}]
    path.write_text(json.dumps(record))
    done = CliRunner().invoke(commands, ["show", str(path)], standalone_mode=False)
    assert done.exception is None


def test_a_prepared_folder_leads_to_no_other_file(folder):
    (folder / "rows.csv").write_text("time,v\n2026-01-01T00:00:00Z,1\n")
    run = CliRunner().invoke
    assert (
        run(commands, ["prepare", "rows.csv", "--quiet"], standalone_mode=False).exception is None
    )
    array = min((folder / "rows.csv.rows").glob("[0-9]*.*"))
    elsewhere = array.rename(folder / "elsewhere")
    for place in (elsewhere, Path("/dev/zero")):
        array.symlink_to(place)
        words = ["insert", "--target=lite", "--data=rows.csv.rows", "--dry-run"]
        done = run(commands, words, standalone_mode=False)
        array.unlink()
        assert isinstance(done.exception, ConfigError)
        assert "is a link, pipe or device, expected a file" in str(done.exception)


def test_checking_a_bundle_follows_no_link_out_of_it(folder):
    store(folder, 0)
    run = CliRunner().invoke
    words = ["publish", "last", "--output", str(folder), "--folder", "bundle"]
    assert run(commands, words, standalone_mode=False).exception is None
    (folder / "bundle/results.zip").rename(folder / "moved.zip")
    (folder / "bundle/results.zip").symlink_to(folder / "moved.zip")
    done = run(commands, ["publish", "--check", "bundle"], standalone_mode=False)

    assert "results.zip: is missing" in done.output
    assert "results.zip: has no result file" in done.output


def test_no_other_command_obeys_a_stored_command(folder):
    """What shows, compares, lists, tags or publishes a result writes what was asked for only."""
    options = {
        "target": ["lite"], "batch": ["10"],
        **{key: [value] for key, value in HARMFUL.items() if key != "queries"},
    }  # fmt: skip
    for number in range(2):
        stored(folder, {"name": "insert", "options": options}, number)
    before = {path.name for path in folder.iterdir()}
    place = ["--output", str(folder)]
    for words in (
        ["show", "last", *place],
        ["compare", "last~1", "last", "--junit", "asked.xml", *place],
        ["report", "last", "--page", "asked.html", *place],
        ["results", "list", *place],
        ["results", "export", "last", "--to", "asked.csv", *place],
        ["results", "tag", "last", "word", *place],
        ["publish", "last", "--folder", "asked", *place],
    ):
        done = CliRunner().invoke(commands, words, standalone_mode=False)
        assert done.exception is None, (words, done.exception)
    asked = {"asked.xml", "asked.html", "asked.csv", "asked", ".index.json"}
    assert {path.name for path in folder.iterdir()} - before == asked

    readme = (folder / "asked/README.md").read_text()
    (command,) = [line for line in readme.splitlines() if line.startswith("    iotbench insert")]
    assert command.startswith("    iotbench insert --config config.yaml --target lite --batch 10")
    assert CANARY not in command
    assert f"--before-run 'touch {CANARY}'" in readme
