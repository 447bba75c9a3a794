"""The description of a server, and counters of its background work."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from simulator.errors import SetupError
from simulator.modules.contract.products import KNOWN, expect_own
from simulator.modules.contract.records import Capabilities, ReadCounters, Server


class Describing(ABC):
    """A database with a server that reports its version and state."""

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]

    @abstractmethod
    def describe(self) -> Server:
        """Return version, nodes and effective durability, read from the server."""

    @contextmanager
    def background_work(self) -> Iterator[ReadCounters]:
        """Open what reads counters of the server's own work, such as {"checkpoints": 3}."""
        yield dict

    def identify(self) -> str:
        """Return the server's answer to what every product behind its protocol answers.

        The answer is for `recognize`; it is empty where no other product speaks the protocol.
        """
        return ""

    def inspect(self) -> Server:
        """Describe the server; ConfigError if another module is for it, SetupError if too old."""
        if self.name in KNOWN:
            expect_own(self.name, self.identify())
        server = self.describe()
        self.expect_recent(server.version)
        return server

    def expect_recent(self, version: str) -> None:
        """Raise SetupError if the version that `describe` returns is too old."""
        for product, oldest in self.capabilities.oldest.items():
            found = re.search(rf"\b{product} (\d+(?:\.\d+)*)", version)
            if found and tuple(map(int, found[1].split("."))) < oldest:
                needed = ".".join(map(str, oldest))
                why = f"the server is {found[0]}, which is too old; it must be {needed} or newer"
                raise SetupError(f"{self.name}: {why}")
