"""`python -m simulator collector|worker`: a process in a pod, or a local process."""

import signal
import sys


def main() -> int:
    """Run as the collector or as a worker; return the exit code."""
    # PID 1 of a container ignores signals without a handler; this one serves during the imports.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    from simulator.program import play  # noqa: PLC0415

    return play()


if __name__ == "__main__":
    sys.exit(main())
