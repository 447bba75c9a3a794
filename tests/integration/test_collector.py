"""The collector process by itself, as it runs in a pod."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from iotbench.rows.recorded.request import read
from simulator.protocol.events import Outcome, PhaseEvent, parse_event
from simulator.protocol.spec import Work
from tests.integration.conftest import ROOT, CommandLine
from tests.pods import mount
from tests.unit.specs import run_spec

HANGING = """
import time
from simulator.modules.null import Null

class Hanging(Null):
    def describe(self):
        time.sleep(60)
"""
SPEC = run_spec(module="hanging:Hanging", workers=[{"task": "insert"}])


def test_a_collector_that_is_stopped_does_not_wait_for_the_database(tmp_path: Path) -> None:
    options = mount(tmp_path, SPEC.model_dump_json())
    (tmp_path / "hanging.py").write_text(HANGING)
    with subprocess.Popen(
        [sys.executable, "-m", "simulator", "collector", "--port=0", *options],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])},
    ) as process:
        try:
            assert process.stdout
            begun = parse_event(process.stdout.readline())[1]
            time.sleep(0.5)
            process.send_signal(signal.SIGTERM)
            last = parse_event(process.stdout.readline())[1]
            code = process.wait(5)
        finally:
            process.kill()

    assert isinstance(begun, PhaseEvent)
    assert isinstance(last, Outcome)
    assert (last.status, code) == ("interrupted", 130)


def scan_by(folder: Path, file: Path, **task: Any) -> Outcome:
    """Have a collector scan a file, as in a pod without workers."""
    records = {"path": str(file), "format": "influx", **task.pop("records", {})}
    given = {"workers": (1, 3), "batch_rows": 7, "manifest_path": f"{file}.json", **task}
    spec = run_spec(work=Work.SCAN, workers=(), records=records, scan=given)
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "simulator", "collector", "--port=0",
         *mount(folder, spec.model_dump_json())],
        capture_output=True, text=True, check=False, timeout=60, cwd=ROOT,
    )  # fmt: skip
    last = parse_event(done.stdout.splitlines()[-1])[1]
    assert isinstance(last, Outcome)
    assert done.returncode == last.exit_code, done.stderr
    return last


def test_a_collector_scans_a_file_that_only_its_pod_can_read(
    cli: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "rows.lp"
    written = cli.run("generate", "--format=influx", "--num-inserts=100", f"--output={file}")
    assert written.code == 0, written.err
    content = file.read_bytes()
    lines = content.splitlines(keepends=True)

    outcome = scan_by(tmp_path / "whole", file, needs_manifest=True)
    found = outcome.scanned
    assert outcome.status == "done"
    assert found
    assert found.manifest == read(Path(f"{file}.json"))
    assert (found.rows, found.size_bytes, found.tables) == ((100,), len(content), (0,))
    starts = [len(b"".join(lines[:row])) for row in (0, 35, 70, 100)]
    assert found.edges == {
        1: ((0, 0), (len(content), 100)),
        3: tuple(zip(starts, (0, 35, 70, 100), strict=True)),
    }

    file.write_bytes(content.replace(b"events,", b"e,", 1))
    damaged = scan_by(tmp_path / "damaged", file)
    assert (damaged.status, damaged.exit_code, damaged.touched) == ("failed", 2, False)
    assert "rows.lp: record 1 (byte 0): " in damaged.cause
    skipped = scan_by(tmp_path / "skipped", file, records={"skip": True}).scanned
    assert skipped
    assert (skipped.rows, skipped.skipped_rows) == ((99,), 1)


def test_a_collector_names_what_a_volume_claim_lacks(tmp_path: Path) -> None:
    file = tmp_path / "rows.lp"
    missing = scan_by(tmp_path / "none", file)
    assert missing.exit_code == 2
    assert missing.cause.startswith(f"--data: {file}: no such file; its folder has: none")
    file.write_bytes(b"")
    alone = scan_by(tmp_path / "alone", file, needs_manifest=True)
    assert alone.exit_code == 2
    assert alone.cause.startswith(f"--manifest: {file}.json: no such file; its folder has: alone")
    Path(f"{file}.json").write_text("{}")
    wrong = scan_by(tmp_path / "wrong", file)
    assert wrong.exit_code == 2
    assert "rows.lp.json: is not a manifest of `generate`" in wrong.cause
