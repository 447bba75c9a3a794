"""How outages are shown: lines below the table, marks of a picture, figures and warnings."""

import pytest

from iotbench.figures.figures import FIGURES
from iotbench.measurements import kind_of, summary_of
from iotbench.measurements.warnings import warnings_of
from iotbench.output.terminal.occurrences import marks_of
from iotbench.results.faults import Outage
from iotbench.results.metrics import with_outages
from simulator.protocol.verdict import Accounts, Status, Verdict
from tests.unit.output.terminal import made

OUTAGE = Outage(
    fault="kill-database", began_s=10.0, undone_s=12.0, silent_s=2.5, first_after_s=0.5,
    recovery_s=3.0, settled_s=4.0, rows_per_s_before=2000.0, p99_inside_ms=2400.0,
    p99_outside_ms=7.25,
)  # fmt: skip
FOR_GOOD = OUTAGE.model_copy(
    update={"recovery_s": None, "settled_s": None, "silent_s": 9.0, "p99_inside_ms": None}
)
KEPT = {"kept": 1980, "lost": 0, "announced": False, "present": 15, "absent": 5, "doubled": 0,
        "torn": 0, "foreign": 0}  # fmt: skip


def run(*outages, **accounts):
    verdict = Verdict(status=Status.VERIFIED, accounts=Accounts(**KEPT | accounts))
    found = made.run(made.outcome(made.worker(0, rows=2000, retried=1), verdict=verdict))
    metrics = with_outages(found.metrics, outages, verdict.accounts)
    return found.model_copy(update={"outages": outages, "metrics": metrics})


def facts(*runs):
    result = made.result([*runs])
    return [text for name, text in kind_of(result).facts(result) if "workers" not in name]


def test_an_outage_is_a_line_and_so_are_the_rows():
    outage, rows = facts(run(OUTAGE))

    assert outage.split("; ") == [
        "from 10.0 s to 12.0 s",
        "2.50 s without an acknowledgement",
        "the first one 0.50 s after its end",
        "back at 95 % of 2,000 rows/s after 3.0 s",
        "p99 2,400 ms until latency was back, after 4.0 s, and 7.25 ms otherwise",
    ]
    assert rows.split("; ") == [
        "1,980 acknowledged, of which 0 lost",
        "20 of unknown outcome, of which 15 stored",
        "0 stored twice",
        "0 never sent",
    ]


def test_an_outage_without_an_end_says_so():
    (outage, _) = facts(run(FOR_GOOD))

    assert outage.endswith("not back at 95 % of 2,000 rows/s")


@pytest.mark.parametrize(
    ("announced", "said"), [(True, "as the server announces"), (False, "against its promise")]
)
def test_a_loss_is_held_against_what_the_server_says(announced, said):
    *_, rows = facts(run(OUTAGE, kept=1900, lost=80, announced=announced))

    assert f"1,980 acknowledged, of which 80 lost ({said})" in rows


def test_each_of_several_runs_is_named():
    assert [text[:14] for text in facts(run(OUTAGE), run(OUTAGE))] == ["1 worker, run "] * 4


def test_the_picture_marks_the_fault_its_end_and_the_recovery():
    marks = [(mark.at_s, mark.what, mark.is_failure) for mark in marks_of(run(OUTAGE))]

    assert marks == [
        (10.0, "kill-database", True),
        (12.0, "kill-database: undone", False),
        (13.0, "kill-database: rate restored", False),
    ]
    assert len(marks_of(run(FOR_GOOD))) == 2


def test_figures_are_those_of_the_worst_outage():
    worse = OUTAGE.model_copy(update={"silent_s": 6.0, "recovery_s": 8.0})
    (row,) = summary_of(made.result([run(OUTAGE, worse, lost=3, kept=1977)])).rows

    values = {name: row.value(name) for name in FIGURES if row.value(name) is not None}
    assert (values["silent_s"], values["recovery_s"]) == (6.0, 8.0)
    assert (values["first_after_s"], values["settled_s"]) == (0.5, 4.0)
    assert (values["outage_p99_ms"], values["lost_rows"]) == (2400.0, 3)
    (row,) = summary_of(made.result([run(OUTAGE, FOR_GOOD)])).rows
    assert row.value("recovery_s") is None
    (row,) = summary_of(made.result([made.run()])).rows
    assert row.value("silent_s") is None


def test_what_was_made_to_fail_is_no_surprise():
    plain = made.result([run()])
    failed = made.result([run(OUTAGE)])

    assert any("failed without effect" in text for text in warnings_of(plain))
    assert not any("failed without effect" in text for text in warnings_of(failed))
