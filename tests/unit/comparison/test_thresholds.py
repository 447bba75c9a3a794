"""Thresholds, of comparisons and of items of a reproduction."""

import xml.etree.ElementTree as ET

import pytest

from iotbench.comparison.comparison import compare_sides
from iotbench.comparison.thresholds import (
    Scope,
    checks_of,
    comparison_checks,
    list_changed_percentiles,
    list_failures,
    parse,
)
from iotbench.measurements import summary_of
from iotbench.measurements.insert.figures import WORKERS
from iotbench.measurements.query.figures import QUERY
from iotbench.plans.gates import Gates
from iotbench.plans.published.record import ItemRecord, Reproduction
from iotbench.results import result_files
from tests.unit.comparison.test_comparison import asked, calibrated, side, sweep
from tests.unit.output.terminal.made import histogram, outcome, result, run, worker

INSERTS = Scope((WORKERS,), workers=(1, 4), queries=())
QUERIES = Scope((QUERY,), workers=(1,), queries=("count-events", "all queries"))
COMPARISONS = Scope((WORKERS,), compares=True, workers=(1,), queries=())


def taken(text, scope=INSERTS):
    problems = []
    found = parse([text], scope, problems)
    assert problems == []
    return found[0]


def problem(text, scope=INSERTS):
    problems = []
    assert parse([text], scope, problems) == ()
    (found,) = problems
    return found.removeprefix(f"--fail-if: {text!r}: ")


@pytest.mark.parametrize(
    ("text", "figure", "sign", "limit"),
    [
        ("p99_ms > 20", "p99_ms", ">", 20),
        ("p99_ms>20ms", "p99_ms", ">", 20),
        ("  p50_ms >= 1.5 s ", "p50_ms", ">=", 1500),
        ("p95_ms > 20", "p95_ms", ">", 20),
        ("p90_ms > 20ms", "p90_ms", ">", 20),
        ("p99.99_ms > 2s", "p99.99_ms", ">", 2000),
        ("max_ms > 250us", "max_ms", ">", 0.25),
        ("rows_per_s < 50k", "rows_per_s", "<", 50_000),
        ("rows_per_s_stored <= 1e6 rows/s at workers=4", "rows_per_s_stored", "<=", 1e6),
        ("bytes_per_s < 2.5MB/s", "bytes_per_s", "<", 2.5e6),
        ("client_share > 20%", "client_share", ">", 0.2),
        ("spread > 0.1", "rows_per_s_spread", ">", 0.1),
        ("rows_per_s_min < 5", "rows_per_s_min", "<", 5),
        ("bytes_per_row > 30 bytes", "bytes_per_row", ">", 30),
    ],
)
def test_limits_have_the_units_of_their_figures(text, figure, sign, limit):
    found = taken(text)

    assert (found.figure, found.sign) == (figure, sign)
    assert found.limit == pytest.approx(limit)


@pytest.mark.parametrize(
    ("text", "scope", "reason"),
    [
        ("p98ms > 20", INSERTS, "unknown figure 'p98ms' (did you mean 'p99_ms'?)"),
        ("p100_ms > 20", INSERTS, "unknown figure 'p100_ms' (did you mean"),
        ("p0.0_ms > 20", INSERTS, "unknown figure 'p0.0_ms' (did you mean"),
        ("p99.99_ms > 20%", INSERTS, "unknown unit '%' of p99.99_ms"),
        ("first_ms > 20", INSERTS, "unknown figure 'first_ms'"),
        ("rows_per_s < 1", QUERIES, "unknown figure 'rows_per_s'"),
        ("slower > 0", INSERTS, "unknown figure 'slower'"),
        ("p99_ms > 20 MB/s", INSERTS, "unknown unit 'MB/s' of p99_ms: expected one of ms, us, s"),
        ("slower > 2 %", COMPARISONS, "unknown unit '%' of slower: expected none"),
        ("p99_ms = 20", INSERTS, "expected FIGURE OP NUMBER[UNIT] [at workers=N, query=NAME or"),
        ("p99_ms > ", INSERTS, "expected FIGURE OP NUMBER[UNIT]"),
        ("p99_ms > 1..2", INSERTS, "expected a number such as 1000"),
        ("p99_ms > 20 at workers=3", INSERTS, "workers=3 is not measured (known: 1, 4)"),
        ("p99_ms > 20 at workers=x", INSERTS, "expected workers=N with a whole number, got 'x'"),
        ("p99_ms > 20 at query=count", INSERTS, "query=count is not measured (there is no"),
        ("p99_ms > 20 at query=cuont-events", QUERIES, "(did you mean 'count-events'?)"),
        ("avg_ms_change > 2%", COMPARISONS, "unknown figure 'avg_ms_change'"),
    ],
)
def test_what_names_nothing_is_refused_with_what_there_is(text, scope, reason):
    assert reason in problem(text, scope)


def test_all_problems_are_found_at_once():
    problems = []
    parse(["p98ms > 1", "p99_ms > 1", "p99_ms ? 1"], INSERTS, problems)

    assert [text.split(": ")[:2] for text in problems] == [
        ["--fail-if", "'p98ms > 1'"], ["--fail-if", "'p99_ms ? 1'"]
    ]  # fmt: skip


def failed(text, found, scope=INSERTS):
    return list_failures(tuple(checks_of([taken(text, scope)], summary_of(found))))


def two_counts():
    slow = histogram(*[50] * 100)
    runs = [run(outcome(worker(0, latency=histogram(*[5] * 100))))]
    runs += [run(outcome(*(worker(i, latency=slow) for i in range(4))))]
    return result(runs)


def test_a_threshold_holds_against_every_row_that_it_is_about():
    assert failed("p99_ms > 20", two_counts()) == [
        "threshold failed: p99_ms > 20: 50.0 ms, 4 workers"
    ]
    assert len(failed("p99_ms > 2", two_counts())) == 2
    assert failed("p99_ms > 20 at workers=1", two_counts()) == []
    assert len(failed("p99_ms > 20 at workers=4", two_counts())) == 1
    assert failed("rows_per_s < 10", two_counts()) == []


def test_the_signs_include_the_limit_or_not():
    level = result([run(outcome(worker(0, rows=200)))])  # 100 rows/s

    assert failed("rows_per_s < 100", level) == failed("rows_per_s > 100", level) == []
    assert failed("rows_per_s <= 100", level) == [
        "threshold failed: rows_per_s <= 100: 100 rows/s, 1 worker"
    ]
    assert len(failed("rows_per_s >= 100", level)) == 1


def test_what_was_not_measured_counts_as_failed():
    without = result([run(outcome(worker(0, payload_bytes=None)))])

    assert failed("bytes_per_s < 1", without) == [
        "threshold failed: bytes_per_s < 1: bytes_per_s was not measured, 1 worker"
    ]
    assert failed("spread > 10%", without) == [
        "threshold failed: spread > 10%: rows_per_s_spread was not measured, 1 worker"
    ]
    assert failed("p99_ms > 1", result([])) == [
        "threshold failed: p99_ms > 1: nothing was measured"
    ]
    assert failed("p99_ms > 1 at workers=4", without) == [
        "threshold failed: p99_ms > 1 at workers=4: nothing was measured"
    ]


def test_queries_are_named_by_patterns():
    found = asked("a", 10, 30)

    assert failed("max_ms > 20 at query=count-*", found, QUERIES) == [
        "threshold failed: max_ms > 20 at query=count-*: 30.0 ms, count-events, 1 worker"
    ]
    (few,) = failed("p99_ms > 20", found, QUERIES)
    assert few.endswith("p99_ms needs 100 samples, and there are 2, count-events, 1 worker")
    assert failed("avg_ms > 20", found, QUERIES) == []


def judged(text, base, other):
    comparison = compare_sides(side(base), side(other), known=calibrated(1))
    return list_failures(tuple(comparison_checks([taken(text, COMPARISONS)], comparison)))


def test_changes_and_judgements_of_a_comparison_have_thresholds():
    base, slow = sweep("a", 1.0, 1.01, 0.99), sweep("b", 1.2, 1.21, 1.19)

    assert judged("slower > 0", base, slow) == ["threshold failed: slower > 0: 1, b"]
    assert judged("slower > 0", slow, base) == []
    (line,) = judged("rows_per_s_change < -5%", base, slow)
    assert line.startswith("threshold failed: rows_per_s_change < -5%: -16.7% (-1")
    assert line.endswith("), b, 1 worker")
    assert judged("rows_per_s_change < -20%", base, slow) == []


def test_the_change_of_any_percentile_has_a_threshold_and_needs_its_samples():
    def waiting(name, *waits):
        runs = [run(outcome(worker(0, latency=histogram(*waits))), number=n) for n in (1, 2)]
        return side(result(runs, sweep_id=name))

    def judged(text):
        named = list_changed_percentiles([text])
        sides = waiting("a", *range(1, 201)), waiting("b", *range(2, 402, 2))
        found = compare_sides(*sides, known=calibrated(1), percentiles=named)
        return list_failures([*comparison_checks([taken(text, COMPARISONS)], found)])

    (line,) = judged("p90_ms_change > 99%")
    assert line.startswith("threshold failed: p90_ms_change > 99%: +100.0% (+100.0 to +100.0%), b")
    assert judged("p90_ms_change > 101%") == []
    (line,) = judged("p99.9_ms_change > 99%")
    assert "p99.9_ms cannot be compared: needs 1,000 samples of each run" in line
    assert "unknown figure 'p90_ms_change'" in problem("p90_ms_change > 2%")
    assert "unknown unit 'ms' of p90_ms_change" in problem("p90_ms_change > 2ms", COMPARISONS)


def test_a_judgement_that_one_run_cannot_give_counts_as_failed():
    assert judged("slower > 0", sweep("a", 1.0), sweep("b", 1.0)) == [
        "threshold failed: slower > 0: no judgement on 1 of 1 rows, b"
    ]
    assert judged("rows_per_s_change < -5%", sweep("a", 1.0), sweep("b", 1.2)) == [
        "threshold failed: rows_per_s_change < -5%: -16.7% (one run), b, 1 worker"
    ]


def test_any_percentile_is_held_against_the_waits_and_needs_samples_that_carry_it():
    waits = histogram(*range(1, 1001))
    summary = summary_of(result([run(outcome(worker(0, latency=waits)))]))
    wanted = [taken(f"{name} > 1") for name in ("p90_ms", "p12.5_ms", "p99.9_ms", "p99.99_ms")]

    found = {check.threshold: check.found for check in checks_of(wanted, summary)}
    assert [*found.values()] == ["900 ms", "125 ms", "999 ms", "p99.99_ms was not measured"]
    assert all(not check.ok for check in checks_of(wanted, summary))


def record(status="done", cause=""):
    item = ItemRecord(
        id="i", target="lite", setting="bulk", repeat=1, verdict="verified", cause=cause,
        files=() if cause else ("a.json", "b.json"),
    )  # fmt: skip
    return Reproduction(
        program_version="1", document="iot", number=1, size="demo", title="", measured_on="",
        machine=sweep("m", 1.0).machine, status=status, first=None, last=None, items=(item,),
        lines=(), claims=(), not_had={}, refused={},
    )  # fmt: skip


def held(folder, found, *texts):
    result_files.write(folder / "a.json", sweep("a", 1.0))
    result_files.write(folder / "b.json", asked("b", 10, 30))
    gates = Gates(fail_if=texts, junit=folder / "out.xml")
    thresholds = gates.expect(Scope((WORKERS, QUERY)))
    code = gates.conclude_items("plan.p", found.status, found.items, folder, thresholds)
    (suite,) = ET.parse(folder / "out.xml").getroot()
    return code, {case.get("name"): [why.tag for why in case] for case in suite}


def test_inserts_and_queries_of_an_item_are_held_against_their_own_figures(tmp_path, capsys):
    code, cases = held(tmp_path, record(), "rows_per_s < 2k", "avg_ms > 25")

    assert code == 99
    assert cases["rows_per_s < 2k lite, bulk, repeat 1, 1 worker"] == ["failure"]
    assert cases["avg_ms > 25 lite, bulk, repeat 1, count-events, 1 worker"] == []
    assert "rows_per_s < 2k: 1,000 rows/s, lite, bulk, repeat 1" in capsys.readouterr().err


def test_an_item_without_results_and_an_interruption_are_errors(tmp_path):
    code, cases = held(tmp_path, record(status="interrupted", cause="no disk"), "avg_ms > 25")

    assert (code, cases) == (0, {"done": ["error"], "lite, bulk, repeat 1": ["error"]})


def test_a_file_that_cannot_be_written_is_an_error_of_its_own(tmp_path, capsys):
    (tmp_path / "out.xml").mkdir()

    assert Gates(junit=tmp_path / "out.xml").report("n", sweep("a", 1.0).created, [], []) == 1
    assert "--junit" in capsys.readouterr().err


def test_a_row_that_one_sweep_of_an_item_has_is_enough(tmp_path, capsys):
    limits = ("p99_ms > 100s at query=count-events", "p99_ms > 1us at query=no*")
    code, cases = held(tmp_path, record(), *limits)

    assert code == 99
    assert [name for name in cases if name.startswith(limits[0])] == [
        f"{limits[0]} lite, bulk, repeat 1, count-events, 1 worker"
    ]
    assert capsys.readouterr().err.count("nothing was measured") == 1
