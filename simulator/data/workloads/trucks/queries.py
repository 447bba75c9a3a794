"""The queries of workload `trucks`: those of TSBS for its use case `iot`, under its names.

Four of the thirteen can be asked in the language of queries:

- `last-loc`: the newest position of each truck of a random fleet, `single-last-loc` that of a
  random truck. TSBS adds the driver, which follows from the truck.
- `avg-load`: the mean load by fleet and model, and its capacity. TSBS divides the one by the other.
- `avg-vs-projected-fuel-consumption`: the mean consumption of driving trucks by fleet and nominal
  consumption, and the number of rows, of which the projected mean follows.

The other nine exist by name, and say what would be needed.
"""

from collections.abc import Mapping

from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Compared,
    Function,
    NewestQuery,
    OneOf,
    Operator,
    Query,
    Selection,
)
from simulator.data.query_type import Parameters, QueryType, impossible
from simulator.data.schema import Table
from simulator.data.workloads.trucks.tables import FLEETS, TRUCK

_POSITION = ("longitude", "latitude")
_AMONG_NEWEST = "it selects among the newest rows of the trucks"
_PERIODS = "it counts periods of ten minutes in which a truck was driving"
_NOT_SAID: Mapping[str, str] = {
    "low-fuel": _AMONG_NEWEST,
    "high-load": f"{_AMONG_NEWEST}, by the quotient of two columns",
    "stationary-trucks": "it selects trucks by the mean of their rows",
    "long-driving-sessions": _PERIODS,
    "long-daily-sessions": _PERIODS,
    "avg-daily-driving-duration": f"{_PERIODS}, and averages them by day",
    "avg-daily-driving-session": "it pairs instants at which a truck starts and stops",
    "daily-activity": f"{_PERIODS}, and averages them by day",
    "breakdown-frequency": "it counts changes from one period of ten minutes to the next",
}


def fixed_queries(readings: Table, diagnostics: Table) -> dict[str, Query]:
    """Return the queries that are always the same."""
    count = Aggregate(Function.COUNT)
    return {
        "avg-load": AggregateQuery(
            diagnostics,
            (Aggregate(Function.AVG, "current_load"),),
            by=("fleet", "model", "load_capacity"),
        ),
        "avg-vs-projected-fuel-consumption": AggregateQuery(
            readings,
            (Aggregate(Function.AVG, "fuel_consumption"), count),
            by=("fleet", "nominal_fuel_consumption"),
            selection=Selection(compared=(Compared("velocity", Operator.MORE, 1),)),
        ),
        **{f"count-{table.base}": AggregateQuery(table, (count,))
           for table in (readings, diagnostics)},
    }  # fmt: skip


def drawn_types(readings: Table, seed: int, trucks: int) -> dict[str, QueryType]:
    """Return the types with a random fleet or truck, and those that cannot be asked."""
    fleets, names = Parameters(seed, "last-loc"), Parameters(seed, "single-last-loc")

    def of_fleet(number: int) -> Query:
        (fleet,) = fleets.among(number, len(FLEETS), 1)
        return _newest(readings, OneOf("fleet", (FLEETS[fleet],)))

    def of_truck(number: int) -> Query:
        (truck,) = names.among(number, trucks, 1)
        return _newest(readings, OneOf("name", (TRUCK % truck,)))

    not_said = {
        name: impossible(f"{reason}, which the language of queries does not express")
        for name, reason in _NOT_SAID.items()
    }
    return {
        "last-loc": QueryType(of_fleet),
        "single-last-loc": QueryType(of_truck),
        **not_said,
    }


def _newest(readings: Table, one_of: OneOf) -> Query:
    return NewestQuery(readings, ("name",), _POSITION, Selection((one_of,)))
