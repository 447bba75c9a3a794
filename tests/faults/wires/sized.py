"""Rows whose fields follow their sizes, of four bytes each; the last field is a float."""

import struct


def _last_bytes(row: bytes) -> int:
    return next(size for size in (4, 8) if row[-size - 4 : -size] == struct.pack(">i", size))


def alter_last(row: bytes) -> bytes:
    """Alter the last field."""
    at = len(row) - _last_bytes(row) + 1
    return row[:at] + bytes([row[at] ^ 0x10]) + row[at + 1 :]


def swap_last(one: bytes, other: bytes) -> tuple[bytes, bytes]:
    """Exchange the last fields of two rows."""
    size = _last_bytes(one)
    return one[:-size] + other[-size:], other[:-size] + one[-size:]
