"""Files of records: description, task and findings of a scan, manifest."""

from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from simulator import __version__
from simulator.data.dataset import Dataset
from simulator.errors import ConfigError
from simulator.frozen import Frozen, first_problem


class RecordFormat(StrEnum):
    """A format of files of records; a record is a row, which may be several points."""

    INFLUX = "influx"
    ES_BULK = "es-bulk"
    CSV = "csv"
    TSV = "tsv"
    PGCOPY = "pgcopy"
    PGCOPY_BINARY = "pgcopy-binary"
    SPLUNK = "splunk"
    BSON = "bson"
    OPENTSDB = "opentsdb"
    GRAPHITE = "graphite"


MOST_MANIFEST_BYTES = 1 << 20
VOLUME_FOLDER = "/records"
"""Mount point of a file's volume claim in pods; the chart mounts it there."""

Edge = tuple[int, ...]
"""A place between two records: the byte, and the rows of each table of the file before it."""


class FileManifest(Frozen):
    """Contents of a file: enough to draw its rows again, and to identify the file."""

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

    @classmethod
    def parse(cls, content: bytes, name: str) -> "FileManifest":
        """Return the manifest in the content of a file of this name; ConfigError if it is none."""
        try:
            return cls.model_validate_json(content)
        except ValidationError as error:
            raise ConfigError(
                f"--manifest: {name}: is not a manifest of `generate`: {first_problem(error)}"
            ) from error


class RecordsFile(Frozen):
    """A file of encoded rows, which workers send as they are."""

    path: str
    format: RecordFormat
    volume_claim: str = ""
    """Claim that pods mount at VOLUME_FOLDER to read the file; empty: it is on this machine."""
    tables: tuple[int, ...] = ()
    """Places of the tables with rows in the file; unknown before the scan."""
    skip: bool = False
    """True if damaged records are left out."""

    @property
    def name(self) -> str:
        """Name of the file in messages."""
        return shown_path(self.path, self.volume_claim)


class ScanTask(Frozen):
    """The purpose of a file's scan."""

    workers: tuple[int, ...] = ()
    """Numbers of workers that are to share the file."""
    batch_rows: int = Field(1, ge=1)
    prepared: str = ""
    """The folder of a prepared file, which is read in place of a file of records."""
    volume_claim: str = ""
    """The volume claim that it is in."""
    limit: int | None = None
    """Records that all workers send together, at most."""
    manifest: FileManifest | None = None
    manifest_path: str = ""
    """Alternative place of the manifest; empty: none."""
    needs_manifest: bool = False
    """True if only a manifest can name the tables of the rows."""


class Scanned(Frozen):
    """Findings of a scan."""

    size_bytes: int
    sha256: str
    rows: Edge
    """The rows of each table in the batches."""
    edges: dict[int, tuple[Edge, ...]]
    """Number of workers -> where the part of each one begins, and where the last one ends."""
    skipped: tuple[str, ...] = ()
    """The first records that were left out."""
    skipped_rows: int = 0
    tables: tuple[int, ...] = ()
    """Places of the tables with rows in the file."""
    manifest: FileManifest | None = None
    params: dict[str, Any] = Field(default_factory=dict)
    """Parameters of a prepared file."""


def shown_path(path: str, volume_claim: str) -> str:
    """Return a path as the user wrote it."""
    if not volume_claim:
        return path
    return f"claim:{volume_claim}/{Path(path).relative_to(VOLUME_FOLDER)}"
