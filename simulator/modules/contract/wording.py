"""The errors of a database's driver in words."""

import re
from collections.abc import Mapping
from typing import ClassVar

from simulator.errors import SetupError, with_remedy
from simulator.modules.contract.acknowledged import RowCountMismatch

_FREE_SPACE = "free disk space"
_REFUSED_LOGIN = re.compile(r"; check [^;]*\b(credentials|password|token|api_key)\b")
EXISTS = "run with --clean, which replaces what this program made and names anything else"
"""The remedy if something exists that `create` would make."""
_REMEDIES = {"[Aa]lready *[Ee]xists": EXISTS}


class Wording:
    """A database with texts and remedies for its errors."""

    name: ClassVar[str]
    remedies: ClassVar[Mapping[str, str]] = {}
    """Pattern in the text of an error -> remedy; the first match counts."""
    own_errors: ClassVar[tuple[type[Exception], ...]] = ()
    """Errors of the module itself, which have complete texts."""
    mismatch: ClassVar[str] = "look at the server's log"
    """Remedy if the server acknowledges fewer rows than were sent."""

    def explain(self, error: Exception) -> str:
        """Return the text of a driver's error, with a remedy if one is known."""
        return with_remedy(self.words(error), {**self.remedies, **_REMEDIES}, self.remedy(error))

    def already_exists(self, what: str) -> SetupError:
        """Return the error of `create` for something that already exists (`what`: "table x")."""
        return SetupError(f"{self.name}: {what} already exists; {EXISTS}")

    def is_out_of_space(self, error: Exception) -> bool:
        """Return whether the server's disk is full, by the remedy for the error."""
        return _FREE_SPACE in self.explain(error)

    def is_refused_login(self, error: Exception) -> bool:
        """Return whether the server refuses the credentials, judged by the error's remedy."""
        return bool(_REFUSED_LOGIN.search(self.explain(error)))

    def remedy(self, error: Exception) -> str | None:
        """Return what to try if no pattern of `remedies` matches the text."""
        return self.mismatch if isinstance(error, RowCountMismatch) else None

    def words(self, error: Exception) -> str:
        """Return the text of a driver's error."""
        if isinstance(error, (RowCountMismatch, *self.own_errors)):
            return str(error)
        return f"{type(error).__name__}: {error}".strip()
