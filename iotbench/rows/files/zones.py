"""Time zones: converts local times to instants."""

import re
import zoneinfo
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simulator.data.block import Array
from simulator.data.workloads.file import FileReading, RepeatedHour
from simulator.errors import ConfigError, nearest

NAMED = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3,
    "MSK": 3, "EST": -5, "EDT": -4, "PST": -8, "PDT": -7,
}  # fmt: skip
"""Name of a zone with the same offset everywhere -> offset in hours."""
OFFSET = r"[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?"
REGION = r"[A-Z][A-Za-z]+(?:/[A-Za-z0-9_+-]+){1,2}"
"""Pattern of the name of a region, such as Europe/Berlin, that may have summer time."""
UTC_NAME = "UTC"
_SKIPPED_US = 1
"""Minimum difference, in microseconds, between Arrow's results for a time that clocks skip."""


def in_utc(local_us: Array, zones: Any, reading: FileReading) -> tuple[Array, Array]:
    """Return the instants of local times, and the mask of the times with exactly one instant.

    `zones` is the zone of all times, or an Arrow array with the zone of each time; empty: the zone
    of `reading`.
    """
    if isinstance(zones, str):
        return _convert(local_us, zones or reading.time_zone, reading.repeated_hour)
    encoded = zones.dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(encoded.dictionary)), "right")
    micros, exists = np.empty_like(local_us), np.empty(len(local_us), np.bool_)
    first = 0
    for zone, end in zip(encoded.dictionary.to_pylist(), ends.tolist(), strict=True):
        rows, first = order[first:end], end
        found = _convert(local_us[rows], zone or reading.time_zone, reading.repeated_hour)
        micros[rows], exists[rows] = found
    return micros, exists


def _convert(local_us: Array, zone: str, repeated: RepeatedHour) -> tuple[Array, Array]:
    fixed = _find_offset_s(zone)
    if fixed is not None:
        return local_us - fixed * 10**6, np.ones(len(local_us), np.bool_)
    clocks = pa.array(local_us, pa.int64()).cast(pa.timestamp("us"))
    try:
        first, second = (
            pc.assume_timezone(clocks, zone, ambiguous=each, nonexistent=each)
            .cast(pa.int64())
            .to_numpy(zero_copy_only=False)
            for each in ("earliest", "latest")
        )
    except pa.ArrowInvalid:  # a name that is not a zone
        return local_us, np.zeros(len(local_us), np.bool_)
    exists = first == second
    if repeated is not RepeatedHour.STOP:
        exists |= second - first > _SKIPPED_US
    return (second if repeated is RepeatedHour.SECOND else first), exists


def _find_offset_s(zone: str) -> int | None:
    """Return a zone's constant offset from UTC in seconds; None if the offset varies."""
    if zone in NAMED or not zone:
        return NAMED.get(zone, 0) * 3600
    if not re.fullmatch(OFFSET, zone):
        return None
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return (int(digits[:2]) * 3600 + int(digits[2:]) * 60) * (-1 if zone[0] == "-" else 1)


def why_not(local_us: Array, zones: Any, reading: FileReading) -> str:
    """Return why a time is not exactly one instant in its zone; empty if it is."""
    _, exists = in_utc(local_us, zones, reading)
    if exists[0]:
        return ""
    zone = (zones if isinstance(zones, str) else zones[0].as_py()) or reading.time_zone
    if not is_zone(zone):
        return f"a time in a zone that is known, as {zone!r} is not"
    if _convert(local_us, zone, RepeatedHour.FIRST)[1][0]:
        return f"one time of {zone}, whose clocks show it twice (--repeated-hour takes one)"
    return f"a time of {zone}, whose clocks skip it"


def is_zone(name: str) -> bool:
    """Return whether a zone has this name."""
    return _find_offset_s(name) is not None or name in zoneinfo.available_timezones()


def expect_zone(name: str) -> None:
    """Raise ConfigError if --time-zone is not the name of a zone."""
    if not is_zone(name):
        near = nearest(name, zoneinfo.available_timezones())
        hint = near if near.startswith("did") else "such as Europe/Berlin, UTC or +02:00"
        raise ConfigError(f"--time-zone: no time zone {name!r} on this machine ({hint})")
