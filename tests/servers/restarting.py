"""A command with which the command line has a test server started again that it has killed."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def restarter(folder: Path, start: Callable[[], None]) -> Iterator[str]:
    """Yield a command that has this process start a server; it returns once that is ready.

    The server ends with the thread that starts it, so look at its rows inside this context.
    """
    wanted, started, over = folder / "wanted", folder / "started", threading.Event()

    def serve() -> None:
        while not over.wait(0.02):
            if wanted.exists():
                wanted.unlink()
                start()
                started.touch()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"touch {wanted}; while ! test -e {started}; do sleep 0.02; done; rm {started}"
    finally:
        over.set()
        thread.join()
