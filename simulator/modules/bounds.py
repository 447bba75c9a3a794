"""Bounds of the values of options, whichever module they belong to."""

from typing import Any

from pydantic import ValidationInfo

_LARGEST = 2**63 - 1
_LONGEST_S = 366 * 86_400
_ADDRESSES = ("host", "hosts", "uri", "url")
"""Last words of the names of options that are addresses, but are not credentials."""


def bounded(value: Any, info: ValidationInfo) -> Any:
    """Refuse numbers that drivers and operating systems cannot hold."""
    name = info.field_name or ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        least, most = -_LARGEST, _LARGEST
        if name == "port" or name.endswith("_port"):
            least, most = 1, 65535
        if name.endswith("_s"):
            least, most = 0, _LONGEST_S
        if not least <= value <= most:
            raise ValueError(f"expected {least:,} to {most:,}, got {value:,}")
    return value


def without_login(value: Any, info: ValidationInfo) -> Any:
    """Refuse `user:password@` in an address, which is printed and stored."""
    kind = (info.field_name or "").rpartition("_")[2]
    if kind in _ADDRESSES and isinstance(value, str) and "@" in value:
        raise ValueError("expected an address without '@'; credentials are options of their own")
    return value
