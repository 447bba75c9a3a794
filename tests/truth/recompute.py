"""Rows and answers of the workload `iot`, computed from docs/workloads.md alone, a row at a time.

Nothing of the product is imported, nor anything that it uses: the standard library only.
"""

from collections.abc import Iterator, Sequence
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
