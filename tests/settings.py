"""Servers with one of the two sets of settings of dbinstall/settings.yaml."""

from collections.abc import Iterator
from typing import NamedTuple

from iotbench.config.targets.advice import SUFFIX, ServerSize, SettingsChoice, advice
from tests.servers import SERVERS
from tests.servers.base import Server


class Place(NamedTuple):
    """Where a target of config.yaml is measured."""

    server: str
    """Of tests.servers."""
    base: str
    """The target without the suffix of advised settings."""
    choice: SettingsChoice

    def started(self, size: ServerSize) -> Server:
        """Return the server with its settings, not yet entered.

        A target without settings of its own has those of the server's first one.
        """
        server, known = SERVERS[self.server], advice()
        own = known.get(self.base) or known[server.targets[0]]
        return server(**own.server_settings(self.choice, size))


def places(*left_out: str) -> Iterator[tuple[str, Place]]:
    """Yield the targets that the servers have, in both sets; without these servers."""
    for name, server in SERVERS.items():
        for target in server.targets if name not in left_out else ():
            yield target, Place(name, target, SettingsChoice.INSTALLED)
            if server.advised and target in advice() and advice()[target].differs:
                yield f"{target}{SUFFIX}", Place(name, target, SettingsChoice.ADVISED)
