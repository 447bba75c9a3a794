"""The errors of this program, with the action that each requires.

BenchError                 exit code 1
├── ConfigError            2: fix the input; contains all problems, not only the first
├── SetupError             1: fix the database or the machine
│   └── InUseError         wait for the process that has the database open
├── RunError               1: look at the shown cause and log
│   └── UnstorableError    a value that the database cannot hold
├── MismatchError          3: do not publish; data or answers are wrong
├── UnverifiableError      4: verification was requested and is not possible
└── Interrupted            130: the user stopped it

A message states the expectation, the finding, its place and the remedy.
"""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence


class BenchError(Exception):
    """Base of all errors that the user sees without a traceback."""

    exit_code = 1


class ConfigError(BenchError):
    """The input is wrong; nothing was started."""

    exit_code = 2

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class SetupError(BenchError):
    """The database or the machine is not ready for a run."""


class InUseError(SetupError):
    """Another process has the database open, which only one process can open at a time."""

    def __init__(self, where: str, holder: str) -> None:
        super().__init__(f"{where}: {holder} has the database open; wait until it ends, or stop it")


class RunError(BenchError):
    """The run started and failed."""


class UnstorableError(RunError):
    """A row has a value that the database cannot store; the text names column, value and limit."""


class MismatchError(BenchError):
    """Stored data or answers differ from the truth."""

    exit_code = 3


class UnverifiableError(BenchError):
    """Verification was requested, but is not possible for this target."""

    exit_code = 4


class Interrupted(BenchError):
    """The user or a signal stopped the program."""

    exit_code = 130


_COMPARED = 100
"""Maximum number of characters of a word to compare; the time grows with its square."""
_SHORTEST = 3
"""Minimum number of characters of a word that is short for a longer one."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint with the known word nearest to `word`, or with all known words.

    A known word is near if its spelling is similar. If none is near, the only known word is taken
    that has `word` between its hyphens or underscores, or else the only one that is the beginning
    of `word` or begins with it.
    """
    choices = sorted(known)
    folded = {choice.casefold(): choice for choice in choices}
    typed = word[:_COMPARED].casefold()
    close = difflib.get_close_matches(typed, folded, n=1)
    close = close or [choice for choice in folded if typed in re.split("[_-]", choice)]
    close = close or [
        choice
        for choice in folded
        if min(len(choice), len(typed)) >= _SHORTEST
        and choice[: len(typed)] == typed[: len(choice)]
    ]
    if len(close) == 1:
        return f"did you mean {folded[close[0]]!r}?"
    return "known: " + (", ".join(choices) or "none")


_UNITS = ("B", "kB", "MB", "GB", "TB")


def format_size(size_bytes: int) -> str:
    """Return a size with three digits and a unit."""
    size = float(size_bytes)
    for unit in _UNITS[:-1]:
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} {_UNITS[-1]}"


def counted(number: int, noun: str) -> str:
    """Return a count with its noun: "1 row", "2 rows", "3 queries", "4 batches"."""
    if number == 1:
        return f"1 {noun}"
    ending = "es" if noun.endswith("ch") else "s"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else noun + ending
    return f"{number:,} {plural}"


def with_remedy(words: str, remedies: Mapping[str, str], otherwise: str | None = None) -> str:
    """Return the text of an error, with the remedy of the first pattern that matches the text."""
    found = (remedy for cause, remedy in remedies.items() if re.search(cause, words))
    remedy = next(found, otherwise)
    return f"{words}; {remedy}" if remedy else words
