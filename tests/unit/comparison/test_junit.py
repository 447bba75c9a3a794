"""JUnit XML as its readers expect it: numbers that agree, legal characters, one case each."""

import xml.etree.ElementTree as ET
from datetime import UTC, datetime

from iotbench.comparison.comparison import compare_sides
from iotbench.comparison.junit import (
    Case,
    End,
    check_cases,
    comparison_cases,
    junit_text,
    result_cases,
)
from iotbench.comparison.thresholds import ThresholdCheck
from simulator.protocol.verdict import Status, Verdict
from tests.unit.comparison.test_comparison import calibrated, side, sweep
from tests.unit.output.terminal.made import outcome, result, run

WHEN = datetime(2026, 11, 23, 4, 5, 6, tzinfo=UTC)


def read(cases):
    root = ET.fromstring(junit_text("insert.lite", WHEN, cases))
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    assert {case.tag for case in suite} <= {"testcase"}
    return suite


def test_the_suite_counts_its_cases():
    ends = (End.PASSED, End.FAILED, End.FAILED, End.ERROR, End.SKIPPED)
    suite = read([Case("s", str(number), end, "why") for number, end in enumerate(ends)])

    assert suite.attrib == {
        "name": "insert.lite", "timestamp": "2026-11-23T04:05:06",
        "tests": "5", "failures": "2", "errors": "1", "skipped": "1",
    }  # fmt: skip
    assert [[(why.tag, why.get("message")) for why in case] for case in suite] == [
        [], [("failure", "why")], [("failure", "why")], [("error", "why")], [("skipped", "why")]
    ]  # fmt: skip
    assert [case.get("classname") for case in suite] == ["s"] * 5


def test_a_result_has_a_case_for_its_end_and_for_each_verdict():
    statuses = (Status.VERIFIED, Status.MISMATCH, Status.UNKNOWN, Status.OFF)
    ends = {}
    for status in statuses:
        found = result([run(outcome(verdict=Verdict(status=status)))])
        done, verdict = result_cases(found)
        assert (done.end, verdict.name) == (End.PASSED, "verdict 1 worker")
        ends[status] = verdict.end
    (broken,) = result_cases(result([], status="failed", cause="disk full"))

    assert list(ends.values()) == [End.PASSED, End.FAILED, End.FAILED, End.SKIPPED]
    assert (broken.end, broken.text) == (End.ERROR, "failed: disk full")


def test_a_comparison_has_a_case_for_each_judgement():
    base = sweep("a", 1.0, 1.01, 0.99)
    slow = side(sweep("b", 1.2, 1.21, 1.19))
    (slower,) = comparison_cases(compare_sides(side(base), slow, known=calibrated(1)))
    (unsure,) = comparison_cases(compare_sides(side(base), slow))
    (single,) = comparison_cases(compare_sides(side(base), side(sweep("b", 1.2))))

    assert slower.name.startswith("slower: rows_per_s -16.7% (-1")
    assert unsure.name.startswith("not in turns: rows_per_s -16.7% (-1")
    assert (slower.end, unsure.end, single.end) == (End.PASSED, End.SKIPPED, End.SKIPPED)


def test_a_threshold_has_a_case_for_each_row():
    checks = (
        ThresholdCheck("p99_ms > 1", "with 1 worker", "2 ms", ok=False),
        ThresholdCheck("x > 1", "", "0", ok=True),
    )
    suite = read(list(check_cases("insert.lite", checks)))

    assert [(case.get("name"), len(case)) for case in suite] == [
        ("p99_ms > 1 with 1 worker", 1), ("x > 1", 0)
    ]  # fmt: skip


def test_any_text_makes_a_file_that_can_be_read():
    text = "a\x00b\x1b[31m<&\"'>\ud800\ufffe 中😀\n"
    suite = read([Case(text, text, End.FAILED, text)])

    assert suite[0].get("name").startswith("a\\x00b\\x1b[31m<&\"'>\\ud800\\ufffe 中😀")
