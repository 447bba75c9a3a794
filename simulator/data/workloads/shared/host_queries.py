"""Queries of a fleet of hosts over its table `cpu`: TSBS's under its names, and similar ones.

`single-groupby-F-H-T` is the maximum of the first F fields of H random hosts by minute in T random
hours, `cpu-max-all-H` the maximum of all fields by hour in 8 hours (`cpu-max-all-32-24`: 32 hosts,
24 hours), `double-groupby-F` the mean of F fields by hour and host in 12 hours. `high-cpu-1` and
`high-cpu-all` are the rows of 12 hours with more than 90 % in `usage_user`: a tenth of all rows.
`lastpoint` is the newest row of each host. `groupby-orderby-limit` is the maximum of the last five
minutes with rows before a random instant, which TSBS draws as the end of a random hour.
`single-lastpoint`, our addition, is the newest row of one random host: its answer does not grow
with the number of hosts.
"""

from collections.abc import Mapping
from dataclasses import replace

from simulator.data.query import (
    EVERYTHING,
    Aggregate,
    AggregateQuery,
    Condition,
    Function,
    NewestQuery,
    OneOf,
    Operator,
    Query,
    RowsQuery,
    Selection,
)
from simulator.data.query_type import QueryType, RandomParameters, impossible
from simulator.data.schema import Table
from simulator.data.workloads.shared.windows import HOUR_MS, MINUTE_MS, Windows, too_many

_BY_MINUTE = {  # name -> fields, hosts, hours
    f"single-groupby-{fields}-{hosts}-{hours}": (fields, hosts, hours)
    for fields, hosts, hours in (
        (1, 1, 1), (1, 1, 12), (1, 8, 1), (5, 1, 1), (5, 1, 12), (5, 8, 1),
    )
}  # fmt: skip
_BY_HOUR = {  # name -> hosts, hours
    "cpu-max-all-1": (1, 8),
    "cpu-max-all-8": (8, 8),
    "cpu-max-all-32-24": (32, 24),
}
_BY_HOST: Mapping[str, int | None] = {
    "double-groupby-1": 1,
    "double-groupby-5": 5,
    "double-groupby-all": None,
}
_BY_HOST_HOURS = 12
_BUSY: Mapping[str, int | None] = {"high-cpu-all": None, "high-cpu-1": 1}
_BUSY_HOURS, _BUSY_PERCENT = 12, 90
_NEWEST_MINUTES = 5


def lastpoint(cpu: Table) -> dict[str, Query]:
    """Return the query of TSBS that is always the same."""
    return {"lastpoint": _newest_rows(cpu)}


def _newest_rows(cpu: Table, selection: Selection = EVERYTHING) -> NewestQuery:
    fields = tuple(column.name for column in cpu.fields)
    return NewestQuery(cpu, ("hostname",), fields, selection)


class HostQueries:
    """Types with random hosts and times."""

    def __init__(self, cpu: Table, windows: Windows, hosts: int, first: int = 0) -> None:
        """Store the table, its time, its number of hosts, and the number of the first of them."""
        self._cpu, self._windows, self._hosts, self._first = cpu, windows, hosts, first

    def of_tsbs(self) -> dict[str, QueryType]:
        """Return the types of TSBS by name."""
        every = len(self._cpu.fields)
        return {
            **{
                name: self.highest(name, fields, hosts, hours)
                for name, (fields, hosts, hours) in _BY_MINUTE.items()
            },
            **{
                name: self.highest(name, every, hosts, hours, HOUR_MS)
                for name, (hosts, hours) in _BY_HOUR.items()
            },
            **{
                name: self.means(name, fields or every, _BY_HOST_HOURS)
                for name, fields in _BY_HOST.items()
            },
            **{name: self._busy(name, hosts) for name, hosts in _BUSY.items()},
            "groupby-orderby-limit": self._newest("groupby-orderby-limit"),
        }

    def highest(
        self, name: str, fields: int, hosts: int, hours: int, bucket: int = MINUTE_MS
    ) -> QueryType:
        """Return the type for the maximum of the first fields of some hosts, by time."""
        if hosts > self._hosts:
            return too_many(hosts, self._hosts, "hosts")

        def instance(parameters: RandomParameters, number: int, window: Selection) -> Query:
            chosen = replace(window, one_of=(self._of(parameters, number, hosts),))
            highest = self._aggregates(Function.MAX, fields)
            return AggregateQuery(self._cpu, highest, bucket=bucket, selection=chosen)

        return self._too_few(fields) or self._windows.type_of(name, hours, bucket, instance)

    def means(self, name: str, fields: int, hours: int) -> QueryType:
        """Return the type for the mean of the first fields by host and hour."""

        def instance(_parameters: RandomParameters, _number: int, window: Selection) -> Query:
            means = self._aggregates(Function.AVG, fields)
            return AggregateQuery(
                self._cpu, means, by=("hostname",), bucket=HOUR_MS, selection=window
            )

        return self._too_few(fields) or self._windows.type_of(name, hours, HOUR_MS, instance)

    def single_lastpoint(self) -> dict[str, QueryType]:
        """Return the type for the newest row of one host."""
        parameters = RandomParameters(self._windows.seed, "single-lastpoint")

        def instance(number: int) -> Query:
            host = self._of(parameters, number, 1)
            return _newest_rows(self._cpu, Selection((host,)))

        return {"single-lastpoint": QueryType(instance)}

    def _too_few(self, fields: int) -> QueryType | None:
        having = len(self._cpu.fields)
        if fields <= having:
            return None
        return impossible(
            f"it asks about {fields} fields, and the table {self._cpu.name} has {having}"
        )

    def _aggregates(self, function: Function, fields: int) -> tuple[Aggregate, ...]:
        return tuple(Aggregate(function, column.name) for column in self._cpu.fields[:fields])

    def _of(self, parameters: RandomParameters, number: int, hosts: int) -> OneOf:
        chosen = parameters.among(number, self._hosts, hosts)
        return OneOf("hostname", tuple(f"host_{self._first + host}" for host in chosen))

    def _busy(self, name: str, hosts: int | None) -> QueryType:
        def instance(parameters: RandomParameters, number: int, window: Selection) -> Query:
            names = () if hosts is None else (self._of(parameters, number, hosts),)
            busy = Condition("usage_user", Operator.MORE, _BUSY_PERCENT)
            chosen = replace(window, one_of=names, compared=(busy,))
            return RowsQuery(self._cpu, selection=chosen)

        return self._windows.type_of(name, _BUSY_HOURS, 1, instance)

    def _newest(self, name: str) -> QueryType:
        def instance(_parameters: RandomParameters, _number: int, window: Selection) -> Query:
            return AggregateQuery(
                self._cpu,
                self._aggregates(Function.MAX, 1),
                bucket=MINUTE_MS,
                selection=Selection(until=window.until),
                newest=_NEWEST_MINUTES,
            )

        return self._windows.type_of(name, 1, MINUTE_MS, instance)
