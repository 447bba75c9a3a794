"""Detection of a file's compression by its first bytes."""

from pathlib import Path

_MAGIC = {
    b"\x1f\x8b": "gzip", b"(\xb5/\xfd": "zstd", b"BZh": "bz2", b"\xfd7zXZ\0": "xz",
    b'\x04"M\x18': "lz4", b"PK\x03\x04": "zip",
}  # fmt: skip
FIRST_BYTES = 6
"""Maximum length of the first bytes that identify a compression."""


def compression_of(first: bytes) -> str:
    """Return the compression of content with these first bytes; empty if it is not compressed."""
    return next((name for magic, name in _MAGIC.items() if first.startswith(magic)), "")


def compression_in(path: Path) -> str:
    """Return the compression of a file; empty if it is not compressed."""
    with path.open("rb") as file:
        return compression_of(file.read(FIRST_BYTES))
