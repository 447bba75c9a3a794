"""The collector process by itself, as it runs in a pod."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from simulator.protocol.messages import Outcome, PhaseEvent, parse_event
from tests.integration.conftest import ROOT
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
