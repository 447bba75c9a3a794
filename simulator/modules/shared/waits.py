"""Polling of servers that report their state, but not the end of their work."""

import math
import time
from collections.abc import Callable
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def wait_until(done: Callable[[], bool], timeout_s: float, poll_s: float) -> bool:
    """Call `done` repeatedly; return whether it was true before the timeout."""
    deadline = time.monotonic() + timeout_s
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(poll_s)
    return True


def wait_until_stable(
    read: Callable[[], Any], quiet_s: float, poll_s: float, timeout_s: float = math.inf
) -> bool:
    """Return whether `read` returned the same for `quiet_s` before the timeout."""
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
    action: Callable[[], _Result],
    passes: Callable[[Exception], bool],
    timeout_s: float,
    poll_s: float,
) -> _Result:
    """Return the result of an action; repeat it while its error `passes`.

    The timeout begins with the first error, since the attempt may have waited for an answer.
    """
    deadline = math.inf
    while True:
        try:
            return action()
        except Exception as error:
            deadline = min(deadline, time.monotonic() + timeout_s)
            if not passes(error) or time.monotonic() > deadline:
                raise
        time.sleep(poll_s)
