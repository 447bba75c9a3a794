"""Parameters of workloads that make no sense are refused with their reason."""

import pytest
from pydantic import ValidationError

from simulator.data.workloads import GENERATORS
from simulator.data.workloads.metaquery import MOST_SCALE as MOST_TAGS
from simulator.data.workloads.multi_measurement import MOST_SCALE as MOST_TABLES
from simulator.data.workloads.shared.fleets import MOST_MEMBERS


@pytest.mark.parametrize(
    ("workload", "params", "message"),
    [
        ("cpu", {"fields": 0}, "fields"),
        ("cpu", {"fields": 11}, "fields"),
        ("cpu", {"precision": "full"}, "choose usage doubles"),
        ("cpu", {"cardinality": -1}, "greater than or equal to 0"),
        ("cpu", {"cardinality": 10**9}, "less than or equal to 100000000"),
        ("cpu", {"cardinality": "many"}, "valid integer"),
        ("devops", {"scale": 0}, "greater than or equal to 1"),
        ("devops", {"scale": MOST_MEMBERS + 1}, "less than or equal to 100000000"),
        ("devops", {"duration_ms": 9_999}, "less than an interval of"),
        ("devops", {"scale": 10**8, "duration_ms": 10**12}, "rows per table"),
        ("devops", {"distribution": "pinned"}, "documented"),
        ("devops", {"precision": "13"}, "grid"),
        ("devops", {"devices": 3}, "Extra inputs"),
        ("devops", {"scale_offset": -1}, "greater than or equal to 0"),
        ("devops", {"scale_offset": 10**8}, "more than the 100000000 members"),
        ("devops", {"cardinality": 8}, "cardinality 8 is less than the 9 series of one member"),
        ("homes", {"scale": 0}, "greater than or equal to 1"),
        ("homes", {"scale": 10**6 + 1}, "less than or equal to 1000000"),
        ("homes", {"interval_ms": 3_600_001}, "less than or equal to 3600000"),
        ("homes", {"duration_ms": 59_999}, "less than an interval of"),
        ("homes", {"scale": 10**6, "duration_ms": 10**10}, "rows per table"),
        ("homes", {"scale_offset": 999_990, "scale": 11}, "more than the 1000000 members"),
        ("homes", {"cardinality": 55}, "less than the 55.5 series"),
        ("metaquery", {"scale": 0}, "greater than or equal to 1"),
        ("metaquery", {"scale": 9296}, "makes 86415616 points, and from start to end are 86400000"),
        ("metaquery", {"scale": MOST_TAGS + 1, "duration_ms": 1 << 50}, "or equal to 1048576"),
        ("metaquery", {"cardinality": -1}, "greater than or equal to 0"),
        ("metaquery", {"cardinality": 10**9}, "choose a later end"),
        ("multi-measurement", {"scale": 0}, "greater than or equal to 1"),
        ("multi-measurement", {"scale": MOST_TABLES + 1}, "less than or equal to 200"),
        ("multi-measurement", {"duration_ms": 49}, "are 49 ms, and a table has a point in each"),
        ("multi-measurement", {"duration_ms": 50 << 31}, "2147483647 ms; choose another end"),
        ("ohlcv", {"symbols": 0}, "greater than or equal to 1"),
        ("ohlcv", {"years": 0}, "greater than 0"),
        ("ohlcv", {"years": float("nan")}, "less than or equal to 8000"),
        ("ohlcv", {"symbols": 100_000, "years": 8000}, "reduce the symbols or the years"),
        ("trucks", {"scale": 0}, "greater than or equal to 1"),
        ("trucks", {"duration_ms": 99_999}, "9 intervals, and a truck sends ten at once"),
        ("trucks", {"initial_scale": 2}, "initial_scale 2 is more than scale 1"),
        ("trucks", {"scale": 10**8, "duration_ms": 10**12}, "rows per table"),
        ("trucks", {"nulls": "tags"}, "fields"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(workload, params, message):
    with pytest.raises(ValidationError, match=message):
        GENERATORS[workload].params_model(**params)


@pytest.mark.parametrize("workload", GENERATORS)
def test_a_parameter_of_another_workload_is_refused(workload):
    with pytest.raises(ValidationError, match="Extra inputs"):
        GENERATORS[workload].params_model(lacks=3)
