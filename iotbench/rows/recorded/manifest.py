"""The manifest of a file of generated rows: FILE.json, or the file of --manifest."""

from contextlib import suppress
from pathlib import Path

from iotbench.machine.inputs import read_bytes
from simulator.errors import ConfigError
from simulator.protocol.records import FileManifest
from simulator.records.manifest import MOST_BYTES, parse


def beside(file: Path) -> Path:
    """Return where the manifest of a file is, unless --manifest names another place."""
    return file.with_name(f"{file.name}.json")


def read(path: Path) -> FileManifest:
    """Read a manifest; ConfigError if it is none."""
    return parse(read_bytes(path, MOST_BYTES), str(path))


def describes(manifest: FileManifest, file: Path) -> bool:
    """Return whether a file has the content of a manifest."""
    from iotbench.rows.files.source import digest_of  # noqa: PLC0415 - loads pyarrow

    with suppress(ConfigError):  # damaged, so it is another file
        return digest_of(file, file.name) == manifest.sha256
    return False
