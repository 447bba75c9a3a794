"""The structure of a file of records, from its format and the tables with rows in it."""

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.data.dataset import DatasetReader
from simulator.data.schema import Table
from simulator.errors import ConfigError
from simulator.modules.splunk.wire import index
from simulator.protocol.records import FileManifest, RecordFormat
from simulator.records.cutting import BsonDocuments, Cells, Cutter, NamedLines, Tuples, point_lines
from simulator.records.formats import FORMATS


@dataclass(frozen=True, slots=True)
class Layout:
    """The structure of a file of records."""

    cutter: Cutter
    tables: int
    header: bytes
    trailer: bytes


def layout_of(form: RecordFormat, tables: Sequence[Table]) -> Layout:
    """Return what a file of this format has for rows of these tables."""
    known = FORMATS[form]
    return Layout(_cutter(form, tables), len(tables), known.header(tables[0]), known.trailer)


def tables_in(
    reader: DatasetReader, form: RecordFormat, name: str, manifest: FileManifest | None
) -> tuple[int, ...]:
    """Return the places of the tables with rows in a file.

    ConfigError if its manifest has another format, or is needed to choose one table.
    """
    if manifest and manifest.format != form:
        raise ConfigError(
            f"--data-format {form}: {name} has format {manifest.format}, as its manifest says"
        )
    places = tuple(range(len(reader.tables)))
    if manifest:
        places = tuple(sorted({item.table for item in manifest.dataset.ranges}))
    if len(places) > 1 and not FORMATS[form].names_tables:
        raise ConfigError(
            f"--manifest: {name}: a file of format {form} has the rows of one table, and only its"
            " manifest says of which; name it"
        )
    return places


def _cutter(form: RecordFormat, tables: Sequence[Table]) -> Cutter:
    names = [table.name.encode() for table in tables]
    columns = len(tables[0].columns)
    cells = f"{columns} cells ({', '.join(column.name for column in tables[0].columns)})"
    match form:
        case RecordFormat.INFLUX:
            begins = [
                name.replace(b",", b"\\,").replace(b" ", b"\\ ") + (b"," if table.tags else b" ")
                for name, table in zip(names, tables, strict=True)
            ]
            expected = f"a line of {_any(tables)} with tags, fields and time"
            return NamedLines(begins, b"0123456789", expected, quoted=True)
        case RecordFormat.ES_BULK:
            begins = [b'{"create":{"_index":"%s"}}\n{' % name for name in names]
            expected = f"an action and a document of {_any(tables)}"
            return NamedLines(begins, b"}", expected, action=b'{"create":{')
        case RecordFormat.SPLUNK:
            begins = [b'{"index":"%s",' % index(name.decode()).encode() for name in names]
            return NamedLines(begins, b"}", f"an event of {_any(tables)}")
        case RecordFormat.CSV:
            return Cells(b",", columns, quoted=True, expected=cells)
        case RecordFormat.TSV | RecordFormat.PGCOPY:
            return Cells(b"\t", columns, quoted=False, expected=cells)
        case RecordFormat.BSON:
            return BsonDocuments()
        case RecordFormat.PGCOPY_BINARY:
            return Tuples(columns, cells)
        case RecordFormat.OPENTSDB | RecordFormat.GRAPHITE:
            return point_lines(form, tables)


def _any(tables: Sequence[Table]) -> str:
    return " or ".join(table.name for table in tables)
