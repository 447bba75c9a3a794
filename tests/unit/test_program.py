"""The program of collector and workers."""

import os
import signal
import threading
import time

from simulator.program import on_sigterm


def test_what_sigterm_asks_for_may_wait_for_what_the_main_thread_holds():
    held, done = threading.Lock(), threading.Event()

    def act() -> None:
        if held.acquire(timeout=5):  # in the handler itself that would never be
            done.set()

    before = signal.getsignal(signal.SIGTERM)
    on_sigterm(act)
    try:
        with held:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.05)
        assert done.wait(5)
    finally:
        signal.signal(signal.SIGTERM, before)
