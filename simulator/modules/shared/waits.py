"""Waiting for servers that report only their state, not the end of their work."""

import math
import time
from collections.abc import Callable
from typing import Any


def wait_until(done: Callable[[], bool], timeout_s: float, poll_s: float) -> bool:
    """Return whether something is done in time; `done` is called again and again."""
    deadline = time.monotonic() + timeout_s
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(poll_s)
    return True


def wait_until_stable(
    read: Callable[[], Any], quiet_s: float, poll_s: float, timeout_s: float = math.inf
) -> bool:
    """Return whether, in time, `read` has returned the same for `quiet_s`."""
    deadline = time.monotonic() + timeout_s
    before, since = read(), time.monotonic()
    while (left_s := quiet_s - (time.monotonic() - since)) > 0:
        if time.monotonic() > deadline:
            return False
        time.sleep(min(poll_s, left_s))
        if (now := read()) != before:
            before, since = now, time.monotonic()
    return True


def retry(
    action: Callable[[], object],
    passes: Callable[[Exception], bool],
    timeout_s: float,
    poll_s: float,
) -> None:
    """Run an action; repeat it while its error `passes`, until a timeout."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            action()
        except Exception as error:
            if not passes(error) or time.monotonic() > deadline:
                raise
            time.sleep(poll_s)
        else:
            return
