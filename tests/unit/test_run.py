"""`run.py`, started by a Python that cannot run it."""

import subprocess
import sys

from tests import ROOT


def test_a_python_without_the_packages_is_told_how_to_get_them():
    done = subprocess.run(
        [sys.executable, "-S", str(ROOT / "run.py"), "--help"],  # -S: without site-packages
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {sys.executable} has no package ")
    assert done.stderr.endswith("; run `make venv`, then `.venv/bin/python run.py`\n")
    assert done.stderr.count("\n") == 1
