"""Names and labels of figures in OpenMetrics.

https://prometheus.io/docs/specs/om/open_metrics_spec/
"""

import re
from collections.abc import Mapping

from iotbench.figures.figures import Unit, find_figure
from iotbench.machine.cleaning import plain

PREFIX = "iotbench"
"""First word of the name of every metric."""
END = "# EOF"
OWN = re.compile(rb"(# [A-Z]+ )?iotbench_|# EOF\n\Z")
"""Pattern of the beginning of a file with metrics."""

_ENDINGS = {
    Unit.MILLISECONDS: ("_ms", "_seconds", 1e-3),
    Unit.SECONDS: ("_s", "_seconds", 1.0),
    Unit.SHARE: ("", "_ratio", 1.0),
    Unit.NS_PER_ROW: ("_ns_per_row", "_seconds_per_row", 1e-9),
}
"""Unit -> (ending of a figure's name, ending of the metric's name, factor of the value)."""


def metric_of(figure: str) -> tuple[str, float]:
    """Return the name of a figure's metric in base units, and the factor that converts values."""
    ending = _ENDINGS.get(find_figure(figure).unit, ("_per_s", "_per_second", 1.0))
    end, metric, factor = ending if figure.endswith(ending[0]) else ("", "", 1.0)
    return f"{figure.removesuffix(end).replace('.', '_')}{metric}", factor


def labels_of(labels: Mapping[str, str]) -> str:
    """Return labels in braces, as they follow the name of a metric."""
    pairs = (f'{name}="{_escape(text)}"' for name, text in labels.items())
    return "{" + ",".join(pairs) + "}"


def _escape(text: str) -> str:
    return plain(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
