"""The formats of `--format`: the encoder of rows, and the beginning and end of a file.

An encoder belongs to the module that sends rows in the format. It is imported when the format is
used, because few runs need it.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from simulator.data.block import Block, Rows, edges
from simulator.data.schema import Table
from simulator.encode import pgcopy, text
from simulator.encode.points import Points
from simulator.encode.rows import Frame
from simulator.errors import ConfigError, nearest

Buffer: TypeAlias = bytes | memoryview
Chunks: TypeAlias = Generator[Buffer, None, None]
Encode: TypeAlias = Callable[[Block, Rows], Sequence[Buffer]]
"""Function of a block and edges that returns the records between each two edges."""

_MIXED_ROWS = 100
"""Number of rows in a portion, where portions of several tables alternate in the order of time."""
_WHOLE_BLOCKS = 1 << 62


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of files, written by the encoder of each table."""

    name: str
    about: str
    encoder: Callable[[Table], Encode]
    names_tables: bool = False
    """True if a record names its table, so that a file can contain several tables."""
    is_text: bool = True
    mixed_rows: int = _MIXED_ROWS
    header: Callable[[Table], bytes] = lambda _table: b""
    trailer: bytes = b""
    divisible: bool = True
    """True if the bytes of a turn do not depend on earlier turns."""
    is_compressed: bool = False
    """True if the content of a file is compressed."""

    def stream(self, tables: Sequence[Table], turns: Iterable[Sequence[Block]]) -> Chunks:
        """Yield the bytes of a file with the rows of turns; a turn has one block of each table."""
        encode = self.turn_encoder(tables)
        return self.frame(tables, (part for blocks in turns for part in encode(blocks)))

    def frame(self, tables: Sequence[Table], encoded: Iterable[Buffer]) -> Chunks:
        """Yield the bytes of a file around the encoded turns."""
        if begin := self.header(tables[0]):
            yield begin
        yield from encoded
        if self.trailer:
            yield self.trailer

    def turn_encoder(
        self, tables: Sequence[Table]
    ) -> Callable[[Sequence[Block]], Iterator[Buffer]]:
        """Return a function that yields the bytes of a turn."""
        encoders = {table.name: self.encoder(table) for table in tables}

        def encode(blocks: Sequence[Block]) -> Iterator[Buffer]:
            rows = sum(map(len, blocks))
            places = edges(blocks, rows if len(blocks) == 1 else min(self.mixed_rows, rows))
            written = (
                encoders[block.table.name](block, each)
                for block, each in zip(blocks, places, strict=True)
            )
            for portions in zip(*written, strict=True):
                yield from portions

        return encode


class _Parquet(FileFormat):
    """Parquet, written by pyarrow with a row group for each turn."""

    __slots__ = ()

    def stream(self, tables: Sequence[Table], turns: Iterable[Sequence[Block]]) -> Chunks:
        """Yield the bytes of a file with the rows of turns."""
        from pyarrow import parquet  # noqa: PLC0415

        from simulator.encode.arrow import Arrow  # noqa: PLC0415

        (table,) = tables
        arrow, sink, writer = Arrow(table.columns, table.time_unit), _Sink(), None
        for blocks in turns:
            for block in blocks:
                (rows,) = arrow.encode(block, len(block))
                plain = rows.cast(_drop_dictionaries(rows.schema))
                writer = writer or parquet.ParquetWriter(sink, plain.schema)
                writer.write_table(plain)
            yield from sink.take()
        if writer:
            writer.close()
        yield from sink.take()


class _Sink:
    """A file that keeps the written bytes until they are taken."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def write(self, content: bytes) -> int:
        """Keep the bytes."""
        self._parts.append(bytes(content))
        self._size += len(content)
        return len(content)

    def tell(self) -> int:
        """Return the number of bytes that were written."""
        return self._size

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    def take(self) -> list[bytes]:
        """Return the bytes written since the last call."""
        parts, self._parts = self._parts, []
        return parts


def _drop_dictionaries(schema: Any) -> Any:
    """Return the schema with texts instead of dictionaries, which differ between row groups."""
    import pyarrow as pa  # noqa: PLC0415

    kinds = (pa.string() if pa.types.is_dictionary(field.type) else field.type for field in schema)
    return pa.schema(zip(schema.names, kinds, strict=True))


def _encode_lines(table: Table) -> Encode:
    from simulator.encode.lineprotocol import LineProtocol  # noqa: PLC0415

    return LineProtocol(table, table.name).between


def _encode_documents(table: Table) -> Encode:
    from simulator.encode.ndjson import check_finite, documents  # noqa: PLC0415

    text = documents(table.columns, table.time_unit, None, table.name)

    def encode(block: Block, places: Rows) -> Sequence[Buffer]:
        for column in table.columns:
            check_finite(column, block.data[column.name])
        return text.between(block, places)

    return encode


def _encode_text(form: text.TextFormat) -> Callable[[Table], Encode]:
    return lambda table: text.TextEncoder.of(table.columns, table.time_unit, form).between


def _write_names(form: text.TextFormat) -> Callable[[Table], bytes]:
    """Return a function that writes the names of the columns as the first line."""

    def header(table: Table) -> bytes:
        names = (form.style.escape(column.name.encode()) for column in table.columns)
        return form.row.between.join(names) + form.row.after

    return header


def _encode_bson(table: Table) -> Encode:
    from simulator.encode.bson import Bson  # noqa: PLC0415
    from simulator.modules.mongodb.query import DocumentFormat, TableDocuments  # noqa: PLC0415

    return Bson(TableDocuments(table, DocumentFormat.FLAT).elements, table.time_unit).between


def _encode_opentsdb(table: Table) -> Encode:
    from simulator.modules.opentsdb import session  # noqa: PLC0415

    check = session.make_checks(table, table.name)
    points = session.json_points("", table, table.name, Frame(b"", b"\n", b"\n"))
    return _encode_points(points, check.times, table)


def _encode_graphite(table: Table) -> Encode:
    from simulator.modules.graphite import session, wire  # noqa: PLC0415

    check = session.make_checks(table, table.name)
    return _encode_points(wire.lines(table, table.name), check.times, table)


def _encode_points(points: Points, times: Callable[[Block], Rows], table: Table) -> Encode:
    """Return a function that writes a line for each field of each row in a block."""

    def encode(block: Block, _places: Rows) -> Sequence[Buffer]:
        instead = {table.time.name: times(block)}
        return points.encode(block, len(block), instead=instead)[0]

    return encode


def _encode_splunk(table: Table) -> Encode:
    from simulator.modules.splunk import wire  # noqa: PLC0415

    wire.check_names(table)
    events = wire.encoder(table, table.name, "")

    def encode(block: Block, places: Rows) -> Sequence[Buffer]:
        wire.check_values(block)
        return events.between(wire.split_instants(block), places)

    return encode


FORMATS = {
    each.name: each
    for each in (
        FileFormat("influx", "InfluxDB line protocol", _encode_lines, names_tables=True),
        FileFormat(
            "es-bulk", "Elasticsearch _bulk, two lines a row", _encode_documents, names_tables=True
        ),
        FileFormat(
            "csv",
            "RFC 4180, with the columns' names",
            _encode_text(text.CSV),
            header=_write_names(text.CSV),
        ),
        FileFormat(
            "tsv",
            "as pgcopy, with the columns' names",
            _encode_text(text.TSV),
            header=_write_names(text.TSV),
        ),
        FileFormat("pgcopy", "PostgreSQL COPY, text", _encode_text(text.TSV)),
        FileFormat(
            "pgcopy-binary",
            "PostgreSQL COPY, binary",
            lambda table: pgcopy.PgCopy(table.columns, table.time_unit).between,
            is_text=False,
            header=lambda _table: pgcopy.STREAM.before,
            trailer=pgcopy.STREAM.after,
        ),
        FileFormat(
            "opentsdb",
            "a line of JSON for each point",
            _encode_opentsdb,
            names_tables=True,
            mixed_rows=_WHOLE_BLOCKS,
        ),
        FileFormat(
            "graphite",
            "a line `path value time` for each point",
            _encode_graphite,
            names_tables=True,
            mixed_rows=_WHOLE_BLOCKS,
        ),
        FileFormat(
            "splunk", "events of the HTTP Event Collector", _encode_splunk, names_tables=True
        ),
        FileFormat("bson", "MongoDB documents, one after the other", _encode_bson, is_text=False),
        _Parquet(
            "parquet",
            "Apache Parquet",
            lambda _table: lambda _block, _edges: (),
            is_text=False,
            divisible=False,
            is_compressed=True,
        ),
    )
}
"""Name of a format -> its description."""


def format_named(name: str) -> FileFormat:
    """Return the format with this name; a ConfigError names the nearest format."""
    if name not in FORMATS:
        raise ConfigError(f"--format: {name!r} is not known ({nearest(name, FORMATS)})")
    return FORMATS[name]
