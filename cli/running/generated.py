"""A file of `generate` as the rows of an insert: its manifest says how it is read."""

from typing import Any

from cli.files.request import FileRows
from cli.records.manifest import beside, read
from cli.records.volume import in_volume
from simulator.data.dataset import DatasetReader
from simulator.data.records import RecordFormat
from simulator.data.schema import Table
from simulator.errors import ConfigError
from simulator.protocol.records import FileManifest

_READ = frozenset({"csv", "tsv", "parquet", "influx"})
"""Formats that are read into columns, for any target; others are sent as they are."""


def as_generated(file: FileRows) -> FileRows:
    """Return the options with what the manifest beside the file says, as far as none is given."""
    manifest = _manifest_of(file)
    if manifest is None:
        return file
    reader = DatasetReader(manifest.dataset)
    tables = [reader.tables[place] for place in sorted({r.table for r in manifest.dataset.ranges})]
    named = [table for table in tables if table.name == file.measurement]
    if manifest.format not in _READ or (len(tables) > 1 and not file.measurement):
        return file.model_copy(update={"data_format": RecordFormat(manifest.format)})
    said = _said(named[0] if named else tables[0], manifest.format)
    given = file.model_fields_set
    return file.model_copy(update={name: said[name] for name in said if name not in given})


def _manifest_of(file: FileRows) -> FileManifest | None:
    """Return the manifest beside the one file; None if there is none of `generate`."""
    place = file.place
    if place is None or file.data_format or in_volume(place) or not place.is_file():
        return None
    try:
        return read(beside(place)) if beside(place).is_file() else None
    except ConfigError:  # a file of that name that is the user's own
        return None


def _said(table: Table, form: str) -> dict[str, Any]:
    said: dict[str, Any] = {"tags": tuple(tag.name for tag in table.tags)}
    if form == "influx":
        return {**said, "time_format": str(table.time_unit)}
    time = {} if form == "parquet" else {"time_format": str(table.time_unit)}
    return {**said, **time, "time_column": table.time.name}
