"""The collector process by itself, as it runs in a pod."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from simulator import __version__
from simulator.protocol.messages import Outcome, PhaseEvent, parse_event
from tests.integration.conftest import ROOT
from tests.pods import mount

HANGING = """
import time
from simulator.modules.null import Null

class Hanging(Null):
    def describe(self):
        time.sleep(60)
"""
SPEC = {
    "version": __version__,
    "run_id": "r",
    "kind": "insert",
    "target": "t",
    "module": "hanging:Hanging",
    "options": {},
    "dataset": {
        "workload": "iot",
        "workload_version": 1,
        "params": {},
        "seed": 1,
        "start_ms": 0,
        "primary_key": "none",
        "parts": 1,
    },
    "workers": [{"task": "insert"}],
}


def test_a_collector_that_is_stopped_does_not_wait_for_the_database(tmp_path: Path) -> None:
    options = mount(tmp_path, json.dumps(SPEC))
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
