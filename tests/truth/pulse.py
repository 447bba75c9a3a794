"""How late this machine wakes a thread: what other work adds to each time that is measured."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.truth.ledger import Account, latencies

_EVERY_S = 0.005


@contextmanager
def pulse() -> Iterator[list[float]]:
    """Yield the delays in ms of a thread that sleeps meanwhile, again and again."""
    late_ms: list[float] = []
    over = threading.Event()

    def beat() -> None:
        while not over.is_set():
            due_s = time.perf_counter() + _EVERY_S
            time.sleep(_EVERY_S)
            late_ms.append((time.perf_counter() - due_s) * 1000)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield late_ms
    finally:
        over.set()
        thread.join()


def added(late_ms: list[float]) -> Account:
    """Return what it may add to each figure of latency, which three threads in turn make."""
    found = latencies(late_ms)
    least = dict.fromkeys(("min_ms", "p50_ms"), found["avg_ms"])
    once = dict.fromkeys(("first_ms", "connect_p50_ms", "connect_p99_ms"), found["max_ms"])
    fresh = {"freshness_p50_ms": found["avg_ms"], "freshness_p99_ms": found["p99_ms"]}
    return {name: 3 * each for name, each in {**found, **least, **once, **fresh}.items()}
