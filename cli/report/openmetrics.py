"""How figures are named and labelled in OpenMetrics.

https://prometheus.io/docs/specs/om/open_metrics_spec/
"""

from collections.abc import Mapping

PREFIX = "iotbench"
"""The first word of every metric."""
END = "# EOF"


def labels_of(labels: Mapping[str, str]) -> str:
    """Return labels as they follow the name of a metric."""
    pairs = (f'{name}="{_escaped(text)}"' for name, text in labels.items())
    return "{" + ",".join(pairs) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
