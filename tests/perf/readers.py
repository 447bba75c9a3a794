"""How people's text files are read: by this project, and by the libraries that could do it.

    python tests/perf/readers.py [--rows 10M] [--only DuckDB,Polars]

Each reader gets the same small files, with the options that its documentation has for them, and
one large file, of which all columns become NumPy arrays. Printed are which shapes each reader gets
right by itself, rows per second, CPU time, peak memory of its process, and size of its packages. A
reader that is not installed is left out: Polars is not a dependency of the project.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from iotbench.config.input.quantities import parse_count
from iotbench.rows.files.prepare import convert_file
from iotbench.rows.files.request import FilesRequest
from simulator.data.schema import PrimaryKey
from simulator.data.workloads.file import File, FileReading, Nanoseconds, OnError
from simulator.host import memory_peak_bytes

LIMIT_S = 300
THREADS = 2
MOST_BYTES = 8 << 30
"""Memory of a reader."""
Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Shape:
    """A file as people have it, and what a reader is to make of it."""

    title: str
    text: str
    values: Columns = field(default_factory=dict)
    """Values of its columns; none: the reader refuses the file."""
    bad_lines: tuple[int, ...] = ()
    """Lines that the reader has to name."""
    skips: bool = False
    """The reader is asked to leave out bad rows."""
    may_refuse: bool = False
    decimal: str = "."
    delimiter: str = ","
    nulls: tuple[str, ...] = ()


HEAD = "time,v,note\n"
LATE = 30_003
"""A line behind the beginning from which readers take the types."""
MANY = HEAD + "2024-05-01T10:00:00Z,1,ok\n" * (LATE - 2)
ODD = (
    '2024-05-01T10:00:00Z,2,"5 inch\n'
    "2024-05-01T10:00:00Z,3,ok\n"
    '2024-05-01T10:00:00Z,4,12" tube\n'
    "2024-05-01T10:00:00Z,5,ok\n"
)
SHAPES = (
    Shape("wrong quotes far down: two rows left out and named, no other one",
          MANY + ODD, {"v": [1] * (LATE - 2) + [3, 5]}, (LATE, LATE + 2), skips=True),
    Shape("an unclosed quote far down: refused, its line named",
          MANY + '2024-05-01T10:00:00Z,2,"5 inch\n' + MANY[len(HEAD):], bad_lines=(LATE,)),
    Shape("a bad cell far down: refused, its line named",
          MANY + "2024-05-01T10:00:00Z,high,ok\n", bad_lines=(LATE,)),
    Shape("own NULL markers: `-999` and `?`",
          HEAD + "2024-05-01T10:00:00Z,-999,a\n2024-05-01T10:00:01Z,2,?\n",
          {"v": [None, 2], "note": ["a", None]}, nulls=("-999", "?")),
    Shape('an empty text (`""`) beside an empty cell',
          HEAD + '2024-05-01T10:00:00Z,1,""\n2024-05-01T10:00:01Z,2,\n2024-05-01T10:00:02Z,3,a\n',
          {"note": ["", None, "a"]}),
    Shape("decimal comma", "time;v;note\n2024-05-01T10:00:00Z;4,216;a\n", {"v": [4.216]},
          decimal=",", delimiter=";"),
    Shape("nanoseconds kept, or refused",
          HEAD + "2024-05-01T10:00:00.123456789Z,1,a\n", {"time": [1714557600123456789]},
          may_refuse=True),
    Shape("2^53 + 1 beside a fraction: refused, its line named",
          HEAD + "2024-05-01T10:00:00Z,9007199254740993,a\n2024-05-01T10:00:01Z,1.5,b\n",
          bad_lines=(2,)),
    Shape("leading zeros stay text",
          HEAD + "2024-05-01T10:00:00Z,7,a\n2024-05-01T10:00:01Z,007,b\n", {"v": ["7", "007"]}),
)  # fmt: skip


@dataclass(frozen=True)
class Read:
    """The result of a reader on a file."""

    columns: Columns
    lines: tuple[int, ...] = ()
    """Lines that it named as left out."""


# --- the readers


def read_own(shape: Shape, path: Path) -> Read:
    """Read a file as `insert --data` does."""
    with tempfile.TemporaryDirectory() as folder:
        params = convert_file(
            _request(
                path,
                on_error=OnError.SKIP if shape.skips else OnError.STOP,
                decimal_comma=shape.decimal == ",",
                nanoseconds=Nanoseconds.KEEP,
                null=shape.nulls,
            ),
            Path(folder),
            quiet=True,
        )
        file = File(params, 0, 0)
        drawn = file.draw(file.tables[0], np.arange(params.rows))
        columns = {name: _listed(each.values(), each.valid) for name, each in drawn.items()}
    rests = columns.get("time_ns", [0] * params.rows)
    times = zip(columns["time"], rests, strict=True)
    columns["time"] = [us * 1000 + rest for us, rest in times]
    named = [each for bad in params.bad_cells for each in bad.first]
    return Read(columns, tuple(int(each.split()[1].rstrip(":")) for each in named))


def _request(path: Path, **said: Any) -> Any:
    return FilesRequest((path,), FileReading(time_column="time", **said), PrimaryKey.NONE)


def _listed(values: Any, valid: Any) -> list[Any]:
    plain = [each.decode() if isinstance(each, bytes) else each for each in values.tolist()]
    known = [True] * len(plain) if valid is None else valid.tolist()
    return [each if ok else None for each, ok in zip(plain, known, strict=True)]


def read_pyarrow(shape: Shape, path: Path) -> Read:
    """Read a file with pyarrow alone."""
    import pyarrow as pa
    from pyarrow import csv

    rejected: list[int] = []

    def reject(row: Any) -> str:
        rejected.append(row.number or 0)
        return "skip" if shape.skips else "error"

    table = csv.read_csv(
        path,
        read_options=csv.ReadOptions(use_threads=not shape.skips),
        parse_options=csv.ParseOptions(
            delimiter=shape.delimiter, invalid_row_handler=reject, newlines_in_values=True
        ),
        convert_options=csv.ConvertOptions(
            decimal_point=shape.decimal,
            null_values=["", *shape.nulls],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    times = table["time"]
    if pa.types.is_timestamp(times.type):
        times = times.cast(pa.timestamp("ns", times.type.tz)).cast(pa.int64())
    columns = {name: table[name].to_pylist() for name in table.column_names}
    return Read({**columns, "time": times.to_pylist()}, tuple(rejected))


def read_duckdb(shape: Shape, path: Path) -> Read:
    """Read a file with DuckDB's strict parser, and its table of rejected rows."""
    import duckdb

    connection = duckdb.connect(config={"threads": THREADS})
    relation = connection.sql(
        f"SELECT * REPLACE (epoch_ns(time) AS time) FROM read_csv('{path}', strict_mode = true,"
        f" delim = '{shape.delimiter}', quote = '\"', escape = '\"',"
        f" decimal_separator = '{shape.decimal}', header = true,"
        f" nullstr = {['', *shape.nulls]!r}, allow_quoted_nulls = false"
        f"{', store_rejects = true' * shape.skips})"
    )
    rows = relation.fetchall()
    columns = {name: [row[i] for row in rows] for i, name in enumerate(relation.columns)}
    lines = connection.sql("SELECT DISTINCT line FROM reject_errors") if shape.skips else None
    return Read(columns, tuple(line for (line,) in lines.fetchall()) if lines else ())


def read_polars(shape: Shape, path: Path) -> Read:
    """Read a file with Polars."""
    import polars as pl

    frame = pl.read_csv(
        path,
        separator=shape.delimiter,
        decimal_comma=shape.decimal == ",",
        null_values=list(shape.nulls) or None,
        try_parse_dates=True,
        ignore_errors=shape.skips,
    )
    columns = frame.to_dict(as_series=False)
    if frame["time"].dtype.is_temporal():
        columns["time"] = frame["time"].dt.epoch("ns").to_list()
    return Read(columns)


# --- the large file


def convert_own(path: Path) -> int:
    """Convert a file as `prepare` does; return the number of rows."""
    with tempfile.TemporaryDirectory() as folder:
        return convert_file(_request(path), Path(folder), quiet=True).rows


def convert_pyarrow(path: Path) -> int:
    """Read a file batch by batch into NumPy arrays."""
    import pyarrow as pa
    from pyarrow import csv

    pa.set_cpu_count(THREADS)
    rows = 0
    for batch in csv.open_csv(path):
        rows += len([column.to_numpy(zero_copy_only=False) for column in batch.columns][-1])
    return rows


def convert_duckdb(path: Path) -> int:
    """Read a file into NumPy arrays by fetchnumpy."""
    import duckdb

    connection = duckdb.connect(config={"threads": THREADS})
    found = connection.sql(f"FROM read_csv('{path}', strict_mode = true)").fetchnumpy()
    return len(found["time"])


def convert_polars(path: Path) -> int:
    """Read a file into NumPy arrays."""
    import polars as pl

    frame = pl.read_csv(path, try_parse_dates=True)
    return len([column.to_numpy() for column in frame.get_columns()][-1])


@dataclass(frozen=True)
class Reader:
    """A reader, and the packages that it needs."""

    read: Callable[[Shape, Path], Read]
    convert: Callable[[Path], int]
    packages: tuple[str, ...]


READERS = {
    "this project": Reader(read_own, convert_own, ("pyarrow",)),
    "pyarrow": Reader(read_pyarrow, convert_pyarrow, ("pyarrow",)),
    "DuckDB": Reader(read_duckdb, convert_duckdb, ("duckdb",)),
    "Polars": Reader(read_polars, convert_polars, ("polars", "polars_runtime_32")),
}


def _named(found: Read) -> str:
    return "line " + ", ".join(map(str, found.lines)) if found.lines else "no line"


def judge(reader: Reader, shape: Shape, path: Path) -> str:
    """Return whether a reader gets a shape right, or what it does."""
    try:
        found = reader.read(shape, path)
    except Exception as error:  # noqa: BLE001  # of any library
        if shape.values and not shape.may_refuse:
            return "no: refused"
        lines = {int(each) for each in re.findall(r"line:? (\d+)", str(error), re.IGNORECASE)}
        return "yes" if {*shape.bad_lines} <= lines else "no: refused, no line named"
    rows = f"{len(found.columns['v']):,} rows"
    if not shape.values:
        return f"no: {rows}, the first is {found.columns['v'][0]!r}"
    wrong = [name for name, values in shape.values.items() if found.columns.get(name) != values]
    if {*shape.bad_lines} != {*found.lines}:
        return f"no: {rows}, names {_named(found)}"
    return f"no: {found.columns[wrong[0]]}" if wrong else "yes"


def write_large(path: Path, rows: int) -> None:
    """Write a file of a time, a tag, two numbers and a text with a few values."""
    start, step = np.datetime64("2024-05-01T00:00:00", "s"), 100_000
    with path.open("w") as file:
        file.write("time,rack,temperature,load,state\n")
        for first in range(0, rows, step):
            numbers = np.arange(first, min(first + step, rows))
            times = np.datetime_as_string(start + numbers // 10).tolist()
            file.writelines(
                f"{at}Z,rack{n % 10},{20 + n % 997 / 8},{n % 5003},{'on' if n % 3 else 'off'}\n"
                for at, n in zip(times, numbers.tolist(), strict=True)
            )


def measure(name: str, path: Path, rows: int) -> str:
    """Return rows per second, CPU time and memory of a reader, in a process of its own."""
    command = [sys.executable, __file__, "--convert", name, "--file", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"stopped after {LIMIT_S} s | - | -"
    if done.returncode:
        return f"failed: {done.stderr.strip().splitlines()[-1][:80]} | - | -"
    found = json.loads(done.stdout)
    assert found["rows"] == rows, found
    memory = f"{found['memory_bytes'] / 2**20:,.0f} MiB"
    return f"{rows / found['s']:,.0f} | {found['cpu_s']:.1f} s | {memory}"


def convert(name: str, path: Path) -> None:
    """Print what one reader takes for the large file."""
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    began, cpu_before = time.perf_counter(), time.process_time()
    rows = READERS[name].convert(path)
    took_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu_before
    found = {"rows": rows, "s": took_s, "cpu_s": cpu_s, "memory_bytes": memory_peak_bytes()}
    print(json.dumps(found))


def size_bytes(packages: tuple[str, ...]) -> int:
    """Return the size of the installed files of packages."""
    listed = [Path(str(each.locate())) for name in packages for each in files(name) or ()]
    return sum(each.stat().st_size for each in listed if each.exists())


def compare(rows: int, only: list[str]) -> None:
    """Print both tables."""
    chosen = {}
    for name, reader in READERS.items():
        try:
            _ = [files(package) for package in reader.packages]
        except PackageNotFoundError as error:
            print(f"{name}: left out, {error}")
            continue
        if not only or name in only:
            chosen[name] = reader
    with tempfile.TemporaryDirectory() as folder:
        print("| Shape | " + " | ".join(chosen) + " |\n|---|" + "---|" * len(chosen))
        for number, shape in enumerate(SHAPES):
            path = Path(folder) / f"shape{number}.csv"
            path.write_text(shape.text)
            cells = [judge(reader, shape, path) for reader in chosen.values()]
            print(f"| {shape.title} | " + " | ".join(cells) + " |", flush=True)
        path = Path(folder) / "large.csv"
        write_large(path, rows)
        print(f"\n{rows:,} rows, {path.stat().st_size / 1e6:,.0f} MB, {THREADS} threads\n")
        print("| Reader | Rows/s | CPU | Peak memory | Packages |\n|---|---|---|---|---|")
        for name, reader in chosen.items():
            size = f"{size_bytes(reader.packages) / 1e6:,.0f} MB"
            print(f"| {name} | {measure(name, path, rows)} | {size} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", default="10M")
    parser.add_argument("--only", default="")
    parser.add_argument("--convert", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.convert:
        convert(given.convert, given.file)
    else:
        compare(parse_count(given.rows), [each for each in given.only.split(",") if each])
