"""What a server reports about itself."""

from simulator.modules.shared.http.prometheus import Metrics

PAGE = r"""# HELP rows_total rows
# TYPE rows_total counter
rows_total{type="json",why="a \"quote\", {braces}"} 3
rows_total{type="lines"} 1.5e3
up 1
up_more 7
"""


def test_samples_have_labels_and_values():
    metrics = Metrics.parse(PAGE)
    first, second = metrics.of("rows_total")
    assert (first.labels["why"], first.value) == (r"a \"quote\", {braces}", 3)
    assert second == ({"type": "lines"}, 1500)
    assert list(metrics.of("rows")) == []


def test_totals_are_over_labels_and_names():
    metrics = Metrics.parse(PAGE)
    assert metrics.total("rows_total", "up") == 1504
    assert metrics.total("absent") == 0
    assert "up" in metrics
    assert "absent" not in metrics
