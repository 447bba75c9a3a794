"""Encoding speed: rows/s and MB/s of each encoder on one core, side by side.

    python tests/perf/encode.py

The four columns of the IoT table, in blocks of 8,192 rows cut into payloads of 1,000, compared with
a plain Python loop that formats the same rows as CSV (with instants as integers, the cheapest form)
and with MongoDB's driver, which encodes them as documents. All figures are medians of one run, so
that ratios hold on any machine.

At the end stand rows of ten tags and ten fields, and long texts: tests/perf/wide.py.

`rested` is the rate after a pause before each block, with cold CPU caches, as after a worker has
waited for its database.

`faults` is the number of page faults per block: none, as processes keep the memory that they free.
"""

import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import bson
import numpy as np
from clickhouse_connect.datatypes.registry import get_from_name
from clickhouse_connect.driver.insert import InsertContext
from clickhouse_connect.driver.transform import NativeTransform
from iotdb.utils.IoTDBConstants import TSDataType
from iotdb.utils.NumpyTablet import NumpyTablet

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.data.block import Array, Block, Coded, Values
from simulator.data.schema import Column, Role, Table, Type
from simulator.encode.bson import Bson, BsonField
from simulator.encode.cql import CqlInsert, CqlRows
from simulator.encode.lineprotocol import LineProtocol
from simulator.encode.native import Native, RowBinary
from simulator.encode.ndjson import documents
from simulator.encode.objects import Objects
from simulator.encode.pgcopy import PgCopy
from simulator.encode.points import Points
from simulator.encode.rows import Frame
from simulator.encode.tablet import Tablets
from simulator.encode.text import CSV, SQL, TSV, TextEncoder
from simulator.host import keep_freed_memory
from simulator.modules.cratedb.query import CrateDialect
from simulator.modules.cratedb.session import JSON
from simulator.modules.graphite.wire import lines as graphite_lines
from simulator.modules.opentsdb.session import json_points
from simulator.modules.victoriametrics.wire import series_lines
from tests.perf import wide

ARRAY = Frame(b"[", b",", b"]")
BLOCK_ROWS = 8192
BATCH_ROWS = 1000
BLOCKS = 20
REPEATS = 15
RESTS = 3
REST_S = 0.003

TABLE = Table(
    "sensor",
    (
        Column("timestamp", Type.TIMESTAMP, Role.TIME),
        Column("device_id", Type.TEXT, Role.TAG),
        Column("sequence_number", Type.INT64, Role.FIELD),
        Column("temperature", Type.FLOAT32, Role.FIELD),
    ),
    key=("timestamp", "device_id"),
)


def blocks(device_count: int) -> list[Block]:
    """Draw consecutive blocks, one row per millisecond."""
    rng = np.random.default_rng(1)
    devices = np.array([b"device-%05d" % device for device in range(device_count)])
    grid = np.arange(-20 * 64, 35 * 64, dtype=np.float32) / np.float32(64)
    drawn = []
    for block in range(BLOCKS):
        rows = np.arange(BLOCK_ROWS) + block * BLOCK_ROWS
        data = {
            "timestamp": Values(1_795_232_700_000 + rows),
            "device_id": Coded(rows % device_count, devices),
            "sequence_number": Values(rows + 100_000),
            "temperature": Coded(rng.integers(0, len(grid), BLOCK_ROWS), grid),
        }
        drawn.append(Block(TABLE, 0, rows, data))
    return drawn


def python_csv(block: Block) -> list[bytes]:
    """Format the rows one by one, as most load generators do."""
    columns = [column.values().tolist() for column in block.data.values()]
    lines = [
        f"{timestamp},{device.decode()},{number},{temperature}\n"
        for timestamp, device, number, temperature in zip(*columns, strict=True)
    ]
    return [
        "".join(lines[start : start + BATCH_ROWS]).encode()
        for start in range(0, len(lines), BATCH_ROWS)
    ]


def driver_bson(block: Block) -> list[bytes]:
    """Encode the rows one by one with MongoDB's driver, which is written in C."""
    names = [column.name for column in TABLE.columns]
    rows = zip(*(_plain(column.values()) for column in block.data.values()), strict=True)
    documents = [bson.encode(dict(zip(names, row, strict=True))) for row in rows]
    return [
        b"".join(documents[start : start + BATCH_ROWS])
        for start in range(0, len(documents), BATCH_ROWS)
    ]


def _plain(values: Array) -> list:
    return [text.decode() for text in values] if values.dtype.kind == "S" else values.tolist()


def rested_s(encode: Callable[[Block], list], drawn: list[Block]) -> float:
    """Return the median time for a block after a pause."""
    taken_s = []
    for block in drawn * RESTS:
        time.sleep(REST_S)
        start = time.perf_counter()
        encode(block)
        taken_s.append(time.perf_counter() - start)
    return median(taken_s)


def measure(encode: Callable[[Block], list], drawn: list[Block]) -> tuple[float, float]:
    """Return the median time and the mean number of page faults, each for one block."""
    taken_s = []
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(REPEATS):
        start = time.perf_counter()
        for block in drawn:
            encode(block)
        taken_s.append((time.perf_counter() - start) / len(drawn))
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
    return median(taken_s), faults / REPEATS / len(drawn)


def show(
    name: str,
    batch_rows: int,
    encode: Callable[[Block], list],
    drawn: list[Block],
    loop_s: float,
) -> None:
    pieces = encode(drawn[0])
    block_s, faults = measure(encode, drawn)
    cold_s = rested_s(encode, drawn)
    size_bytes = sum(map(len, pieces)) if isinstance(pieces[0], bytes | memoryview) else 0
    mb_per_s = f"{size_bytes / block_s / 1e6:.0f}" if size_bytes else "-"
    print(
        f"  {name:<14}{batch_rows:>10}{BLOCK_ROWS / block_s / 1e6:>10.2f}{mb_per_s:>8}"
        f"{BLOCK_ROWS / cold_s / 1e6:>10.2f}{loop_s / block_s:>10.1f}{faults:>10.0f}"
    )


def cql(block: Block, batch_rows: int) -> list[bytes]:
    """Encode for CQL, bytes only."""
    sends = _CQL.encode(block, batch_rows)
    return [request.content for requests in sends for request in requests]


def clickhouse_connect(block: Block, batch_rows: int) -> list[bytes]:
    """Encode with ClickHouse's client, given the columns as NumPy arrays."""
    columns = [block.data[column.name].values() for column in TABLE.columns]
    columns[1] = columns[1].astype(str).astype(object)
    sends = []
    for start in range(0, len(block), batch_rows):
        part = [column[start : start + batch_rows] for column in columns]
        names = [column.name for column in TABLE.columns]
        types = [get_from_name(name) for name in _CLICKHOUSE]
        context = InsertContext("sensor", names, types, part, column_oriented=True)
        sends.append(b"".join(NativeTransform().build_insert(context)))
    return sends


_CLICKHOUSE = ["Int64", "LowCardinality(String)", "Int64", "Float32"]
_CQL = CqlRows(
    CqlInsert(bytes(16), TABLE.columns, TABLE.time_unit, TABLE.key, ("device_id",), grouped=True)
)


def tablets(block: Block, batch_rows: int) -> list[bytes]:
    """Encode for IoTDB, bytes only."""
    encoded = _TABLETS.encode(block, batch_rows)
    return [part for tablet in encoded for part in (tablet.times, tablet.values)]


def iotdb(block: Block, batch_rows: int) -> list[bytes]:
    """Encode with IoTDB's client, given the columns as NumPy arrays."""
    times, *columns = (block.data[column.name].values() for column in TABLE.columns)
    columns[0] = columns[0].astype(str).astype(object)
    types = [TSDataType.STRING, TSDataType.INT64, TSDataType.FLOAT]
    names = [column.name for column in TABLE.columns[1:]]
    sends = []
    for start in range(0, len(block), batch_rows):
        part = [column[start : start + batch_rows] for column in columns]
        tablet = NumpyTablet(TABLE.name, names, types, part, times[start : start + batch_rows])
        sends += [tablet.get_binary_timestamps(), tablet.get_binary_values()]
    return sends


_TABLETS = Tablets(TABLE.columns[1:], lambda times: times)


def points(encoder: Points, block: Block, batch_rows: int) -> list[bytes]:
    """Return the messages of a metrics database, two points per row."""
    sends = encoder.encode(block, batch_rows, instead={})
    return [message for messages in sends for message in messages]


def series(block: Block, batch_rows: int) -> list[bytes]:
    """Encode as VictoriaMetrics' lines of JSON."""
    return _SERIES.encode(block, batch_rows, block.data[TABLE.time.name].values())


_SERIES = series_lines("", TABLE, TABLE.name)
_POINTS = {
    "OpenTSDB": json_points("", TABLE, TABLE.name),
    "Graphite": graphite_lines(TABLE, TABLE.name),
}


def encoders() -> dict[str, Callable[[Block, int], list]]:
    """Return what encodes a block in batches of some rows, by name."""
    of = (TABLE.columns, TABLE.time_unit)
    ours = {
        "PgCopy": PgCopy(*of),
        "CSV": TextEncoder.of(*of, CSV),
        "TSV": TextEncoder.of(*of, TSV),
        "SQL": TextEncoder.of(*of, SQL),
        "NDJSON": documents(*of, None),
        "Bson": Bson([BsonField(c.name, c) for c in TABLE.columns], TABLE.time_unit),
        "Lines": LineProtocol(TABLE, TABLE.name),
        "CrateDB JSON": TextEncoder(
            CrateDialect(TABLE, tags_as_object=False).row(JSON, ARRAY, b",", str.encode),
            Frame(b'{"stmt":"...","bulk_args":[', b",", b"]}"),
            TABLE.time_unit,
        ),
        "Native": Native(TABLE.columns, _CLICKHOUSE),
        "RowBinary": RowBinary(TABLE.columns),
        "Objects": Objects(*of),
    }
    return {
        **{name: encoder.encode for name, encoder in ours.items()},
        **{name: partial(points, encoder) for name, encoder in _POINTS.items()},
        "Series": series,
        "Tablet": tablets,
        "CQL": cql,
    }


def main() -> None:
    keep_freed_memory()
    drivers = {"Native (drv)": clickhouse_connect, "Tablet (drv)": iotdb}
    for device_count in (1, 1000):
        drawn = blocks(device_count)
        loop_s, _ = measure(python_csv, drawn[:2])
        print(f"{device_count} devices")
        print("  encoder        batch       Mrows/s    MB/s    rested    x loop    faults")
        show("Python loop", BATCH_ROWS, python_csv, drawn[:2], loop_s)
        show("bson.encode", BATCH_ROWS, driver_bson, drawn[:2], loop_s)
        for batch_rows in (BATCH_ROWS, 1):
            for name, encode in encoders().items():
                show(name, batch_rows, partial(encode, batch_rows=batch_rows), drawn, loop_s)
            if batch_rows > 1:  # single rows of a driver would take minutes
                for name, encode in drivers.items():
                    show(
                        name, batch_rows, partial(encode, batch_rows=batch_rows), drawn[:2], loop_s
                    )
    wide.show()


if __name__ == "__main__":
    main()
