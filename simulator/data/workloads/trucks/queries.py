"""The queries of workload `trucks`: the queries of TSBS for its use case `iot`, under its names.

About a random fleet, at random times:

- `last-loc`: the newest position of each truck; `single-last-loc`: the newest position of one
  truck.
- `low-fuel`: trucks with a newest `fuel_state` below 10 %; `high-load`: with a newest load of more
  than 90 % of their capacity.
- `stationary-trucks`: trucks with a mean velocity below 1 in ten minutes.
- `long-driving-sessions`: trucks that drove in more than 22 periods of four hours;
  `long-daily-sessions`: in more than 60 periods of a day. A period has ten minutes; a truck drives
  in it if its mean velocity is above 1.

About all trucks, at all times:

- `avg-load`: the mean load by fleet, model and capacity. TSBS divides the load by the capacity.
- `avg-vs-projected-fuel-consumption`: the mean consumption of driving trucks by fleet and nominal
  consumption, and the number of rows, from which the projected mean follows.
- `avg-daily-driving-duration`: the mean number of driving periods a day, of the days that have any,
  by truck. TSBS counts whole hours.
- `avg-daily-driving-session`: the mean length of a session by truck and the day of its beginning. A
  session is a run of periods with a mean velocity above 5. It ends with the next period of a lower
  mean; a session that continues at the end of the data has no length.
- `daily-activity`: the number of periods with a mean status below 1, by fleet, model and day. TSBS
  adds up the rows of these periods, and divides by the 144 periods of a day.
- `breakdown-frequency`: how often trucks broke down, by model: the runs of periods with a mean
  status of 1 or more, so that a truck is either active or broken down. TSBS means periods in which
  half of the rows have status 0, but its SQL counts the other periods, too, so that no truck breaks
  down.

TSBS returns the driver, too, which follows from the truck. A row in which a requested tag is NULL
belongs to another truck, in TSBS and here.
"""

from simulator.data.derived import DerivedTable, derive, spells
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
from simulator.data.query_type import QueryType, RandomParameters
from simulator.data.schema import Table
from simulator.data.workloads.shared.windows import (
    DAY_MS,
    HOUR_MS,
    MINUTE_MS,
    Windows,
    choose_tags,
    count_queries,
)
from simulator.data.workloads.trucks.tables import FLEETS, FUEL, LOAD, STATUS, TRUCK

_PERIOD_MS = 10 * MINUTE_MS
_PERIOD_HOURS = _PERIOD_MS / HOUR_MS
_COUNT = Aggregate(Function.COUNT)
_LOW_FUEL, _HIGH_LOAD = 0.1, 0.9
_LONG_DRIVES = {"long-driving-sessions": (4, 22), "long-daily-sessions": (24, 60)}
"""Name -> hours, and the number of driving periods that a driver should not exceed."""


def list_fixed_queries(readings: Table, diagnostics: Table) -> dict[str, Query]:
    """Return the queries that are always the same."""
    days = derive("days", _count_drives(_average_periods(readings, "velocity"), DAY_MS))
    driving = Condition("avg_velocity", Operator.MORE, 5)
    sessions = spells("sessions", _average_periods(readings, "velocity"), driving)
    broken = Condition(f"avg_{STATUS}", Operator.AT_LEAST, 1)
    breakdowns = spells(
        "breakdowns", _average_periods(diagnostics, STATUS, ("name", "model")), broken
    )
    return {
        "avg-load": AggregateQuery(
            diagnostics,
            (Aggregate(Function.AVG, LOAD),),
            by=("fleet", "model", "load_capacity"),
        ),
        "avg-vs-projected-fuel-consumption": AggregateQuery(
            readings,
            (Aggregate(Function.AVG, "fuel_consumption"), _COUNT),
            by=("fleet", "nominal_fuel_consumption"),
            selection=Selection(compared=(Condition("velocity", Operator.MORE, 1),)),
        ),
        "avg-daily-driving-duration": AggregateQuery(
            days, (Aggregate(Function.AVG, "count"),), by=("name",)
        ),
        "avg-daily-driving-session": AggregateQuery(
            sessions, (Aggregate(Function.AVG, sessions.length),), by=("name",), bucket=DAY_MS
        ),
        "daily-activity": AggregateQuery(
            _average_periods(diagnostics, STATUS, ("name", "fleet", "model")),
            (_COUNT,),
            by=("fleet", "model"),
            bucket=DAY_MS,
            selection=_compare(f"avg_{STATUS}", Operator.LESS, 1),
        ),
        "breakdown-frequency": AggregateQuery(breakdowns, (_COUNT,), by=("model",)),
        **count_queries({table.base: table for table in (readings, diagnostics)}),
    }


def list_drawn_types(
    readings: Table, diagnostics: Table, windows: Windows, trucks: int
) -> dict[str, QueryType]:
    """Return the types with a random fleet or truck, some of them at a random time."""

    def choose_fleet(parameters: RandomParameters, number: int) -> tuple[OneOf, ...]:
        (fleet,) = parameters.among(number, len(FLEETS), 1)
        return (OneOf("fleet", (FLEETS[fleet],)),)

    def choose_truck(parameters: RandomParameters, number: int) -> tuple[OneOf, ...]:
        (truck,) = parameters.among(number, trucks, 1)
        return (OneOf("name", (TRUCK % truck,)),)

    position = NewestQuery(readings, ("name",), ("longitude", "latitude"))
    fuel, load, capacity = (f"newest_{name}" for name in (FUEL, LOAD, "load_capacity"))
    low = RowsQuery(
        derive("newest", NewestQuery(diagnostics, ("name",), (FUEL,))),
        ("name", fuel),
        _compare(fuel, Operator.LESS, _LOW_FUEL),
    )
    high = RowsQuery(
        derive("newest", NewestQuery(diagnostics, ("name",), (LOAD, "load_capacity"))),
        ("name", load, capacity),
        _compare(load, Operator.MORE, _HIGH_LOAD, capacity),
    )
    mean = (Aggregate(Function.AVG, "velocity"),)
    slow = RowsQuery(
        derive("trucks", AggregateQuery(readings, mean, ("name",))),
        ("name",),
        _compare("avg_velocity", Operator.LESS, 1),
    )
    seed = windows.seed
    types = {
        "last-loc": choose_tags(seed, "last-loc", position, choose_fleet),
        "single-last-loc": choose_tags(seed, "single-last-loc", position, choose_truck),
        "low-fuel": choose_tags(seed, "low-fuel", low, choose_fleet),
        "high-load": choose_tags(seed, "high-load", high, choose_fleet),
        "stationary-trucks": windows.make_type(
            "stationary-trucks", slow, _PERIOD_HOURS, _PERIOD_MS, choose_fleet
        ),
    }
    for name, (hours, periods) in _LONG_DRIVES.items():
        drives = derive("trucks", _count_drives(_average_periods(readings, "velocity")))
        long = RowsQuery(drives, ("name", "count"), _compare("count", Operator.MORE, periods))
        types[name] = windows.make_type(name, long, hours, _PERIOD_MS, choose_fleet)
    return types


def _compare(
    column: str, operator: Operator, value: float, divisor: str | None = None
) -> Selection:
    return Selection(compared=(Condition(column, operator, value, divisor),))


def _average_periods(table: Table, column: str, by: tuple[str, ...] = ("name",)) -> DerivedTable:
    means = AggregateQuery(table, (Aggregate(Function.AVG, column),), by, _PERIOD_MS)
    return derive("periods", means)


def _count_drives(periods: DerivedTable, bucket: int | None = None) -> AggregateQuery:
    drove = _compare("avg_velocity", Operator.MORE, 1)
    return AggregateQuery(periods, (_COUNT,), ("name",), bucket, drove)
