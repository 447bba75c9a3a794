"""Wide rows: ten tags of a host, which share their codes, and ten fields; long texts.

A row's cost has a bound that no encoder here can beat. It is measured beside the encoders:

- On a grid nothing is computed: NumPy takes an item by its code (3 ns) and copies it to its place
  in the row (5 ns; Python's own copies take 40). Ten fields, tags and time are 12 such pairs.
- Full doubles cannot be prepared: orjson takes 22 ns for each, ten a row, before one is copied.
- Python objects are prepared too, but a list of references to each column and a tuple of each row
  must be made.
"""

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
import orjson

from simulator.data.block import Block, Coded, Texts, Values
from simulator.data.octets import view_items
from simulator.data.schema import Column, Role, Table, Type
from simulator.encode.lineprotocol import LineProtocol
from simulator.encode.ndjson import documents
from simulator.encode.objects import Objects
from simulator.encode.pgcopy import PgCopy
from simulator.encode.text import CSV, TSV, TextEncoder
from simulator.load.worker import _settle_memory

HOSTS = 100
BLOCK_ROWS = 8192
BATCH_ROWS = 1000
BLOCKS = 4
REPEATS = 25
LONG_BYTES = 19 * 1024

_TAGS = {
    "hostname": [f"host_{host}" for host in range(HOSTS)],
    "region": ["us-east-1", "us-west-1", "eu-central-1", "ap-southeast-2", "sa-east-1"],
    "datacenter": ["us-east-1a", "us-west-1b", "eu-central-1b", "ap-southeast-2b", "sa-east-1c"],
    "rack": [str(rack) for rack in range(100)],
    "os": ["Ubuntu16.10", "Ubuntu16.04LTS", "Ubuntu15.10"],
    "arch": ["x64", "x86"],
    "team": ["SF", "NYC", "LON", "CHI"],
    "service": [str(service) for service in range(20)],
    "service_version": ["0", "1"],
    "service_environment": ["production", "staging", "test"],
}
_FIELDS = "user system idle nice iowait irq softirq steal guest guest_nice".split()


def table(kind: Type) -> Table:
    """Return the table, with fields of one type."""
    columns = (
        Column("time", Type.TIMESTAMP, Role.TIME),
        *(Column(tag, Type.TEXT, Role.TAG) for tag in _TAGS),
        *(Column(f"usage_{field}", kind, Role.FIELD) for field in _FIELDS),
    )
    return Table("cpu", columns, key=("time", "hostname"))


def blocks(kind: Type) -> list[Block]:
    """Draw consecutive blocks: integers from 0 to 100, or full doubles."""
    rng = np.random.default_rng(14)
    tags = {
        name: np.array([values[host * 7 % len(values)].encode() for host in range(HOSTS)])
        for name, values in _TAGS.items()
    }
    grid = np.arange(101)
    drawn = []
    for block in range(BLOCKS):
        rows = np.arange(BLOCK_ROWS) + block * BLOCK_ROWS
        codes = rows % HOSTS
        data = {"time": Values(1_795_232_700_000 + rows // HOSTS * 10_000)}
        data |= {name: Coded(codes, levels) for name, levels in tags.items()}
        data |= {
            f"usage_{field}": Coded(rng.integers(0, len(grid), BLOCK_ROWS), grid)
            if kind is Type.INT64
            else Values(rng.random(BLOCK_ROWS) * 100)
            for field in _FIELDS
        }
        drawn.append(Block(table(kind), 0, rows, data))
    return drawn


def cpu_ns(work: Callable[[Block], object], drawn: Sequence[Block]) -> float:
    """Return the median CPU time for a row."""
    for block in drawn:
        work(block)
    taken_ns = []
    for _ in range(REPEATS):
        start = time.thread_time_ns()
        for block in drawn:
            work(block)
        taken_ns.append(time.thread_time_ns() - start)
    return median(taken_ns) / sum(map(len, drawn))


def copies(block: Block) -> None:
    """Take and place an item of 16 bytes for each of 12 pieces of a row."""
    levels = np.zeros(101, "V16")
    codes, places = block.rows % 101, np.arange(len(block)) * 300
    content = view_items(np.empty(300 * len(block) + 16, np.uint8), 16)
    for _ in range(12):
        content[places] = levels.take(codes)


def orjson_alone(block: Block) -> None:
    """Write the ten fields without splitting them into values."""
    for field in block.table.fields:
        orjson.dumps(block.data[field.name].values(), option=orjson.OPT_SERIALIZE_NUMPY)


def tuples(block: Block) -> None:
    """Make the rows of 21 references."""
    objects = np.array([None, 1], object)
    codes = block.rows % 2
    for first in range(0, len(block), BATCH_ROWS):
        part = codes[first : first + BATCH_ROWS]
        list(zip(*(objects.take(part).tolist() for _ in block.table.columns), strict=True))


def encoders(of: Table) -> dict[str, Any]:
    """Return the encoders for a table, by name."""
    columns = (of.columns, of.time_unit)
    return {
        "Lines": LineProtocol(of, "cpu"),
        "CSV": TextEncoder.of(*columns, CSV),
        "TSV": TextEncoder.of(*columns, TSV),
        "PgCopy": PgCopy(*columns),
        "NDJSON": documents(*columns, None),
        "Objects": Objects(*columns),
    }


def show() -> None:
    """Print the rates of the encoders and of their bounds."""
    _settle_memory()
    for kind, title in ((Type.INT64, "integers of a grid"), (Type.FLOAT64, "full doubles")):
        drawn = blocks(kind)
        print(f"wide rows: ten tags, ten fields: {title}; batches of {BATCH_ROWS}; CPU time")
        print("  encoder          ns/row   Mrows/s  Mvalues/s      MB/s")
        for name, encoder in encoders(drawn[0].table).items():
            row_ns = cpu_ns(lambda block, e=encoder: e.encode(block, BATCH_ROWS), drawn)
            _line(name, row_ns, 0 if name == "Objects" else _row_bytes(encoder, drawn[0]))
        bounds = {"bound: copies": copies, "bound: tuples": tuples}
        if kind is Type.FLOAT64:
            bounds = {"bound: orjson": orjson_alone, "bound: tuples": tuples}
        for name, bound in bounds.items():
            _line(name, cpu_ns(bound, drawn), 0)
    _long_texts()


def _row_bytes(encoder: object, block: Block) -> float:
    return sum(map(len, encoder.encode(block, BATCH_ROWS))) / len(block)


def _line(name: str, row_ns: float, row_bytes: float) -> None:
    mb_per_s = f"{row_bytes / row_ns * 1e3:.0f}" if row_bytes else "-"
    print(f"  {name:<15}{row_ns:>8.0f}{1e3 / row_ns:>10.2f}{20e3 / row_ns:>11.1f}{mb_per_s:>10}")


def _long_texts() -> None:
    """Print what one text of 19 KiB among short ones costs, by offsets and as an 'S' array."""
    texts = [b"short text"] * (BLOCK_ROWS - 1) + [b"x" * LONG_BYTES]
    lengths = np.array([len(text) for text in texts])
    content = np.frombuffer(b"".join(texts), np.uint8)
    column = Texts(content, np.cumsum(lengths) - lengths, lengths)
    notes = Table("notes", (Column("note", Type.TEXT, Role.FIELD),), ())
    print(f"one text of {LONG_BYTES:,} bytes among {BLOCK_ROWS} short ones")
    print("  texts            ns/row   Mrows/s  Mvalues/s      MB/s     block bytes")
    for name, data in (("by offsets", column), ("S array", Values(column.array))):
        block = Block(notes, 0, np.arange(BLOCK_ROWS), {"note": data})
        encoder = TextEncoder.of(notes.columns, notes.time_unit, CSV)
        start = time.thread_time_ns()
        payloads = encoder.encode(block, BATCH_ROWS)
        row_ns = (time.thread_time_ns() - start) / BLOCK_ROWS
        print(
            f"  {name:<15}{row_ns:>8.0f}{1e3 / row_ns:>10.2f}{1e3 / row_ns:>11.1f}"
            f"{sum(map(len, payloads)) / BLOCK_ROWS / row_ns * 1e3:>10.0f}{block.size_bytes:>16,}"
        )
