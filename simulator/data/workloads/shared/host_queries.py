"""Queries of a fleet of hosts over its table `cpu`: queries of TSBS, under its names, and others.

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
from functools import partial

from simulator.data.derived import reselect
from simulator.data.query import (
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
from simulator.data.workloads.shared.windows import HOUR_MS, MINUTE_MS, Windows, choose_tags

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


def ask_newest_rows(cpu: Table) -> NewestQuery:
    """Return the query for the newest row of each host, `lastpoint` of TSBS."""
    return NewestQuery(cpu, ("hostname",), tuple(column.name for column in cpu.fields))


class HostQueries:
    """Types with random hosts and times."""

    def __init__(self, cpu: Table, windows: Windows, hosts: int, first: int = 0) -> None:
        """Store the table, its time, its number of hosts, and the number of the first host."""
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
            **{name: self._find_busy(name, hosts) for name, hosts in _BUSY.items()},
            "groupby-orderby-limit": self._find_newest("groupby-orderby-limit"),
        }

    def highest(
        self, name: str, fields: int, hosts: int, hours: int, bucket: int = MINUTE_MS
    ) -> QueryType:
        """Return the type for the maximum of the first fields of some hosts, by time."""
        if hosts > self._hosts:
            return impossible(f"it asks about {hosts} hosts, and the fleet has {self._hosts}")
        query = AggregateQuery(self._cpu, self._aggregates(Function.MAX, fields), bucket=bucket)
        choose = partial(self._choose, hosts)
        return self._find_lack(fields) or self._windows.make_type(
            name, query, hours, bucket, choose
        )

    def means(self, name: str, fields: int, hours: int) -> QueryType:
        """Return the type for the mean of the first fields by host and hour."""
        means = self._aggregates(Function.AVG, fields)
        query = AggregateQuery(self._cpu, means, by=("hostname",), bucket=HOUR_MS)
        return self._find_lack(fields) or self._windows.make_type(name, query, hours, HOUR_MS)

    def single_lastpoint(self) -> QueryType:
        """Return the type for the newest row of one host."""
        choose = partial(self._choose, 1)
        return choose_tags(
            self._windows.seed, "single-lastpoint", ask_newest_rows(self._cpu), choose
        )

    def _find_lack(self, fields: int) -> QueryType | None:
        """Return an impossible type if the table has fewer fields, else None."""
        having = len(self._cpu.fields)
        if fields <= having:
            return None
        return impossible(
            f"it asks about {fields} fields, and the table {self._cpu.name} has {having}"
        )

    def _aggregates(self, function: Function, fields: int) -> tuple[Aggregate, ...]:
        return tuple(Aggregate(function, column.name) for column in self._cpu.fields[:fields])

    def _choose(self, hosts: int, parameters: RandomParameters, number: int) -> tuple[OneOf, ...]:
        chosen = parameters.among(number, self._hosts, hosts)
        return (OneOf("hostname", tuple(f"host_{self._first + host}" for host in chosen)),)

    def _find_busy(self, name: str, hosts: int | None) -> QueryType:
        busy = Condition("usage_user", Operator.MORE, _BUSY_PERCENT)
        query = RowsQuery(self._cpu, selection=Selection(compared=(busy,)))
        choose = partial(self._choose, hosts) if hosts else None
        return self._windows.make_type(name, query, _BUSY_HOURS, 1, choose)

    def _find_newest(self, name: str) -> QueryType:
        highest = self._aggregates(Function.MAX, 1)
        query = AggregateQuery(self._cpu, highest, bucket=MINUTE_MS, newest=_NEWEST_MINUTES)
        windows = self._windows.make_type(name, query, 1, MINUTE_MS)

        def instance(number: int) -> Query:
            return reselect(windows.instance(number), lambda rows: replace(rows, since=None))

        return replace(windows, instance=instance)
