"""Datasets and run specifications that several tests start from."""

from typing import Any

from simulator.data.dataset import Dataset
from simulator.data.ranges import lane_range
from simulator.data.schema import PrimaryKey
from simulator.protocol.mark import Mark, State
from simulator.protocol.pace import Clocking
from simulator.protocol.spec import RunSpec, Work

MARKED_MS = 1_800_000_000_000


def dataset(**changes: Any) -> Dataset:
    """Return a dataset of the workload `iot` without any range of rows."""
    given = {
        "workload": "iot",
        "workload_version": 1,
        "params": {},
        "seed": 1,
        "start_ms": 0,
        "primary_key": PrimaryKey.NONE,
        "parts": 1,
    }
    return Dataset(**(given | changes))


def mark(**changes: Any) -> Mark:
    """Return the mark of a complete insert by four workers."""
    given = {
        "sweep_id": "20261122-120000-ab12",
        "run_id": "20261122-120000-ab12-4-1",
        "state": State.COMPLETE,
        "tables": ("events",),
        "dataset": dataset(seed=7).with_ranges([lane_range(lane, 0, 10) for lane in range(4)]),
        "version": "0.2.0",
        "by": "anna@laptop",
        "at_ms": MARKED_MS,
    }
    return Mark(**(given | changes))


def run_spec(**changes: Any) -> RunSpec:
    """Return the specification of an insert run on `null`; `changes` of its clocking too."""
    given = {
        "run_id": "r",
        "work": Work.INSERT,
        "target": "t",
        "module": "null",
        "options": {},
        "dataset": dataset(),
    }
    clocking = {name: changes.pop(name) for name in Clocking.model_fields if name in changes}
    return RunSpec(**(given | {"clocking": Clocking(**clocking)} | changes))
