#!/usr/bin/env python3
"""The command line: `python run.py --help` shows what it can do."""

import signal

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until a run starts, Ctrl-C just ends the program
    from cli.main import main

    main()
