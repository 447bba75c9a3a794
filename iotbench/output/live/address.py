"""Parses the address of the live page: `[HOST]:PORT`."""

import os
import re
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from simulator.errors import ConfigError

_WRITTEN = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[^:\[\]/@\s]*)):(?P<port>\d{1,5})")
_HERE = "127.0.0.1"
_EXPECTED = "expected [HOST]:PORT, such as :8089"


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port to listen on; port 0 means any free port."""

    host: str
    port: int

    @property
    def is_local(self) -> bool:
        """True if only this machine can connect to the address."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def listener(self) -> socket.socket:
        """Return a listening socket; ConfigError if the address cannot be used."""
        try:
            found: list[Any] = socket.getaddrinfo(
                self.host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )
            family, _, _, _, place = found[0]
            return socket.create_server(place[:2], family=family)
        except OSError as error:
            cause = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
            raise ConfigError(
                f"--ui: cannot listen on {self}: {cause}; choose another port, or :0 for a free one"
            ) from error

    def url(self, port: int) -> str:
        """Return the URL of the page on a port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{port}/"

    def __str__(self) -> str:
        return self.url(self.port).removeprefix("http://").rstrip("/")


def parse_address(text: str) -> Address:
    """Return an address; ValueError names the expected form."""
    found = _WRITTEN.fullmatch(text)
    if not found:
        raise ValueError(f"{_EXPECTED}, got {text!r}")
    port = int(found["port"])
    if port > 65_535:
        raise ValueError(f"{_EXPECTED}, with a port up to 65535, got {text!r}")
    return Address(found["six"] or found["host"] or _HERE, port)
