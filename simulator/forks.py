"""Starts collectors and workers as forks, and continues a collector that a signal has killed.

Loading their program takes half a second of CPU time, which is more than a short run takes, and
adds up to minutes for hundreds of workers. A fork takes a few milliseconds.

Each message on the fork server's socket asks for one fork: {"name": "worker-0", "role": ["worker",
"--index=0"], "options": ["--fd", ...]}. The message passes open files: one that receives the exit
code, standard input, output and error, and one for each option. The reply is the process ID, or a
negative error number.

A killed collector is continued by the container's first process in a pod, and by the command line
on a single machine.
"""

import gc
import json
import os
import select
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from typing import BinaryIO

from simulator.host import allow_open_files, continue_without_parent, end_with_parent, name_process

_MOST_BYTES = 1 << 16
_MOST_FILES = 16
_STANDARD = 3


def fork(control: socket.socket) -> list[str] | None:
    """Serve until the other end of the socket closes, then return None.

    A fork returns from this function with its arguments.
    """
    continue_without_parent()
    allow_open_files()
    woken, waker = socket.socketpair()
    waker.settimeout(0)
    signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    gc.collect()
    gc.freeze()  # a collection would copy the pages that forks share
    exits: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([control, woken], [], [])
        if woken in ready:
            woken.recv(_MOST_BYTES)
            _report_ended(exits)
        if control not in ready:
            continue
        message, given, _, _ = socket.recv_fds(control, _MOST_BYTES, _MOST_FILES)
        if not message:
            return None
        pid = _try_fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for own in (control, woken, waker):
                own.close()
            for number in (given.pop(0), *exits.values()):
                os.close(number)
            return _become(message, given)
        if pid > 0:
            exits[pid] = given.pop(0)
        for number in given:
            os.close(number)
        control.send(str(pid).encode())


def _try_fork() -> int:
    """Fork, and return the result of the fork; return -errno if it fails."""
    try:
        return os.fork()
    except OSError as error:
        return -(error.errno or 1)


def _become(message: bytes, files: list[int]) -> list[str]:
    """Set up this fork as the message requires; return the arguments of the fork."""
    wanted = json.loads(message)
    os.setsid()
    name_process(wanted["name"])
    for number, file in enumerate(files[:_STANDARD]):
        os.dup2(file, number)
        os.close(file)
    given = zip(wanted["options"], files[_STANDARD:], strict=True)
    return [*wanted["role"], *(f"{option}={file}" for option, file in given)]


def _report_ended(exits: MutableMapping[int, int]) -> None:
    """Write the exit codes of the forks that have ended; a code is negative after a signal."""
    while exits:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if not ended:
            return
        code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
        at_exit = exits.pop(ended.si_pid)
        with suppress(BrokenPipeError):
            os.write(at_exit, str(code).encode())
        os.close(at_exit)
        os.waitpid(ended.si_pid, 0)  # only now may another process get its id


MOST_COLLECTORS = 4
"""Maximum number of collectors of a run; a database that cannot be verified may kill each one."""


def supervise(serve: Callable[[BinaryIO], int]) -> int:
    """Call `serve` with a journal in a separate process; return the exit code of the process.

    If a signal other than SIGTERM kills the process, `serve` is called again in a new process.
    """
    with tempfile.TemporaryFile() as journal:
        for number in range(1, MOST_COLLECTORS + 1):
            status = _run_child(serve, journal)
            code = os.waitstatus_to_exitcode(status)
            if code >= 0 or -code == signal.SIGTERM:
                break
            goes_on = number < MOST_COLLECTORS
            text = f"the collector was killed by {signal.Signals(-code).name}"
            text += "; another one goes on" if goes_on else f", as {number - 1} before it"
            print(text, file=sys.stderr, flush=True)  # noqa: T201
    return code if code >= 0 else 128 - code


def _run_child(serve: Callable[[BinaryIO], int], journal: BinaryIO) -> int:
    """Call `serve` in a child process, and return its wait status.

    The child receives each SIGTERM that this process receives.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        end_with_parent(parent)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        os._exit(serve(journal))
    signal.signal(signal.SIGTERM, lambda number, _: os.kill(child, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    _, status = os.waitpid(child, 0)
    return status
