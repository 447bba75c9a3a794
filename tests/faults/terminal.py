"""A terminal for the command line's progress: what it shows, and which phase that is."""

import fcntl
import os
import pty
import re
import struct
import termios
import threading
import time
from dataclasses import dataclass

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_SHOWN = re.compile(r"(?:\[(\d+)/\d+\] \d+ workers?|query|verify|insert) ([a-z]+)\b(?!:)")
_ROWS = re.compile(r"([\d,]+) of [\d,]+ rows?,")
_PHASES = {
    *("init", "index", "prefill", "barrier", "insert", "query", "visible", "compact", "verify")
}


@dataclass(frozen=True)
class Shown:
    """The progress at one moment."""

    run: int
    phase: str
    rows: int
    """Acknowledged in this phase."""
    detail: str = ""


START = Shown(1, "start", 0)


class Terminal:
    """A pseudo-terminal whose other end is the standard error of a command."""

    def __init__(self) -> None:
        self._master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 300, 0, 0))
        self._pieces: list[str] = []
        self._changed = threading.Condition()
        self._ended = False
        self.shown = START
        self.began: dict[int, float] = {}
        """When the first phase of each run was shown."""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def hand_over(self) -> None:
        """Close this end's copy of what the command has now."""
        os.close(self.slave)

    def close(self) -> None:
        """Wait until the last process that could write has ended, and close."""
        self._thread.join(1)
        os.close(self._master)

    def wait_for(self, run: int, phase: str, within_s: float) -> bool:
        """Wait for a phase of a run, or until the command has ended; return whether it came."""
        deadline = time.monotonic() + within_s
        with self._changed:
            while True:
                if phase == "start" or (self.shown.run, self.shown.phase) == (run, phase):
                    return True
                left_s = deadline - time.monotonic()
                if self._ended or left_s < 0 or self.shown.run > run:
                    return False
                self._changed.wait(left_s)

    def wait_for_run(self, run: int, within_s: float) -> bool:
        """Wait for the first sign of a run; return whether it came. The first run needs none."""
        deadline = time.monotonic() + within_s
        with self._changed:
            while self.shown.run < run and not self._ended and time.monotonic() < deadline:
                self._changed.wait(0.1)
            return self.shown.run == run

    @property
    def text(self) -> str:
        """Everything that was printed, without the lines of the progress bar."""
        plain = _ESCAPES.sub("", "".join(self._pieces)).replace("\r", "\n")
        lines = dict.fromkeys(line.rstrip() for line in plain.split("\n"))
        return "\n".join(line for line in lines if line.strip(" ━╸╺") and not _SHOWN.match(line))

    def _read(self) -> None:
        rest = ""
        while True:
            try:
                piece = os.read(self._master, 65536).decode(errors="replace")
            except OSError:  # the last writer has closed it
                piece = ""
            with self._changed:
                if not piece:
                    self._ended = True
                    self._changed.notify_all()
                    return
                self._pieces.append(piece)
                rest = (rest + piece)[-2000:]
                self._note(rest)

    def _note(self, text: str) -> None:
        for line in re.split(r"[\r\n]", _ESCAPES.sub("", text)):
            found = _SHOWN.match(line)
            if not found or found[2] not in _PHASES:
                continue
            rows = _ROWS.search(line)
            run, count = int(found[1] or 1), int(rows[1].replace(",", "")) if rows else 0
            new = Shown(run, found[2], count, line[found.end() :].strip(" ━╸╺"))
            self.began.setdefault(run, time.monotonic())
            if new != self.shown:
                self.shown = new
                self._changed.notify_all()
