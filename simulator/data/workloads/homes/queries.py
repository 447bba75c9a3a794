"""The queries of workload `homes`: the document's types, and fixed ones over all of the data.

The types have the names of the document's programs:

- `1-home-12-hours` (also called `fast-query-small-data` there): the mean temperature of a random
  home by hour, in 12 random hours. Versions of the code ask for six hours under this name.
- `aggregate-keep`: the mean CO2 level of room 4 in all homes, by 5 minutes. `aggregate-drop` asks
  the same with another Flux expression, and is left out.
- `standalone-filter`: raw light levels of 8 hours; `sorted-pivot`: all columns of the air quality.
- `bare-agg` by sensor, `group-agg` by home, `ungrouped-agg`, `window-agg` by hour, and
  `group-window-transpose-low-card` by home and hour: an aggregate of the temperatures of 6 random
  hours, each with `-count`, `-sum`, `-mean`, `-min`, `-max`, `-first` and `-last`.

The document's option `-query-interval` is an hour, its default. Some of its ranges exclude their
start; here all include it. `group-window-transpose-high-card` asks workload `metaquery`.
"""

from collections.abc import Mapping

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
from simulator.data.workloads.homes.tables import format_ids
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
_FIVE_MS = 5 * MINUTE_MS


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


def list_drawn_types(
    tables: Mapping[str, Table], windows: Windows, homes: int, first: int
) -> dict[str, QueryType]:
    """Return the types with random homes and times; the fleet has `homes` homes from `first` on."""
    air, quality = tables["air_condition_room"], tables["air_quality_room"]

    def choose_home(parameters: RandomParameters, number: int) -> tuple[OneOf, ...]:
        chosen = first + np.array(parameters.among(number, homes, 1))
        return (OneOf("home_id", tuple(home.decode() for home in format_ids(chosen).tolist())),)

    in_room = Selection((OneOf("room_id", (_ROOM,)),))
    levels = AggregateQuery(
        quality, (Aggregate(Function.AVG, "co2_level"),), bucket=_FIVE_MS, selection=in_room
    )
    light = RowsQuery(tables["light_level_room"], ("time", "level"))
    mean = AggregateQuery(air, (Aggregate(Function.AVG, "temperature"),), bucket=HOUR_MS)
    types = {
        "1-home-12-hours": windows.make_type("1-home-12-hours", mean, 12, HOUR_MS, choose_home),
        "aggregate-keep": windows.make_type("aggregate-keep", levels, 1, _FIVE_MS),
        "standalone-filter": windows.make_type("standalone-filter", light, 8, MINUTE_MS),
        "sorted-pivot": windows.make_type("sorted-pivot", RowsQuery(quality), 1, MINUTE_MS),
    }
    for shape, (by, bucket) in _SHAPES.items():
        for function_name, function in FUNCTIONS.items():
            name = f"{shape}-{function_name}"
            if function in ENDS and by != _SENSOR:
                types[name] = impossible(_ALIKE)
                continue
            query = AggregateQuery(air, (Aggregate(function, "temperature"),), by, bucket)
            types[name] = windows.make_type(name, query, 6, HOUR_MS)
    return types
