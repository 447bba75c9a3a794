"""What happened in runs, as notes and pictures have it."""

from iotbench.output.terminal.notes import facts_of
from iotbench.output.terminal.occurrences import occurrences_of, seconds_text
from simulator.protocol.events import Occurrence
from simulator.protocol.messages import BatchFailures, Failed
from tests.unit.output.terminal import made

CHECKPOINTS = [Occurrence(at_s=float(at), what="checkpoints") for at in range(3, 30, 3)]


def failing(second, count, what=Failed.RETRIED):
    return BatchFailures(second=second, what=what, count=count)


def test_failures_of_all_workers_are_joined_and_stand_in_the_order_of_time():
    workers = [
        made.worker(0, failures=(failing(2, 1), failing(7, 1, Failed.LOST))),
        made.worker(1, failures=(failing(2, 4),)),
    ]
    found = occurrences_of(made.outcome(*workers, occurrences=tuple(CHECKPOINTS[:1])))

    assert [(each.at_s, each.what, each.count, each.is_failure) for each in found] == [
        (2.5, "batches retried", 5, True),
        (3.0, "checkpoints", 1, False),
        (7.5, "connections lost", 1, True),
    ]


def test_seconds_of_a_few_are_listed_and_of_many_only_the_ends():
    assert seconds_text(CHECKPOINTS[:3]) == "at 3, 6, 9 s"
    assert seconds_text(CHECKPOINTS) == "in 9 seconds from 3 s to 27 s"


def test_the_lines_below_a_table_name_the_seconds():
    quiet = made.run(made.outcome(background={"checkpoints": 0}))
    busy = made.run(
        made.outcome(
            made.worker(0, failures=(failing(2, 3),)),
            background={"checkpoints": 2},
            occurrences=tuple(CHECKPOINTS[:2]),
        ),
        number=2,
    )
    facts = dict(facts_of(made.result([quiet, busy])))

    assert facts["server's own work"] == (
        "checkpoints: 2, in the timed parts of 2 runs (1 worker, run 2: at 3, 6 s)"
    )
    assert facts["failures"] == "batches retried: 3 (1 worker, run 2: at 2 s)"
    assert "failures" not in dict(facts_of(made.result([quiet])))
    alone = dict(facts_of(made.result([busy])))
    assert alone["server's own work"].endswith("of 1 run (at 3, 6 s)")
