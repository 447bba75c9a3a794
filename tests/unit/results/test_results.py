"""Result files: written whole, read, refused, and read without some of the figures."""

import json
import os
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from iotbench.config.options.basic import FORMATS
from iotbench.machine.owner import Owner
from iotbench.measurements import writing_kinds
from iotbench.output.terminal.tables import format_record
from iotbench.results import result_files
from iotbench.results.result import Manifest, Progress, RunRecord
from simulator.data.ranges import RowRange, lane_range
from simulator.errors import ConfigError
from simulator.protocol.events import Outcome, QueryVerdict
from simulator.protocol.verdict import Check, Status, Verdict
from tests import ROOT
from tests.unit.output.page import shown
from tests.unit.output.terminal import made
from tests.unit.specs import mark
from tools.reference import RESULT_SCHEMA

CREATED = datetime(2026, 11, 21, 3, 45, 0, 123456, tzinfo=UTC)
DATASET = made.stored(0, params={"devices": 1}, start_ms=1000)
MANIFEST = Manifest(dataset=DATASET.with_ranges([lane_range(0, 0, 9)]), rows=9, complete=True)
PROGRESS = Progress(run_id="r", workers=1, run=2, level=7, phase="insert", rows=8, at=CREATED)


def result(**changes):
    fields = {"sweep_id": "20261121-034500-abcd", "created": CREATED, "dataset": DATASET} | changes
    return made.result(fields.pop("runs", []), **fields)


def run(verdict=Status.VERIFIED, status="done", exit_code=0):
    judged = None if verdict is None else Verdict(status=verdict)
    outcome = Outcome(status=status, exit_code=exit_code, verdict=judged)
    return RunRecord(run_id="r", workers=1, run=1, level=0, outcome=outcome)


def full_result():
    """A result in which nothing is left at its default."""
    check = Check(name="t: count", expected="9", found="8", ok=False)
    verdict = Verdict(status=Status.MISMATCH, reason="t: count", checks=(check,))
    report = made.worker(
        3,
        rows=9,
        error="lost",
        uncertain=(RowRange(start=1, stop=9, take=1, every=4),),
        rows_by_second=(4, 5),
        queries=(shown.times("q", 100.0),),
    )
    outcome = made.outcome(
        report,
        status="failed",
        cause="disk is full",
        exit_code=1,
        touched=True,
        insert_mode="batch",
        verdict=verdict,
        queries=(QueryVerdict(name="q", statement="SELECT 1", tuned=True, verdict=verdict),),
        complete=True,
        marks=(mark(),),
        no_mark="permission denied",
        paused_s=0.5,
    )
    record = made.run(outcome, number=2, level=7)
    return result(
        manifest=MANIFEST,
        status="failed",
        cause="disk is full",
        in_progress=PROGRESS,
        runs=[record.model_copy(update={"progress": PROGRESS, "logs": {"worker-0": "Traceback"}})],
        warnings=["slow"],
    )


@pytest.mark.parametrize("make", [result, full_result])
def test_a_result_survives_its_file(tmp_path, make):
    path = tmp_path / "r.json"
    result_files.write(path, make())

    assert result_files.read(path) == make()


def test_writing_leaves_nothing_but_the_file(tmp_path):
    path = tmp_path / "r.json"
    for _ in range(2):
        result_files.write(path, result())

    assert [file.name for file in tmp_path.iterdir()] == ["r.json"]
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("error", [OSError("disk is full"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_the_old_file_whole(tmp_path, monkeypatch, error):
    path = tmp_path / "r.json"
    result_files.write(path, result())

    def fail(_):
        raise error

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(type(error)):
        result_files.write(path, full_result())

    assert result_files.read(path) == result()
    assert [file.name for file in tmp_path.iterdir()] == ["r.json"]


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        (b"", "is not a result file of format 2"),
        (b"not JSON", "is not a result file of format 2"),
        (b"\xff", "is not a result file of format 2"),
        (b"{}", "program_version: Field required"),
        (b'{"format_version": 3}', "format 2: format_version: Input should be 2"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_file_that_is_no_result_is_refused(tmp_path, content, reported):
    path = tmp_path / "r.json"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ConfigError, match=rf"r\.json: .*{reported}"):
        result_files.read(path)


def written(folder, minutes, **changes):
    """Write a result that was made some minutes later."""
    fields = {"manifest": MANIFEST, "created": CREATED + timedelta(minutes=minutes)} | changes
    made = result(**fields)
    path = result_files.path_of(folder, made)
    result_files.write(path, made)
    return path


def test_the_last_insert_is_the_newest_of_its_target(tmp_path):
    newest = MANIFEST.model_copy(update={"rows": 10})
    written(tmp_path, 1)
    path = written(tmp_path, 2, manifest=newest)
    written(tmp_path, 0)
    written(tmp_path, 3, target="other")
    written(tmp_path, 4, kind="query")
    written(tmp_path, 5, target="not-lite")
    written(tmp_path, 6, target="lite-2")

    assert result_files.find_last_written(tmp_path, "lite", writing_kinds()) == (path, newest)


HALF = MANIFEST.model_copy(update={"complete": False})


@pytest.mark.parametrize(
    ("later", "last"),
    [
        ({"manifest": None, "status": "failed"}, MANIFEST),
        ({"manifest": HALF, "status": "failed"}, HALF),
        ({"manifest": HALF, "status": "running", "in_progress": PROGRESS}, HALF),
        ({"manifest": HALF, "sweep_id": "x-0000"}, HALF),
    ],
    ids=["touched nothing", "failed half-way", "killed", "in the same second"],
)
def test_the_last_insert_is_the_last_that_wrote_rows(tmp_path, later, last):
    minutes = 1 / 60_000 if "sweep_id" in later else 1
    paths = {MANIFEST.complete: written(tmp_path, 0)} | {False: written(tmp_path, minutes, **later)}

    found = result_files.find_last_written(tmp_path, "lite", writing_kinds())
    assert found == (paths[last.complete], last)


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\x00", b'{"format_version": 1, "target"'])
def test_a_damaged_file_is_named_once_and_not_used(tmp_path, capsys, content):
    path = written(tmp_path, 1)
    damaged = written(tmp_path, 2)
    damaged.write_bytes(content)

    assert result_files.find_last_written(tmp_path, "lite", writing_kinds()) == (path, MANIFEST)
    assert capsys.readouterr().err.startswith(f"warning: {damaged}: is not a result file")
    assert result_files.find_tables_left(tmp_path, writing_kinds()) == {
        ("lite", "events"): (path, MANIFEST)
    }
    assert capsys.readouterr().err == ""  # it was named


def test_a_folder_is_made_or_refused_and_may_have_no_insert(tmp_path):
    assert result_files.prepare_folder(tmp_path / "a" / "b")
    assert not result_files.prepare_folder(tmp_path / "a" / "b")
    assert result_files.find_last_written(tmp_path / "a" / "b", "lite", writing_kinds()) is None
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"--output: results cannot be written to .*file"):
        result_files.prepare_folder(tmp_path / "file")


def test_an_id_begins_with_its_time_and_is_new_each_time():
    ids = {result_files.new_id(CREATED) for _ in range(20)}

    assert {one[:16] for one in ids} == {"20261121-034500-"}
    assert len(ids) > 15


@pytest.mark.parametrize(
    ("status", "runs", "code"),
    [
        ("done", [run(), run()], 0),
        ("done", [run(Status.OFF)], 0),
        ("done", [run(), run(Status.UNKNOWN)], 4),
        ("done", [run(), run(Status.UNCHECKED)], 4),
        ("done", [run(None)], 4),
        ("done", [run(Status.UNKNOWN), run(Status.MISMATCH), run()], 3),
        ("failed", [run(Status.MISMATCH), run(status="failed", exit_code=1)], 3),
        ("failed", [], 1),
        ("failed", [run(status="failed", exit_code=1)], 1),
        ("failed", [run(), run(status="failed", exit_code=4)], 4),
        ("failed", [run(status="failed", exit_code=0)], 1),
        ("interrupted", [run(status="interrupted", exit_code=130)], 130),
        ("done", [run(Status.INCOMPLETE)], 1),
        ("done", [run(Status.INCOMPLETE), run(Status.MISMATCH)], 3),
        ("done", [run(Status.UNKNOWN), run(Status.INCOMPLETE)], 1),
        ("interrupted", [run()], 130),
        ("interrupted", [], 130),
        ("running", [run()], 1),
    ],
)
def test_the_exit_code_follows_from_status_and_verdicts(status, runs, code):
    assert result(status=status, runs=runs).exit_code == code


@pytest.fixture
def places(tmp_path, monkeypatch):
    """The output folder, the state folder and the temporary folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    folders = [tmp_path / "out", tmp_path / "state" / "iotbench" / "results", tmp_path / "tmp"]
    folders[0].mkdir()
    folders[2].mkdir()
    return folders


def block(folder):
    """Make a folder one that nothing can be written to, for root as well."""
    if folder.exists():
        folder.rmdir()
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.touch()


@pytest.mark.parametrize("blocked", [0, 1, 2])
def test_a_result_goes_to_the_first_place_that_takes_it(places, blocked):
    for folder in places[:blocked]:
        block(folder)
    file = result_files.ResultFile(places[0] / "r.json")
    file.write(result())

    assert file.path == places[blocked] / "r.json"
    assert result_files.read(file.path) == result()
    assert file.trouble.count("cannot be written") == blocked


def test_a_result_that_no_place_takes_has_no_path(places):
    for folder in places:
        block(folder)
    file = result_files.ResultFile(places[0] / "r.json")
    file.write(result())
    file.write(result())

    assert file.path is None
    assert file.trouble.count("cannot be written") == 3


def test_a_file_that_a_killed_command_was_writing_is_found(tmp_path):
    gone = replace(Owner.this(), pid=999_999_999)
    abandoned = tmp_path / f".20261101T000000000Z-insert-x-ab12.json.{gone}-abc.tmp"
    abandoned.touch()
    for other in (f".a.json.{Owner.this()}-x.tmp", ".a.json.tmp", ".a.json.x-1.tmp", "a.json"):
        (tmp_path / other).touch()

    assert list(result_files.find_unfinished(tmp_path)) == [abandoned]


def test_a_file_names_its_writer_until_it_is_whole(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(os, "fsync", lambda _: written.extend(tmp_path.iterdir()))
    result_files.write(tmp_path / "a.json", result())

    assert [path.name.startswith(f".a.json.{Owner.this()}-") for path in written] == [True]
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_result_is_valid_by_the_schema_and_a_changed_one_is_not():
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - loads for 1.5 s

    schema = Draft202012Validator(json.loads(RESULT_SCHEMA.read_text()))
    written = json.loads(full_result().model_dump_json())

    assert [*schema.iter_errors(written)] == []
    for wrong in ({"format_version": 1}, {"status": "lost"}, {"runs": [{}]}, {"other": 1}):
        assert [*schema.iter_errors(written | wrong)], wrong


FILES = sorted((ROOT / "tests/files/results").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("form", FORMATS)
def test_a_result_file_is_read_and_printed(path, form):
    assert format_record(result_files.read(path), path, form).strip() or path.stem == "failed"


@pytest.mark.parametrize(
    ("name", "rows", "exit_code"),
    [("insert", 2, 0), ("query", 5, 0), ("steps", 2, 0), ("failed", 0, 1)],
)
def test_the_numbers_of_a_result_file_are_kept(name, rows, exit_code):
    result = result_files.read(ROOT / f"tests/files/results/{name}.json")
    shown = json.loads(format_record(result, None, "json"))

    assert len(shown["rows"]) == rows
    assert result.exit_code == shown["exit_code"] == exit_code


@pytest.mark.parametrize(("name", "rate"), [("insert", "Avg rows/s"), ("steps", "Inserts/s")])
def test_what_was_not_measured_is_not_shown_as_a_number(name, rate):
    result = result_files.read(ROOT / f"tests/files/results/{name}.json")
    shown = json.loads(format_record(result, None, "json"))
    values = format_record(result, None, "table").split("\n\n")[0].splitlines()[-1].split()

    assert not any("stored" in figure or "bytes_per_s" in figure for figure in shown["rows"][0])
    assert values[2:4] == ["-", "-"], rate
    assert shown["on_disk"]["bits_per_value"] is None


@pytest.mark.parametrize("name", ["insert", "steps"])
def test_the_manifest_says_what_the_tables_hold(name):
    manifest = result_files.read(ROOT / f"tests/files/results/{name}.json").manifest

    assert manifest.complete
    assert manifest.rows == manifest.dataset.rows > 0


@pytest.mark.parametrize(
    ("module", "ns_per_row", "shown"),
    [
        ("postgres", None, 0.57),
        ("mine:Mine", 90.0, 0.57),
        ("mine:Mine", None, 0.025),
        ("sqlite", None, 0.025),
    ],
)
def test_the_clients_share_is_computed_again_with_the_cpu_of_the_driver(
    tmp_path, module, ns_per_row, shown
):
    content = json.loads((ROOT / "tests/files/results/insert.json").read_text())
    for run in content["runs"]:
        run["metrics"] |= {"client_share": 0.025, "cpu_share": 0.57}
        run["metrics"] |= {"client_ns_per_row": ns_per_row}
    path = tmp_path / "insert.json"
    path.write_text(json.dumps({**content, "module": module}))
    result = result_files.read(path)

    assert {run.metrics.client_share for run in result.runs} == {shown}
    rows = json.loads(format_record(result, None, "json"))["rows"]
    assert [row["client_share"] for row in rows] == pytest.approx([shown] * len(rows))
