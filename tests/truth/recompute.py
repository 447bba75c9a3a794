"""Rows and answers of `iot` and of skewed tables, computed from docs/workloads.md, row by row.

Nothing of the product is imported, nor anything that it uses: the standard library only.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_LANE = 1 << 40
_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_TEXTS = 62**4


class Row(NamedTuple):
    """A row of `events`."""

    device_id: str
    timestamp: int
    sequence_number: int
    temperature: float


def _mixed(value: int) -> int:
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & _MASK
    return value ^ value >> 31


def _key(seed: int, column: str) -> int:
    """Return the key of a column: FNV-1a of its name, and the seed."""
    name = 0xCBF29CE484222325
    for byte in column.encode():
        name = ((name ^ byte) * 0x100000001B3) & _MASK
    found = _mixed((seed + _GOLDEN) & _MASK) ^ name
    return _mixed((found + _GOLDEN) & _MASK)


def _bits(key: int, row: int) -> int:
    return _mixed((row * _GOLDEN + key) & _MASK)


def _below(key: int, row: int, bound: int) -> int:
    return (_bits(key, row) >> 32) * bound >> 32 if bound > 1 else 0


def zipf(count: int, exponent: float) -> list[int]:
    """Return the weights of so many values by this law."""
    return [round(2**32 / rank**exponent) for rank in range(1, count + 1)]


def hotspot(count: int, hot: float, rows: float) -> list[int]:
    """Return the weights where a share of the values gets a share of the rows."""
    few = min(max(round(hot * count), 1), count)
    rest = count - few
    return [round(2**32 * rows / few)] * few + [round(2**32 * (1 - rows) / (rest or 1))] * rest


def chooser(seed: int, name: str, weights: Sequence[int]) -> Callable[[int], int]:
    """Return what chooses a value, from 0, for each row of a column or table of this name."""
    key, total = _key(seed, name), sum(weights)
    edges = [end / total for end in accumulate(weights)][:-1]
    return lambda row: bisect_right(edges, (_bits(key, row) >> 11) / 2**53)


def skewed(
    seed: int, start_ms: int, duration_ms: int, series: int, exponent: float
) -> Iterator[tuple[str, int, str]]:
    """Yield meter, time and state of the rows of the table `readings` of docs/workloads.md.

    Its interval is 10 s; its states are `idle`, `busy` and `fault`, chosen by `latest: 1`.
    """
    states, rows = ("idle", "busy", "fault"), -(-duration_ms * series // 10_000)
    meter = chooser(seed, "readings", zipf(series, exponent))
    state = chooser(seed, "readings.state", zipf(3, 1.0))
    width = len(str(series - 1))
    for row in range(rows):
        time = start_ms + row * 10_000 // series
        newest = row * 3 // rows
        yield f"meter-{meter(row):0{width}}", time, states[(newest - state(row)) % 3]


def _text(number: int) -> str:
    """Return four letters, the least significant first."""
    return "".join(_LETTERS[number // 62**place % 62] for place in range(4))


def _device(seed: int, worker: int, number: int) -> str:
    key = _key(seed, "device_id")
    first = (number * 9_868_181 + _bits(key, ~worker & _MASK)) % _TEXTS
    last = _below(key ^ 1, worker * _LANE + number, _TEXTS)
    return f"{_text(first)}{worker:04d}{_text(last)}"


def rows(seed: int, start_ms: int, workers: int, each: int, devices: int) -> Iterator[Row]:
    """Yield the rows that so many workers insert, `each` of them the same number."""
    for worker in range(workers):
        names = [_device(seed, worker, number) for number in range(devices)]
        for number in range(each):
            row = worker * _LANE + number
            ticks = number * 15 // 2 + _below(_key(seed, "timestamp"), row, 3)
            yield Row(
                names[_below(_key(seed, "device_id"), row, devices)],
                start_ms + 60 * ticks,
                number,
                _below(_key(seed, "temperature"), row, 3520) / 64 - 20,
            )


def answers(stored: Sequence[Row]) -> dict[str, list[tuple[object, ...]]]:
    """Return the answer to each query: columns in the order of docs/queries.md, rows in any."""
    devices: dict[str, list[Row]] = {}
    for row in stored:
        devices.setdefault(row.device_id, []).append(row)
    newest = {name: max(own, key=lambda row: row.timestamp) for name, own in devices.items()}
    most, mean, least = _stats(stored)
    return {
        "count-events": [(len(stored),)],
        "temperature-min-max": [(most, least)],
        "temperature-stats": [(most, mean, least)],
        "temperature-stats-per-device": [(name, *_stats(own)) for name, own in devices.items()],
        "newest-per-device": [(name, row.temperature) for name, row in newest.items()],
    }


def _stats(stored: Sequence[Row]) -> tuple[float, float, float]:
    """Return highest, mean and lowest temperature; sums of multiples of 1/64 are exact."""
    found = [row.temperature for row in stored]
    return max(found), sum(found) / len(found), min(found)
