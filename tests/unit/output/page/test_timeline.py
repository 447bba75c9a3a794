"""Courses of runs that last longer than a picture has columns."""

import random
import re
from statistics import fmean

import pytest

from iotbench.output.page.charts import Axis, ChartPoint, ChartSeries
from iotbench.output.page.style import SeriesStyle
from iotbench.output.page.timeline import PhaseSpan, TimelineMark, draw_course, thin

HOUR = (0.0, 3600.0)
WIDTH_PX = 150.0
STEP = 72
"""Seconds of an hour in three columns."""


def hour(seed):
    noise = random.Random(seed)
    return [ChartPoint(second + 0.5, noise.uniform(0, 1000)) for second in range(3600)]


def drawn(lines, seconds=3600):
    series = [
        ChartSeries(f"{n} workers", SeriesStyle(n, n), hour(n)[:seconds]) for n in range(lines)
    ]
    marks = [TimelineMark(60.0 * each, "checkpoints", SeriesStyle()) for each in range(1, 60)]
    phases = {each.label: [PhaseSpan("insert", 0.0, float(seconds))] for each in series}
    return draw_course("rate", Axis("rows/s"), series, phases, marks)


def test_few_points_stay_as_they_are():
    points = hour(1)[:150]

    assert thin(points, HOUR, WIDTH_PX) == points
    assert thin([], HOUR, WIDTH_PX) == []


def test_many_points_are_the_mean_lowest_and_highest_of_three_columns():
    points = hour(1)
    groups = [[p.y for p in points[start : start + STEP]] for start in range(0, 3600, STEP)]
    found = thin(points, HOUR, WIDTH_PX)

    assert [each.x for each in found] == pytest.approx([STEP * (n + 0.5) for n in range(50)])
    assert [each.y for each in found] == pytest.approx([fmean(group) for group in groups])
    assert [each.low for each in found] == [min(group) for group in groups]
    assert [each.high for each in found] == [max(group) for group in groups]


def test_a_gap_in_the_time_has_no_points():
    points = hour(1)
    found = thin([*points[:1000], *points[2600:]], HOUR, WIDTH_PX)

    assert not [each for each in found if 1010 < each.x < 2590]


@pytest.mark.parametrize("lines", [1, 3])
def test_the_picture_of_an_hour_has_bands_and_is_small(lines):
    svg = drawn(lines)

    assert len(re.findall('<path[^>]*opacity="0.2"', svg)) == lines
    assert len(svg) < 17_000 + 6_000 * lines


def test_the_picture_of_a_minute_has_no_band():
    assert 'opacity="0.2"' not in drawn(1, seconds=60)
