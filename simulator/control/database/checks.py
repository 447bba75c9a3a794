"""Runs without workers: checks a target, or scans a file that only a pod can read."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from simulator.data.block import Block, Values
from simulator.data.query import count_rows
from simulator.data.reader import DatasetReader
from simulator.data.schema import Column, Role, Table, Type
from simulator.errors import BenchError, ConfigError, SetupError, counted
from simulator.modules import MODULES
from simulator.modules.contract import BATCH, OWN, Database
from simulator.modules.evidence import evidence
from simulator.protocol.events import CheckEvent
from simulator.protocol.records import (
    MOST_MANIFEST_BYTES,
    FileManifest,
    RecordsFile,
    Scanned,
    ScanTask,
    shown_path,
)
from simulator.protocol.spec import RunSpec
from simulator.records.compression import compression_in
from simulator.records.cutting import layout_of, tables_in
from simulator.records.prepared import read_prepared_file
from simulator.records.scan import scan


def probe(database: Database, module: str) -> Iterator[CheckEvent]:
    """Yield the steps of a check; SetupError with the name of a step that fails."""
    scratch = Table(
        f"{OWN}check_{os.urandom(4).hex()}",
        (Column("time", Type.INT64, Role.TIME), Column("value", Type.FLOAT64, Role.FIELD)),
        key=("time",),
    )
    name, database = "not reached", database.for_own_tables()
    try:
        facts = database.inspect()
        nodes = counted(facts.nodes, "node")
        yield CheckEvent(name="reached", detail=f"{facts.version}, {nodes}")
        if module in MODULES and database.capabilities.stores:
            yield CheckEvent(name="evidence", detail=evidence(module).compare(facts.version))
        yield CheckEvent(name="durability", detail=facts.durability)
        name = "permissions"
        database.create([scratch], 1)
        try:
            _write_and_read(database, scratch)
        finally:
            database.drop(database.objects(scratch))
        yield CheckEvent(name=name, detail="create, insert, read and drop work")
    except BenchError as error:
        # The target's name precedes the message; the module's name would repeat it.
        raise SetupError(f"{name}: {str(error).removeprefix(f'{database.name}: ')}") from error
    except Exception as error:  # of any driver
        raise SetupError(f"{name}: {database.explain(error)}") from error


def _write_and_read(database: Database, scratch: Table) -> None:
    # Every database can store the present second, and no retention policy drops its row.
    now_ms = int(time.time()) * 1000  # noqa: TID251
    data = {"time": Values(np.array([now_ms])), "value": Values(np.array([0.5]))}
    row = Block(scratch, 0, np.array([0]), data)
    with database.connect() as session:
        for payload in session.encode(row, BATCH, 1):
            session.send(payload)
        if not database.capabilities.stores:
            return
        database.visible([scratch])
        database.compact([scratch])
        ((rows,),) = session.run(database.render(count_rows(scratch)))
        if rows != 1:
            raise BenchError(f"one row was written and {rows} were read")


_LISTED = 5
"""Maximum number of a folder's names in a message."""


def scan_file(spec: RunSpec) -> Scanned:
    """Return the findings of a scan; ConfigError if the file cannot be inserted."""
    file, task = spec.records, spec.scan
    assert task
    if task.prepared:
        return _read_prepared(task)
    assert file
    _expect_file(file.path, file, "--data")
    _expect_plain(file)
    manifest = task.manifest or _read_manifest(file, task)
    reader = DatasetReader(manifest.dataset if manifest else spec.dataset)
    tables = tables_in(reader, file.format, file.name, manifest)
    found = scan(
        file.path,
        file.name,
        layout_of(file.format, [reader.tables[place] for place in tables]),
        batch_rows=task.batch_rows,
        limit=task.limit,
        skip=file.skip,
    )
    result = found.summarize(task.workers, tables)
    return result if task.manifest else result.model_copy(update={"manifest": manifest})


def _expect_plain(file: RecordsFile) -> None:
    """Raise ConfigError for a compressed file, because workers start to read in its middle."""
    try:
        compression = compression_in(Path(file.path))
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"--data: {file.name}: cannot be read: {reason}") from error
    if compression:
        raise ConfigError(
            f"--data: {file.name}: is compressed ({compression}), and each pod reads a part of it;"
            " unpack it in the volume claim"
        )


def _read_prepared(task: ScanTask) -> Scanned:
    name = shown_path(task.prepared, task.volume_claim)
    found = read_prepared_file(Path(task.prepared), name)
    where = {"source": name, "claim": task.volume_claim}
    params = found.params.model_copy(update=where)
    return Scanned(
        size_bytes=found.size_bytes,
        sha256=found.sha256,
        rows=(params.rows,),
        edges={},
        params=params.model_dump(mode="json"),
    )


def _read_manifest(file: RecordsFile, task: ScanTask) -> FileManifest | None:
    """Return the manifest in the volume claim; None if it is missing and not needed."""
    if not task.manifest_path:
        return None
    if not task.needs_manifest and not _exists(Path(task.manifest_path)):
        return None
    name = shown_path(task.manifest_path, file.volume_claim)
    _expect_file(task.manifest_path, file, "--manifest")
    try:
        with Path(task.manifest_path).open("rb") as source:
            content = source.read(MOST_MANIFEST_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"--manifest: {name}: cannot be read: {reason}") from error
    if len(content) > MOST_MANIFEST_BYTES:
        raise ConfigError(f"--manifest: {name}: is larger than {MOST_MANIFEST_BYTES >> 20} MiB")
    return FileManifest.parse(content, name)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return True  # the attempt to read it shows the cause


def _expect_file(path: str, file: RecordsFile, option: str) -> None:
    """Raise ConfigError, with the names in the folder, unless the path is a regular file."""
    place = Path(path)
    try:
        if place.is_file():
            return
        problem = "is not a regular file" if place.exists() else "no such file"
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
    beside: list[str] = []
    with suppress(OSError):
        beside = sorted(each.name for each in place.parent.iterdir())
    listed = ", ".join(beside[:_LISTED]) + (", ..." if len(beside) > _LISTED else "")
    there = f"; its folder has: {listed}" if listed else ""
    raise ConfigError(f"{option}: {shown_path(path, file.volume_claim)}: {problem}{there}")
