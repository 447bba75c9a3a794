"""Nothing works at import time, and a driver is loaded only when its module connects."""

import subprocess
import sys
import tomllib

from tests import ROOT

_SCRIPT = """
import sys
import iotbench.commands.main, tools.reference, simulator.control.collector, simulator.load.worker
from simulator.modules import MODULES, database_class
for module in MODULES:
    database_class(module)
print([name for name in sys.argv[1:] if name in sys.modules])
"""


def _drivers() -> list[str]:
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (rule,) = [r for r in rules["contracts"] if r["name"].startswith("A database driver")]
    return rule["forbidden_modules"]


def test_importing_everything_loads_no_driver_and_prints_nothing():
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *_drivers(), "pyarrow"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )

    assert (done.stdout, done.stderr) == ("[]\n", "")
