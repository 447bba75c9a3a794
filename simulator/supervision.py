"""Continues a collector in another process when a signal kills its process.

In a pod the container's first process does so; on one machine the command line does.
"""

import os
import signal
import sys
import tempfile
from collections.abc import Callable
from typing import BinaryIO

from simulator.host import end_with_parent

MOST_COLLECTORS = 4
"""Collectors of one run: a database that cannot be verified may end every one of them."""


def supervise(serve: Callable[[BinaryIO], int]) -> int:
    """Call `serve` with a journal, in a separate process; return the exit code.

    It is called again, in another process, when a signal other than SIGTERM kills that process.
    """
    with tempfile.TemporaryFile() as journal:
        for number in range(1, MOST_COLLECTORS + 1):
            status = _status_of(serve, journal)
            code = os.waitstatus_to_exitcode(status)
            if code >= 0 or -code == signal.SIGTERM:
                break
            goes_on = number < MOST_COLLECTORS
            text = f"the collector was killed by {signal.Signals(-code).name}"
            text += "; another one goes on" if goes_on else f", as {number - 1} before it"
            print(text, file=sys.stderr, flush=True)  # noqa: T201
    return code if code >= 0 else 128 - code


def _status_of(serve: Callable[[BinaryIO], int], journal: BinaryIO) -> int:
    """Call it in a new process, which gets the SIGTERM of this one; return how that has ended."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    child = os.fork()
    if child == 0:
        end_with_parent()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        os._exit(serve(journal))
    signal.signal(signal.SIGTERM, lambda number, _: os.kill(child, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    _, status = os.waitpid(child, 0)
    return status
