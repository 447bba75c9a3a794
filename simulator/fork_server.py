"""Starts collectors and workers as forks of a process that has loaded their program once.

To load it takes each about half a second of CPU time, which is more than a short run, and minutes
for hundreds of workers. A fork takes some milliseconds. Each message on the socket asks for one:

    {"name": "worker-0", "role": ["worker", "--index=0"], "options": ["--fd", ...]}

with open files: where its exit code is to be written, its standard input, output and error, and one
for each option. The answer is its process id, or a negative error number.
"""

import gc
import json
import os
import select
import signal
import socket
from collections.abc import MutableMapping
from contextlib import suppress

from simulator.host import allow_many_files, continue_without_parent, name_process

_MOST_BYTES = 1 << 16
_MOST_FILES = 16
_STANDARD = 3


def fork(control: socket.socket) -> list[str] | None:
    """Serve until the socket's other end closes; return in each fork what its arguments are.

    None: it has closed.
    """
    continue_without_parent()
    allow_many_files()
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
        pid = _fork()
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


def _fork() -> int:
    """Fork; return -errno if that fails."""
    try:
        return os.fork()
    except OSError as error:
        return -(error.errno or 1)


def _become(message: bytes, files: list[int]) -> list[str]:
    """Make of this fork what was asked for; return its arguments."""
    wanted = json.loads(message)
    os.setsid()
    name_process(wanted["name"])
    for number, file in enumerate(files[:_STANDARD]):
        os.dup2(file, number)
        os.close(file)
    given = zip(wanted["options"], files[_STANDARD:], strict=True)
    return [*wanted["role"], *(f"{option}={file}" for option, file in given)]


def _report_ended(exits: MutableMapping[int, int]) -> None:
    """Write the exit codes of forks that have ended; a signal's is negative."""
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
