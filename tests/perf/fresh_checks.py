"""The speed of `mixed --fresh`: how many answers about fresh rows a core keeps, packs and checks.

    python tests/perf/fresh_checks.py [--answers 30000] [--rows 300000] [--devices 1 8 64]

A run is simulated: writers acknowledge batches of 100 rows, an asker gets the answers that a
database which shows every row at once would give, and the instant since when it asks moves twice a
second. Kept and packed is the work of the worker that asks, beside its waits; checked is that of
the collector, with the rows drawn again. The aim is 10,000 answers/s a core for both together.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.data.dataset import Dataset
from simulator.data.fresh import FreshType, fresh_types
from simulator.data.query import Statement
from simulator.data.ranges import lane_range
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey
from simulator.load.ask.answers import EveryAnswer
from simulator.load.ask.asker import Asked
from simulator.load.write.batch import Batch, Held, Origin
from simulator.load.write.send_log import SendLog
from simulator.modules.contract import Payload
from simulator.protocol.arrivals import Ticks
from simulator.verify.fresh.answers import check
from simulator.verify.fresh.arriving import AnswerLog, ArrivingRows, TimedBatches

BATCH_ROWS, BATCH_NS, MOVES_NS, WINDOW_ROWS = 100, 2_000_000, 500_000_000, 1000


def reader_of(devices: int) -> DatasetReader:
    """Return what draws the rows of some devices."""
    return DatasetReader(
        Dataset(
            workload="iot", workload_version=1, params={"devices": devices}, seed=1, start_ms=0,
            primary_key=PrimaryKey.NONE, parts=1,
        )
    )  # fmt: skip


def logged(reader: DatasetReader, rows: int) -> TimedBatches:
    """Return what a worker reports that sends a batch after the other."""
    log = SendLog(reader)
    for number in range(rows // BATCH_ROWS):
        numbers = lane_range(0, number * BATCH_ROWS, BATCH_ROWS).numbers()
        batch = Batch(
            Payload(BATCH_ROWS, "batch", b"", 0), Origin.of(Held(0, 0, numbers), 1 << 30), 0
        )
        log.note_sent(batch, number * BATCH_NS)
        log.note_acknowledged(batch, number * BATCH_NS + BATCH_NS // 2)
    return TimedBatches.of(log.parts(0, Ticks(), 0), np.empty((5, 0), np.int64))


def raw_answers(
    reader: DatasetReader, name: str, rows: int, answers: int
) -> Iterator[tuple[int, int, Sequence[Sequence[Any]]]]:
    """Yield since when and when each answer is asked for, and its rows."""
    (table,) = reader.tables
    block = reader.draw_rows(table, lane_range(0, 0, rows).numbers())
    times = block.data["timestamp"].values()
    _, devices = np.unique(block.data["device_id"].values(), return_inverse=True)
    names = [each.decode() for each in np.unique(block.data["device_id"].values()).tolist()]
    values = block.data["temperature"].values()
    for at_ns in np.linspace(0, rows // BATCH_ROWS * BATCH_NS, answers).astype(np.int64).tolist():
        moved = at_ns // MOVES_NS * MOVES_NS // BATCH_NS * BATCH_ROWS
        first = max(moved - WINDOW_ROWS, 0)
        last = min((at_ns + BATCH_NS // 2) // BATCH_NS * BATCH_ROWS, rows)
        if name == "fresh-count":
            yield int(times[first]), at_ns, [(max(last - first, 0),)]
            continue
        own = slice(first, max(last, first))
        counts = np.bincount(devices[own], minlength=len(names))
        found = []
        for device in np.flatnonzero(counts).tolist():
            mine = np.flatnonzero(devices[own] == device) + first
            if name == "fresh-newest":
                found.append((names[device], int(times[mine[-1]]), float(values[mine[-1]])))
            else:
                extremes = float(values[mine].min()), float(values[mine].max())
                found.append((names[device], int(counts[device]), *extremes))
        yield int(times[first]), at_ns, found


def measured(devices: int, name: str, fresh_type: FreshType, rows: int, answers: int) -> str:
    """Return a line of the table."""
    reader = reader_of(devices)
    asked = list(raw_answers(reader, name, rows, answers))
    statement, kept = Statement("", fresh_type.outputs), EveryAnswer(name, fresh_type)
    began_s = time.process_time()
    for since_ms, at_ns, found in asked:
        kept.keep(Asked(since_ms, statement), found, at_ns, at_ns + BATCH_NS // 4)
    parts = list(kept.parts(0, Ticks()))
    packed_s = time.process_time() - began_s
    sent = logged(reader, rows)
    began_s = time.process_time()
    checked = check(
        ArrivingRows(reader, sent), fresh_type, (AnswerLog.of(part, fresh_type) for part in parts),
        promised=True,
    )  # fmt: skip
    checked_s = time.process_time() - began_s
    assert checked.right == checked.answers == len(asked), checked.wrong
    size = sum(len(part.answers) + len(part.values) for part in parts) / answers
    return (
        f"| {name} | {devices} | {answers / packed_s:,.0f} | {answers / checked_s:,.0f} |"
        f" {answers / (packed_s + checked_s):,.0f} | {size:,.0f} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--answers", type=int, default=30_000)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--devices", type=int, nargs="+", default=[1, 8, 64])
    given = parser.parse_args()
    print("| Query | Groups | Packed/s | Checked/s | Both, answers/s a core | Bytes an answer |")
    print("|---|---|---|---|---|---|")
    for devices in given.devices:
        for name, fresh_type in fresh_types(reader_of(devices)).items():
            print(measured(devices, name, fresh_type, given.rows, given.answers), flush=True)


if __name__ == "__main__":
    main()
