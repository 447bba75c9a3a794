"""The queries of workload `homes`: the document's types, and fixed ones over all of the data.

The types have the names of the document's programs:

- `1-home-12-hours` (also called `fast-query-small-data` there): the mean temperature of a random
  home by hour, in 12 random hours. Versions of the code ask for six hours under this name.
- `aggregate-keep`: the mean CO2 level of room 4 in all homes, by 5 minutes. `aggregate-drop` is
  the same question, written otherwise in Flux, and so it is not here.
- `standalone-filter`: raw light levels of 8 hours; `sorted-pivot`: all columns of the air quality.
- `bare-agg` by sensor, `group-agg` by home, `ungrouped-agg`, `window-agg` by hour, and
  `group-window-transpose-low-card` by home and hour: an aggregate of the temperatures of 6 random
  hours, each with `-count`, `-sum`, `-mean`, `-min`, `-max`, `-first` and `-last`.

Where the document has an option `-query-interval`, it is an hour, its default. Some of its ranges
exclude their start; here all include it. `group-window-transpose-high-card` asks workload
`metaquery`.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from simulator.data.query import (
    ENDS,
    Aggregate,
    AggregateQuery,
    Function,
    NewestQuery,
    OneOf,
    Query,
    RowsQuery,
    Selection,
)
from simulator.data.query_type import QueryType, RandomParameters, impossible
from simulator.data.schema import Table
from simulator.data.workloads.homes.tables import ids
from simulator.data.workloads.shared.windows import (
    FUNCTIONS,
    HOUR_MS,
    MINUTE_MS,
    Windows,
    count_queries,
)

_SENSOR = ("home_id", "room_id", "sensor_id")
_SHAPES: Mapping[str, tuple[tuple[str, ...], int | None]] = {
    "bare-agg": (_SENSOR, None),
    "group-agg": (("home_id",), None),
    "ungrouped-agg": ((), None),
    "window-agg": ((), HOUR_MS),
    "group-window-transpose-low-card": (("home_id",), HOUR_MS),
}
"""Tags, and length of time, by which each shape groups."""
_ALIKE = "rooms are measured at the same time, so that the first and the last value are several"
_ROOM = "4"
"""A room that every home has."""


def list_fixed_queries(tables: Mapping[str, Table]) -> dict[str, Query]:
    """Return the queries without parameters; `tables` has the workload's tables by name."""
    air = tables["air_condition_room"]
    mean = Aggregate(Function.AVG, "temperature")
    return {
        "temperature-mean-by-hour-and-home": AggregateQuery(
            air, (mean,), by=("home_id",), bucket=HOUR_MS
        ),
        "newest-per-room": NewestQuery(air, ("sensor_id",), ("temperature", "humidity")),
        **count_queries(tables),
    }


class DrawnQueries:
    """The types with random homes and times."""

    def __init__(
        self, tables: Mapping[str, Table], windows: Windows, homes: int, first: int = 0
    ) -> None:
        """Store the tables by name, the time of the data, and the numbers of the homes."""
        self._tables, self._windows, self._homes, self._first = tables, windows, homes, first
        self._air = tables["air_condition_room"]

    def types(self) -> dict[str, QueryType]:
        """Return the types by name."""
        aggregates = {
            f"{shape}-{name}": self._aggregate(f"{shape}-{name}", function, *grouping)
            for shape, grouping in _SHAPES.items()
            for name, function in FUNCTIONS.items()
        }
        return {
            "1-home-12-hours": self._of_a_home("1-home-12-hours"),
            "aggregate-keep": self._of_a_room("aggregate-keep"),
            "standalone-filter": self._rows(
                "standalone-filter", "light_level_room", ("time", "level"), 8
            ),
            "sorted-pivot": self._rows("sorted-pivot", "air_quality_room", (), 1),
            **aggregates,
        }

    def _of_a_home(self, name: str) -> QueryType:
        def instance(parameters: RandomParameters, number: int, window: Selection) -> Query:
            chosen = self._first + np.array(parameters.among(number, self._homes, 1))
            one = OneOf("home_id", tuple(home.decode() for home in ids(chosen).tolist()))
            mean, home = Aggregate(Function.AVG, "temperature"), replace(window, one_of=(one,))
            return AggregateQuery(self._air, (mean,), bucket=HOUR_MS, selection=home)

        return self._windows.type_of(name, 12, HOUR_MS, instance)

    def _of_a_room(self, name: str) -> QueryType:
        width, room = 5 * MINUTE_MS, OneOf("room_id", (_ROOM,))

        def instance(_parameters: RandomParameters, _number: int, window: Selection) -> Query:
            mean, chosen = Aggregate(Function.AVG, "co2_level"), replace(window, one_of=(room,))
            table = self._tables["air_quality_room"]
            return AggregateQuery(table, (mean,), bucket=width, selection=chosen)

        return self._windows.type_of(name, 1, width, instance)

    def _rows(self, name: str, table: str, columns: tuple[str, ...], hours: int) -> QueryType:
        def instance(_parameters: RandomParameters, _number: int, window: Selection) -> Query:
            return RowsQuery(self._tables[table], columns, window)

        return self._windows.type_of(name, hours, MINUTE_MS, instance)

    def _aggregate(
        self, name: str, function: Function, by: tuple[str, ...], bucket: int | None
    ) -> QueryType:
        if function in ENDS and by != _SENSOR:
            return impossible(_ALIKE)

        def instance(_parameters: RandomParameters, _number: int, window: Selection) -> Query:
            asked = (Aggregate(function, "temperature"),)
            return AggregateQuery(self._air, asked, by=by, bucket=bucket, selection=window)

        return self._windows.type_of(name, 6, HOUR_MS, instance)
