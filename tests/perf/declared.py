"""The speed of declared tables: rows drawn per second, beside the built-in workloads.

    python tests/perf/declared.py [--rows 2000000] [--rounds 5]

The file declares what `iot` and `cpu` have: the same columns, types and numbers of series. Both
are drawn in turn, in blocks as for inserts; the ratio is the median over the pairs. The aim is half
the speed of the built-in workload.
"""

import argparse
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import yaml

from iotbench.measurements.insert.workload_file import read_workload
from simulator.data.dataset import Dataset
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey
from simulator.data.workloads.cpu import USAGES

HOSTS = 100
TAGS = ("region", "datacenter", "rack", "os", "arch", "team", "service", "service_version",
        "service_environment")  # fmt: skip
NEVER = 300 * 86_400
"""How long the data of both lasts, in seconds."""
DECLARED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "iot": (
        {"devices": 100},
        {
            "series": 100,
            "interval": 1,
            "tags": {"device_id": {}},
            "fields": {
                "sequence_number": {"type": "int64", "uniform": [0, 1_000_000]},
                "temperature": {"type": "float32", "uniform": [-20, 35], "step": 1 / 64},
            },
        },
    ),
    "cpu": (
        {"scale": HOSTS, "duration_ms": NEVER * 1000},
        {
            "series": HOSTS,
            "interval": 10,
            "tags": {"hostname": {}, **{name: {"count": 20} for name in TAGS}},
            "fields": {name: {"type": "int32", "uniform": [0, 100]} for name in USAGES},
        },
    ),
}


def reader_of(workload: str, params: dict[str, Any]) -> DatasetReader:
    """Return what draws the rows of a workload."""
    return DatasetReader(
        Dataset(
            workload=workload, workload_version=1, params=params, seed=1, start_ms=0,
            primary_key=PrimaryKey.NONE, parts=1,
        )
    )  # fmt: skip


def declared(table: dict[str, Any]) -> DatasetReader:
    """Return what draws the rows of a declared table."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "own.yaml"
        path.write_text(yaml.safe_dump({"duration": NEVER, "tables": {"own": table}}))
        return reader_of("declared", read_workload(str(path)).model_dump(mode="json"))


def drawn_s(reader: DatasetReader, rows: int) -> float:
    """Return the processor time in which these rows are drawn."""
    began_s = time.process_time()
    for _ in reader.blocks([RowRange(start=0, stop=rows)]):
        pass
    return time.process_time() - began_s


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print("| Like | Built in, rows/s | Declared, rows/s | Ratio (pairs) |\n|---|---|---|---|")
    for name, (params, table) in DECLARED.items():
        built_in, own = reader_of(name, params), declared(table)
        pairs = [
            (drawn_s(built_in, given.rows), drawn_s(own, given.rows)) for _ in range(given.rounds)
        ]
        first, second = (median(each) for each in zip(*pairs, strict=True))
        ratio = median(one / other for one, other in pairs)
        print(f"| {name} | {given.rows / first:,.0f} | {given.rows / second:,.0f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
