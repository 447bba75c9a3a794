"""The command line: `python run.py --help` shows what it can do."""

import signal

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # as long as nothing is started, Ctrl-C just ends
    from cli.main import main

    main()
