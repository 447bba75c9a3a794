"""Results compared row by row: judgements, what is refused, what is listed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from iotbench.comparison.calibration import Calibration
from iotbench.comparison.comparison import Judgement, compare_sides
from iotbench.comparison.sides import Side, expect_comparable
from iotbench.comparison.tables import content_of, format_record
from iotbench.comparison.turns import list_conclusions
from iotbench.machine.bystanders import OtherWork
from simulator.errors import ConfigError
from simulator.protocol.events import Outcome, QueryVerdict
from simulator.protocol.messages import QueryTimes, WorkerReport
from simulator.protocol.verdict import Status, Verdict
from tests.unit.output.terminal.made import SERVER, histogram, outcome, result, run, stored, worker

START = datetime(2026, 11, 21, tzinfo=UTC)
VERIFIED = Verdict(status=Status.VERIFIED)


def sweep(name, *seconds, workers=1, cpu_s=0.0, **changes):
    """A result whose runs took these times for 1,000 rows."""
    runs = [
        run(
            outcome(
                *(worker(i, rows=1000, ended=10.0 + each, cpu_s=cpu_s) for i in range(workers))
            ),
            number=n,
        )
        for n, each in enumerate(seconds, 1)
    ]
    return result(runs, sweep_id=name, **changes)


def side(*results):
    return Side(tuple((Path(f"{each.sweep_id}.json"), each) for each in results))


def calibrated(*workers, spread=0.002, **changes):
    """Calibrations of the machine of `result`: equal sweeps differ by about this share."""
    rates = tuple((1000.0 * (1 + spread * (n % 2)),) * 3 for n in range(10))
    known = {"hardware": sweep("a", 1.0).machine.hardware, "module": "sqlite"}
    return [
        Calibration(
            **{**known, "workers": count, "measured": START, "rates": rates, **changes}
        )
        for count in workers
    ]  # fmt: skip


def judged(base, other, noise=0.05, known=None):
    """The judgements on two sweeps, one after the other, of a machine that was calibrated."""
    sides = side(base), side(other)
    expect_comparable(sides)
    known = calibrated(1, 2) if known is None else known
    return [row.lines[0].judgement for row in compare_sides(*sides, noise, known).rows]


def in_turns(base, other, order="abba", make=None):
    """Two sides whose sweeps, of these values each, were measured in an order."""
    make = make or sweep
    sides, left = {"a": [], "b": []}, {"a": [*base], "b": [*other]}
    for n, name in enumerate((order * len(base))[: 2 * len(base)]):
        value = left[name].pop(0)
        values = value if isinstance(value, tuple) else (value,)
        made = make(f"{name}{n}", *values, created=START + timedelta(minutes=n))
        sides[name].append(made)
    return [side(*sides[name]) for name in "ab"]


def disturbed(found, cores):
    """The result, beside whose last run others used some cores of its machine."""
    *runs, last = found.runs
    work = OtherWork(cores=cores, busiest={"make": cores})
    runs.append(last.model_copy(update={"other_work": work}))
    return found.model_copy(update={"runs": runs})


@pytest.mark.parametrize("reverse", [False, True])
def test_a_difference_beside_other_work_is_not_judged(reverse):
    base, slow = sweep("a", 1.0, 1.01, 0.99), sweep("b", 1.2, 1.21, 1.19)
    busy = disturbed(slow, 0.5 * slow.machine.cores)
    sides = (busy, base) if reverse else (base, busy)

    assert judged(*sides) == [Judgement.DISTURBED]
    text = format_record([compare_sides(*map(side, sides))], "table", 200)
    assert f"warning: {'base' if reverse else 'other'}: other work took a tenth" in text
    assert "disturbed: the change exceeds the noise" in text
    assert judged(base, disturbed(slow, 0.05 * slow.machine.cores)) == [Judgement.SLOWER]
    assert judged(base, disturbed(sweep("c", 1.0, 1.02, 0.98), 2.0)) == [Judgement.NOISE]


def test_other_work_beside_other_worker_counts_disturbs_no_judgement():
    def both(name, seconds, slowed):
        one, two = sweep(name, *seconds), sweep(name, *slowed, workers=2)
        return one.model_copy(update={"runs": [*one.runs, *two.runs]})

    base = both("a", (1.0, 1.01, 0.99), (1.0, 1.01, 0.99))
    slow = disturbed(both("b", (1.2, 1.21, 1.19), (1.2, 1.21, 1.19)), 2.0)
    assert judged(base, slow) == [Judgement.SLOWER, Judgement.DISTURBED]


def test_a_rate_that_is_lower_beyond_its_interval_is_slower():
    base, slow = sweep("a", 1.0, 1.01, 0.99), sweep("b", 1.2, 1.21, 1.19)

    assert judged(base, slow) == [Judgement.SLOWER]
    assert judged(slow, base) == [Judgement.FASTER]
    assert judged(base, sweep("c", 1.04, 1.05, 1.03)) == [Judgement.NOISE]
    assert judged(base, sweep("c", 1.04, 1.05, 1.03), noise=0.01) == [Judgement.SLOWER]
    assert judged(base, sweep("c", 0.7, 1.2, 2.1)) == [Judgement.NOISE]


def test_one_run_is_never_judged():
    assert judged(sweep("a", 1.0), sweep("b", 2.0)) == [Judgement.ONE_RUN]
    assert judged(sweep("a", 1.0), sweep("b", 2.0), known=()) == [Judgement.ONE_RUN]
    assert judged(sweep("a", 1.0, 1.01), sweep("b", 2.0)) == [Judgement.ONE_RUN]


def test_one_sweep_a_side_is_judged_only_by_what_equal_sweeps_differ_by():
    base, slow = sweep("a", 1.0, 1.01, 0.99), sweep("b", 1.2, 1.21, 1.19)
    elsewhere = calibrated(1, hardware="other"), calibrated(1, module="null"), calibrated(2)

    assert judged(base, slow, known=()) == [Judgement.NOT_IN_TURNS]
    assert [judged(base, slow, known=each) for each in elsewhere] == [[Judgement.NOT_IN_TURNS]] * 3
    assert judged(base, slow) == [Judgement.SLOWER]
    assert judged(base, slow, known=calibrated(1, spread=0.3)) == [Judgement.NOISE]
    assert judged(base, sweep("c", 1.02, 1.03, 1.01), known=()) == [Judgement.NOISE]

    shown = format_record(
        [compare_sides(side(base), side(slow), known=calibrated(1))], "table", 200
    )
    assert "differences below 0.3% between single sweeps are noise on this machine (10 eq" in shown
    bare = format_record([compare_sides(side(base), side(slow))], "table", 200)
    assert "runs of base: 3 runs in 1 sweep of each row" in bare
    assert "not in turns: the change exceeds the noise of the runs, but equal sweeps" in bare


def test_a_calibration_of_both_modules_is_needed_and_the_wider_one_counts():
    base, slow = sweep("a", 1.0, 1.01, 0.99), sweep("b", 1.2, 1.21, 1.19, module="null")
    wide = calibrated(1, module="null", spread=0.3)

    assert judged(base, slow) == [Judgement.NOT_IN_TURNS]
    assert judged(base, slow, known=[*calibrated(1), *wide]) == [Judgement.NOISE]
    assert judged(base, slow, known=[*calibrated(1), *calibrated(1, module="null")]) == [
        Judgement.SLOWER
    ]


@pytest.mark.parametrize("order", ["abba", "ab"])
def test_sweeps_in_turns_are_compared_as_pairs(order):
    drifting = [1.0 * 1.1**n for n in range(6)]  # each pair slower than the one before
    base, other = in_turns(drifting, [1.08 * each for each in drifting], order)
    expect_comparable([base, other])
    (row,) = compare_sides(base, other).rows

    assert (row.in_turns, row.runs, row.sweeps) == (True, (6, 6), (6, 6))
    assert row.lines[0].judgement is Judgement.SLOWER
    assert row.lines[0].difference.change == pytest.approx(1 / 1.08 - 1)
    shown = format_record([compare_sides(base, other)], "table", 200)
    assert "measured in turns: the interval is computed from 6 pairs of sweeps" in shown


@pytest.mark.parametrize("order", ["aaaabbbb", "abbbbaaa"])
def test_sweeps_of_a_side_one_after_the_other_are_not_in_turns(order):
    base, other = in_turns([1.0, 1.01, 0.99, 1.0], [1.2, 1.21, 1.19, 1.2], order)
    (row,) = compare_sides(base, other).rows

    assert (row.in_turns, row.lines[0].judgement) == (False, Judgement.NOT_IN_TURNS)
    (row,) = compare_sides(base, other, known=calibrated(1)).rows
    assert row.lines[0].judgement is Judgement.SLOWER


def test_sweeps_are_the_units_and_not_their_runs():
    """Six runs of a side look sure, and its three sweeps are far apart."""
    base, other = [(1.0, 1.001), (1.3, 1.301), (1.0, 1.001)], [(1.2, 1.201), (1.5, 1.501), (1.2,
    1.201)]  # fmt: skip
    sides = in_turns(base, other)
    (row,) = compare_sides(*sides).rows
    flat = [[value for each in values for value in each] for values in (base, other)]

    assert row.runs == (6, 6)
    assert row.lines[0].judgement is Judgement.NOISE
    assert judged(sweep("a", *flat[0]), sweep("b", *flat[1])) == [Judgement.SLOWER]


def test_sides_that_are_not_distinguished_say_how_many_repeats_would_find_a_loss():
    base, other = in_turns([1.0, 1.2, 0.9, 1.1], [1.1, 1.0, 1.2, 0.9])
    (line,) = list_conclusions([compare_sides(base, other)], "take longer runs")

    assert "not distinguished after 4 repeats" in line
    assert line.endswith(
        "; take longer runs; 55 such repeats find a loss of 10% in nine of ten cases"
    )


def test_other_work_beside_sides_in_turns_is_in_the_interval_of_their_pairs():
    base, other = in_turns([1.0, 1.01, 0.99, 1.0], [1.2, 1.21, 1.19, 1.2])
    busy = side(*(disturbed(result, 4.0) for _, result in other.results))

    (row,) = compare_sides(base, busy).rows
    assert row.lines[0].judgement is Judgement.SLOWER
    assert (
        format_record([compare_sides(base, busy)], "table", 200).count("warning: other: other work")
        == 1
    )


def test_judgements_on_several_rows_are_stricter_than_on_one():
    times, slower = (1.0, 1.02, 0.98), (1.07, 1.1, 1.04)
    two = [
        sweep(name, *seconds).model_copy(
            update={"runs": sweep(name, *seconds).runs + sweep(name, *seconds, workers=2).runs}
        )
        for name, seconds in (("a", times), ("b", slower))
    ]

    assert judged(sweep("a", *times), sweep("b", *slower)) == [Judgement.SLOWER]
    assert judged(*two) == [Judgement.NOISE] * 2


def asked(name, *waits, status=Status.VERIFIED, **changes):
    """A result of a query with one run."""
    times = QueryTimes(
        name="count-events", first_s=0.5, runs=len(waits), waits=histogram(*waits),
        wait_s=sum(waits) / 1000, client_s=0.0, elapsed_s=sum(waits) / 1000, answers=1,
    )  # fmt: skip
    verdict = Verdict(status=status)
    found = Outcome(
        status="done", server=SERVER, workers=(WorkerReport(index=0, queries=(times,)),),
        queries=(QueryVerdict(name="count-events", statement="", tuned=False, verdict=verdict),),
        verdict=verdict,
    )  # fmt: skip
    return result([run(found)], kind="query", sweep_id=name, dataset=stored(100), **changes)


def test_queries_are_judged_by_their_wait_over_several_results():
    base, other = in_turns([10, 10.1, 10], [20, 20.2, 20], make=asked)
    expect_comparable([base, other])
    (row,) = compare_sides(base, other).rows

    assert [line.figure.name for line in row.lines] == [
        "p50_ms", "queries_per_s", "p95_ms", "client_share"
    ]  # fmt: skip
    assert (str(row.place), row.lines[0].judgement) == ("count-events, 1 worker", Judgement.SLOWER)
    assert row.lines[1].judgement is None
    assert judged(asked("a", 10), asked("b", 20)) == [Judgement.ONE_RUN]


def wrong(name):
    return result([run(outcome(verdict=Verdict(status=Status.MISMATCH)))], sweep_id=name)


BASE = sweep("base", 1.0, 1.1)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (sweep("b", 1.0, dataset=stored(0, seed=2)), "the seed is 2, and 1 in base.json"),
        (sweep("b", 1.0, dataset=stored(0, primary_key="none")), "the primary key is none, and db"),
        (sweep("b", 1.0, dataset=stored(0, params={"devices": 7})), "parameter devices is 7, and"),
        (sweep("b", 1.0, dataset=stored(0, workload="slim")), "the workload is slim, version 1"),
        (asked("b", 1.0), "is a result of query, and base.json of insert"),
        (wrong("b"), "has the verdict mismatch"),
        (result([], sweep_id="b", status="failed", cause="no disk"), "no finished run .no disk."),
        (result([], sweep_id="b", kind="verify"), "which has no figures"),
        (BASE, "is named twice"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_cannot_be_compared_is_refused_with_the_reason(other, reason):
    with pytest.raises(ConfigError, match=reason):
        expect_comparable([side(BASE), side(other)])


def test_rows_are_equal_with_defaults_and_other_starts_and_queries_need_as_many():
    for changes in ({"params": {"devices": 1}}, {"start_ms": 10**12}):
        other = sweep("b", 1.0, 1.1, dataset=stored(0, **changes))
        assert judged(BASE, other) == [Judgement.NOISE]
    fewer = asked("b", 1.0).model_copy(update={"dataset": stored(50)})
    with pytest.raises(ConfigError, match=r"the number of rows is 50, and 100 in a\.json"):
        expect_comparable([side(asked("a", 1.0)), side(fewer)])


def test_a_copy_of_a_result_is_no_other_sweep():
    copy = Side(((Path("copy.json"), BASE),))
    with pytest.raises(ConfigError, match=r"copy\.json: is a copy of base\.json; name results"):
        expect_comparable([side(BASE, sweep("b", 1.0)), copy])


def test_all_reasons_are_named_at_once():
    with pytest.raises(ConfigError) as error:
        expect_comparable([side(BASE), side(wrong("c"), wrong("d"))])

    assert [text.split(":")[0] for text in error.value.problems] == ["c.json", "d.json"]


def test_only_results_of_equal_sweeps_can_be_joined():
    other = sweep("b", 1.0, configuration={**BASE.configuration, "batch": 99})

    with pytest.raises(ConfigError, match=r"b.json: cannot be joined, since these differ: batch"):
        expect_comparable([side(BASE, other)])


def test_rows_of_one_side_and_all_that_differs_are_listed():
    both = BASE.model_copy(update={"runs": BASE.runs + sweep("x", 1.0, workers=2).runs})
    other = sweep("b", 1.0, 1.1, configuration={**BASE.configuration, "batch": 99}, target="big",
                  program_version="2")  # fmt: skip
    shown = format_record([compare_sides(side(both), side(other))], "table", 100)

    assert "only in base: 2 workers" in shown
    assert "differs: batch: 10 -> 99" in shown
    assert "differs: target: lite -> big" in shown
    assert "differs: program: 1 -> 2" in shown
    with pytest.raises(ConfigError, match="no workers in common"):
        compare_sides(side(BASE), side(sweep("x", 1.0, workers=2)))


def test_verdicts_and_unfinished_sweeps_stand_below_the_table():
    unsure = BASE.model_copy(
        update={"sweep_id": "b", "status": "interrupted", "runs": [
            run(outcome(verdict=Verdict(status=Status.UNKNOWN)))]}
    )  # fmt: skip
    shown = format_record([compare_sides(side(BASE), side(unsure))], "table", 80)

    assert "verdict: other, 1 worker: unknown" in shown
    assert "warning: other: b.json: interrupted; only its finished runs are compared" in shown
    assert "one run: no interval and no judgement" in shown


def of_the_machine(base, other):
    """The warning on the machine's speed, and the factor."""
    comparison = compare_sides(side(base), side(other))
    (found,) = content_of([comparison])["comparisons"]
    shown = format_record([comparison], "table", 80)
    return "the machine ran at another speed" in shown, found["client_factor"]


def test_the_clients_own_work_shows_a_machine_of_another_speed():
    base = sweep("a", 1.0, 1.01, cpu_s=0.1)
    slow, alike = sweep("b", 2.0, 2.1, cpu_s=0.2), sweep("c", 2.0, 2.1, cpu_s=0.11)
    other_module = sweep("d", 2.0, 2.1, cpu_s=0.2, module="postgres")
    other_batch = sweep("e", 2.0, 2.1, cpu_s=0.2, configuration={"workers": [1], "batch": 20})
    unknown = sweep("f", 2.0, 2.1)

    assert of_the_machine(base, slow) == (True, pytest.approx(2.0))
    assert of_the_machine(slow, base) == (True, pytest.approx(0.5))
    assert of_the_machine(base, alike) == (False, pytest.approx(1.1))
    assert of_the_machine(base, other_module) == (False, None)
    assert of_the_machine(base, other_batch) == (False, None)
    assert of_the_machine(base, unknown) == (False, None)


def test_the_table_shows_every_figure_with_its_interval():
    compare = compare_sides(side(BASE), side(sweep("b", 2.0, 2.2)), known=calibrated(1))
    shown = format_record([compare], "table", 80)
    lines = [" ".join(line.split()) for line in shown.splitlines()]

    assert lines[0] == "base: base: insert on lite, 2026-11-21 00:00:00 UTC"
    assert lines[2] == "Workers Figure Base Other Change Interval Judgement"
    assert lines[4] == "1 Rows/s 953 477 -50.0% -62.6 to -33.2% slower"
    assert [line.split("  ")[0].strip() for line in shown.splitlines()[5:8]] == [""] * 3
    assert "judgement of b by rows_per_s: 1 slower" in shown
    assert max(map(len, shown.splitlines()[:10])) <= 80


def test_a_long_name_is_wrapped_and_a_judgement_never():
    other = asked("b", 12345.6)
    rows = compare_sides(side(asked("a", 9876.5)), side(other))
    table = format_record([rows], "table", 70).splitlines()

    assert [line for line in table if line.endswith("  one run")]
    assert max(len(line) for line in table[2:8]) <= 70


def test_markdown_has_no_marks_of_its_own():
    other = sweep("b", 2.0, 2.2, target="big|_x_")
    shown = format_record([compare_sides(side(BASE), side(other))], "markdown", 80)
    rows = [line for line in shown.splitlines() if line.startswith("|")]

    assert {line.count("|") for line in rows} == {8}
    assert r"- differs: target: lite -> big\|\_x\_" in shown


def test_json_holds_every_digit():
    compare = compare_sides(side(BASE), side(sweep("b", 2.0, 2.2)), known=calibrated(1))
    found = content_of([compare])
    (comparison,) = found["comparisons"]
    figure = comparison["rows"][0]["figures"]["rows_per_s"]

    assert found["base"]["ids"] == ["base"]
    assert comparison["judgements"] == {"slower": 1}
    assert figure["change"] == pytest.approx(-0.5)
    assert figure["low"] < -0.5 < figure["high"] < 0
