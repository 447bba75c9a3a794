"""A file of the user's own statements, for the tables of an insert."""

import hashlib
import re
from pathlib import Path
from typing import Annotated

from iotbench.config.input.records import Record, RelativeFile
from iotbench.machine.inputs import read_text
from simulator.errors import ConfigError

_END = re.compile(r";[ \t]*(?:--[^\n]*)?$", re.MULTILINE)
_QUOTE = "$$"
_COMMENTS = re.compile(r"^\s*--[^\n]*$", re.MULTILINE)
_MOST_CHARACTERS = 200_000
_MOST_BYTES = 1 << 20


class ReadStatements(Record):
    """A file of statements, with its content."""

    path: str
    """Path as given on the command line."""
    statements: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Digest that distinguishes files with the same name in results."""
        return hashlib.sha256("\n".join(self.statements).encode()).hexdigest()[:12]


def read_statements(path: str) -> ReadStatements:
    """Return the statements in a file; ConfigError if the file has none or cannot be read.

    A statement ends with a semicolon at the end of a line, except within $$.
    """
    text = read_text(Path(path), _MOST_BYTES)
    if len(text) > _MOST_CHARACTERS:
        raise ConfigError(f"{path}: expected {_MOST_CHARACTERS:,} characters at most")
    found, waiting = [], ""
    for part in _END.split(text):
        waiting = f"{waiting};{part}" if waiting else part
        if waiting.count(_QUOTE) % 2 == 0:
            found.append(_COMMENTS.sub("", waiting).strip())
            waiting = ""
    if waiting:
        raise ConfigError(f"{path}: {_QUOTE} is opened and not closed")
    if not any(found):
        raise ConfigError(f"{path}: expected at least one statement, got none")
    return ReadStatements(path=path, statements=tuple(filter(None, found)))


StatementsFile = Annotated[
    ReadStatements, RelativeFile("FILE", read_statements, lambda read: read.path)
]
