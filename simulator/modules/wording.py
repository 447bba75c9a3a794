"""The errors of a database's driver in words."""

import re
from collections.abc import Mapping
from typing import ClassVar

from simulator.errors import with_remedy

_FREE_SPACE = "free disk space"
_REFUSED_LOGIN = re.compile(r"; check [^;]*\b(credentials|password|token|api_key)\b")
_REMEDIES = {"[Aa]lready *[Ee]xists": "drop it, or run with --clean"}


class Wording:
    """A database whose errors have texts and remedies."""

    remedies: ClassVar[Mapping[str, str]] = {}
    """Pattern in the text of an error -> remedy; the first match counts."""

    def explain(self, error: Exception) -> str:
        """Return the text of a driver's error, with a remedy if one is known."""
        return with_remedy(self.words(error), {**self.remedies, **_REMEDIES}, self.remedy(error))

    def is_out_of_space(self, error: Exception) -> bool:
        """Whether the server's disk is full, by the remedy for the error."""
        return _FREE_SPACE in self.explain(error)

    def is_refused_login(self, error: Exception) -> bool:
        """Whether the server does not accept the credentials, by the remedy for the error."""
        return bool(_REFUSED_LOGIN.search(self.explain(error)))

    def remedy(self, error: Exception) -> str | None:
        """Return what to try if no pattern of `remedies` matches the text."""
        return None

    def words(self, error: Exception) -> str:
        """Return the text of a driver's error."""
        return f"{type(error).__name__}: {error}".strip()
