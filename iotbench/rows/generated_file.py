"""Rows from a file of `generate`: its manifest determines how the file is read."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from iotbench.machine.inputs import problem_of
from iotbench.rows.files.request import FileRows, FilesRequest, ReadingOptions
from iotbench.rows.recorded.request import beside, in_volume, read
from simulator.data.reader import DatasetReader
from simulator.data.schema import Table
from simulator.errors import ConfigError
from simulator.protocol.records import FileManifest, RecordFormat

Reading = TypeVar("Reading", bound=ReadingOptions)
_READ = frozenset({"csv", "tsv", "parquet", "influx"})
"""Formats that are read into columns, for any target; files in other formats are sent unchanged."""


def as_generated(file: FileRows) -> FileRows:
    """Return the options, completed from the manifest next to the file."""
    manifest = None if file.data_format else _read_manifest(file.data)
    if manifest is None:
        return file
    if table := _find_table(manifest, file.measurement):
        return _describe(file, table, manifest.format)
    return file.model_copy(update={"data_format": RecordFormat(manifest.format)})


def as_prepared(reading: Reading, files: Sequence[Path]) -> Reading:
    """Return the options of `prepare`, completed from the manifest next to a single file.

    ConfigError if the file has no columns.
    """
    manifest = _read_manifest(files)
    if manifest is None:
        return reading
    if table := _find_table(manifest, reading.measurement):
        return _describe(reading, table, manifest.format)
    raise ConfigError(
        f"--data: {files[0]}: is a file of format {manifest.format}, whose records are sent as they"
        " are; name it in `insert --data`"
    )


def as_promised(request: FilesRequest) -> FilesRequest:
    """Return the request with the digest from the manifest next to a single file."""
    manifest = _read_manifest(request.named)
    return replace(request, content_sha256=manifest.sha256) if manifest else request


def _read_manifest(files: Sequence[Path]) -> FileManifest | None:
    """Return the manifest next to a single file; None if `generate` wrote no manifest."""
    if len(files) != 1 or in_volume(files[0]) or problem_of(files[0]):
        return None
    try:
        return read(beside(files[0])) if beside(files[0]).is_file() else None
    except ConfigError:  # the user's own file, not a manifest
        return None


def _find_table(manifest: FileManifest, measurement: str) -> Table | None:
    """Return the table to read into columns; None if records are sent unchanged."""
    reader = DatasetReader(manifest.dataset)
    tables = [reader.tables[place] for place in sorted({r.table for r in manifest.dataset.ranges})]
    if manifest.format not in _READ or (len(tables) > 1 and not measurement):
        return None
    return next((table for table in tables if table.name == measurement), tables[0])


def _describe(reading: Reading, table: Table, form: str) -> Reading:
    """Return the options, with the columns and times of the table unless the user gave them."""
    known: dict[str, Any] = {"tags": tuple(tag.name for tag in table.tags)}
    if form != "influx":
        known["time_column"] = table.time.name
    if form != "parquet":
        known["time_format"] = str(table.time_unit)
    given = reading.model_fields_set
    return reading.model_copy(update={name: known[name] for name in known.keys() - given})
