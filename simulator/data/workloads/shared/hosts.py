"""Fleets of hosts: the ten tags of a host, and tables with a point of each host at every tick.

Row n of a table is (tick, host) = divmod(n, hosts).
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.data.block import Array, Coded, ColumnData, Rows, Values
from simulator.data.fleet import select_fleet_rows, walks_at
from simulator.data.query import Selection
from simulator.data.schema import Column, Index, Role, Table, Type
from simulator.data.walks import Clamped, Precision, Walks
from simulator.data.workloads.shared.fleets import (
    MOST_MEMBERS,
    FleetWorkload,
    Members,
    NumberedParams,
    Tag,
    find_longest,
    texts,
)
from simulator.data.workloads.shared.host_queries import HostQueries

DATACENTERS = {
    "us-east-1": "abce",
    "us-west-1": "ab",
    "us-west-2": "abc",
    "eu-west-1": "abc",
    "eu-central-1": "ab",
    "ap-southeast-1": "ab",
    "ap-southeast-2": "ab",
    "ap-northeast-1": "ac",
    "sa-east-1": "abc",
}
"""Region -> the letters of its datacenters."""

HOST_TAGS: dict[str, tuple[str, ...]] = {
    "rack": tuple(map(str, range(100))),
    "os": ("Ubuntu16.10", "Ubuntu16.04LTS", "Ubuntu15.10"),
    "arch": ("x64", "x86"),
    "team": ("SF", "NYC", "LON", "CHI"),
    "service": tuple(map(str, range(20))),
    "service_version": ("0", "1"),
    "service_environment": ("production", "staging", "test"),
}
"""Tags of every point, after hostname, region and datacenter -> their values."""

USAGES = tuple(
    "usage_user usage_system usage_idle usage_nice usage_iowait usage_irq usage_softirq"
    " usage_steal usage_guest usage_guest_nice".split()
)
"""The fields of a table `cpu`, in percent."""
USAGE = Clamped(0, 1, 0, 100)
PERCENTS = np.arange(100 * 64 + 1) / 64

_HOSTNAME = "host_%d"


@dataclass(frozen=True, slots=True)
class HostTags:
    """The tags that the points of all tables have."""

    lengths: Mapping[str, int]
    """Tag -> the number of characters of its longest value, in the order of the columns."""
    names: tuple[str, ...]
    """Tags that identify a host."""


NUMBERED = HostTags(
    {
        "hostname": len(_HOSTNAME % (MOST_MEMBERS - 1)),
        "region": max(map(len, DATACENTERS)),
        "datacenter": max(map(len, DATACENTERS)) + 1,
        **{tag: find_longest(values) for tag, values in HOST_TAGS.items()},
    },
    names=("hostname",),
)
"""Tags of hosts that are named by number."""


class Hosts(FleetWorkload):
    """Tables of a fleet of hosts."""

    params: NumberedParams

    def __init__(self, params: NumberedParams, seed: int, start_ms: int) -> None:
        super().__init__(params, seed, start_ms)
        self._members = Members(seed, params.scale, params.scale_offset)

    def size(self, table: Table) -> int:
        return self.params.ticks * self.params.scale

    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        ticks, hosts = np.divmod(rows, self.params.scale)
        levels = self._find_tags(table.name)
        fields = self._draw_fields(table, ticks, hosts)
        return {
            table.time.name: Values(ticks * self.params.interval_ms + self.start_ms),
            **{tag.name: Coded(hosts, levels[tag.name]) for tag in table.tags},
            **{column.name: fields[column.name] for column in table.fields},
        }

    def series(self, table: Table) -> int:
        return self.params.scale

    def candidates(self, table: Table, selection: Selection) -> Rows | None:
        tags, params = self._find_tags(table.name), self.params
        return select_fleet_rows(tags, selection, params.ticks, self.start_ms, params.interval_ms)

    def _make_queries(self, cpu: Table, *, aligned: bool, until_ms: int | None) -> HostQueries:
        windows = self._make_windows(aligned=aligned, until_ms=until_ms)
        return HostQueries(cpu, windows, self.params.scale, self.params.scale_offset)

    def _draw_walks(self, walks: Walks, ticks: Rows, hosts: Rows) -> dict[str, Array]:
        return walks_at(walks, ticks, hosts + self.params.scale_offset)

    @abstractmethod
    def _draw_fields(self, table: Table, ticks: Rows, hosts: Rows) -> Mapping[str, ColumnData]:
        """Return the table's fields, and perhaps further ones; `hosts` are places in the fleet."""

    def _find_tags(self, table: str) -> dict[str, Array]:
        """Return tag -> the text of each host."""
        return self._host_tags

    def _encode_percentage(self, values: Array) -> ColumnData:
        if self.params.precision is Precision.FULL:
            return Values(values)
        return Coded((values * 64).astype(np.int64), PERCENTS)

    @cached_property
    def _host_tags(self) -> dict[str, Array]:
        members, names = self._members, list(DATACENTERS)
        region = members.numbers("region", len(names))
        letters = np.array([len(DATACENTERS[name]) for name in names])[region]
        place = members.numbers("datacenter", 12) % letters  # 12: 2, 3 and 4 divide it
        centers = [[f"{name}{letter}" for letter in DATACENTERS[name]] for name in names]
        widest = max(map(len, centers))
        table = texts([text for row in centers for text in (row + [""] * widest)[:widest]])
        return {
            "hostname": members.format_numbers(_HOSTNAME),
            "region": texts(names).take(region),
            "datacenter": table.take(region * widest + place),
            **{tag: members.tag(tag, values) for tag, values in HOST_TAGS.items()},
        }


def make_host_table(
    name: str,
    tags: Mapping[str, Tag],
    fields: Sequence[Column],
    group: str = "",
    common: HostTags = NUMBERED,
) -> Table:
    """Return a table of these fields, with the tags of every host and additional `tags`."""
    lengths = {**common.lengths, **{tag: find_longest(values) for tag, values in tags.items()}}
    columns = (
        Column("time", Type.TIMESTAMP, Role.TIME),
        *(Column(tag, Type.TEXT, Role.TAG, max_characters=n) for tag, n in lengths.items()),
        *fields,
    )
    key = (*common.names, "time")
    queried, indices = (*common.names, *tags), (Index("series", key),)
    return Table(name, columns, key, indices=indices, queried_tags=queried, group=group)
