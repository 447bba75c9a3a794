"""The measures that figures and claims compare, computed from an item's results.

A measure of inserts is named like a figure: `rows_per_s`. Other names have a second word:

- queries: the query, as in `p99_ms groupby`
- mixed loads: the query, `inserts` or `all queries`, as in `mixed_p99_ms inserts`
- changes: the change, as in `change_rows_per_s deletion`
- steps of a fill-level test: the number of the step, as in `step_rows_per_s 1`
"""

from collections.abc import Iterable, Mapping

from iotbench.figures import figures
from iotbench.figures.resources import client_in, machine_in, server_in
from iotbench.machine.resources import Resources
from iotbench.measurements import kind_of, summary_of
from iotbench.measurements.change.figures import CHANGE
from iotbench.measurements.insert.figures import LEVEL, WORKERS, list_timed_inserts
from iotbench.measurements.mixed.figures import LOAD
from iotbench.measurements.query.figures import QUERY
from iotbench.results.result import Result
from simulator.protocol.spec import Work

_OF_ITEMS = {
    "server_cores": "cores",
    "server_memory_mib": "MiB",
    "client_cores": "cores",
    "client_memory_mib": "MiB",
    "machine_load": "",
    "last_to_first": "",
    "verified": "",
}
"""Measures other than figures of rows -> their units.

Cores are the mean, and memory is the maximum, in the timed phase of an item with `resources`.
`last_to_first` is the rate of the last step of a fill-level test divided by the rate of the first.
`verified` is 1 if all rows and answers are right, and 0 otherwise.
"""
_MIXED, _CHANGE, _STEP = "mixed_", "change_", "step_"
_NAMED = {_MIXED: LOAD, _CHANGE: CHANGE}
"""Prefix of measures about rows other than queries -> kind of rows."""
_ADDED = ("rows", "timed_s", "stored_s")
"""Figures that are sums over the steps of a fill-level test; all other figures are means."""


def is_measure(name: str) -> bool:
    """Return whether a measure with this name exists."""
    kind, _, row = name.partition(" ")
    if kind.startswith(_STEP):
        return kind.removeprefix(_STEP) in LEVEL.figures and step_of(name) is not None
    for prefix, subject in _NAMED.items():
        if kind.startswith(prefix):
            return bool(row) and kind.removeprefix(prefix) in subject.figures
    known = QUERY.figures if row else {*WORKERS.figures, *_OF_ITEMS}
    return kind in known


def step_of(measure: str) -> int | None:
    """Return the number of a measure's step, from 1; None: the measure is not about a step."""
    kind, _, number = measure.partition(" ")
    return int(number) if kind.startswith(_STEP) and number.isdecimal() and int(number) else None


def unit_of(measure: str) -> str:
    """Return the unit of a measure."""
    kind = measure.partition(" ")[0]
    for prefix in (_STEP, *_NAMED):
        kind = kind.removeprefix(prefix)
    unit = figures.unit_of(kind)
    return unit.value if unit else _OF_ITEMS[kind]


def measures_of(results: Iterable[Result]) -> dict[str, float]:
    """Return the measures of one item."""
    found: dict[str, float] = {}
    right = True
    for result in results:
        found |= _measure_inserts(result) if result.kind == "insert" else _measure_rows(result)
        right = right and result.exit_code == 0
    return {**found, "verified": float(right)} if found else {}


def _measure_inserts(result: Result) -> dict[str, float]:
    """Return the measures of an insert; a fill-level test also has measures of each step."""
    parts = list_timed_inserts(result.runs)
    if not parts:
        return {}
    together = figures.figures_of(parts)
    found = {
        name: each.value * (len(parts) if name in _ADDED else 1) for name, each in together.items()
    }
    if len(parts) > 1:
        steps = [figures.figures_of([part]) for part in parts]
        for number, step in enumerate(steps, 1):
            found |= {f"{_STEP}{name} {number}": each.value for name, each in step.items()}
        first, last = (step["rows_per_s"].value for step in (steps[0], steps[-1]))
        found |= {"last_to_first": last / first} if first else {}
    used = result.runs[-1].resources
    return {**found, **(_measure_used(used) if used else {})}


def _measure_used(found: Resources) -> Mapping[str, float]:
    """Return the measures of the resources used during the insert."""
    parts = {"server": server_in(found, Work.INSERT), "client": client_in(found, Work.INSERT)}
    measured = {name: part for name, part in parts.items() if part}
    machine = machine_in(found, Work.INSERT)
    return {
        **{f"{name}_cores": part.cores for name, part in measured.items()},
        **{f"{name}_memory_mib": part.memory_bytes / 2**20 for name, part in measured.items()},
        **({"machine_load": machine.load} if machine and machine.load is not None else {}),
    }


def _measure_rows(result: Result) -> Mapping[str, float]:
    """Return the measures of each query or change, and of all queries of a mixed load together."""
    summary, writes = summary_of(result), kind_of(result).writes
    prefix = f"{result.kind}_" if writes else ""
    return {
        f"{prefix}{name} {row.place.name}": figure.value
        for row in (summary.every if writes else summary.rows)
        for name, figure in row.figures.items()
    }
