#!/usr/bin/env python3
"""The command line: `python run.py --help` shows what it can do."""

import signal
import sys

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until a run starts, Ctrl-C just ends the program
    try:
        from iotbench.entry import choose

        run = choose()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("iotbench", "simulator"):
            raise
        sys.stderr.write(
            f"error: {sys.executable} has no package {error.name}; run `make venv`, then"
            " `.venv/bin/python run.py`\n"
        )
        sys.exit(2)
    run()
