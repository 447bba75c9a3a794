"""What a VictoriaMetrics server says of itself: its settings and sizes, on the page /metrics."""

import re
import time
from dataclasses import dataclass

_LINE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_DAY_S = 86_400
_UNITS_S = {
    "ms": 0.001,
    "s": 1,
    "m": 60,
    "h": 3600,
    "d": _DAY_S,
    "w": 7 * _DAY_S,
    "M": 31 * _DAY_S,
    "y": 365 * _DAY_S,
}
_MARGIN_S = 3600
"""What is nearer than this to the end of the retention might be gone before it is verified."""


@dataclass(frozen=True, slots=True)
class Page:
    """The page, as (labels, value) by name."""

    items: dict[str, list[tuple[dict[str, str], float]]]

    @classmethod
    def parsed(cls, text: str) -> "Page":
        """Return a page made of its text."""
        items: dict[str, list[tuple[dict[str, str], float]]] = {}
        for name, labels, value in _LINE.findall(text):
            items.setdefault(name, []).append((dict(_LABEL.findall(labels)), float(value)))
        return cls(items)

    @property
    def is_victoriametrics(self) -> bool:
        """Whether it is one of a server that stores."""
        return "vm_app_version" in self.items and bool(self.flag("retentionPeriod"))

    @property
    def version(self) -> str:
        """The version; packages of some distributions do not say it."""
        ((labels, _),) = self.items["vm_app_version"]
        short = labels.get("short_version", "").removeprefix("v")
        return f"VictoriaMetrics {short}" if short else "VictoriaMetrics (built without a version)"

    def flag(self, name: str) -> str:
        """Return a setting; empty if there is none of that name."""
        found = (la["value"] for la, _ in self.items.get("flag", ()) if la.get("name") == name)
        return next(found, "")

    def total(self, name: str) -> float:
        """Return the sum of a metric over its labels."""
        return sum(value for _, value in self.items.get(name, ()))

    def span_ms(self) -> tuple[int, int]:
        """Return the first and the last instant of rows that are kept."""
        now = time.time()
        first = max(now - seconds(self.flag("retentionPeriod")) + _MARGIN_S, 0)
        last = now + seconds(self.flag("futureRetention") or "2d") - _MARGIN_S
        return int(first * 1000), int(last * 1000)


def seconds(duration: str) -> float:
    """Return a duration as the server writes them, such as 1M, 2d or 1h30m; months if bare."""
    if duration.replace(".", "", 1).isdigit():
        return float(duration) * _UNITS_S["M"]
    found = re.findall(r"([\d.]+)(ms|[smhdwMy])", duration)
    return sum(float(number) * _UNITS_S[unit] for number, unit in found)
