"""Temperature events of IoT devices, as in the reference benchmark."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simulator.data.block import Array, Coded, ColumnData, Rows, Values
from simulator.data.mixer import below, draw, key_of
from simulator.data.query import Aggregate, AggregateQuery, Function, NewestQuery, Query, count_rows
from simulator.data.ranges import LANE_BITS, LANE_ROWS
from simulator.data.schema import Column, Index, Role, Table, TimeUnit, Type
from simulator.data.walks import Precision
from simulator.data.workloads.base import Params, Workload

EVENTS = Table(
    name="events",
    columns=(
        Column("timestamp", Type.INT64, Role.TIME),
        Column("device_id", Type.TEXT, Role.TAG, max_characters=12),
        Column("sequence_number", Type.INT64, Role.KEY),
        Column("temperature", Type.FLOAT32, Role.FIELD),
    ),
    key=("device_id", "timestamp", "sequence_number"),
    time_unit=TimeUnit.MILLISECOND,
    indices=(
        Index("series", ("device_id", "timestamp", "temperature")),
        Index("field", ("temperature",)),
    ),
)

# -20 <= t < 35 degrees in steps of 1/64: exact in float32, and sums are exact in float64.
TEMPERATURES = np.arange(-20 * 64, 35 * 64, dtype=np.float32) / np.float32(64)

_ALPHABET = np.frombuffer(
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", dtype=np.uint8
)
_PREFIXES = 62**4
_PREFIX_STEP = 9_868_181  # coprime to 62, so that all prefixes of a lane differ


class IotParams(Params):
    """Number of devices, and their interval."""

    devices: int = Field(1, ge=1, le=_PREFIXES, description="number of devices per worker")
    tick_ms: int = Field(
        60,
        ge=1,
        description="consecutive events of a worker are 5 to 10 times this apart; 1000 gives whole"
        " seconds, for databases with one-second resolution",
    )
    restart_rows: int = Field(
        0,
        ge=0,
        le=LANE_ROWS,
        description="rows of a worker after which time starts again, a millisecond later; 0: never",
    )


class Iot(Workload):
    """One table of events: timestamp, device, sequence number, temperature."""

    name = "iot"
    version = 1
    params_model = IotParams
    params: IotParams
    tables = (EVENTS,)
    precision = Precision.GRID
    """Temperatures are multiples of 1/64 degree."""

    def __init__(self, params: IotParams, seed: int, start_ms: int) -> None:
        super().__init__(params, seed, start_ms)
        self._device_key = key_of(seed, "device_id")
        self._step_key = key_of(seed, "timestamp")
        self._temperature_key = key_of(seed, "temperature")
        self._names = lru_cache(maxsize=4)(self._draw_names)

    def last_ms(self, rows: int) -> int:
        rising = min(rows, self.params.restart_rows or rows)
        return self.start_ms + 8 * rising * self.params.tick_ms + rows // max(rising, 1)

    @property
    def time_rises(self) -> bool:
        return not self.params.restart_rows

    @property
    def lane_rows(self) -> int:
        """Return the number of rows with different times."""
        return min(self.params.restart_rows * self.params.tick_ms or LANE_ROWS, LANE_ROWS)

    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        lane = int(rows[0]) >> LANE_BITS
        sequence = rows & (LANE_ROWS - 1)
        asked = {column.name for column in table.columns}
        found: dict[str, ColumnData] = {"timestamp": Values(self._draw_timestamps(rows, sequence))}
        if "device_id" in asked:
            devices = below(self._device_key, rows, self.params.devices)
            found["device_id"] = Coded(devices, self._names(lane))
        if "sequence_number" in asked:
            found["sequence_number"] = Values(sequence)
        if "temperature" in asked:
            temperatures = below(self._temperature_key, rows, len(TEMPERATURES))
            found["temperature"] = Coded(temperatures, TEMPERATURES)
        return found

    def _draw_timestamps(self, rows: Rows, sequence: Rows) -> NDArray[np.int64]:
        """Return rising instants, 5..10 ticks (of 60 ms) apart, 7.5 on average.

        floor(7.5 n) has steps of 7 or 8; a draw of 0, 1 or 2 changes them by -2..2. These are the
        steps of the reference, but each instant is known without the previous ones.
        """
        ticks = below(self._step_key, rows, 3)
        start_ms: int | Rows = self.start_ms
        if self.params.restart_rows:
            restarts, sequence = np.divmod(sequence, self.params.restart_rows)
            start_ms = start_ms + restarts
        ticks += sequence * 15 // 2
        ticks *= self.params.tick_ms
        ticks += start_ms
        return ticks

    def _draw_names(self, lane: int) -> Array:
        """Return the device names of a lane: 4 characters, the lane in 4 digits, 4 characters.

        The first four are a permutation of the device's number, so that names are unique; the last
        four are drawn.
        """
        device = np.arange(self.params.devices, dtype=np.int64)
        rows = device + lane * LANE_ROWS
        offset = int(draw(self._device_key, np.array([~lane]))[0] % _PREFIXES)
        prefix = (device * _PREFIX_STEP + offset) % _PREFIXES
        suffix = below(self._device_key ^ 1, rows, _PREFIXES)
        digits = f"{lane:04d}".encode()
        width = len(digits)
        letters = np.empty((len(device), 8 + width), np.uint8)
        for place in range(4):
            letters[:, place] = _ALPHABET[prefix // 62**place % 62]
            letters[:, 4 + width + place] = _ALPHABET[suffix // 62**place % 62]
        letters[:, 4 : 4 + width] = np.frombuffer(digits, np.uint8)
        return letters.reshape(-1).view(f"S{8 + width}")

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        (events,) = tables
        highest = Aggregate(Function.MAX, "temperature")
        mean = Aggregate(Function.AVG, "temperature")
        lowest = Aggregate(Function.MIN, "temperature")
        return {
            "count-events": count_rows(events),
            "temperature-min-max": AggregateQuery(events, (highest, lowest)),
            "temperature-stats": AggregateQuery(events, (highest, mean, lowest)),
            "temperature-stats-per-device": AggregateQuery(
                events, (highest, mean, lowest), by=("device_id",)
            ),
            "newest-per-device": NewestQuery(events, ("device_id",), ("temperature",)),
        }
