"""The manifest of a file of generated rows: FILE.json, or the file of --manifest."""

from pathlib import Path

from iotbench.machine.inputs import read_bytes
from simulator.protocol.records import FileManifest
from simulator.records.manifest import MOST_BYTES, parse


def beside(file: Path) -> Path:
    """Return where the manifest of a file is, unless --manifest names another place."""
    return file.with_name(f"{file.name}.json")


def read(path: Path) -> FileManifest:
    """Read a manifest; ConfigError if it is none."""
    return parse(read_bytes(path, MOST_BYTES), str(path))
