"""The compression of a file, by its first bytes, and the manifest of a file of records."""

from pathlib import Path

from pydantic import ValidationError

from simulator.errors import ConfigError
from simulator.protocol.records import FileManifest

MOST_BYTES = 1 << 20


def parse(content: bytes, name: str) -> FileManifest:
    """Read a manifest; ConfigError if the file is none."""
    try:
        return FileManifest.model_validate_json(content)
    except ValidationError as error:
        raise ConfigError(
            f"--manifest: {name}: is not a manifest of `generate`: {first_problem(error)}"
        ) from error


def first_problem(error: ValidationError) -> str:
    """Return the place of the first wrong value in a file, and what is wrong with it."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "the whole file"
    return f"{place}: {first['msg']}"


_MAGIC = {
    b"\x1f\x8b": "gzip", b"(\xb5/\xfd": "zstd", b"BZh": "bz2", b"\xfd7zXZ\0": "xz",
    b'\x04"M\x18': "lz4", b"PK\x03\x04": "zip",
}  # fmt: skip
FIRST_BYTES = 6
"""The longest of them."""


def compression_of(first: bytes) -> str:
    """Return the compression of content that begins with these bytes; empty: there is none."""
    return next((name for magic, name in _MAGIC.items() if first.startswith(magic)), "")


def compression_in(path: Path) -> str:
    """Return the compression of a file; empty: there is none."""
    with path.open("rb") as file:
        return compression_of(file.read(FIRST_BYTES))
