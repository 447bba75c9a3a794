"""A wide workload: two tables, every column type, and the values at which encoders and databases
go wrong. Small, and as every workload a pure function of the row number.

What a database cannot hold at all is left out by name (`Awkward`), so that the rest is compared."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from enum import StrEnum

import numpy as np

from simulator.data.block import Array, Coded, ColumnData, Rows, Values
from simulator.data.query import Query
from simulator.data.schema import Column, Role, Table, TimeUnit, Type, usual_indices
from simulator.data.workloads.base import Params, Workload
from tests.contract.wide_queries import Scope, queries_of

ROWS = 600


class Awkward(StrEnum):
    """A group of values or names that not every database can hold."""

    EMPTY_TEXT = "empty text"
    NULL_TAG = "null tag"
    BEFORE_1970 = "instants before 1970"
    FAR_INSTANTS = "instants that 64 bits of nanoseconds cannot hold"
    EXTREME_FLOATS = "the largest and the smallest floats"
    MANY_DIGITS = "floats of more than 11 digits, 6 of them behind the point"
    LARGE_INTEGERS = "integers beyond 2**53"
    LEAST_INTEGERS = "the least integers of 32 and of 64 bits"
    BIGINT_ENDS = "the least and the greatest integer of 64 bits"
    LONG_TEXT = "text of 3,000 characters"
    ODD_NAMES = "names that have to be quoted"
    ODD_TAGS = "tags of more than ASCII letters and digits"
    TEXT_FIELDS = "fields of text"
    OLD_ROWS = "rows of 1970"
    FINE_TIME = "row times finer than a millisecond"
    SUBSECOND_TIME = "row times finer than a second"


class WideParams(Params):
    """What is left out."""

    lacks: tuple[Awkward, ...] = ()


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
PLAIN = {NOTE: "note", "order": "ordered", "user": "person", "Machine States": "machine_states"}
"""What stands for the odd names where they cannot be."""

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
PLAIN_SITES = _texts("north", "Ost", "Zurich", "7", "O-Neil", "a_b", "north2")
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


def _floats(
    lacks: Collection[Awkward],
) -> tuple[tuple[float, ...], tuple[float, ...], int, float, int]:
    """Return the ends of both widths, and how many digits the others have."""
    ends32: tuple[float, ...] = (16_777_217,)
    ends64: tuple[float, ...] = (2**53 + 1,)
    digits = 10, 1e8, 1024
    if Awkward.MANY_DIGITS in lacks:
        ends32, ends64, digits = (), (), (8, 1e3, 64)
    if Awkward.EXTREME_FLOATS not in lacks:
        ends32, ends64 = (*_extremes(np.float32), *ends32), (*_extremes(np.float64), *ends64)
    return (*ends32, -0.0), (*ends64, -0.0), *digits


def _integers(lacks: Collection[Awkward]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the ends of 32 and of 64 bits."""
    small, large = np.iinfo(np.int32), np.iinfo(np.int64)
    short = 1 if Awkward.LEAST_INTEGERS in lacks else 0
    if Awkward.LARGE_INTEGERS in lacks:
        return (small.min + short, small.max), (-(2**53), 2**53)
    ends = 1 if Awkward.BIGINT_ENDS in lacks else 0
    return (small.min + short, small.max), (large.min + max(short, ends), large.max - ends)


def _instants(lacks: Collection[Awkward]) -> Array:
    instants = SEEN_US
    if Awkward.FAR_INSTANTS in lacks:
        instants = instants[abs(instants) < 2**63 // 1000]
    return instants[instants >= 0] if Awkward.BEFORE_1970 in lacks else instants


def _notes(lacks: Collection[Awkward]) -> Array:
    notes = NOTES[NOTES != b""] if Awkward.EMPTY_TEXT in lacks else NOTES
    return notes[np.char.str_len(notes) < 3000] if Awkward.LONG_TEXT in lacks else notes


def _extremes(dtype: type) -> tuple[float, ...]:
    info = np.finfo(dtype)
    # A sum of the largest doubles would overflow: the negative end is a smaller one.
    lowest = info.min if dtype is np.float32 else -1e290
    return (info.max, lowest, info.tiny, info.smallest_subnormal)


def _once(numbers: Rows, dtype: type, ends: Sequence[float], part: int) -> Array:
    """Return small fractions, but in the first rows each of `ends`, so that no sum overflows."""
    values = (numbers / part).astype(dtype)
    for place, value in enumerate(ends):
        values[numbers == place] = value
    return values


_HOUR_MS, _MINUTE_MS, _SHORT_MS = 3_600_000, 60_000, 7_000


class Wide(Workload):
    """Two tables, every type, every awkward value.

    Rows lie around 1970, or follow `start_ms` closely where that is too long ago (OLD_ROWS).
    """

    name = "wide"
    version = 1
    params_model = WideParams
    params: WideParams

    @property
    def tables(self) -> tuple[Table, ...]:
        return (self._without(READINGS), self._without(STATES))

    def _without(self, table: Table) -> Table:
        """Return a table without what is left out of its names and columns."""
        columns = table.columns
        if Awkward.TEXT_FIELDS in self.params.lacks:
            columns = tuple(c for c in columns if (c.type, c.role) != (Type.TEXT, Role.FIELD))
        if Awkward.NULL_TAG in self.params.lacks:
            columns = tuple(replace(c, nullable=c.nullable and c.role != Role.TAG) for c in columns)
        if Awkward.ODD_NAMES not in self.params.lacks:
            return replace(table, columns=columns, indices=usual_indices(columns))
        columns = tuple(replace(c, name=PLAIN.get(c.name, c.name)) for c in columns)
        name, indices = PLAIN.get(table.name, table.name), usual_indices(columns)
        return replace(table, name=name, columns=columns, indices=indices)

    def size(self, table: Table) -> int:
        return ROWS // 2

    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        drawn = self._readings(rows) if table.name == READINGS.name else self._states(rows)
        (whole,) = (own for own in self.tables if own.name == table.name)
        named = dict(zip((c.name for c in whole.columns), drawn.values(), strict=True))
        return {column.name: named[column.name] for column in table.columns}

    def _readings(self, number: Rows) -> dict[str, ColumnData]:
        lacks = self.params.lacks
        ends32, ends64, part, far, finest = _floats(lacks)
        (least32, _), integers = _integers(lacks)
        instants, notes = _instants(lacks), _notes(lacks)
        middle, step = self._times_us
        columns: dict[str, ColumnData] = {
            "time": Values(middle + (number + self._earliest(-150)) * step),
            "site": Coded(number % len(self._sites), self._sites),
            "user": Coded(number % 2, USERS, None if Awkward.NULL_TAG in lacks else number % 5 > 0),
            "small": Values(_cycle(number, _ends(np.int16), np.int16)),
            "order": Values(
                np.maximum(_cycle(number, _ends(np.int32), np.int32), least32), number % 3 > 0
            ),
            "large": Values(
                np.clip(_cycle(number, _ends(np.int64), np.int64), *integers), number % 11 > 0
            ),
            "single": Coded(number * 37 % len(GRID32), GRID32),
            "edge32": Values(_once(number, np.float32, ends32, part)),
            "double": Values((number - 100) * far + number / finest, number % 4 > 0),
            "edge64": Values(_once(number, np.float64, ends64, part)),
            "flag": Coded(number // 3 % 2, FLAGS, number % 6 > 0),
            NOTE: Coded(number % len(notes), notes, number % 13 > 0),
            # What stands in place of a NULL may be anything.
            "seen": Values(
                np.where(number % 9, instants[number % len(instants)], 2**63 - 1), number % 9 > 0
            ),
        }
        if Awkward.TEXT_FIELDS in lacks:
            del columns[NOTE]
        return columns

    @property
    def _sites(self) -> Array:
        return PLAIN_SITES if Awkward.ODD_TAGS in self.params.lacks else SITES

    @property
    def _times_us(self) -> tuple[int, int]:
        """The instant of the row in the middle of the readings, and the step between two."""
        lacks = self.params.lacks
        step = 1000 * (_SHORT_MS if Awkward.OLD_ROWS in lacks else _HOUR_MS)
        if Awkward.SUBSECOND_TIME not in lacks:
            step += 1000 if Awkward.FINE_TIME in lacks else 1
        return (1000 * self.start_ms + 150 * step if Awkward.OLD_ROWS in lacks else 0), step

    @property
    def _times_ms(self) -> tuple[int, int]:
        """The instant of the row with which the states turn, and the step between two."""
        old = Awkward.OLD_ROWS not in self.params.lacks
        step = _MINUTE_MS if old else _SHORT_MS
        odd = 0 if Awkward.SUBSECOND_TIME in self.params.lacks else 7
        return (0 if old else self.start_ms + 100 * step) + odd, step

    def _earliest(self, number: int) -> int:
        """Return the first row's number, counted from the one at the middle."""
        lacks = self.params.lacks
        return 0 if Awkward.BEFORE_1970 in lacks and Awkward.OLD_ROWS not in lacks else number

    def _states(self, number: Rows) -> dict[str, ColumnData]:
        middle, step = self._times_ms
        return {
            "timestamp": Values(middle + (number + self._earliest(-100)) * step),
            "machine": Coded(number % len(MACHINES), MACHINES),
            "rack": Values((number % 3 - 1).astype(np.int16)),
            "level": Values((number / 8).astype(np.float32)),
            "running": Values(number % 4 == 0),
            "starts": Values(number**2),
        }

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        readings, states = tables
        (_, highest), (middle, step), (turn, pause) = (
            _integers(self.params.lacks)[1],
            self._times_us,
            self._times_ms,
        )
        scope = Scope(
            readings=readings,
            states=states,
            sites=tuple(site.decode() for site in self._sites.tolist()),
            middle_us=middle,
            hour_us=step // 1000 * 1000,
            turn_ms=turn,
            pause_ms=pause,
            highest=highest,
        )
        return queries_of(scope)
