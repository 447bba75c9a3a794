"""Results as runs would leave them, to be reported."""

from datetime import UTC, datetime

from iotbench.machine.machine import Machine
from iotbench.results.metrics import insert_metrics
from iotbench.results.result import Result, RunRecord
from simulator.data.dataset import Dataset
from simulator.data.ranges import RowRange
from simulator.data.schema import PrimaryKey
from simulator.load.meter import Meter
from simulator.protocol.events import Outcome, Server
from simulator.protocol.messages import WorkerReport
from simulator.protocol.verdict import Status, Verdict

MS = 10**6
SERVER = Server(version="SQLite 3", nodes=1, durability="synced", durable=True, settings={})


def histogram(*milliseconds):
    meter = Meter(0)
    for latency in milliseconds:
        meter.record(0, int(latency * MS), 1, 0)
    return meter.latency()


SENDS = histogram(*[0.1] * 99, 0.9)


def worker(index, rows=100, started=10.0, ended=12.0, **changes):
    fields = {
        "index": index,
        "rows": rows,
        "started_s": started,
        "ended_s": ended,
        "duration_s": ended - started,
        "send_s": ended - started,
        "payload_bytes": 40 * rows,
    }
    return WorkerReport(**(fields | changes))


def stored(rows, **changes):
    """Rows of `iot`, as the tables hold them after a run."""
    fields = {
        "workload": "iot",
        "workload_version": 1,
        "params": {},
        "seed": 1,
        "start_ms": 0,
        "primary_key": PrimaryKey.DB,
        "parts": 1,
        "ranges": (RowRange(start=0, stop=rows),) if rows else (),
    }
    return Dataset(**(fields | changes))


def outcome(*workers, **changes):
    fields = {
        "status": "done",
        "released_s": 10.0,
        "server": SERVER,
        "workers": workers or (worker(0),),
        "verdict": Verdict(status=Status.VERIFIED),
        "size_bytes": 8192,
        "phases_s": {"visible": 0.0, "compact": 0.5},
    }
    return Outcome(**(fields | changes))


def run(found=None, *, number=1, level=0, **changes):
    found = found or outcome(**changes)
    return RunRecord(
        run_id="r",
        workers=len(found.workers),
        run=number,
        level=level,
        outcome=found,
        metrics=insert_metrics(found, stored(200)),
    )


def result(runs, *, cores=8, kind="insert", **changes):
    fields = {
        "program_version": "1",
        "sweep_id": "s",
        "created": datetime(2026, 11, 21, tzinfo=UTC),
        "kind": kind,
        "target": "lite",
        "module": "sqlite",
        "runner": "local",
        "configuration": {"workers": [1], "num_inserts": 100, "batch": 10},
        "machine": Machine(
            system="Linux",
            processor="CPU",
            cores=cores,
            memory_bytes=2**34,
            python="3.11.2",
            load_average=0.5,
        ),
        "dataset": stored(0),
        "status": "done",
        "runs": runs,
    }
    return Result(**(fields | changes))


def timed(seconds, rows=1000, **changes):
    return run(outcome(worker(0, rows=rows, ended=10.0 + seconds, **changes)))
