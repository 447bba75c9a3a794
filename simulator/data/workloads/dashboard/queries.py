"""The queries of workload `dashboard`: the 18 panels of the document, under its programs' names.

A panel asks about a random hour of a random cluster of ten hosts; three ask about `kapacitor_1`.
The document's programs never draw the last cluster. What a panel computes from one answer is left
to its reader, so that the answer is what is stored:

- `availability`: the sum and the number of `service_up`; the document shows their quotient.
- `disk-allocated`, `memory-total`: bytes; the document divides by 2**30.
- `kapa-cpu`: `usage_idle`; the document subtracts it from 100.
- `disk-usage`, `memory-total`: the last value of each data host. The document has one row, of any
  host: all of them have points at the same time. `total` of `mem` does not change, so that its
  last value is the maximum of the last minute.
- `queue-bytes`, `redis-memory-utilization`: no minute is empty, so that nothing is filled.

Four panels take derivatives and exist by name only. `dashboard-all`, the panels in turn, is what
`query` asks without `--types`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial

from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Function,
    OneOf,
    Query,
    RowsQuery,
    Selection,
)
from simulator.data.query_type import QueryType, RandomParameters, impossible
from simulator.data.schema import Table
from simulator.data.workloads.dashboard.tables import CLUSTER_HOSTS, DATA, KAPACITOR, PATH
from simulator.data.workloads.shared.fleets import MINUTE_MS
from simulator.data.workloads.shared.windows import Windows

_HOURS = 1
_HOST = ("hostname",)


class _Where(Enum):
    """The hosts that a panel asks about."""

    CLUSTER = auto()
    DATA = auto()
    """The data hosts of a cluster."""
    KAPACITOR = auto()


@dataclass(frozen=True, slots=True)
class _Panel:
    """One panel: aggregates of a table, or some of its columns as they are stored."""

    table: str
    aggregates: tuple[Aggregate, ...] = ()
    by: tuple[str, ...] = ()
    bucket: int | None = None
    newest: int | None = None
    where: _Where = _Where.CLUSTER
    one_of: tuple[OneOf, ...] = ()
    columns: tuple[str, ...] = ()

    def query(self, table: Table, selection: Selection) -> Query:
        """Return the query of these rows."""
        if self.columns:
            return RowsQuery(table, self.columns, selection)
        return AggregateQuery(
            table, self.aggregates, self.by, self.bucket, selection, newest=self.newest
        )


def _all(function: Function, *columns: str) -> tuple[Aggregate, ...]:
    return tuple(Aggregate(function, column) for column in columns)


_mean, _highest, _last = (
    partial(_all, function) for function in (Function.AVG, Function.MAX, Function.LAST)
)
_PANELS: Mapping[str, _Panel] = {
    "availability": _Panel(
        "status", (*_all(Function.SUM, "service_up"), *_all(Function.COUNT, "service_up"))
    ),
    "cpu-num": _Panel("system", _highest("n_cpus"), bucket=MINUTE_MS, newest=1),
    "cpu-utilization": _Panel("cpu", _mean("usage_user"), _HOST, MINUTE_MS),
    "disk-allocated": _Panel(
        "disk", _highest("total"), bucket=2 * MINUTE_MS, newest=1, where=_Where.DATA
    ),
    "disk-usage": _Panel("disk", _last("used_percent"), _HOST, where=_Where.DATA),
    "disk-utilization": _Panel(
        "disk", _highest("used_percent"), _HOST, MINUTE_MS,
        where=_Where.DATA, one_of=(OneOf("path", (PATH,)),),
    ),
    "kapa-cpu": _Panel("cpu", where=_Where.KAPACITOR, columns=("time", "usage_idle")),
    "kapa-load": _Panel(
        "system", where=_Where.KAPACITOR, columns=("time", "load5", "load15", "load1")
    ),
    "kapa-ram": _Panel("mem", where=_Where.KAPACITOR, columns=("time", "used_percent")),
    "memory-total": _Panel("mem", _last("total"), _HOST, where=_Where.DATA),
    "memory-utilization": _Panel("mem", _mean("used_percent"), _HOST, MINUTE_MS),
    "queue-bytes": _Panel("postgresql", _mean("temp_files"), _HOST, MINUTE_MS),
    "redis-memory-utilization": _Panel(
        "redis", _mean("used_memory"), ("hostname", "server"), MINUTE_MS
    ),
    "system-load": _Panel("system", _highest("load5", "n_cpus"), _HOST, MINUTE_MS),
}  # fmt: skip
_DERIVATIVE = "it takes the derivative of an aggregate over time"
_NOT_SAID: Mapping[str, str] = {
    "http-request-duration": f"{_DERIVATIVE}, and a percentile",
    "http-requests": _DERIVATIVE,
    "nginx-requests": _DERIVATIVE,
    "throughput": _DERIVATIVE,
}


def list_drawn_types(
    tables: Mapping[str, Table], windows: Windows, clusters: range, *, has_kapacitor: bool
) -> dict[str, QueryType]:
    """Return the panels; `clusters` has the numbers of clusters with all hosts in the fleet."""

    def panel_type(name: str, panel: _Panel) -> QueryType:
        if panel.where is _Where.KAPACITOR and not has_kapacitor:
            return impossible(f"it asks about {KAPACITOR}, which a fleet with --scale-offset 0 has")
        if panel.where is not _Where.KAPACITOR and not clusters:
            return impossible(
                f"it asks about a cluster, and the fleet has none of {CLUSTER_HOSTS} hosts;"
                f" --scale {CLUSTER_HOSTS + 1} makes one"
            )
        step = panel.bucket or 1
        ask = _instance(tables[panel.table], panel, windows, clusters)
        return windows.type_of(name, _HOURS, step, ask)

    not_said = {
        name: impossible(f"{reason}, which the language of queries does not express")
        for name, reason in _NOT_SAID.items()
    }
    asked = {name: panel_type(name, panel) for name, panel in _PANELS.items()}
    return {name: {**asked, **not_said}[name] for name in sorted({**asked, **not_said})}


def _instance(
    table: Table, panel: _Panel, windows: Windows, clusters: range
) -> Callable[[RandomParameters, int], Query]:
    def instance(parameters: RandomParameters, number: int) -> Query:
        chosen = [*panel.one_of]
        if panel.where is _Where.KAPACITOR:
            chosen.append(OneOf("hostname", (KAPACITOR,)))
        else:
            (place,) = parameters.among(number, len(clusters), 1)
            chosen.append(OneOf("cluster_id", (str(clusters[place]),)))
        if panel.where is _Where.DATA:
            chosen.append(OneOf("hostname", DATA))
        window = windows.drawn(parameters, number, _HOURS, panel.bucket or 1, chosen)
        return panel.query(table, window)

    return instance
