"""The login of a connection: what it was opened with may be rotated while it is used."""

from abc import ABC, abstractmethod
from collections.abc import Callable


class Login(ABC):
    """A session that was opened with credentials."""

    is_outdated: Callable[[], bool] = staticmethod(lambda: False)
    """Whether they were rotated since; what opens the session sets how that is known."""

    @property
    @abstractmethod
    def alive(self) -> bool:
        """Whether the connection works; if not, the worker opens a new one."""

    @property
    def is_usable(self) -> bool:
        """Whether the connection works, and was not opened with old credentials."""
        return self.alive and not self.is_outdated()
