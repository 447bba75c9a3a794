"""The address of a target's database: what two targets share if they write to the same tables."""

import hashlib
import os
import re
from typing import Any

from pydantic import SecretStr

from simulator.modules.contract import Options

_PARTS = (
    "connection_string", "database", "host", "hosts", "keyspace", "org", "path", "port", "prefix",
    "uri", "url",
)  # fmt: skip
_CREDENTIALS = re.compile(r"(?<=://)[^/@]*@|\b(?:user|password|passwd)\s*=\s*(?:'[^']*'|\S+)")


def address_key(options: Options) -> str:
    """Return a short digest of the address, the same for all users; empty if there is none."""
    values = {name: _text(name, getattr(options, name, None)) for name in _PARTS}
    given = [f"{name}={value}" for name, value in values.items() if value]
    return hashlib.sha256("\n".join(given).encode()).hexdigest()[:16] if given else ""


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
    if name == "path":
        return os.path.realpath(text)
    return " ".join(_CREDENTIALS.sub("", text).rstrip("/").split())
