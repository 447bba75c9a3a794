"""A wide workload: two tables, every column type, and the values at which encoders and databases
go wrong. Small, and as every workload a pure function of the row number."""

from collections.abc import Iterable, Sequence

import numpy as np

from simulator.batch import Array, Coded, ColumnData, Rows, Values
from simulator.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    NewestQuery,
    Query,
)
from simulator.schema import Column, Role, Table, TimeUnit, Type
from simulator.workloads.base import Params, Workload

ROWS = 600

READINGS = Table(
    name="readings",
    columns=(
        Column("time", Type.TIMESTAMP, Role.TIME),
        Column("site", Type.TEXT, Role.TAG),
        Column("user", Type.TEXT, Role.TAG, nullable=True),
        Column("small", Type.INT16, Role.FIELD),
        Column("order", Type.INT32, Role.FIELD, nullable=True),
        Column("large", Type.INT64, Role.FIELD, nullable=True),
        Column("single", Type.FLOAT32, Role.FIELD),
        Column("edge32", Type.FLOAT32, Role.FIELD, exact=False),
        Column("double", Type.FLOAT64, Role.FIELD, nullable=True),
        Column("edge64", Type.FLOAT64, Role.FIELD, exact=False),
        Column("flag", Type.BOOL, Role.FIELD, nullable=True),
        Column("Note, 100% \"quoted\" 'twice'", Type.TEXT, Role.FIELD, nullable=True),
        Column("seen", Type.TIMESTAMP, Role.FIELD, nullable=True),
    ),
    key=("site", "time"),
    time_unit=TimeUnit.MICROSECOND,
)
NOTE = READINGS.columns[11].name

STATES = Table(
    name="Machine States",
    columns=(
        Column("timestamp", Type.INT64, Role.TIME),
        Column("machine", Type.TEXT, Role.TAG),
        Column("rack", Type.INT16, Role.TAG),
        Column("level", Type.FLOAT32, Role.FIELD),
        Column("running", Type.BOOL, Role.FIELD),
        Column("starts", Type.INT64, Role.FIELD),
    ),
    key=("machine", "timestamp"),
)


def _texts(*items: str) -> Array:
    return np.array([item.encode() for item in items])


SITES = _texts("north", "Ost", "Zürich", "東京 🏭", 'O\'Neil "x" \\n', "a,b\tc", "north ")
USERS = _texts("ann", "Bob")
GRID32 = np.arange(-500, 500, dtype=np.float32) / np.float32(64)
NOTES = _texts(
    "",
    "plain",
    "it's",
    '"quoted"',
    "back\\slash \\n \\N",
    "tab\there",
    "line\nbreak\r\n",
    "a,b;c|d",
    "ñandú ☃ 𝄞",
    "NULL",
    "%s %(x)s {}",
    "\\.",
    " lead and trail ",
    "x" * 3000,
)
SEEN_US = np.array(
    [
        -62_135_596_800_000_000,  # 0001-01-01
        253_402_300_799_999_999,  # 9999-12-31 23:59:59.999999
        -1,
        0,
        1,
        946_684_800_000_000,  # 2000-01-01, where PostgreSQL starts to count
        951_782_399_999_999,  # the last instant of 2000-02-28
        1_700_000_000_123_456,
    ]
)
FLAGS = np.array([False, True])
MACHINES = _texts("press", "lathe", "mill", "saw", "drill")


def _cycle(numbers: Rows, values: Iterable[float], dtype: type) -> Array:
    items = np.array([*values], dtype)
    return items[numbers % len(items)]


def _ends(dtype: type) -> list[int]:
    info = np.iinfo(dtype)
    return [info.max, info.max - 1, 0, info.min, -1, 1, info.max]


def _once(numbers: Rows, dtype: type, ends: Sequence[float]) -> Array:
    """Return small fractions, but in the first rows each of `ends`, so that no sum overflows."""
    values = (numbers / 10).astype(dtype)
    for place, value in enumerate(ends):
        values[numbers == place] = value
    return values


class Wide(Workload):
    """Two tables, every type, every awkward value."""

    name = "wide"
    version = 1
    params_model = Params

    @property
    def tables(self) -> tuple[Table, ...]:
        return (READINGS, STATES)

    @property
    def rows(self) -> int:
        return ROWS

    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        number = rows // 2  # the other table has the rows between
        return self._readings(number) if table.name == READINGS.name else self._states(number)

    def _readings(self, number: Rows) -> dict[str, ColumnData]:
        single32, single64 = np.finfo(np.float32), np.finfo(np.float64)
        ends32 = (
            single32.max,
            single32.min,
            single32.tiny,
            single32.smallest_subnormal,
            -0.0,
            16_777_217,
        )
        ends64 = (single64.max, -1e290, single64.tiny, single64.smallest_subnormal, -0.0, 2**53 + 1)
        return {
            "time": Values((number - 150) * 3_600_000_001),
            "site": Coded(number % len(SITES), SITES),
            "user": Coded(number % 2, USERS, number % 5 > 0),
            "small": Values(_cycle(number, _ends(np.int16), np.int16)),
            "order": Values(_cycle(number, _ends(np.int32), np.int32), number % 3 > 0),
            "large": Values(_cycle(number, _ends(np.int64), np.int64), number % 11 > 0),
            "single": Coded(number * 37 % len(GRID32), GRID32),
            "edge32": Values(_once(number, np.float32, ends32)),
            "double": Values((number - 100) * 1e8 + number / 1024, number % 4 > 0),
            "edge64": Values(_once(number, np.float64, ends64)),
            "flag": Coded(number // 3 % 2, FLAGS, number % 6 > 0),
            NOTE: Coded(number % len(NOTES), NOTES, number % 13 > 0),
            # What stands in place of a NULL may be anything.
            "seen": Values(
                np.where(number % 9, SEEN_US[number % len(SEEN_US)], 2**63 - 1), number % 9 > 0
            ),
        }

    def _states(self, number: Rows) -> dict[str, ColumnData]:
        return {
            "timestamp": Values((number - 100) * 60_000 + 7),
            "machine": Coded(number % len(MACHINES), MACHINES),
            "rack": Values((number % 3 - 1).astype(np.int16)),
            "level": Values((number / 8).astype(np.float32)),
            "running": Values(number % 4 == 0),
            "starts": Values(number**2),
        }

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        readings, states = tables
        hour, some = 3_600_000_000, _aggregates(("large", ""), ("single", "sum avg"))
        return {
            "count": AggregateQuery(readings, _aggregates(("", "count"))),
            "every function of every type": AggregateQuery(
                readings,
                _aggregates(
                    ("time", "count min max"),
                    ("small", "count sum avg min max"),
                    ("order", "count sum avg min max"),
                    ("large", "count min max"),
                    ("single", "count sum avg min max"),
                    ("edge32", "min max"),
                    ("double", "count sum avg min max"),
                    ("edge64", "min max"),
                    ("flag", "count sum avg min max"),
                    (NOTE, "count min max"),
                    ("seen", "count min max"),
                ),
            ),
            "by text": AggregateQuery(readings, _aggregates(("order", "avg")), by=("site",)),
            "by text with NULL": AggregateQuery(readings, some, by=("user",)),
            "by two tags": AggregateQuery(
                states, _aggregates(("running", "sum"), ("", "count")), by=("machine", "rack")
            ),
            "by time": AggregateQuery(readings, some, bucket=7 * hour),
            "by integer time": AggregateQuery(
                states, _aggregates(("starts", "sum avg")), bucket=3_600_000
            ),
            "by tag and time": AggregateQuery(
                states, _aggregates(("level", "avg max")), by=("machine",), bucket=900_000
            ),
            "where": AggregateQuery(readings, some, where=(("site", SITES[4].decode()),)),
            "where nothing is": AggregateQuery(readings, some, where=(("site", "nowhere"),)),
            "where two": AggregateQuery(readings, some, where=(("site", "Ost"), ("user", "Bob"))),
            "since and until": AggregateQuery(
                readings, some, by=("site",), since=-10 * hour, until=5 * hour + 6
            ),
            "since, in integers": AggregateQuery(
                states, _aggregates(("level", "avg")), since=-60_000 + 7
            ),
            "newest": NewestQuery(readings, "site", ("single", "flag", "seen", NOTE)),
            "newest, in integers": NewestQuery(states, "machine", ("level", "timestamp")),
            "distinct": DistinctQuery(readings, readings.key),
        }


def _aggregates(*wanted: tuple[str, str]) -> tuple[Aggregate, ...]:
    return tuple(
        Aggregate(Function(function), column or None)
        for column, functions in wanted
        for function in (functions or "count").split()
    )
