"""`python -m simulator collector|worker`: what runs in a pod, or as a local process."""

import signal
import sys


def main() -> int:
    """Play the role that the arguments name."""
    # The first process of a container is ended by no signal that it does not handle. This holds
    # while the rest is still being loaded.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    from simulator.program import play  # noqa: PLC0415

    return play()


if __name__ == "__main__":
    sys.exit(main())
