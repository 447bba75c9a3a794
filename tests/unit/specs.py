"""Datasets and run specifications that several tests start from."""

from typing import Any

from simulator.data.dataset import Dataset
from simulator.data.schema import PrimaryKey
from simulator.protocol.spec import Kind, RunSpec


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


def run_spec(**changes: Any) -> RunSpec:
    """Return the specification of an insert run on `null`."""
    given = {
        "run_id": "r",
        "kind": Kind.INSERT,
        "target": "t",
        "module": "null",
        "options": {},
        "dataset": dataset(),
    }
    return RunSpec(**(given | changes))
