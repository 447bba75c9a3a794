"""The login of a connection: what it was opened with may be rotated while it is used."""

from abc import ABC, abstractmethod
from collections.abc import Callable


class Login(ABC):
    """A session that was opened with credentials."""

    is_outdated: Callable[[], bool] = staticmethod(lambda: False)
    """Returns whether the credentials were rotated since; the opener of the session sets it."""

    @property
    @abstractmethod
    def alive(self) -> bool:
        """True if the connection works; if not, the worker opens a new one."""

    @property
    def is_usable(self) -> bool:
        """True if the connection works, and was not opened with old credentials."""
        return self.alive and not self.is_outdated()
