"""The metrics that a server reports about itself, in the text format of Prometheus.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

_LINE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class MetricSample(NamedTuple):
    """One value of a metric."""

    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Metrics:
    """The samples of a page, by name of the metric."""

    samples: Mapping[str, list[MetricSample]]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the metrics of a page."""
        samples: dict[str, list[MetricSample]] = {}
        for name, labels, value in _LINE.findall(text):
            sample = MetricSample(dict(_LABEL.findall(labels)), float(value))
            samples.setdefault(name, []).append(sample)
        return cls(samples)

    def __contains__(self, name: str) -> bool:
        return name in self.samples

    def of(self, *names: str) -> Iterator[MetricSample]:
        """Yield the samples of metrics."""
        for name in names:
            yield from self.samples.get(name, ())

    def total(self, *names: str) -> float:
        """Return the sum of metrics over all labels."""
        return sum(sample.value for sample in self.of(*names))
