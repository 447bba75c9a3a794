"""The manifest of a file of generated rows: FILE.json, or where --manifest says."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cli.host.inputs import read_bytes
from simulator import __version__
from simulator.data.dataset import Dataset
from simulator.errors import ConfigError

_MAX_BYTES = 1 << 20


class FileManifest(BaseModel):
    """What a file holds: enough to draw its rows again, and to know that it is this file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format_version: Literal[1] = 1
    program_version: str = __version__
    format: str
    dataset: Dataset
    """Workload, its version and parameters, seed, and the ranges of rows in the file."""
    rows: int = Field(ge=0)
    size_bytes: int = Field(ge=0)
    sha256: str

    def text(self) -> str:
        """Return the manifest as the text of its file."""
        return self.model_dump_json(indent=1) + "\n"


def beside(file: Path) -> Path:
    """Return where the manifest of a file is, unless --manifest names another place."""
    return file.with_name(f"{file.name}.json")


def read(path: Path) -> FileManifest:
    """Read a manifest; ConfigError if it is none."""
    try:
        return FileManifest.model_validate_json(read_bytes(path, _MAX_BYTES))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the whole file"
        raise ConfigError(
            f"--manifest: {path}: is not a manifest of `generate`: {place}: {first['msg']}"
        ) from error
