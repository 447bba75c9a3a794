"""In a pod: a collector that is killed is followed by another one, which has its journal."""

import os
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import os, signal, sys, threading
from simulator.forks import supervise

def serve(journal):
    journal.seek(0, 2)
    journal.write(b"x")
    journal.flush()
    {body}

sys.exit(supervise(serve))
"""


def supervise(body):
    text = PROGRAM.format(body=body)
    return subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def ended(running):
    out, err = running.communicate(timeout=20)
    return running.returncode, out, err


def test_the_exit_code_is_that_of_the_collector():
    assert ended(supervise("return 3")) == (3, "", "")


def test_another_one_goes_on_with_the_journal_of_one_that_was_killed():
    size = "os.fstat(journal.fileno()).st_size"
    body = f"os.kill(os.getpid(), signal.SIGKILL) if {size} < 3 else None; return 0"
    code, _, err = ended(supervise(body))

    assert code == 0
    assert err == 2 * "the collector was killed by SIGKILL; another one goes on\n"


def test_there_is_an_end_to_it():
    code, _, err = ended(supervise("os.kill(os.getpid(), signal.SIGSEGV)"))

    assert code == 128 + signal.SIGSEGV
    assert err.splitlines() == [
        *3 * ["the collector was killed by SIGSEGV; another one goes on"],
        "the collector was killed by SIGSEGV, as 3 before it",
    ]


STOPPED = (
    "signal.signal(signal.SIGTERM, lambda *_: os._exit(5)); "
    "os.write(1, f'{os.getpid()}\\n'.encode()); threading.Event().wait()"
)


def test_a_request_to_stop_reaches_it():
    running = supervise(STOPPED)
    assert running.stdout.readline()
    running.terminate()

    assert ended(running)[0] == 5


def test_a_request_to_stop_that_it_does_not_handle_yet_ends_it():
    running = supervise("os.write(1, b'here\\n'); threading.Event().wait()")
    assert running.stdout.readline()
    running.terminate()
    code, _, err = ended(running)

    assert (code, err) == (128 + signal.SIGTERM, "")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_it_ends_with_the_process_that_watches_over_it():
    running = supervise(STOPPED)
    child = int(running.stdout.readline())
    running.kill()
    running.communicate(timeout=20)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    pytest.fail("it is still there")
