"""One-minute bars of stocks over years, as in Quasar's "Benchmarking timeseries ingress".

One table, `bars`: time, symbol, open, high, low, close, volume. The document describes its file as
110 MiB of CSV with years of one-minute bars of a Dow Jones stock: floats and integers that compress
neither badly nor too easily. Where the document leaves something open, we decided:

- A bar for each minute of trading only: 390 a day, Monday to Friday. All minutes of the day would
  fill 110 MiB within four years, and two thirds of them would be bars without trades. Trading days
  begin at 14:30 UTC in summer too, and holidays are trading days, so that a row's time follows from
  its number. The first day is the first one that begins at the dataset's start or later.
- 18 years by default, a year being 261 trading days: 1.8 million bars, 112 MiB as CSV.
- A column `symbol`, which the document's file of one stock does not need.
- Prices are cents, as doubles: most have no end in binary, so they do not compress as a grid of a
  power of two would, and the sum of a column depends on the order of its rows in the last digits.

A price is the sum of two walks, the level of the day (60 cents a day, reflected at 20 and at 180
dollars) and the minute (4 cents a minute), folded at 10 and 200 dollars. A bar opens one cent at
most away from the previous close of its stock; the first bar of a day holds the jump from the day
before. Volumes are log-normal, and larger at the beginning and the end of a day. Any row can be
drawn alone.
"""

import math
from collections.abc import Sequence
from functools import cache, cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simulator.data.block import Array, Coded, ColumnData, Rows, Values
from simulator.data.fleet import select_rows, walks_at
from simulator.data.mixer import below, draw, key_of
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Function,
    NewestQuery,
    OneOf,
    Query,
    Selection,
    count_rows,
)
from simulator.data.query_type import QueryType, RandomParameters, impossible
from simulator.data.ranges import LANE_ROWS
from simulator.data.schema import Column, Index, Role, Table, Type
from simulator.data.walks import Clamped, Distribution, Drifting, Precision, Walks
from simulator.data.workloads.base import Params, Workload
from simulator.data.workloads.shared.windows import DAY_MS, HOUR_MS, MINUTE_MS

OPENING_MS = 14 * HOUR_MS + 30 * MINUTE_MS
MINUTES = 390
_WEEK, _WORKDAYS = 7, 5
DAYS_A_YEAR = 261
_THURSDAY = 3
"""Weekday of 1970-01-01, counted from Monday."""
LOWEST, HIGHEST = 1_000, 20_000
"""Lowest and highest price in cents."""
_CENTS_A_MINUTE = 4
_MOST_SYMBOLS = 100_000
_MONTH_DAYS = 30
_QUANTILE_BITS = 12
_VOLUME_MEDIAN, _VOLUME_SPREAD = 3_000, 1.0
_SHAPE_BITS = 8

_SYMBOL = "DJ%d"
_KEY = ("symbol", "time")
BARS = Table(
    "bars",
    (
        Column("time", Type.TIMESTAMP, Role.TIME),
        Column("symbol", Type.TEXT, Role.TAG, max_characters=len(_SYMBOL % (_MOST_SYMBOLS - 1))),
        *(
            Column(name, Type.FLOAT64, Role.FIELD, exact=False)
            for name in ("open", "high", "low", "close")
        ),
        Column("volume", Type.INT64, Role.FIELD),
    ),
    key=_KEY,
    indices=(Index("series", _KEY),),
)
PRICES = np.arange(2 * HIGHEST) / 100
"""Cents -> dollars; bars reach a few cents beyond the highest close."""


class OhlcvParams(Params):
    """Number of stocks, and the length of their series of bars."""

    symbols: int = Field(1, ge=1, le=_MOST_SYMBOLS, description="number of stocks")
    years: float = Field(
        18,
        gt=0,
        le=8000,
        description="years of one-minute bars, of 261 trading days each; 18 years of one stock are"
        " 112 MiB of CSV",
    )

    @property
    def days(self) -> int:
        """Number of trading days."""
        return math.ceil(self.years * DAYS_A_YEAR)

    @property
    def bars(self) -> int:
        """Number of bars of each stock."""
        return self.days * MINUTES

    @model_validator(mode="after")
    def _fits(self) -> "OhlcvParams":
        if self.bars * self.symbols > LANE_ROWS:
            raise ValueError(
                f"{self.symbols} symbols x {self.bars} bars is more than {LANE_ROWS} rows; reduce"
                " the symbols or the years"
            )
        return self


class Ohlcv(Workload):
    """One table of bars. Row n is (minute of trading, symbol) = divmod(n, symbols)."""

    name = "ohlcv"
    version = 1
    params_model = OhlcvParams
    has_end = True
    params: OhlcvParams
    tables = (BARS,)

    def __init__(self, params: OhlcvParams, seed: int, start_ms: int) -> None:
        super().__init__(params, seed, start_ms)
        self._levels = self._make_walks("level", Clamped(0, 60, 2_000, 18_000))
        self._moves = self._make_walks("move", Drifting(0))
        # Workdays since Monday, 1969-12-29: the first one that begins at the start or later.
        self._first_day = _count_workdays(-((OPENING_MS - start_ms) // DAY_MS))

    def _make_walks(self, name: str, walk: Clamped | Drifting) -> Walks:
        walks = {name: walk}
        return Walks(BARS.name, walks, self.seed, Distribution.UNPINNED, Precision.GRID)

    def size(self, table: Table) -> int:
        return self.params.bars * self.params.symbols

    def series(self, table: Table) -> int:
        return self.params.symbols

    def last_ms(self, rows: int) -> int:
        return int(self._find_times(np.array([self.params.bars - 1]))[0])

    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        ticks, symbols = np.divmod(rows, self.params.symbols)
        asked = {column.name for column in table.columns}
        found: dict[str, ColumnData] = {"time": Values(self._find_times(ticks))}
        if "symbol" in asked:
            found["symbol"] = Coded(symbols, self._symbols)
        found |= {
            name: Coded(cents, PRICES) for name, cents in self._draw_prices(rows, asked).items()
        }
        if "volume" in asked:
            found["volume"] = Values(self._draw_volumes(rows, ticks % MINUTES))
        return {column.name: found[column.name] for column in table.columns}

    def _find_times(self, ticks: Rows) -> Rows:
        days = ticks // MINUTES
        return self._find_openings(days) + (ticks - days * MINUTES) * MINUTE_MS

    def _find_openings(self, days: Rows) -> Rows:
        weeks, days_of_week = np.divmod(days + self._first_day, _WORKDAYS)
        dates = weeks * _WEEK + days_of_week - _THURSDAY
        openings: Rows = dates * DAY_MS + OPENING_MS
        return openings

    def _draw_prices(self, rows: Rows, asked: set[str]) -> dict[str, Rows]:
        """Return the prices among the columns that are asked for, in cents."""
        if not asked & {"open", "high", "low", "close"}:
            return {}
        if asked & {"open", "high", "low"}:
            opened, close = self._draw_ends(rows)
        else:
            opened = close = self._draw_closes(rows)
        found = {"open": opened, "close": close}
        if "high" in asked:
            found["high"] = np.maximum(opened, close) + self._draw("high", rows, 5)
        if "low" in asked:
            found["low"] = np.minimum(opened, close) - self._draw("low", rows, 5)
        return {name: cents for name, cents in found.items() if name in asked}

    def _draw_ends(self, rows: Rows) -> tuple[Rows, Rows]:
        """Return the first and the last price of each bar."""
        symbols = self.params.symbols
        if len(rows) and rows[-1] - rows[0] + 1 == len(rows):  # one pass over neighbours
            needed = np.arange(max(int(rows[0]) - symbols, 0), int(rows[-1]) + 1)
        else:
            needed = np.union1d(rows, np.maximum(rows - symbols, rows % symbols))
        closes = self._draw_closes(needed)
        before = np.searchsorted(needed, np.maximum(rows - symbols, rows % symbols))
        close = closes[np.searchsorted(needed, rows)]
        return closes[before] + self._draw("open", rows, 3) - 1, close

    def _draw_closes(self, rows: Rows) -> Rows:
        ticks, symbols = np.divmod(rows, self.params.symbols)
        levels = walks_at(self._levels, ticks // MINUTES, symbols)["level"]
        moves = walks_at(self._moves, ticks, symbols)["move"]
        cents: Rows = np.floor(levels + _CENTS_A_MINUTE * moves).astype(np.int64)
        cents -= LOWEST
        cents %= 2 * (HIGHEST - LOWEST)
        return LOWEST + np.minimum(cents, 2 * (HIGHEST - LOWEST) - cents)

    def _draw_volumes(self, rows: Rows, minutes: Rows) -> Rows:
        """Return log-normal volumes, in proportion to the usual volume of each minute."""
        bits = draw(key_of(self.seed, "volume"), rows)
        volumes = _list_volumes().take((bits >> np.uint64(64 - _QUANTILE_BITS)).view(np.int64))
        within = ((bits & np.uint64(0xFFFF)) * (volumes >> 8).view(np.uint64)) >> np.uint64(16)
        volumes = volumes + within.view(np.int64)
        volumes *= _list_shares().take(minutes)
        volumes >>= _SHAPE_BITS
        return volumes

    def _draw(self, name: str, rows: Rows, bound: int) -> Rows:
        return below(key_of(self.seed, name), rows, bound)

    @cached_property
    def _symbols(self) -> Array:
        return np.array([(_SYMBOL % n).encode() for n in range(self.params.symbols)])

    def candidates(self, table: Table, selection: Selection) -> Rows | None:
        bars = self.params.bars
        chosen = selection.places(self._count_before, bars)
        return select_rows({"symbol": self._symbols}, selection, chosen, bars)

    def _count_before(self, instant_ms: int) -> int:
        """Return how many bars of a stock begin before an instant."""
        date, time_ms = divmod(instant_ms, DAY_MS)
        days = _count_workdays(date) - self._first_day
        minutes = (
            -((OPENING_MS - time_ms) // MINUTE_MS) if (date + _THURSDAY) % _WEEK < _WORKDAYS else 0
        )
        return days * MINUTES + min(max(minutes, 0), MINUTES)

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        (bars,) = tables
        of_close = tuple(Aggregate(f, "close") for f in (Function.MIN, Function.MAX, Function.AVG))
        return {
            "count-bars": count_rows(bars),
            "close-stats": AggregateQuery(bars, of_close),
            "close-stats-per-day": AggregateQuery(bars, of_close, ("symbol",), DAY_MS),
            "newest-per-symbol": NewestQuery(bars, ("symbol",), ("close", "volume")),
        }

    def random_types(
        self, tables: Sequence[Table], *, aligned: bool, until_ms: int | None
    ) -> dict[str, QueryType]:
        """Return queries of one random stock in random windows.

        Windows begin at midnight, a multiple of every bucket, so that `aligned` changes nothing.
        """
        (bars,) = tables
        month = _MONTH_DAYS, DAY_MS
        return {
            "1-symbol-1-day": self._make_type(bars, "1-symbol-1-day", 1, HOUR_MS, until_ms),
            "1-symbol-1-month": self._make_type(bars, "1-symbol-1-month", *month, until_ms),
        }

    def _make_type(
        self, bars: Table, name: str, days: int, bucket_ms: int, until_ms: int | None
    ) -> QueryType:
        """Return the type that asks for larger bars of some days, from a random trading day on."""
        midnights = self._find_openings(np.arange(self.params.days)) - OPENING_MS
        if until_ms is not None:
            midnights = midnights[midnights < until_ms]
        if not len(midnights):
            return impossible(f"it asks about {days} days, and the data has 0")
        last = int(midnights[-1]) + (1 - days) * DAY_MS
        choices = int(np.searchsorted(midnights, last, side="right"))
        if not choices:
            covered = int(midnights[-1] - midnights[0]) // DAY_MS + 1
            return impossible(f"it asks about {days} days, and the data has {covered}")
        parameters = RandomParameters(self.seed, name)

        def instance(number: int) -> Query:
            (symbol,) = parameters.among(number, self.params.symbols, 1)
            since = int(midnights[parameters.since(number, 0, choices - 1)])
            one_of = (OneOf("symbol", (_SYMBOL % symbol,)),)
            window = Selection(one_of=one_of, since=since, until=since + days * DAY_MS)
            return AggregateQuery(bars, _BAR, bucket=bucket_ms, selection=window)

        return QueryType(instance)


_BAR = (
    Aggregate(Function.FIRST, "open"),
    Aggregate(Function.MAX, "high"),
    Aggregate(Function.MIN, "low"),
    Aggregate(Function.LAST, "close"),
    Aggregate(Function.SUM, "volume"),
)
"""A larger bar, aggregated from its minutes."""


def _count_workdays(date: int) -> int:
    """Return the number of workdays from Monday, 1969-12-29, to a day counted from 1970-01-01."""
    weeks, day = divmod(date + _THURSDAY, _WEEK)
    return weeks * _WORKDAYS + min(day, _WORKDAYS)


@cache
def _list_volumes() -> NDArray[np.int64]:
    count, normal = 1 << _QUANTILE_BITS, NormalDist()
    quantiles = (normal.inv_cdf((place + 0.5) / count) for place in range(count))
    return np.array([round(_VOLUME_MEDIAN * math.exp(_VOLUME_SPREAD * q)) for q in quantiles])


@cache
def _list_shares() -> NDArray[np.int64]:
    """Return the share of each minute in the volume of a day, in 1/256; the mean is 1."""
    minutes = np.arange(MINUTES)
    from_middle = np.abs(2 * minutes - MINUTES + 1)
    return (1 << _SHAPE_BITS) // 2 + (3 << _SHAPE_BITS - 1) * from_middle**2 // MINUTES**2
