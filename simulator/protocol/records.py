"""Files of records: their description, the task and the findings of a scan, the manifest."""

from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from simulator import __version__
from simulator.data.dataset import Dataset
from simulator.errors import ConfigError
from simulator.frozen import Frozen, first_problem


class RecordFormat(StrEnum):
    """Format of a file of records; a record is a row, which may consist of several points."""

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
"""Folder in which the chart mounts a file's volume claim in pods."""

Edge = tuple[int, ...]
"""Place between two records: the byte, and the number of earlier rows of each table in the file."""


class FileManifest(Frozen):
    """Contents of a file: enough to draw the file's rows again, and to identify the file."""

    format_version: Literal[1] = 1
    program_version: str = __version__
    format: str
    dataset: Dataset
    """Workload with version and parameters, seed, and the ranges of the rows in the file."""
    rows: int = Field(ge=0)
    size_bytes: int = Field(ge=0)
    sha256: str

    def text(self) -> str:
        """Return the manifest as the content of its file."""
        return self.model_dump_json(indent=1) + "\n"

    @classmethod
    def parse(cls, content: bytes, name: str) -> "FileManifest":
        """Return the manifest in a file's content; ConfigError if the content is not a manifest.

        `name`: name of the file, for messages.
        """
        try:
            return cls.model_validate_json(content)
        except ValidationError as error:
            raise ConfigError(
                f"--manifest: {name}: is not a manifest of `generate`: {first_problem(error)}"
            ) from error


class RecordsFile(Frozen):
    """A file of encoded rows, which workers send unchanged."""

    path: str
    format: RecordFormat
    volume_claim: str = ""
    """Volume claim that pods mount at VOLUME_FOLDER to read the file.

    Empty if the file is on this machine."""
    tables: tuple[int, ...] = ()
    """Places of the tables that have rows in the file; empty before the scan."""
    skip: bool = False
    """True if damaged records are left out."""

    @property
    def name(self) -> str:
        """Name of the file in messages."""
        return shown_path(self.path, self.volume_claim)


class ScanTask(Frozen):
    """The task of scanning a file."""

    workers: tuple[int, ...] = ()
    """Numbers of workers among which the file is to be divided."""
    batch_rows: int = Field(1, ge=1)
    prepared: str = ""
    """Folder of a prepared file, which is read instead of a file of records."""
    volume_claim: str = ""
    """Volume claim that contains the folder of the prepared file."""
    limit: int | None = None
    """Maximum number of records that all workers send together."""
    manifest: FileManifest | None = None
    manifest_path: str = ""
    """Alternative path of the manifest; empty if there is none."""
    needs_manifest: bool = False
    """True if only a manifest can name the tables of the rows."""


class Scanned(Frozen):
    """Findings of a scan."""

    size_bytes: int
    sha256: str
    rows: Edge
    """Number of rows of each table in the batches."""
    edges: dict[int, tuple[Edge, ...]]
    """Number of workers -> start of each worker's part, and end of the last part."""
    skipped: tuple[str, ...] = ()
    """The first records that were left out."""
    skipped_rows: int = 0
    tables: tuple[int, ...] = ()
    """Places of the tables that have rows in the file."""
    manifest: FileManifest | None = None
    params: dict[str, Any] = Field(default_factory=dict)
    """Parameters of a prepared file."""


def shown_path(path: str, volume_claim: str) -> str:
    """Return a path as the user wrote it."""
    if not volume_claim:
        return path
    return f"claim:{volume_claim}/{Path(path).relative_to(VOLUME_FOLDER)}"
