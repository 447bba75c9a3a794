"""Any percentile by its name, as far as the samples carry it, and HdrHistogram's file of all."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotbench.figures.figures import figure_named, percent_of
from iotbench.measurements import summary_of
from iotbench.output.page.measured import join_summary
from iotbench.store.export import HGRM, export
from simulator.errors import ConfigError
from tests.unit.output.terminal.made import histogram, outcome, result, run, worker

RESOLUTION = 0.001
"""Three significant digits."""


def inserted(*waits, number=1):
    return run(outcome(worker(0, latency=histogram(*waits))), number=number)


def figures(*waits):
    (row,) = summary_of(result([inserted(*waits)])).rows
    return row.figures


@given(
    waits=st.lists(st.integers(1, 10**6), min_size=1, max_size=300),
    percent=st.sampled_from(["1", "12.5", "50", "75", "90", "95", "99", "99.5"]),
)
def test_it_is_the_value_below_which_that_share_is_or_not_known(waits, percent):
    found = figures(*(wait / 1000 for wait in waits))
    name, share = f"p{percent}_ms", float(percent) / 100

    if len(waits) * (100 - float(percent)) < 100:
        assert name not in found or figure_named(name).title == f"p{percent} ms"
        return
    expected = np.quantile(waits, share, method="inverted_cdf") / 1000
    assert found[name].value == pytest.approx(expected, rel=2 * RESOLUTION, abs=0.0011)
    assert found[name].n == len(waits)


def test_one_below_all_but_one_sample_is_the_last_that_is_known():
    waits = np.arange(1, 10_001) / 10
    assert figures(*waits)["p99.99_ms"].value == pytest.approx(999.9, rel=RESOLUTION)
    assert "p99.991_ms" not in figures(*waits)
    assert "p99.99_ms" not in figures(*waits[1:])


def test_those_that_are_declared_are_the_same_by_another_name():
    found = figures(*np.arange(1, 2001))

    assert found["p99.9_ms"] == found["p999_ms"]
    assert found["p50.0_ms"] == found["p50_ms"]
    assert "p99.9_ms" not in list(found)
    assert len(found) == len(list(found))


@pytest.mark.parametrize("name", ["p0_ms", "p100_ms", "p999_ms", "p1e1_ms", "p_ms", "p9", "q9_ms"])
def test_what_is_no_percentile_has_none(name):
    assert percent_of(name) is None
    assert name == "p999_ms" or figure_named(name) is None


def test_the_file_of_hdrhistogram_counts_what_is_not_above_each_value():
    waits = np.random.default_rng(1).exponential(20, 5000) + 0.1
    text = export([("id", result([inserted(*waits)]))], HGRM)
    heading, *lines = text.splitlines()
    rows = [list(map(float, line.split())) for line in lines if re.match(r" *[0-9]", line)]

    assert heading.split() == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]
    for value, percentile, count, *inverse in rows:
        assert count == np.count_nonzero(waits <= value + 0.0011) or count == pytest.approx(
            np.count_nonzero(waits <= value * (1 + RESOLUTION)), abs=25
        )
        assert percentile <= count / 5000 + 1e-12
        assert not inverse or inverse[0] == pytest.approx(1 / (1 - percentile), rel=0.01)
    assert rows[-1][1:] == [1.0, 5000.0]
    mean, deviation, most, total = map(float, re.findall(r"= +([0-9.]+)", text)[:4])
    assert mean == pytest.approx(waits.mean(), rel=0.01)
    assert deviation == pytest.approx(waits.std(), rel=0.01)
    assert (most, total) == (pytest.approx(waits.max(), rel=RESOLUTION), 5000)


def test_the_file_is_of_one_row_that_can_be_named():
    two = [worker(index, latency=histogram(7)) for index in range(2)]
    both = result([inserted(*range(1, 5)), run(outcome(*two))])
    several = r"2 rows have waits \(id: 1 worker; id: 2 workers\); choose one"
    with pytest.raises(ConfigError, match=several):
        export([("id", both)], HGRM)
    assert "4.0" in export([("id", both)], HGRM, pattern="1 worker").splitlines()[-2]
    with pytest.raises(ConfigError, match="no row was timed"):
        export([("id", both)], HGRM, pattern="nothing")


def test_exports_have_the_percentiles_that_were_named():
    found = [("id", result([inserted(*range(1, 201))]))]
    assert "p90_ms" not in export(found, "csv")
    csv = export(found, "csv", ("p90_ms", "p99.9_ms"))
    assert re.search(r",p90_ms,180\.\d+,ms,200,", csv)
    assert "p99.9_ms" not in csv
    assert "| p90 ms |" in export(found, "markdown", ("p90_ms",))
    assert "iotbench_p99_5_seconds{" in export(found, "openmetrics", ("p99.5_ms",))
    assert '"p90_ms": {' in export(found, "json", ("p90_ms",))


def test_repeats_have_the_mean_of_each_ones_percentile():
    each = [summary_of(result([inserted(*waits)])) for waits in ([1.0] * 20, [3.0] * 20)]
    (joined,) = join_summary(each).rows

    assert joined.figures["p90_ms"].value == pytest.approx(2.0, rel=0.01)
