"""Telemetry of a fleet of hosts, as in influxdb-comparisons, use case `devops`.

Nine tables (the document's measurements), 101 fields, one point of each per host and interval:
19,440 points for one host and six hours at 10 s, 77,760 for a day.

Where the document's text, help and code disagree or do not fit, we decided:

- 101 fields, as in the code. The text has 100.
- Six hours by default, as in the help and the example; the text has a day. The dataset gives the
  start; the document begins at 2016-01-01, its later code at 2018-01-01.
- The table is called `postgresql`; the document writes `postgresl`.
- The fields of `mem` hold what their names mean, and `free` is the unused memory. In the code,
  `free` holds the cached bytes, `cached` the buffered ones, `buffered` the used ones, and
  `buffered_percent` the share that is not buffered.
- `used_percent` is an integer in `disk` and a double in `mem`, as in the code.
- Seed 0 is an ordinary seed, not the current time. Ranges of rows divide a dataset; there is no
  `-interleaved-generation-groups`.

Walks have the laws of the document's code but not its values, because the code draws them from one
stream.

- `distribution=documented`: gauges with a drift (`nginx`, `postgresql`, `redis`) reach their upper
  clamp after about 20 or 200 ticks and stay on it, so their columns are constant. Gauges in bytes
  (`temp_bytes`, `used_memory`, `free` of `disk`) rise for months or longer first. Gauges without a
  drift (`cpu`, `mem`) touch a clamp as often and as long as in the document.
- `distribution=unpinned`, the default: gauges have no drift, are reflected at their bounds and
  start anywhere between them, so all hosts and times are alike. Their steps have the document's
  root mean square: sqrt(26) for a mean of 5 and a deviation of 1.
- Counters, and the gauges of `redis` without bounds, rise in both as in the document.

Bits per value: doubles (`cpu`, percentages of `mem`) have 12.6 on the grid (0 to 100 in steps of
1/64), and fill a double with full precision (49 bits are drawn); bytes of memory have 14 (steps of
1 MiB) and 34. Other integers are the same in both.
"""

from collections.abc import Sequence

from simulator.data.query import Aggregate, AggregateQuery, Function, NewestQuery, Query
from simulator.data.query_type import QueryType
from simulator.data.schema import Table
from simulator.data.workloads.shared.fleets import NumberedParams
from simulator.data.workloads.shared.host_queries import ask_newest_rows
from simulator.data.workloads.shared.telemetry import Telemetry
from simulator.data.workloads.shared.windows import HOUR_MS, count_queries

_HIGHEST = {  # name -> hosts, hours
    **{f"{hosts}-host-1-hr": (hosts, 1) for hosts in (1, 2, 4, 8, 16, 32)},
    "1-host-12-hr": (1, 12),
}
_GROUPBY_HOURS = 24


class DevopsParams(NumberedParams):
    """The fleet of hosts."""

    series_per_member = 9


class Devops(Telemetry):
    """Nine tables of a fleet of hosts."""

    name = "devops"
    version = 1
    params_model = DevopsParams
    params: DevopsParams

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        named = {table.base: table for table in tables}
        cpu = named["cpu"]
        means = tuple(Aggregate(Function.AVG, column.name) for column in cpu.fields)
        return {
            "lastpoint": ask_newest_rows(cpu),
            "cpu-mean-by-hour-and-host": AggregateQuery(cpu, means, ("hostname",), HOUR_MS),
            "newest-per-host": NewestQuery(cpu, ("hostname",), ("usage_user", "usage_system")),
            **count_queries(named),
        }

    def random_types(
        self, tables: Sequence[Table], *, aligned: bool, until_ms: int | None
    ) -> dict[str, QueryType]:
        """Return the types of the document and of TSBS."""
        (cpu,) = (table for table in tables if table.base == "cpu")
        hosts = self._make_queries(cpu, aligned=aligned, until_ms=until_ms)
        return {
            **{name: hosts.highest(name, 1, *each) for name, each in _HIGHEST.items()},
            "groupby": hosts.means("groupby", 1, _GROUPBY_HOURS),
            **hosts.of_tsbs(),
        }
