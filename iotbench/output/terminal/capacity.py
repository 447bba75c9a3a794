"""After how many days a disk is full, at the rates and with the size per row of a result."""

from iotbench.figures.summary import on_disk_of
from iotbench.measurements import kind_of, summary_of
from iotbench.results.result import Result
from simulator.errors import ConfigError, counted

_DAY_S = 86_400


def days_until_full(result: Result, disk_bytes: int) -> str:
    """Return a line with the days for each rate; ConfigError if size or rate were not measured."""
    summary, on_disk = summary_of(result), on_disk_of(result)
    rows = () if kind_of(result).asks else summary.rows
    rates = {row.place: rate for row in rows if (rate := row.value("rows_per_s"))}
    if not on_disk or not rates:
        raise ConfigError("--disk: this result has no rows/s or no size on disk; use an insert's")
    days = ", ".join(
        f"{_days(disk_bytes, on_disk.bytes_per_row, rate)} at {rate:,.0f} rows/s ({place})"
        for place, rate in rates.items()
    )
    return f"days until {counted(disk_bytes, 'byte')} are full: {days}"


def _days(disk_bytes: int, bytes_per_row: float, rows_per_s: float) -> str:
    days = disk_bytes / (rows_per_s * bytes_per_row * _DAY_S)
    return f"{days:,.0f}" if days >= 100 else f"{days:.3g}"
