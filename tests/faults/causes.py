"""Which causes are true for a fault: what a message must say, and what it must not."""

import re
from dataclasses import dataclass

from tests.faults.cells import SHORT_S, Cell

_LOST = (
    r"closed the connection|connection (was |has been )?(lost|closed|refused|reset|aborted)"
    r"|could not connect|not reached|cannot be reached|refused|reset by peer"
    r"|no (complete )?answer|connection to server .* failed"
    r"|broken pipe|remote end closed|terminat|SSL SYSCALL|shutting down|starting up"
)
_SLOW = r"--timeout: .* in phase \w+|timed? ?out|no answer|did not answer"
_CONNECT_S = 10.0
"""For how long modules wait for a new connection."""
_SILENT = r"silent|silence|no sign of life|stopped|did not register|did not start|does not answer"


@dataclass(frozen=True)
class Causes:
    """What may be named as the cause of a failure."""

    named: str
    """A pattern that the message must contain."""
    not_named: str = ""
    """A pattern that would accuse somebody else."""

    def problem(self, message: str) -> str:
        """Return what is wrong with a message, or nothing."""
        if not re.search(self.named, message, re.IGNORECASE):
            return f"the cause is not named (expected {self.named!r}): {message!r}"
        if self.not_named and re.search(self.not_named, message, re.IGNORECASE):
            return f"somebody else is accused: {message!r}"
        return ""


_WORKERS = r"worker \d+ (was killed|has been silent|did not register)"
_OTHERS = rf"{_WORKERS}|collector (was killed|has been silent)"


def causes(cell: Cell, victim: str) -> Causes:
    """Return the true causes of a cell in which the command fails."""
    place, name = cell.place, victim.replace("-", " ")
    match place.victim, place.fault:
        case "worker", "kill":
            return Causes(rf"{name} was killed by SIGKILL")
        case "collector", "stop" | "pause":
            return Causes(rf"collector.*({_SILENT}|cannot be reached)", _WORKERS)
        case "worker", "stop" | "pause":
            other = rf"worker (?!{cell.index}\b)\d+ (was killed|has been silent|did not register)"
            return Causes(rf"{name}\b.*({_SILENT})", other)
        case "collector", "cut" | "blink":
            return Causes(rf"(worker \d+|collector).*({_SILENT}|cannot be reached)")
        case "worker", "cut":
            return Causes(rf"{_SLOW}|{_LOST}", _OTHERS)
        case "server", "kill" | "reset":
            return Causes(_LOST, _OTHERS)
        case "server", "stop" | "pause" | "cut":
            return Causes(rf"{_SLOW}|{_LOST}", _OTHERS)
    raise AssertionError(f"{place}: the command line is not asked for a cause")


def must_survive(cell: Cell) -> bool:
    """Return whether the fault must do no harm at all."""
    place = cell.place
    if (place.victim, place.fault) == ("collector", "kill"):
        return True  # another one takes its place
    if place.fault not in ("pause", "blink"):
        return False
    if place.victim == "server":
        return cell.pause_s < _CONNECT_S
    return place.victim == "command" or cell.pause_s < SHORT_S


def may_survive(cell: Cell) -> bool:
    """Return whether a whole and verified result may be true after the fault."""
    place = cell.place
    if place.fault in ("pause", "blink", "reset") or must_survive(cell):
        return True
    if place.victim == "worker":
        return place.phase in ("insert", "query")  # it may have reported its last row just before
    # The last answer may have come just before: SQLite compacts few rows in milliseconds.
    return place.phase == "verify" or (place.phase, place.target) == ("compact", "sqlite")
