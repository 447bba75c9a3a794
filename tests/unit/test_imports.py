import subprocess
import sys


def test_importing_everything_loads_no_driver_and_prints_nothing():
    script = (
        "import sys, cli.main, cli.reference, simulator.collector, simulator.worker, "
        "simulator.modules.mongodb, simulator.modules.null, simulator.modules.postgres, "
        "simulator.modules.sqlite\n"
        "print([name for name in ('psycopg2', 'pyarrow', 'pymongo') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert (done.stdout, done.stderr) == ("[]\n", "")
